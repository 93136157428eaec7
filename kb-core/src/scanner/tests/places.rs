//! Line numbers and byte offsets are exact whatever the bytes.

use super::super::testing::{matcher, scan_text};
use super::super::{Event, LONG_LINE_BYTES, Marked, OVERLAP_BYTES, ScanOptions};

const MESSAGE: &str = "peer access is not supported between these two devices";

/// Line, start and end of every hit, the text cut into chunks of this size.
fn hits(text: &[u8], chunk: usize) -> Vec<(u64, u64, u64)> {
    let mut scanner = matcher().scanner(ScanOptions::default());
    let mut events: Vec<Event> = Vec::new();
    for chunk in text.chunks(chunk) {
        events.extend(scanner.push(chunk));
    }
    let (last, _) = scanner.finish_with_events();
    events.extend(last);
    events
        .into_iter()
        .map(|event| match event {
            Event::Hit(hit) | Event::Candidate(hit) => (hit.line, hit.start, hit.end),
        })
        .collect()
}

fn find(text: &[u8], wanted: &str) -> (u64, u64) {
    let at = memchr::memmem::find(text, wanted.as_bytes()).unwrap();
    (
        u64::try_from(at).unwrap(),
        u64::try_from(at + wanted.len()).unwrap(),
    )
}

#[test]
fn offsets_count_bytes_of_the_body_as_sent() {
    for before in [
        "plain\n",
        "ünï 显存 €\n",
        "crlf\r\nagain\r\n",
        "\n\n\n",
        "a\rb\rc\n",
        "\u{1b}[1mcolour\u{1b}[0m\n",
        "\u{0}\n",
    ] {
        for on_line in ["", "显存 ", "\u{1b}[31m", "[rank1]: ", "50%\r"] {
            let text = format!("{before}{on_line}{MESSAGE}\r\nafter\n");
            let (start, end) = find(text.as_bytes(), MESSAGE);
            let line = u64::try_from(before.matches('\n').count()).unwrap() + 1;
            assert_eq!(hits(text.as_bytes(), 7), [(line, start, end)], "{text:?}");
        }
    }
}

#[test]
fn bytes_that_are_no_text_move_nothing() {
    let mut text = b"\xff\xfe\xc3\n\x80\x00 ".to_vec();
    text.extend_from_slice(MESSAGE.as_bytes());
    text.extend_from_slice(b" \xc3");
    let (start, end) = find(&text, MESSAGE);
    assert_eq!(hits(&text, 1), [(2, start, end)]);
    let summary = scan_text(&matcher(), &text);
    let marked = summary.matches[0].lines[0].text.clone().unwrap();
    assert_eq!(marked.text, format!("\u{fffd}\u{0} {MESSAGE} \u{fffd}"));
    assert_eq!(shown(&marked), MESSAGE);
}

/// What is marked in a text.
fn shown(marked: &Marked) -> &str {
    &marked.text[usize::try_from(marked.mark_start).unwrap()..usize::try_from(marked.mark_end).unwrap()]
}

#[test]
fn control_sequences_of_every_length_are_taken_off() {
    // As `tput` prints them: colour off with the character set, cursor saved, keypad mode, reset.
    for sequence in [
        "\u{1b}(B",
        "\u{1b}7",
        "\u{1b}>",
        "\u{1b}c",
        "\u{1b}M",
        "\u{1b}[0;1m",
        "\u{1b}#8",
    ] {
        let text = format!("CUDA peer access is {sequence}not supported between these two devices\n");
        let start = u64::try_from("CUDA ".len()).unwrap();
        let end = u64::try_from(text.len() - 1).unwrap();
        assert_eq!(hits(text.as_bytes(), 3), [(1, start, end)], "{sequence:?}");
    }
}

#[test]
fn colours_inside_a_match_lie_within_its_span() {
    let text = "\u{1b}[31mpeer \u{1b}]0;title\u{7}access\u{1b}[0m is not supported between these two \u{1b}[1mdevices\u{1b}[0m.\n";
    let start = 5;
    let end = u64::try_from(text.find("devices").unwrap() + "devices".len()).unwrap();
    assert_eq!(hits(text.as_bytes(), 3), [(1, start, end)]);
    let marked = scan_text(&matcher(), text).matches[0].lines[0]
        .text
        .clone()
        .unwrap();
    assert_eq!(marked.text, format!("{MESSAGE}."));
    assert_eq!(shown(&marked), MESSAGE);
}

#[test]
fn a_long_line_is_read_to_its_end_and_counted_once() {
    let filler = |length: usize| "x ".repeat(length / 2 + 1)[..length].to_owned();
    for at in [
        0,
        LONG_LINE_BYTES - 60,
        LONG_LINE_BYTES - OVERLAP_BYTES - 20,
        LONG_LINE_BYTES - OVERLAP_BYTES + 10,
        LONG_LINE_BYTES - 20,
        LONG_LINE_BYTES + 10,
        3 * LONG_LINE_BYTES,
    ] {
        let text = format!(
            "first\n{}{MESSAGE} {}\n{MESSAGE}\n",
            filler(at),
            filler(LONG_LINE_BYTES)
        );
        let (start, end) = find(text.as_bytes(), MESSAGE);
        let last = u64::try_from(text.len() - 1).unwrap();
        let expected = [
            (2, start, end),
            (3, last - u64::try_from(MESSAGE.len()).unwrap(), last),
        ];
        for chunk in [1_000, 4_096, LONG_LINE_BYTES, 1 << 20] {
            assert_eq!(
                hits(text.as_bytes(), chunk),
                expected,
                "at {at}, chunks of {chunk}"
            );
        }
        let summary = scan_text(&matcher(), &text);
        assert!(
            summary.notes[0].starts_with("1 line is longer than 65536 bytes"),
            "{:?}",
            summary.notes
        );
        assert_eq!(summary.lines_scanned, 3);
        let marked = summary.matches[0].lines[0].text.clone().unwrap();
        assert!(marked.cut && marked.text.len() < 1_100, "{}", marked.text.len());
        assert_eq!(shown(&marked), MESSAGE);
    }
}

