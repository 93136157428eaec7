//! Texts of others on a terminal: what a log, a server or a setting says must not act on it, and no password is shown.

use std::fmt::Write as _;

/// The text with an escape, `\u001b` or `\u202e`, for all that a terminal takes for a command and that a reader does not see:
/// control characters but the tab, and marks of writing direction. It stays on one line. Its meaning as JSON stays.
pub fn harmless(text: &str) -> String {
    escaped(text, |_| false)
}

/// As [`harmless`], but lines stay lines.
pub fn harmless_lines(text: &str) -> String {
    if !text.contains(acts) {
        return text.to_owned();
    }
    escaped(text, |rest| rest.starts_with('\n') || rest.starts_with("\r\n"))
}

/// `keeps` says of a rest of the text whether its first character stays.
fn escaped(text: &str, keeps: impl Fn(&str) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(acts) {
        let (before, behind) = rest.split_at(at);
        out.push_str(before);
        let mut characters = behind.chars();
        let Some(character) = characters.next() else {
            break;
        };
        if keeps(behind) {
            out.push(character);
        } else {
            // Writing to a String cannot fail.
            let _ = write!(out, "\\u{:04x}", u32::from(character));
        }
        rest = characters.as_str();
    }
    out.push_str(rest);
    out
}

/// True for what is no visible part of a text, but acts on how others are shown.
fn acts(character: char) -> bool {
    match character {
        '\t' => false,
        // Unicode Bidirectional Algorithm (UAX 9), section 2: embeddings, overrides, isolates, marks; and line separators.
        '\u{202a}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}'
        | '\u{61c}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{2028}'
        | '\u{2029}' => true,
        _ => character.is_control(),
    }
}

/// An address as it may be shown: with `***` in place of a user and a password. All up to the last `@` counts as such, for a
/// password may hold what else ends it. A query is left out where there was one, for it may hold a secret too.
pub fn without_password(address: &str) -> String {
    let start = address.find("://").map_or(0, |at| at + 3);
    let (scheme, rest) = address.split_at_checked(start).unwrap_or(("", address));
    let rest = rest
        .rsplit_once('@')
        .map_or_else(|| rest.to_owned(), |(_, host)| format!("***@{host}"));
    let (rest, query) = rest
        .split_once('?')
        .map_or((rest.as_str(), ""), |(rest, _)| (rest, "?***"));
    harmless(&format!("{scheme}{rest}{query}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_does_not_drive_the_terminal() {
        let text = "a\tb\u{1b}]0;title\u{7}\u{9b}2J\rc\npeerless-agent: healthy\u{202e}x";
        let one_line = "a\tb\\u001b]0;title\\u0007\\u009b2J\\u000dc\\u000apeerless-agent: healthy\\u202ex";
        assert_eq!(harmless(text), one_line);
        assert_eq!(
            harmless_lines("a\n\u{1b}[2Jb\rc\r\n"),
            "a\n\\u001b[2Jb\\u000dc\r\n"
        );
        assert_eq!(harmless("显卡 not available"), "显卡 not available");
    }

    #[test]
    fn no_password_is_shown_however_the_address_is_wrong() {
        for (address, shown) in [
            ("https://kb.example/gpu", "https://kb.example/gpu"),
            ("https://user:secret@kb.example/gpu", "https://***@kb.example/gpu"),
            ("https://user:se/cr@et@kb.example", "https://***@kb.example"),
            ("user:secret@kb.example", "***@kb.example"),
            ("ftp://secret@", "ftp://***@"),
            (
                "postgres://kb.example/kb?password=secret",
                "postgres://kb.example/kb?***",
            ),
            ("kb.example", "kb.example"),
            ("", ""),
        ] {
            assert_eq!(without_password(address), shown);
        }
    }
}
