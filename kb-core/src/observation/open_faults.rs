//! Faults and warnings that are open on the GPUs of a report, and whether that is known.

use super::cause;
use super::line::canonical;
use crate::report::{Bearing, Entry, NODE, Report, Verdict};

/// The ledger, among the things that could not be read.
pub const LEDGER: &str = "ledger";

/// Open faults of the ledger that a run on the report's GPUs meets: of the node, a switch, one of these GPUs and, where the run
/// was about all GPUs, any other, which may be gone. Only a run that admits the node ends them.
pub fn open_faults(report: &Report) -> impl Iterator<Item = &Entry> {
    open(report, Bearing::Fault)
}

/// The same of warnings. A run that was good ends those alone that its ledger has no more.
pub fn open_warnings(report: &Report) -> impl Iterator<Item = &Entry> {
    open(report, Bearing::Warning)
}

/// The first fault that is open, else the first warning, with what it comes to.
pub fn open_entry(report: &Report) -> Option<(Verdict, &Entry)> {
    let fault = open_faults(report).next().map(|fault| (Verdict::Broken, fault));
    fault.or_else(|| {
        let warning = open_warnings(report).next()?;
        Some((Verdict::Degraded, warning))
    })
}

fn open(report: &Report, bearing: Bearing) -> impl Iterator<Item = &Entry> {
    let addresses = report
        .gpus
        .iter()
        .filter_map(|gpu| gpu.pci_address.value.as_deref());
    let of_run: Vec<String> = addresses.map(canonical).collect();
    let is_met = move |entry: &Entry| {
        entry.device == NODE || entry.cause == cause::SXID || of_run.contains(&entry.device)
    };
    let open = report
        .health
        .iter()
        .flat_map(|health| health.open.iter().map(|entry| (health.whole_node, entry)));
    open.filter(move |(whole_node, entry)| entry.bearing == bearing && (*whole_node || is_met(entry)))
        .map(|(_, entry)| entry)
}

/// Why it is not known what is open on the node: its ledger could not be read or kept, or was damaged.
pub fn unread_ledger(report: &Report) -> Option<&str> {
    let health = report.health.as_ref()?;
    let mut unread = health.unread.iter().filter(|unread| unread.what == LEDGER);
    let mut damaged = health
        .open
        .iter()
        .filter(|entry| entry.cause == cause::LEDGER_DAMAGED);
    let unread = unread.next().map(|unread| unread.why.as_str());
    unread.or_else(|| damaged.next().map(|entry| entry.text.as_str()))
}

/// Whether what a line tells is unknown only because its boot is: of this boot it would be a fault.
pub(crate) fn is_fault_in_doubt(entry: &Entry) -> bool {
    let is_of_line = matches!(
        entry.cause.as_str(),
        cause::XID | cause::SXID | cause::KERNEL_MESSAGE
    );
    is_of_line && entry.bearing == Bearing::Unknown
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_fault_that_is_open_is_told_before_a_warning() {
        let sample = include_str!("../../tests/data/reports/h200-x2-healthy.json");
        let mut report: Report = serde_json::from_str(sample).unwrap();
        let entry = |id: &str, bearing: &str| {
            json!({
                "id": id, "cause": "xid", "nature": "event", "bearing": bearing, "device": "node", "count": 1,
                "first_at": "2026-11-24T10:00:00Z", "last_at": "2026-11-24T10:00:00Z", "text": "",
            })
        };
        let (fault, warning) = (entry("fault", "fault"), entry("warning", "warning"));
        for (open, expected) in [
            (json!([]), None),
            (json!([warning]), Some((Verdict::Degraded, "warning"))),
            (json!([warning, fault]), Some((Verdict::Broken, "fault"))),
        ] {
            let health = json!({ "verdict": "unknown", "open": open });
            report.health = Some(serde_json::from_value(health).unwrap());
            let told = open_entry(&report).map(|(verdict, entry)| (verdict, entry.id.as_str()));
            assert_eq!(told, expected);
        }
    }
}
