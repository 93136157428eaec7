//! The result as a page or as data.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Value, json};

use super::faults::Kind;
use super::judge::{Judged, Verdict};

/// What is told beside the verdict.
pub(super) struct About {
    pub(super) nodes: usize,
    pub(super) seed: u64,
    pub(super) reports: usize,
    pub(super) sending_seconds: f64,
    pub(super) asking_seconds: f64,
}

#[derive(Default)]
struct Row {
    planted: usize,
    found: usize,
    cause: usize,
    blame: usize,
    action: usize,
    facet: usize,
    with_facet: usize,
}

fn rows(faults: &[Judged]) -> BTreeMap<Kind, Row> {
    let mut rows: BTreeMap<Kind, Row> = BTreeMap::new();
    for fault in faults {
        let row = rows.entry(fault.kind).or_default();
        row.planted += 1;
        row.found += usize::from(fault.found);
        row.cause += usize::from(fault.cause);
        row.blame += usize::from(fault.blame);
        row.action += usize::from(fault.action);
        row.facet += usize::from(fault.facet == Some(true));
        row.with_facet += usize::from(fault.facet.is_some());
    }
    rows
}

impl Verdict {
    pub(super) fn found(&self) -> usize {
        self.faults.iter().filter(|fault| fault.found).count()
    }

    /// Faults of which cause, blame, action and what came with the update are right.
    pub(super) fn right(&self) -> usize {
        let is_right = |fault: &&Judged| {
            fault.found && fault.cause && fault.blame && fault.action && fault.facet.unwrap_or(true)
        };
        self.faults.iter().filter(is_right).count()
    }

    pub(super) fn markdown(&self, about: &About) -> String {
        let mut text = format!(
            "Simulated: no figure is of a machine.\n\n{} nodes, {} reports in {:.0} s ({:.1} a second), asked for {:.0} s, seed {}\n\n\
             | fault | planted | found | cause | blame | action | what changed |\n| --- | --- | --- | --- | --- | --- | --- |\n",
            about.nodes,
            about.reports,
            about.sending_seconds,
            about.per_second(),
            about.asking_seconds,
            about.seed
        );
        // Writing to a String cannot fail, here and below.
        for (kind, row) in rows(&self.faults) {
            let facet = match row.with_facet {
                0 => String::new(),
                some => format!("{} of {some}", row.facet),
            };
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} | {} | {} | {facet} |",
                kind.name(),
                row.planted,
                row.found,
                row.cause,
                row.blame,
                row.action
            );
        }
        let _ = writeln!(
            text,
            "\n{} of {} found, {} of them right in all; {} healthy nodes: {} with a finding, {} to be drained, {} with an application's error; wrong facets: {}\n",
            self.found(),
            self.faults.len(),
            self.right(),
            self.healthy,
            self.false_alarms.len(),
            self.drained.len(),
            self.of_applications,
            self.wrong_facets.len()
        );
        for fault in &self.faults {
            let _ = writeln!(
                text,
                "- {} ({} nodes; {}): {}",
                fault.kind.name(),
                fault.nodes,
                fault.planted,
                fault.said
            );
        }
        let notes = [
            ("false", &self.false_alarms),
            ("drained", &self.drained),
            ("wrong facet", &self.wrong_facets),
        ];
        for (what, lines) in notes {
            for line in lines.iter().take(20) {
                let _ = writeln!(text, "- {what}: {line}");
            }
        }
        text
    }

    pub(super) fn json(&self, about: &About) -> Value {
        let kinds: BTreeMap<&str, Value> = rows(&self.faults)
            .into_iter()
            .map(|(kind, row)| {
                let told = json!({
                    "planted": row.planted, "found": row.found, "cause": row.cause, "blame": row.blame,
                    "action": row.action, "with_update": row.with_facet, "update_named": row.facet,
                });
                (kind.name(), told)
            })
            .collect();
        let faults: Vec<Value> = self
            .faults
            .iter()
            .map(|fault| {
                json!({
                    "kind": fault.kind.name(), "nodes": fault.nodes, "found": fault.found, "cause": fault.cause,
                    "blame": fault.blame, "action": fault.action, "update_named": fault.facet, "drawn": fault.planted, "said": fault.said,
                })
            })
            .collect();
        json!({
            "simulated": true, "nodes": about.nodes, "seed": about.seed, "reports": about.reports,
            "sending_seconds": about.sending_seconds, "asking_seconds": about.asking_seconds,
            "planted": self.faults.len(), "found": self.found(), "right": self.right(), "healthy": self.healthy,
            "false": self.false_alarms, "drained": self.drained, "of_applications": self.of_applications,
            "wrong_facets": self.wrong_facets, "kinds": kinds, "faults": faults,
        })
    }
}

impl About {
    fn per_second(&self) -> f64 {
        u32::try_from(self.reports).map_or(f64::NAN, f64::from) / self.sending_seconds
    }
}
