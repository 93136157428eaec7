//! The 20 scenarios of deadends.dev over its records, imported as `peerless import --from deadends` does, and every
//! record's own signature. Nothing of that repository is kept here.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use kb_core::ids::RecordId;
use peerless::bundle::{deadends, read_files};
use peerless::feed::{Generation, offline};
use serde::Deserialize;

use super::ask::{ask, first_few, rank};
use super::report::{Report, shortened};
use super::score::Groups;
use super::synthetic::with_signature;

/// One of their scenarios; what else it says is about their workarounds.
#[derive(Deserialize)]
struct Scenario {
    error_message: String,
    expected_domain: String,
}

pub(crate) fn judge(repository: &Path, report: &mut Report) -> Result<()> {
    let options = deadends::Options {
        countries: true,
        taken: BTreeSet::new(),
    };
    let imported = deadends::import(&read_files(&repository.join("data/canons"))?, &options);
    let generation = Arc::new(offline(imported.records)?);
    let path = repository.join("benchmarks/error_scenarios.json");
    let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let scenarios: Vec<Scenario> = serde_json::from_str(&text).with_context(|| path.display().to_string())?;

    let mut groups = Groups::new(&["match", "answer"]);
    for scenario in &scenarios {
        let right = of_domain(&generation, &scenario.expected_domain);
        let answer = ask(&generation, scenario.error_message.as_bytes());
        let ranks = [rank(&answer.matches, &right), rank(&answer.shown, &right)];
        groups.add(&scenario.expected_domain, true, &ranks);
        if ranks.last() != Some(&Some(0)) {
            report.miss(format!(
                "scenario {}: wanted {}, came {}",
                shortened(&scenario.error_message),
                scenario.expected_domain,
                first_few(&answer.shown)
            ));
        }
    }
    let total = groups.total(1);
    report.bar(
        format!(
            "their {} scenarios over their {} records",
            scenarios.len(),
            generation.len()
        ),
        "P@1 0.95, MRR 0.96",
        format!("P@1 {:.2}, MRR {:.3}", total.p1(), total.mrr()),
        total.p1() >= 0.95 && total.mrr() >= 0.96,
    );
    report.table(
        "scenarios",
        "Their scenarios",
        &groups.table("domain"),
        groups.json(),
    );
    signatures(&generation, report);
    Ok(())
}

fn of_domain(generation: &Generation, domain: &str) -> BTreeSet<RecordId> {
    let records = generation
        .records()
        .filter(|published| published.record.document.domain == domain);
    records.map(|published| published.record.id().clone()).collect()
}

fn signatures(generation: &Arc<Generation>, report: &mut Report) {
    let mut groups = Groups::new(&["match", "answer"]);
    for published in generation.records() {
        let signature = &published.record.document.signature;
        let right = with_signature(generation, signature);
        let answer = ask(generation, signature.as_bytes());
        let ranks = [rank(&answer.matches, &right), rank(&answer.shown, &right)];
        groups.add("signatures", true, &ranks);
        if ranks.last() != Some(&Some(0)) {
            report.miss(format!(
                "signature {}: wanted {}, came {}",
                shortened(signature),
                published.record.id(),
                first_few(&answer.shown)
            ));
        }
    }
    let total = groups.total(1);
    report.bar(
        "their records' own signatures at rank 1",
        "0.99",
        format!("{:.4}", total.p1()),
        total.p1() >= 0.99,
    );
    report.table(
        "their_signatures",
        "Their signatures",
        &groups.table("text"),
        groups.json(),
    );
}
