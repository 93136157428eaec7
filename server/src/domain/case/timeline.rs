//! Xids and other faults of a node by time: what its ledger holds, and what the kernel logs of its reports say.

use std::collections::BTreeMap;

use kb_core::observation::{What, read_line};
use kb_core::report::{Family, Report};
use serde::{Deserialize, Serialize};

/// Entries that a case holds at most.
const MOST: usize = 200;

/// A fault or event of a device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Happened {
    /// When it was seen first and last, RFC 3339; absent where only a line without a date tells of it.
    pub first_at: Option<String>,
    pub last_at: Option<String>,
    /// PCI address; `node` where it is about no device.
    pub device: String,
    /// `Xid 79`, `remap_pending`.
    pub what: String,
    pub count: u64,
    pub text: Option<String>,
    pub record: Option<String>,
    /// `open`: the node's ledger holds it open; `counted`: the ledger has counted it; `kernel log`: a report's log has it.
    pub known_from: String,
    pub report_id: String,
}

/// Of several reports, the newest first; what the ledger tells stands for lines of the log about the same.
pub(super) fn of<'r>(reports: impl IntoIterator<Item = &'r Report>) -> Vec<Happened> {
    let mut found: BTreeMap<(String, String), Happened> = BTreeMap::new();
    for report in reports {
        for happened in of_ledger(report).into_iter().chain(of_log(report)) {
            let key = (happened.device.clone(), happened.what.clone());
            found.entry(key).or_insert(happened);
        }
    }
    let mut found: Vec<Happened> = found.into_values().collect();
    found.sort_by(|one, other| {
        other
            .last_at
            .cmp(&one.last_at)
            .then_with(|| one.device.cmp(&other.device))
            .then_with(|| one.what.cmp(&other.what))
    });
    found.truncate(MOST);
    found
}

/// `Xid 79 (2 times), Xid 48`, of what bears a number; `None` without one.
pub(super) fn numbers(timeline: &[Happened]) -> Option<String> {
    let numbered = timeline
        .iter()
        .filter(|happened| happened.what.starts_with("Xid ") || happened.what.starts_with("SXid "));
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for happened in numbered {
        *counts.entry(&happened.what).or_default() += happened.count;
    }
    let words = counts.iter().map(|(what, count)| match count {
        1 => (*what).to_owned(),
        count => format!("{what} ({count} times)"),
    });
    let words: Vec<String> = words.collect();
    (!words.is_empty()).then(|| words.join(", "))
}

fn of_ledger(report: &Report) -> Vec<Happened> {
    let Some(health) = &report.health else {
        return Vec::new();
    };
    let open = health.open.iter().map(|entry| Happened {
        first_at: Some(entry.first_at.clone()),
        last_at: Some(entry.last_at.clone()),
        device: entry.device.clone(),
        what: match (entry.number, entry.id.starts_with("sxid")) {
            (Some(number), false) => named(Family::Xid, number),
            (Some(number), true) => named(Family::Sxid, number),
            (None, _) => entry.cause.clone(),
        },
        count: entry.count,
        text: Some(entry.text.clone()),
        record: entry.record.as_ref().map(ToString::to_string),
        known_from: "open".to_owned(),
        report_id: report.report_id.to_string(),
    });
    let counted = health.counters.iter().map(|counter| Happened {
        first_at: None,
        last_at: Some(counter.last_at.clone()),
        device: counter.device.clone(),
        what: named(counter.family, counter.number),
        count: counter.count,
        text: None,
        record: None,
        known_from: "counted".to_owned(),
        report_id: report.report_id.to_string(),
    });
    open.chain(counted).collect()
}

fn of_log(report: &Report) -> Vec<Happened> {
    let mut found: BTreeMap<(String, String), Happened> = BTreeMap::new();
    for line in report.logs.iter().flat_map(|log| log.text.lines()) {
        let Some(event) = read_line(line) else { continue };
        let What::Numbered { family, number, .. } = event.what else {
            continue;
        };
        let what = named(family, number);
        let known = found
            .entry((event.device.clone(), what.clone()))
            .or_insert_with(|| Happened {
                first_at: None,
                last_at: None,
                device: event.device,
                what,
                count: 0,
                text: Some(event.text),
                record: None,
                known_from: "kernel log".to_owned(),
                report_id: report.report_id.to_string(),
            });
        known.count += 1;
    }
    found.into_values().collect()
}

fn named(family: Family, number: u32) -> String {
    format!("{} {number}", family.word())
}
