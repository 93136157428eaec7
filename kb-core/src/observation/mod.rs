//! What is seen of GPUs without touching them.
//!
//! ```text
//! report facts -> look (what each GPU's state reads as, what could not be read)
//! kernel log   -> line (Xid, SXid, a fatal message) -> known (what its record says)
//! ```

mod bus;
pub mod cause;
mod host_lines;
mod known;
mod line;
mod look;
mod messages;
mod mixed;
mod open_faults;
mod recovery;
mod states;
#[cfg(test)]
mod tests;

pub use bus::Bus;
pub use cause::{WATCHED, Watched};
pub use host_lines::is_host_failure;
pub use known::{KnownXid, bearing, known, known_xids};
pub use line::{LineEvent, What, canonical, has_unread_number, read_line, read_message};
pub(crate) use line::{RECOVERY_ACTION_CHANGED, is_of_process, without_stamp};
pub(crate) use look::{Count, Reading};
pub use look::{Look, Missed, Occurrence, Scope};
pub(crate) use messages::{CARD_GONE, HEARTBEAT, NEVER_BEAT, NO_ANSWER, fatal_records};
pub(crate) use open_faults::is_fault_in_doubt;
pub use open_faults::{LEDGER, open_entry, open_faults, open_warnings, unread_ledger};
pub use recovery::Recovery;
pub(crate) use states::{THROTTLING, bearing_of};
