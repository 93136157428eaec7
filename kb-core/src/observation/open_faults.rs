//! Faults that are open on the GPUs of a report.

use super::line::canonical;
use crate::report::{Bearing, Entry, NODE, Report};

/// Faults that the ledger holds open on the node or on a GPU of the report. A run that worked does not end them: that takes
/// a new boot first.
pub fn open_faults(report: &Report) -> impl Iterator<Item = &Entry> {
    let addresses = report
        .gpus
        .iter()
        .filter_map(|gpu| gpu.pci_address.value.as_deref());
    let of_run: Vec<String> = addresses.map(canonical).collect();
    let open = report.health.iter().flat_map(|health| &health.open);
    open.filter(move |entry| {
        entry.bearing == Bearing::Fault && (entry.device == NODE || of_run.contains(&entry.device))
    })
}
