//! The error that no record knows, in one line.

use kb_core::scanner::{UnknownCause, UnknownPart};
use kb_core::terminal::harmless;

/// `First cause, line 279: TypeError: … (no record knows this; it is what ended rank 0)`.
pub(super) fn line(unknown: &UnknownCause) -> String {
    let error = harmless(&named(unknown));
    let line = unknown.line;
    match unknown.part {
        UnknownPart::Interrupted => {
            format!("Line {line}: {error} (interrupted by its user: no fault)")
        }
        UnknownPart::Ended => format!(
            "First cause, line {line}: {error} (no record knows this; it is what ended {})",
            who(unknown)
        ),
        _ => format!(
            "Line {line}: {error} (no record knows this; whether it ended the program, the text does not say)"
        ),
    }
}

/// The name and the message, as the text has them.
pub(in crate::render) fn named(unknown: &UnknownCause) -> String {
    match unknown.text.as_deref().filter(|text| !text.is_empty()) {
        Some(text) => format!("{}: {text}", unknown.name),
        None => unknown.name.clone(),
    }
}

fn who(unknown: &UnknownCause) -> String {
    let writer = &unknown.writer;
    let who = match (&writer.rank, &writer.process) {
        (Some(rank), _) => format!("rank {rank}"),
        (None, Some(process)) => format!("process {process}"),
        (None, None) => "the program".to_owned(),
    };
    let host = writer.host.as_ref().map(|host| format!(" on {host}"));
    harmless(&format!("{who}{}", host.unwrap_or_default()))
}
