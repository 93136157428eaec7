//! Lines that look like errors and that no record explains.

use std::sync::Arc;

use proptest::prelude::*;

use super::super::testing::{lines, matcher, scan_text};
use super::super::{ScanOptions, Summary, Unexplained, scan, without_colours};
use crate::error_words::find_error_word;
use crate::scanner::looks_like_error;

fn numbers(summary: &Summary) -> Vec<u64> {
    let lines = summary
        .unexplained
        .iter()
        .flat_map(|unexplained| &unexplained.lines);
    lines.map(|line| line.line).collect()
}

fn unexplained(text: &str) -> Option<Unexplained> {
    scan_text(&matcher(), text).unexplained
}

#[test]
fn a_line_that_looks_like_an_error_is_told_where_no_record_explains_it() {
    let found =
        unexplained("step 1\nzorgblat link 3 failed to train\nstep 2\nzorgblat link 4 failed to train\n")
            .unwrap();
    assert_eq!(found.lines.len(), 1, "one message: {found:?}");
    assert_eq!(found.lines[0].line, 2);
    assert_eq!(
        found.lines[0].text.as_deref(),
        Some("zorgblat link 3 failed to train")
    );
    assert_eq!(
        found.sentence(),
        "line 2 looks like an error, and no record explains it"
    );
    assert!(!found.are_more);
    for well in [
        "step 1\nstep 2\n",
        "done, 0 errors\n",
        "the default is used\n",
        "",
    ] {
        assert_eq!(unexplained(well), None, "{well}");
    }
    for (line, word) in [
        (
            "| N/A   29C    P0   ERR! / 250W |    593MiB / 16160MiB |      0%",
            "ERR!",
        ),
        (
            "[RESULT] [ 37513.318512] [action_1] gst 44411 pass: FALSE",
            "pass: FALSE",
        ),
    ] {
        let found = unexplained(line).unwrap();
        assert!(found.lines[0].text.as_deref().unwrap().contains(word), "{line}");
    }
    let coloured = unexplained("\u{1b}[31merror: zorgblat\u{1b}[0m\n").unwrap();
    assert_eq!(coloured.lines[0].text.as_deref(), Some("error: zorgblat"));
}

#[test]
fn what_a_record_explains_is_not_told() {
    let text = "NVRM: Xid (PCI:0000:3b:00): 79, pid=7, GPU has fallen off the bus.\n\
        RuntimeError: CUDA error: peer access is not supported between these two devices\n\
        zorgblat failed\n";
    let summary = scan_text(&matcher(), text);
    assert_eq!(summary.matches.len(), 2);
    assert_eq!(numbers(&summary), [3]);
}

#[test]
fn a_line_that_is_explained_only_by_later_ones_is_not_told() {
    // A terminal cut the message.
    let text = "RuntimeError: CUDA error: peer access is not supported betw\neen these two devices in a failed run\n";
    let summary = scan_text(&matcher(), text);
    assert_eq!(summary.matches.len(), 1);
    assert_eq!(numbers(&summary), [0_u64; 0], "{summary:?}");
}

#[test]
fn the_chunks_of_a_text_change_nothing() {
    let text = lines(400, |number| match number % 4 {
        0 => format!("zorgblat {} failed", "x".repeat(number % 37 + 1)),
        1 => "NVRM: Xid (PCI:0000:3b:00): 79, pid=7, GPU has fallen off the bus.".to_owned(),
        2 => "step done".to_owned(),
        _ => format!("error: {}", ["one", "two", "three"][number % 3]),
    });
    let whole = scan_text(&matcher(), &text);
    assert!(!numbers(&whole).is_empty());
    for size in [1, 7, 64, 1_000] {
        let mut scanner = matcher().scanner(ScanOptions::default());
        for piece in text.as_bytes().chunks(size) {
            scanner.feed(piece);
        }
        assert_eq!(scanner.finish().unexplained, whole.unexplained, "{size}");
    }
}

