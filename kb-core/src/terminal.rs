//! Texts of others on a terminal: what a log, a server or a setting says must not act on it, and no password is shown.

/// The text with a replacement character for all that a terminal takes for a command: control characters but the tab, and
/// marks that turn the direction of writing. It stays on one line.
pub fn harmless(text: &str) -> String {
    text.chars().map(|c| shown(c, false)).collect()
}

/// As [`harmless`], but lines stay lines.
pub fn harmless_lines(text: &str) -> String {
    text.chars().map(|c| shown(c, true)).collect()
}

fn shown(character: char, keeps_lines: bool) -> char {
    match character {
        '\t' => character,
        '\n' if keeps_lines => character,
        // Unicode Bidirectional Algorithm (UAX 9), section 2: embeddings, overrides, isolates; and line separators.
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}' => {
            char::REPLACEMENT_CHARACTER
        }
        _ if character.is_control() => char::REPLACEMENT_CHARACTER,
        _ => character,
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
        let one_line =
            "a\tb\u{fffd}]0;title\u{fffd}\u{fffd}2J\u{fffd}c\u{fffd}peerless-agent: healthy\u{fffd}x";
        assert_eq!(harmless(text), one_line);
        assert_eq!(harmless_lines("a\n\u{1b}[2Jb\r\n"), "a\n\u{fffd}[2Jb\u{fffd}\n");
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
