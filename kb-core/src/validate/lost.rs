//! A harmless record tried with the statuses of a lost or broken GPU: a pattern that takes any status calls those harmless too.

use super::{Part, Violation};
use crate::annex::Annex;

/// What the driver prints of such a status: its words, then its name.
const STATUSES: [(&str, &str); 4] = [
    ("GPU lost from the bus", "NV_ERR_GPU_IS_LOST"),
    ("Call timed out", "NV_ERR_TIMEOUT"),
    ("GPU requires reset", "NV_ERR_RESET_REQUIRED"),
    ("ECC error", "NV_ERR_ECC_ERROR"),
];

pub(super) fn check(annex: &Annex, is_taken: impl Fn(&str) -> bool, found: &mut Vec<Violation>) {
    if annex.harmless.is_none() {
        return;
    }
    for (index, example) in annex.examples.iter().enumerate() {
        let lost = STATUSES.iter().find(|(words, name)| {
            with_status(&example.text, words, name).is_some_and(|changed| is_taken(&changed))
        });
        if let Some((_, name)) = lost {
            let reason = format!(
                "the record is harmless, and its pattern takes this example with the status {name}, too"
            );
            let pointer = format!("/examples/{index}/text");
            let violation = Violation::error(Part::Annex, pointer, "harmless-takes-lost-gpu", reason);
            found.push(violation.fix("name the harmless statuses in the pattern"));
        }
    }
}

/// The text with another status: `status: Requested object not found [NV_ERR_OBJECT_NOT_FOUND]`, or the name alone.
fn with_status(text: &str, words: &str, name: &str) -> Option<String> {
    const PREFIX: &str = "NV_ERR_";
    let (before, rest) = text.split_once(PREFIX)?;
    let is_name = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    let behind = rest.trim_start_matches(is_name);
    let in_words = before
        .strip_suffix('[')
        .and_then(|before| before.rsplit_once(": "));
    Some(match in_words {
        Some((before, _)) => format!("{before}: {words} [{name}{behind}"),
        None => format!("{before}{name}{behind}"),
    })
}
