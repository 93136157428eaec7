//! Which faults end by the admission of the node alone, and whether a later report shows that one has ended.

use std::collections::BTreeSet;

use super::since::LedgerSince;
use crate::observation::{canonical, cause, is_fault_in_doubt};
use crate::report::{Bearing, Entry, Gpu, NODE, Nature, Report};
use crate::severity::{Action, Blame};
use crate::verdict::not_admitted;

/// What ends a fault of the hardware, for people.
pub const ENDS_BY: &str = "after the repair `peerless-agent admit` ends it, or `peerless-agent clear`";

/// True of a fault of the hardware: an Xid, an SXid, errors of memory, a fatal kernel message of no application, or what a
/// load found; of one of a cause that is not known, which a newer agent may have found; and of an unreadable ledger, which may
/// hold one. Only an admitting run or an audited clear ends it.
pub fn needs_admission(entry: &Entry) -> bool {
    let is_of_hardware = matches!(
        entry.cause.as_str(),
        cause::XID | cause::SXID | cause::ECC_UNCORRECTED | cause::LOAD_FAULT | cause::KERNEL_MESSAGE
    ) || cause::watched(&entry.cause).is_none();
    let may_be_fault = entry.bearing == Bearing::Fault || is_fault_in_doubt(entry);
    let is_fault = may_be_fault && entry.at_fault != Some(Blame::Application);
    let is_meant = (is_of_hardware && is_fault) || entry.cause == cause::LEDGER_DAMAGED;
    entry.nature == Nature::Event && is_meant
}

/// Whether a good run in `boot` may end the entry: something was done about it since, or could be done without a new boot.
pub(super) fn is_due(entry: &Entry, boot: &str) -> bool {
    let of_earlier_boot = entry.boot_id.as_ref().is_some_and(|earlier| earlier != boot);
    // The test that found a fault shows also without a new boot that it is gone.
    let is_repeated = entry.cause == cause::LOAD_FAULT;
    of_earlier_boot || is_repeated || (needs_admission(entry) && is_mended_without_boot(entry))
}

/// Whether what the entry's record asks for can be done while the node runs, so that a run of the same boot may show that it was.
/// Of an entry without a record, or of an unknown boot, that is not known.
fn is_mended_without_boot(entry: &Entry) -> bool {
    let in_the_same_boot = matches!(
        entry.action,
        Some(
            Action::None
                | Action::FixApplication
                | Action::ChangeConfiguration
                | Action::RestartApplication
                | Action::ResetGpu
        )
    );
    in_the_same_boot && entry.boot_id.is_some()
}

/// A fault of the hardware that was open in an earlier report and that a later one does not show to have ended. It has ended where the
/// later report's ledger tells of a clear that the earlier one did not have, or where the later run ends it by the ledger's own rule.
/// One that is only gone from the ledger may have been lost with it.
pub fn still_open<'a>(earlier: &'a Report, later: &Report) -> Option<&'a Entry> {
    let admits = not_admitted(later).is_none();
    let boot = later.node.boot_id.as_deref();
    let (since, loaded) = (LedgerSince::of(earlier, later), Loaded::of(earlier, later));
    let open = earlier.health.iter().flat_map(|health| &health.open);
    let mut open = open.filter(|entry| needs_admission(entry));
    open.find(|entry| {
        if since.has_open(&entry.id) {
            return true;
        }
        if since.is_cleared(entry) {
            return false;
        }
        let is_due = boot.is_some_and(|boot| is_due(entry, boot));
        !(admits && is_due && loaded.has(entry))
    })
}

/// What the later report loaded.
struct Loaded {
    /// PCI addresses of its GPUs under load.
    gpus: BTreeSet<String>,
    /// Every GPU of the earlier report is among them.
    is_all: bool,
}

impl Loaded {
    fn of(earlier: &Report, later: &Report) -> Self {
        let address = |gpu: &Gpu| gpu.pci_address.value.as_deref().map(canonical);
        let load = later.load.as_ref();
        let gpus: BTreeSet<String> = (0..)
            .zip(&later.gpus)
            .filter(|(index, _)| load.is_some_and(|load| load.of_gpu(*index).is_some()))
            .filter_map(|(_, gpu)| address(gpu))
            .collect();
        let is_all = earlier
            .gpus
            .iter()
            .filter_map(address)
            .all(|gpu| gpus.contains(&gpu));
        Self { gpus, is_all }
    }

    /// Whether it loaded what the entry is about: its GPU, or for the node and its switches every GPU of the earlier report.
    fn has(&self, entry: &Entry) -> bool {
        if entry.device == NODE || entry.cause == cause::SXID {
            self.is_all
        } else {
            self.gpus.contains(&entry.device)
        }
    }
}
