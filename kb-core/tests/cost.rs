//! What a line made against the matcher costs: time and answer grow with its length, and no faster.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod kb_seed;

use std::sync::Arc;
use std::time::Duration;

use kb_core::ids::Revision;
use kb_core::matcher::Matcher;
use kb_core::scanner::{LONG_LINE_BYTES, ScanOptions, Summary};
use rustix::time::{ClockId, clock_gettime};

/// Longest line that is read in one piece, its end included.
const LONG: usize = LONG_LINE_BYTES - 2;
const TIMES: usize = 16;
const SHORT: usize = LONG / TIMES;
/// A line of sixteen times the length may cost so many times as much. Where the cost grows with the square it is 256. A linear cost has
/// one step on the way: from some tens of kilobytes on, the regex engine that needs less memory takes twice as long for a byte.
const MOST_GROWTH: u32 = 48;
/// Bytes of the events of one line as JSON: a hundred records, each with its stretch of the line.
const MOST_ANSWER: usize = 256 * 1024;

fn matcher(records: &[kb_core::record::Record]) -> Arc<Matcher> {
    let signatures = records.iter().map(|record| record.signatures(Revision(1)));
    Arc::new(Matcher::build(signatures.collect()).0)
}

/// A line of this many bytes at most, made of the same again and again.
fn line(of: &str, bytes: usize) -> String {
    let mut line = of.repeat(bytes / of.len() + 1);
    let end = (0..=bytes).rev().find(|end| line.is_char_boundary(*end));
    line.truncate(end.unwrap_or_default());
    line.push('\n');
    line
}

/// Bytes of the events, and the summary.
fn answer(matcher: &Arc<Matcher>, line: &str) -> (usize, Summary) {
    let mut scanner = matcher.scanner(ScanOptions::default());
    let mut events = scanner.push(line.as_bytes());
    let (more, summary) = scanner.finish_with_events();
    events.extend(more);
    (serde_json::to_string(&events).unwrap().len(), summary)
}

/// Processor time of this thread so far: on a busy machine a long line is interrupted more often than a short one.
fn spent() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let (seconds, nanoseconds) = (time.tv_sec.try_into().unwrap(), time.tv_nsec.try_into().unwrap());
    Duration::new(seconds, nanoseconds)
}

/// The least of several: what else the machine does makes none faster.
fn least_time(matcher: &Arc<Matcher>, line: &str) -> Duration {
    let time = |_| {
        let start = spent();
        answer(matcher, line);
        spent().saturating_sub(start)
    };
    (0..25).map(time).min().unwrap()
}

#[test]
fn a_line_made_against_the_matcher_costs_as_its_length() {
    let records = kb_seed::records();
    let matcher = matcher(&records);
    let examples = records.iter().flat_map(|record| &record.annex.examples);
    let examples: Vec<String> = examples.map(|example| example.text.replace('\n', " ")).collect();
    let numbered = |words: &str| -> String {
        let all: Vec<String> = (0..1_000).map(|number| format!("{words} {number}")).collect();
        all.join(" ") + " "
    };
    for of in [
        "Xid 79 ".to_owned(),
        "CUDA error 217 ".to_owned(),
        "NCCL WARN all Xid 31s, Xid 31 ".to_owned(),
        numbered("Xid"),
        numbered("CUDA error"),
        examples.join(" "),
    ] {
        let (short, long) = (line(&of, SHORT), line(&of, LONG));
        let (bytes, _) = answer(&matcher, &long);
        assert!(bytes <= MOST_ANSWER, "{bytes} bytes for {of:.40}");
        let (few, many) = (least_time(&matcher, &short), least_time(&matcher, &long));
        assert!(many <= few * MOST_GROWTH, "{few:?} and {many:?} for {of:.40}");
    }
}

/// What stands at the end of a line is not read again for each sign or word before it.
#[test]
fn a_line_of_signs_and_a_long_end_costs_as_its_length() {
    let matcher = matcher(&kb_seed::records());
    let made = |begin: &str, of: &str, end: &str, bytes: usize| {
        let half = (bytes - begin.len()) / 2;
        let (many, long) = (of.repeat(half / of.len()), end.repeat(half / end.len()));
        format!("{begin}{many}{long}\n")
    };
    for (begin, of, end) in [
        ("", "=", " "),
        ("", "=20", " "),
        ("", "=20", "="),
        ("", "%", " "),
        ("", "%20", "x"),
        ("", "+", " "),
        ("", "+ ", "%20"),
        ("INFO ", "unhealthy ", "!"),
        ("#Entity ", "XIDER ", " "),
    ] {
        let (short, long) = (made(begin, of, end, SHORT), made(begin, of, end, LONG));
        let (few, many) = (least_time(&matcher, &short), least_time(&matcher, &long));
        assert!(
            many <= few * MOST_GROWTH,
            "{few:?} and {many:?} for {begin}{of}{end}"
        );
    }
}

/// Lines behind a table are looked at for rows: what a terminal shows one over the other is not read again for each part.
#[test]
fn lines_behind_a_table_cost_as_their_length() {
    let matcher = matcher(&kb_seed::records());
    let text = |bytes: usize| {
        let line = format!("x{}x\n", "\r".repeat(bytes));
        format!("#Entity   XIDER   TMPTR\n{}", line.repeat(8))
    };
    let (few, many) = (
        least_time(&matcher, &text(4_000 / TIMES)),
        least_time(&matcher, &text(4_000)),
    );
    assert!(many <= few * MOST_GROWTH, "{few:?} and {many:?}");
}

#[test]
fn what_is_left_out_of_a_crowded_line_is_told() {
    let records = kb_seed::records();
    let matcher = matcher(&records);
    let examples = records.iter().flat_map(|record| &record.annex.examples);
    let examples: Vec<String> = examples.map(|example| example.text.replace('\n', " ")).collect();
    let told = |line: &str| {
        let (_, summary) = answer(&matcher, line);
        let crowded = |note: &&String| note.contains("too many possible matches");
        summary.notes.iter().find(crowded).cloned()
    };
    assert!(told(&line(&examples.join(" "), LONG)).is_some());
    for example in &examples {
        assert_eq!(told(&format!("{example}\n")), None);
    }
}
