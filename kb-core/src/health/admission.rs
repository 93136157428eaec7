//! Which faults end by the admission of the node alone, and whether a later report shows that one has ended.

use crate::observation::cause;
use crate::report::{Bearing, Entry, Nature, Report};
use crate::severity::Blame;
use crate::verdict::not_admitted;

/// What ends a fault of the hardware, for people.
pub const ENDS_BY: &str = "after the repair `peerless-agent admit` ends it, or `peerless-agent clear`";

/// True of a fault of the hardware: an Xid, an SXid, errors of memory or a fatal kernel message that is no application's, or what
/// a load found. Only a run that admits the node ends it, or an audited clear. So it is with a ledger that could not be read, in
/// which there may have been one.
pub fn needs_admission(entry: &Entry) -> bool {
    let is_of_hardware = matches!(
        entry.cause.as_str(),
        cause::XID | cause::SXID | cause::ECC_UNCORRECTED | cause::LOAD_FAULT | cause::KERNEL_MESSAGE
    );
    let is_fault = entry.bearing == Bearing::Fault && entry.at_fault != Some(Blame::Application);
    let is_meant = (is_of_hardware && is_fault) || entry.cause == cause::LEDGER_DAMAGED;
    entry.nature == Nature::Event && is_meant
}

/// A fault of the hardware that was open in an earlier report and that a later one does not show to have ended: neither does it
/// admit the node, nor does its ledger, where it was told of one, have the fault no more.
pub fn still_open<'a>(earlier: &'a Report, later: &Report) -> Option<&'a Entry> {
    // Nothing is open behind an admission.
    not_admitted(later)?;
    let open = earlier.health.iter().flat_map(|health| &health.open);
    let mut open = open.filter(|entry| needs_admission(entry));
    open.find(|entry| {
        let now = later.health.as_ref();
        now.is_none_or(|now| now.open.iter().any(|other| other.id == entry.id))
    })
}
