//! Lines that look like errors and that no record knows: from logs to templates, and from a template to a record.
//!
//! ```text
//! lines    a text -> its lines that nobody knows, redacted      gather   lines of reports -> templates, beside the requests
//! change   what editors do with a template                      draft    a template -> the texts of a record that is begun
//! pasted   lines of pasted texts that their owners let us keep
//! ```
//!
//! Nothing of a line is kept but what is left of it after [`kb_core::redact`].

mod change;
mod draft;
mod gather;
mod lines;
mod pasted;

pub use change::{ChangeError, MAX_REASON_CHARS, change};
pub use draft::{Draft, draft, known_as, suggested_id};
pub use gather::{LogsOf, Unmatched};
pub use lines::{UnknownLine, UnknownLines, UnknownSearch, unknown_lines};
pub use pasted::{KeepError, keep, keepable, pasted, take_back};
