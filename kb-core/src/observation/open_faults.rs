//! Faults and warnings that are open on the GPUs of a report, and whether that is known.

use super::cause;
use super::line::canonical;
use crate::report::{Bearing, Entry, NODE, Report};

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
