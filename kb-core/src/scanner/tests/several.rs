//! Signatures of several lines, and lines that were cut.

use std::sync::Arc;

use super::super::testing::{lines, matcher, matcher_of, pattern, record, scan_text};
use super::super::{MAX_LINES_APART, MatchedLine, ScanOptions, Summary};
use crate::matcher::Matcher;

const SIGNATURE: &str = "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp, unhandled system error\n\
                         ncclSystemError: System call (e.g. socket, malloc) or external library call failed";
const FIRST: &str =
    "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp, unhandled system error";
const SECOND: &str = "ncclSystemError: System call (e.g. socket, malloc) or external library call failed";

fn system_error() -> Arc<Matcher> {
    matcher_of(vec![record("nccl/system-error", SIGNATURE)])
}

/// The lines of each place of the only match.
fn places(summary: &Summary) -> Vec<Vec<u64>> {
    let of = |line: &MatchedLine| {
        std::iter::once(line.line)
            .chain(line.parts.iter().map(|part| part.line))
            .collect()
    };
    summary
        .matches
        .iter()
        .flat_map(|found| found.lines.iter().map(of))
        .collect()
}

#[test]
fn a_fatal_line_of_several_makes_a_record_no_longer_harmless() {
    let mut harmless = record("nccl/system-error", SIGNATURE);
    harmless.harmless = Some("it is tried again".to_owned());
    let matcher = matcher_of(vec![harmless]);
    for (told, is_harmless) in [("nonfatal", true), ("fatal", false)] {
        for text in [
            format!("{FIRST} Xid 147, {told}\n{SECOND}\n"),
            format!("{FIRST}\n{SECOND} Xid 147, {told}\n"),
        ] {
            let summary = scan_text(&matcher, &text);
            assert_eq!(summary.matches[0].harmless, is_harmless, "{text}");
        }
    }
    // Its beginning alone is no match.
    let text = format!("{FIRST} Xid 147, fatal\n{FIRST}\n{SECOND}\n");
    assert_eq!(places(&scan_text(&matcher, &text)), [vec![2, 3]]);
    assert!(scan_text(&matcher, &text).matches[0].harmless);
}

#[test]
fn a_signature_of_two_lines_is_found_in_each_rank_of_an_interleaved_log() {
    let text = format!(
        "[rank0]: Traceback\n[rank0]: {FIRST}\n[rank1]: {FIRST}\n[rank2]: step 7\n[rank1]: {SECOND}\n[rank0]: {SECOND}\n"
    );
    let summary = scan_text(&system_error(), &text);
    assert_eq!(places(&summary), [vec![2, 6], vec![3, 5]]);
    let found = &summary.matches[0];
    assert_eq!(found.count, 2);
    assert_eq!(
        found.why,
        "the whole message stands on several lines, line 3 among them"
    );
    for line in &found.lines {
        let at = |start: u64, end: u64| &text[usize::try_from(start).unwrap()..usize::try_from(end).unwrap()];
        assert_eq!(
            (
                at(line.start, line.end),
                at(line.parts[0].start, line.parts[0].end)
            ),
            (FIRST, SECOND)
        );
    }
}

#[test]
fn parts_of_different_writers_make_no_whole() {
    for text in [
        format!("[rank0]: {FIRST}\n[rank1]: {SECOND}\n"),
        format!("{SECOND}\n{FIRST}\n"),
        format!("gpu-7:1:2 [0] {FIRST}\ngpu-8:1:2 [0] {SECOND}\n"),
        format!("{FIRST}\n{}{SECOND}\n", lines(300, |n| format!("step {n}"))),
    ] {
        assert_eq!(scan_text(&system_error(), &text).matches, [], "{text:.60}");
    }
}

#[test]
fn a_line_that_names_nobody_goes_on_with_what_was_begun() {
    let apart = usize::try_from(MAX_LINES_APART).unwrap() - 1;
    for text in [
        format!("2026-11-21 07:00:00 gpu-7 python[77]: {FIRST}\n{SECOND}\n"),
        format!("{FIRST}\n{SECOND}"),
        format!("{FIRST} {SECOND}"),
        format!("{FIRST}\r\n\u{1b}[31m{SECOND}\u{1b}[0m\r\n"),
        format!("{FIRST}\n{}{SECOND}\n", lines(apart, |n| format!("step {n}"))),
    ] {
        let summary = scan_text(&system_error(), &text);
        assert_eq!(summary.matches.len(), 1, "{text}");
        assert_eq!(summary.matches[0].lines[0].line, 1);
    }
}

