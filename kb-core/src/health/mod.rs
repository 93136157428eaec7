//! How a node is by what is seen without touching a GPU: states and events, kept from look to look.
//!
//! ```text
//! observation (states of a look, events of the kernel log) \
//!                            a run's verdict (the proof) -> ledger -> conclude
//! ```
//!
//! A *state* (GPU lost, remapping pending, link down, recovery action) ends when a look reads it as good. An *event*
//! ends by an audited clear, or by a run: one of the hardware (a fatal Xid, uncorrected ECC errors, a fatal kernel message) by a
//! run that admits the node, any other by a proof after a new boot.
//! Neither ends by time, by a boot alone, or by a look that could not read it.

mod admission;
mod by_policy;
mod conclude;
mod ledger;
mod since;
#[cfg(test)]
mod tests;

pub use admission::{ENDS_BY, needs_admission, still_open};
pub use by_policy::{health_by, made_milder, milder_sentence, report_by, tell_by};
pub use conclude::{CLOCK_SKEW, UNREAD_LEDGER, age, conclude, headline, told};
pub use ledger::{ClearError, Ledger, ListedEarlier, LogPlace, NotOurs, Place, Unended};
pub use since::{LedgerSince, is_after};

pub use crate::observation::{
    KnownXid, LEDGER, LineEvent, Look, Missed, Occurrence, Recovery, Scope, WATCHED, Watched, What, cause,
    has_unread_number, known, known_xids, open_faults, open_warnings, read_line, read_message, unread_ledger,
};
pub use crate::report::{Bearing, Clear, Counter, Entry, Family, Health, Nature, Proof, Seen, Unread};
