//! What stands between two parts of a signature of several lines that were found on one line. Programs write the lines of
//! others into one of their own, with escaped line breaks. Other text between two parts is no line break.

use super::clean::Clean;
use super::restore::{Signs, restore};
use super::sequence::MAX_LINES_APART;

/// Longest text that is looked at, in bytes. Parts that stand further apart are not joined.
const MOST_BYTES: usize = 32 * 1024;

/// Whether the next part may stand behind `text`: behind blanks only, or as many escaped lines later as it may stand lines later.
pub(super) fn joins(text: &[u8], reach: Option<u64>) -> bool {
    if text.len() > MOST_BYTES {
        return false;
    }
    let is_blank = text.iter().all(|byte| matches!(byte, b' ' | b'\t'));
    is_blank || (1..=reach.unwrap_or(MAX_LINES_APART)).contains(&breaks(text))
}

/// Line breaks that programs have escaped, `\n` or `#012`. A line that was restored has a carriage return for each.
fn breaks(text: &[u8]) -> u64 {
    let mut clean = Clean::default();
    restore(text, Signs::Escapes, false, &mut clean);
    let breaks = memchr::memchr_iter(b'\r', &clean.text).count();
    u64::try_from(breaks).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::joins;

    #[test]
    fn blanks_and_escaped_line_breaks_join_parts_and_other_text_does_not() {
        for (text, reach, is_joined) in [
            ("", None, true),
            (" \t", Some(1), true),
            (r"\n", None, true),
            (r"\\n", Some(1), true),
            (r"\r\n", Some(1), true),
            ("#012", Some(1), true),
            ("#015#012", Some(1), true),
            ("\r", Some(1), true),
            (r"</a>\n<b>", Some(1), true),
            (r"\nx\n", Some(2), true),
            (r"\nx\n", Some(1), false),
            ("</a><b>", None, false),
            ("}, {", Some(6), false),
        ] {
            assert_eq!(joins(text.as_bytes(), reach), is_joined, "{text:?} {reach:?}");
        }
    }
}