#[test]
fn what_is_told_is_bounded_and_says_so() {
    let words =
        ('a'..='z').flat_map(|one| ('a'..='z').map(move |other| format!("zorg{one}{other} failed\n")));
    let found = unexplained(&words.collect::<String>()).unwrap();
    assert_eq!((found.lines.len(), found.are_more), (20, true));
    let sentence = found.sentence();
    assert!(
        sentence.starts_with("at least 20 different messages look like errors"),
        "{sentence}"
    );
    let long = format!(
        "{{\"pad\":\"{}\",\"msg\":\"zorgblat failed\"}}\n",
        "x".repeat(300_000)
    );
    let found = unexplained(&long).unwrap();
    let text = found.lines[0].text.as_deref().unwrap();
    assert!(text.len() < 600 && text.contains("zorgblat failed"), "{text}");
}

#[test]
fn the_end_of_a_text_is_looked_at_however_many_known_lines_stand_before_it() {
    let known = "NVRM: Xid (PCI:0000:3b:00): 79, pid=7, GPU has fallen off the bus.\n";
    let repeated = "zorgblat link 3 failed to train\n";
    for (before, expected) in [(known, vec![4_001]), (repeated, vec![1, 4_001])] {
        let text = format!("{}frobnicator failed\n", before.repeat(4_000));
        let summary = scan_text(&matcher(), &text);
        assert_eq!(numbers(&summary), expected);
        assert!(!summary.unexplained.unwrap().are_more, "nothing was left out");
        let mut scanner = matcher().scanner(ScanOptions::default());
        for piece in text.as_bytes().chunks(1_000) {
            scanner.feed(piece);
        }
        assert_eq!(numbers(&scanner.finish()), expected);
    }
}

#[test]
fn the_first_and_the_last_lines_are_kept_where_not_all_are() {
    let letters = |number: usize| {
        let letter = |at: usize| {
            char::from(b'a' + u8::try_from(number / 26_usize.pow(u32::try_from(at).unwrap()) % 26).unwrap())
        };
        (0..4).map(letter).collect::<String>()
    };
    let known = "NVRM: Xid (PCI:0000:3b:00): 79, pid=7, GPU has fallen off the bus.\n";
    let few = lines(10, |number| format!("zorg{} failed", letters(number)));
    let middle = lines(4_000, |_| known.trim_end().to_owned());
    let text = format!("{few}\n{middle}\nfrobnicator failed\n");
    let summary = scan_text(&matcher(), &text);
    assert_eq!(numbers(&summary).len(), 11);
    // Too many messages of their own: the middle is left out, and that is said.
    let many = lines(5_000, |number| format!("zorg{} failed", letters(number)));
    let found = unexplained(&many).unwrap();
    assert_eq!((found.lines.len(), found.are_more), (20, true));
}

#[test]
fn without_text_only_the_lines_are_told() {
    let options = ScanOptions {
        keep_text: false,
        ..ScanOptions::default()
    };
    let found = scan(&Arc::clone(&matcher()), b"zorgblat failed\n", options)
        .unexplained
        .unwrap();
    assert_eq!((found.lines[0].line, found.lines[0].text.as_deref()), (1, None));
}

proptest! {
    /// The scanner looks only at lines in which the word is found before their colours are taken out.
    #[test]
    fn no_line_that_looks_like_an_error_is_overlooked(
        parts in proptest::collection::vec(
            prop_oneof![
                Just("\u{1b}[01;31m\u{1b}[K".to_owned()),
                Just("\u{1b}[m".to_owned()),
                Just("\u{1b}[K".to_owned()),
                Just("0".to_owned()),
                "(error|Error|ERROR|DEFAULT|failed|fault|timeout|no )",
                "[ a-zA-Z0-9:=é_,.-]{0,3}",
            ],
            0..8,
        )
    ) {
        let line = parts.concat();
        if looks_like_error(&without_colours(&line)) {
            prop_assert!(find_error_word(line.as_bytes()).is_some(), "{line:?}");
        }
    }
}

#[test]
fn a_denied_xid_is_no_error_line() {
    for line in [
        "no Xid errors since boot; Xid 79 is not present",
        "Checked for Xid 79: none found",
        "Xid errors: 0",
    ] {
        assert!(!crate::scanner::looks_like_error(line), "{line}");
    }
    for line in [
        "Xid 31 is not present; Xid 79 on GPU 3",
        "no Xid 79 found; cudaMalloc failed",
        "Xid 79 not recoverable",
    ] {
        assert!(crate::scanner::looks_like_error(line), "{line}");
    }
}