#[test]
fn lines_that_are_counted_say_how_far_the_next_part_may_stand() {
    let mut counts = record("driver/double-bit", "Double Bit counts are not zero");
    counts.patterns = vec![pattern(
        "0",
        r"NVRM Double Bit\n(?:.*\n){0,2}NVRM Device Memory: (?P<count>[1-9]\d*)",
    )];
    let matcher = matcher_of(vec![counts]);
    for (between, is_found) in [(0, true), (2, true), (3, false)] {
        let between = lines(between, |n| format!("row {n}"));
        let text = format!("NVRM Double Bit\n{between}NVRM Device Memory: 4\n");
        let found = scan_text(&matcher, &text).matches;
        assert_eq!(found.len(), usize::from(is_found), "{text}");
    }
}

#[test]
fn parts_on_one_line_are_joined_by_escaped_line_breaks_and_not_by_other_text() {
    let mut status = record("dcgm/test-failed", "the summary of a DCGM test is Fail");
    status.patterns = vec![pattern(
        "0",
        r#""test_summary": \{\n(?:.*\n){0,1}\s*"status": "(?P<status>Fail)""#,
    )];
    let matcher = matcher_of(vec![status]);
    for (text, is_found) in [
        (r#""test_summary": {"status": "Fail"}"#, true),
        (r#""test_summary": { "status": "Fail"}"#, true),
        (r#"\"test_summary\": {\n  \"status\": \"Fail\""#, true),
        (
            r#"\"test_summary\": {\r\n  \"id\": 1,\r\n \"status\": \"Fail\""#,
            true,
        ),
        (
            r#"\"test_summary\": {\n \"id\": 1,\n \"a\": 2,\n \"status\": \"Fail\""#,
            false,
        ),
        (r#""test_summary": {#012  "id": 1,#012  "status": "Fail""#, true),
        (
            r#""test_summary": {"status": "Pass"}}, {"name": "x", "status": "Fail"}"#,
            false,
        ),
        (r#""test_summary": {"id": 1, "status": "Fail"}"#, false),
        (
            "\"test_summary\": {\u{1b}[31m \u{1b}[0m\"status\": \"Fail\"",
            true,
        ),
    ] {
        let found = scan_text(&matcher, text).matches;
        assert_eq!(found.len(), usize::from(is_found), "{text}");
    }
    let long = |between: &str| {
        format!(
            "\"test_summary\": {{{between}{}{between}\"status\": \"Fail\"",
            "x".repeat(200_000)
        )
    };
    assert_eq!(scan_text(&matcher, long(", ")).matches, [], "in pieces");
}

#[test]
fn a_pattern_is_cut_at_its_line_breaks() {
    let mut traceback = record("pytorch/lost-worker", "DataLoader worker was lost");
    let mut spec = pattern(
        "0",
        r"Traceback \(most recent call last\):.*\n(?:.*\n)*.*line (?P<line>\d+), in (\w+)\n+.*DataLoader worker \(pid (?P<pid>\d+)\) is killed",
    );
    spec.captures = vec!["function".to_owned()];
    traceback.patterns = vec![spec];
    let matcher = matcher_of(vec![traceback]);
    let text = "start\nTraceback (most recent call last):\n  File \"a.py\", line 3, in main\n    run()\n  \
                File \"b.py\", line 77, in fetch\nRuntimeError: DataLoader worker (pid 4711) is killed by signal: 9\n";
    let summary = scan_text(&matcher, text);
    assert_eq!(places(&summary), [[2, 3, 6]], "{summary:#?}");
    let captures = &summary.matches[0].lines[0].captures;
    let expected = [("function", "main"), ("line", "3"), ("pid", "4711")];
    assert!(
        captures
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .eq(expected),
        "{captures:?}"
    );
    assert_eq!(summary.matches[0].count, 1);
    // Without its beginning it is another error.
    let tail = text.replace("Traceback", "Backtrace");
    assert_eq!(scan_text(&matcher, tail).matches, []);
}

#[test]
fn a_line_that_gives_the_record_away_alone_is_counted_once() {
    let mut both = record("nccl/system-error", SIGNATURE);
    both.patterns = vec![pattern("0", "ncclSystemError: System call")];
    let matcher = matcher_of(vec![both]);
    let summary = scan_text(&matcher, format!("{FIRST}\n{SECOND}\n{SECOND}\n"));
    assert_eq!(summary.matches[0].count, 2);
    assert!(
        summary.matches[0]
            .why
            .starts_with("the whole message stands on several lines, ")
    );
}

#[test]
fn how_the_bytes_arrive_does_not_matter() {
    let text =
        format!("[rank0]: {FIRST}\nstep\n[rank1]: {FIRST}\n[rank0]: {SECOND}\n[rank1]: {SECOND}\n") + XID_80;
    let mut known = super::super::testing::records();
    known.push(record("nccl/system-error", SIGNATURE));
    let matcher = matcher_of(known);
    let whole = scan_text(&matcher, &text);
    assert_eq!(whole.matches.len(), 2);
    for size in [1, 7, 64] {
        let mut scanner = matcher.scanner(ScanOptions::default());
        text.as_bytes().chunks(size).for_each(|chunk| scanner.feed(chunk));
        assert_eq!(scanner.finish(), whole, "in pieces of {size}");
    }
}

#[test]
fn what_is_begun_and_never_ended_takes_bounded_room() {
    let text = lines(1_000, |n| format!("[rank{}]: {FIRST}", n % 200));
    let summary = scan_text(&system_error(), text);
    assert_eq!(summary.matches, []);
    assert!(
        summary
            .notes
            .iter()
            .any(|note| note.contains("more than 128 were open")),
        "{:?}",
        summary.notes
    );
}

/// An Xid as a terminal of 80 columns shows it.
const XID_80: &str = "\
[Sat Nov 21 07:19:10 2026] nvidia 0000:3b:00.0: a line that fills the terminal..
[Sat Nov 21 07:19:10 2026] NVRM: Xid (PCI:0000:3b:00): 79, pid=4711, name=python
3, GPU has fallen off the bus.
";

#[test]
fn a_line_cut_by_a_terminal_is_found_whole() {
    let fallen = {
        let mut fallen = record("xid/79", "GPU has fallen off the bus");
        fallen.patterns = vec![pattern(
            "0",
            r"Xid \(PCI:[0-9a-f:.]+\): 79, pid=(?<pid>\d+), name=(?<name>\w+), GPU has fallen",
        )];
        matcher_of(vec![fallen])
    };
    let summary = scan_text(&fallen, XID_80);
    assert_eq!(
        places(&summary),
        [vec![3], vec![2, 3]][..1],
        "the signature stands on line 3 alone"
    );

    let refused = "peer access is not supported between these two devices";
    let log = |before: &str, between: &str, after: &str| {
        format!(
            "{before}RuntimeError: CUDA error: peer access is not{between}supported between these two devices{after}\n"
        )
    };
    let wide = "x".repeat(44);
    for (text, line) in [
        // Cut in the middle of the message, at the width of the line before.
        (log("", " \n", ""), 1),
        (log("", "\n", ""), 1),
        (log(&format!("{wide}\n"), "\n", " (cudaErrorPeer)"), 2),
        (
            "RuntimeError: CUDA error: peer access is not suppo\nrted between these two devices".to_owned(),
            1,
        ),
        (
            "RuntimeError: CUDA error: peer access is\r\nnot supported between these two devices\r\n"
                .to_owned(),
            1,
        ),
        (log("", "\u{1b}[0m\n\u{1b}[31m", ""), 1),
    ] {
        let summary = scan_text(&matcher(), &text);
        let found = summary
            .matches
            .first()
            .unwrap_or_else(|| panic!("{text} {summary:#?}"));
        assert_eq!(
            (found.id.domain(), found.lines[0].line, found.count),
            ("cuda", line, 1),
            "{text}"
        );
        assert!(!found.lines[0].parts.is_empty());
        let span =
            usize::try_from(found.lines[0].start).unwrap()..usize::try_from(found.lines[0].end).unwrap();
        assert!(
            text[span.clone()].starts_with("peer access") && text[span].ends_with("two devices"),
            "{refused}"
        );
    }
}

#[test]
fn lines_that_nobody_cut_are_not_put_together() {
    let first = "RuntimeError: CUDA error: peer access is not";
    let second = "supported between these two devices";
    for text in [
        // There was room on the line.
        format!("{first}\n{second}\n{}\n", "x".repeat(120)),
        // The next line has its own writer, or time.
        format!("{first}\n[rank3]: {second}\n"),
        format!("{first}\n2026-11-21 07:00:00 {second}\n"),
        format!("{first}\n\n{second}\n"),
        // Narrower than any terminal.
        "CUDA peer access is not\nsupported between these\ntwo devices\n".to_owned(),
    ] {
        assert_eq!(scan_text(&matcher(), &text).matches, [], "{text}");
    }
}
