//! What the server has found, beside what was planted.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::{Context, Result};
use serde_json::Value;

use super::faults::{Fault, Kind};

/// Counts by kind of fault, and what was found where nothing was planted.
#[derive(Default)]
pub(super) struct Tally {
    kinds: BTreeMap<Kind, Counts>,
    healthy: u32,
    /// Healthy nodes of which something was named, and what.
    false_alarms: Vec<String>,
}

#[derive(Default)]
struct Counts {
    planted: u32,
    /// The right node, GPU or pair was named, and nothing else.
    exact: u32,
    /// It was named beside others.
    among_others: u32,
    /// Something else of the node was named.
    other: u32,
    missed: u32,
}

impl Tally {
    pub(super) fn add(&mut self, node: &str, fault: Option<&Fault>, answer: &Value) -> Result<()> {
        let outliers = answer.get("outliers").and_then(Value::as_array);
        let outliers = outliers.context("the answer names no outliers")?;
        let named: Vec<&Value> = outliers
            .iter()
            .filter_map(|outlier| outlier.get("subject"))
            .collect();
        let Some(fault) = fault else {
            self.healthy += 1;
            if !named.is_empty() {
                self.false_alarms.push(format!("{node}: {}", first(outliers)));
            }
            return Ok(());
        };
        let counts = self.kinds.entry(fault.kind).or_default();
        counts.planted += 1;
        let is_named = named.iter().any(|subject| **subject == fault.subject());
        let count = match (is_named, named.len()) {
            (true, 1) => &mut counts.exact,
            (true, _) => &mut counts.among_others,
            (false, 0) => &mut counts.missed,
            (false, _) => &mut counts.other,
        };
        *count += 1;
        Ok(())
    }

    /// A Markdown table.
    pub(super) fn table(&self) -> String {
        let mut text = String::from(
            "| fault | planted | named, nothing else | named among others | something else named | missed |\n\
             | --- | --- | --- | --- | --- | --- |\n",
        );
        // Writing to a String cannot fail, here and below.
        for (kind, counts) in &self.kinds {
            let _ = writeln!(
                text,
                "| {} | {} | {} | {} | {} | {} |",
                kind.name(),
                counts.planted,
                counts.exact,
                counts.among_others,
                counts.other,
                counts.missed
            );
        }
        let _ = writeln!(
            text,
            "\nHealthy nodes: {}, of which {} with something named",
            self.healthy,
            self.false_alarms.len()
        );
        for alarm in self.false_alarms.iter().take(10) {
            let _ = writeln!(text, "- {alarm}");
        }
        text
    }
}

fn first(outliers: &[Value]) -> String {
    outliers.first().map(ToString::to_string).unwrap_or_default()
}