#[test]
fn lines_around_the_limit_are_whole_or_in_pieces_but_never_lost() {
    for length in LONG_LINE_BYTES - 2..LONG_LINE_BYTES + 3 {
        let line = format!("{}{MESSAGE}", " ".repeat(length - MESSAGE.len()));
        for end in ["", "\n", "\r\n"] {
            let text = format!("{line}{end}{line}{end}");
            let expected = if end.is_empty() { 1 } else { 2 };
            let at_once = scan_text(&matcher(), &text);
            let is_long = length + end.len().saturating_sub(1) > LONG_LINE_BYTES || end.is_empty();
            assert_eq!(!at_once.notes.is_empty(), is_long, "{length} {end:?}");
            for chunk in [LONG_LINE_BYTES - 1, LONG_LINE_BYTES, LONG_LINE_BYTES + 1, 1 << 20] {
                let mut scanner = matcher().scanner(ScanOptions::default());
                text.as_bytes()
                    .chunks(chunk)
                    .for_each(|chunk| scanner.feed(chunk));
                assert_eq!(scanner.finish(), at_once, "{length} {end:?} {chunk}");
                assert_eq!(
                    hits(text.as_bytes(), chunk).len(),
                    expected,
                    "{length} {end:?} {chunk}"
                );
            }
        }
    }
}

#[test]
fn anchors_hold_at_the_line_and_after_its_prefix_but_not_at_a_cut() {
    use super::super::testing::{matcher_of, pattern, record};
    let mut anchored = record("cuda/x", "");
    anchored.patterns = vec![pattern("0", "^frobnicator infarction$")];
    let matcher = matcher_of(vec![anchored]);
    let count = |text: &str| {
        scan_text(&matcher, text)
            .matches
            .first()
            .map_or(0, |found| found.count)
    };
    for found in [
        "CUDA\nfrobnicator infarction\n",
        "2026-11-21T07:19:10Z ERROR frobnicator infarction\r\n",
        "Nov 21 07:19:10 node kernel: frobnicator infarction",
        "12%\r[rank2]: frobnicator infarction\n",
    ] {
        assert_eq!(count(found), 1, "{found:?}");
    }
    assert_eq!(count("a frobnicator infarction\n"), 0);
    assert_eq!(count("frobnicator infarction b\n"), 0);
}

#[test]
fn the_edge_of_a_piece_is_not_the_edge_of_a_line() {
    use super::super::testing::{matcher_of, pattern, record};
    let message = "frobnicator infarction";
    let count = |regex: &str, text: &str| {
        let mut record = record("cuda/x", "");
        record.patterns = vec![pattern("0", regex)];
        scan_text(&matcher_of(vec![record]), text).matches.len()
    };
    // The second piece begins with the message, then the first ends with it.
    let begins = format!(
        "{}{message}{}\n",
        "-".repeat(LONG_LINE_BYTES - OVERLAP_BYTES),
        "-".repeat(70_000)
    );
    let ends = format!(
        "{}{message}{}\n",
        "-".repeat(LONG_LINE_BYTES - message.len()),
        "-".repeat(70_000)
    );
    for text in [begins, ends] {
        assert_eq!(count("frobnicator infarction", &text), 1);
        assert_eq!(count("^frobnicator infarction", &text), 0);
        assert_eq!(count("frobnicator infarction$", &text), 0);
    }
    let whole = format!("{message}{}\n", "-".repeat(70_000));
    assert_eq!(count("^frobnicator infarction", &whole), 1);
    let whole = format!("{}{message}\r\n", "-".repeat(70_000));
    assert_eq!(count("frobnicator infarction$", &whole), 1);
}

#[test]
fn a_code_is_not_read_from_the_edge_of_a_piece() {
    use super::super::testing::{matcher_of, record};
    let mut coded = record("xid/79", "");
    coded.codes = vec!["Xid 79".to_owned(), "ncclSystemError".to_owned()];
    let matcher = matcher_of(vec![coded]);
    let count = |text: &str| {
        scan_text(&matcher, format!("{text} {}", "-".repeat(70_000)))
            .matches
            .len()
    };
    for (code, goes_on) in [("Xid 79", "1"), ("ncclSystemError", "s")] {
        // The first piece ends behind the code.
        let ends = format!("{}{code}", " ".repeat(LONG_LINE_BYTES - code.len()));
        assert_eq!(count(&format!("{ends}{goes_on}")), 0, "{code}");
        assert_eq!(count(&ends), 1, "{code}");
        // The second piece begins with the code.
        let begins = "-".repeat(LONG_LINE_BYTES - OVERLAP_BYTES - 1);
        assert_eq!(count(&format!("{begins}S{code}")), 0, "{code}");
        assert_eq!(count(&format!("{begins} {code}")), 1, "{code}");
    }
}
