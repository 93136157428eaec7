//! What is found late, after the lines behind it were read: signatures of several lines, and lines that a terminal cut.

use std::sync::Arc;

use super::super::testing::{lines, matcher, matcher_of, pattern, record, scan_text};
use super::super::{HEAD_BYTES, Match, Order};
use crate::matcher::Matcher;

const FIRST: &str = "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp";
const SECOND: &str = "ncclSystemError: System call or external library call failed";

/// Two lines, of which the first gives the record away alone.
fn system_error() -> Arc<Matcher> {
    let mut both = record("nccl/system-error", &format!("{FIRST}\n{SECOND}"));
    both.patterns = vec![pattern("0", "DistBackendError: NCCL error in")];
    matcher_of(vec![both])
}

/// A fold's count and lines.
type FoldLines = (u64, Vec<u64>);

/// Count, lines, and each fold's count and lines of the only match.
fn counts(found: &Match) -> (u64, Vec<u64>, Vec<FoldLines>) {
    let folds = found.folds.iter().map(|fold| (fold.count, fold.lines.clone()));
    let lines = found.lines.iter().map(|line| line.line);
    (found.count, lines.collect(), folds.collect())
}

/// An error cut in two by a terminal, on this many places of three lines each.
fn cut(times: usize) -> String {
    lines(times, |_| {
        "RuntimeError: CUDA error in worker 4711 of 8: peer access is not \nsupported between these two devices\nstep done"
            .to_owned()
    })
}

#[test]
fn every_cut_line_counts_once_however_many_there_are() {
    for times in [1_u64, 3, 4, 6, 10, 300] {
        let summary = scan_text(&matcher(), cut(usize::try_from(times).unwrap()));
        let (count, lines, folds) = counts(&summary.matches[0]);
        let mut expected: Vec<u64> = (0..times.min(3)).map(|n| 3 * n + 1).collect();
        if times > 3 {
            expected.push(3 * times - 2);
        }
        assert_eq!((count, &lines), (times, &expected));
        assert_eq!(folds, [(times, expected)]);
    }
}

#[test]
fn a_cut_line_is_read_behind_the_margin_of_a_quote_or_a_box() {
    for (first, further) in [
        ("", ""),
        ("> ", "> "),
        ("> > ", "> > "),
        (">", ">"),
        (">> ", ">> "),
        (">> > ", ">> > "),
        ("# ", "# "),
        ("\u{2502} ", "\u{2502} "),
        ("", "    "),
    ] {
        let text = format!(
            "{first}RuntimeError: CUDA error in worker 4711 of 8: peer access is not\n{further}supported between these two devices\n{further}done"
        );
        let found = scan_text(&matcher(), &text).matches;
        assert_eq!(found.len(), 1, "{text}");
        assert_eq!(counts(&found[0]).1, [1], "{text}");
    }
}

#[test]
fn a_cut_line_is_read_between_the_sides_of_a_box() {
    let lines = [
        "RuntimeError: CUDA error in worker 4711 of 8: peer access is not",
        "supported between these two devices",
        "done",
    ];
    for width in [lines[0].len(), lines[0].len() + 5, lines[0].len() + 9] {
        for (top, side) in [('-', '|'), ('\u{2500}', '\u{2502}'), ('\u{2501}', '\u{2503}')] {
            let edge = top.to_string().repeat(width + 4);
            let sides = lines.map(|line| format!("{side} {line:width$} {side}\n"));
            let text = format!("{edge}\n{}{edge}\n", sides.concat());
            let found = scan_text(&matcher(), &text).matches;
            assert_eq!(found.len(), 1, "{text}");
            assert_eq!(counts(&found[0]).1, [2], "{text}");
        }
    }
}

#[test]
fn a_cut_line_whose_end_was_counted_alone_does_not_count_again() {
    let mut fallen = record("xid/79", "GPU has fallen off the bus");
    fallen.patterns = vec![pattern(
        "0",
        r"Xid \(PCI:[0-9a-f:.]+\): 79, pid=\d+, name=python3, GPU has fallen",
    )];
    let matcher = matcher_of(vec![fallen]);
    for times in [3_u64, 4, 6, 10] {
        // As a terminal of 56 columns shows it.
        let text = lines(usize::try_from(times).unwrap(), |_| {
            "NVRM: Xid (PCI:0000:3b:00): 79, pid=4711, name=python3, \nGPU has fallen off the bus.\nstep done"
                .to_owned()
        });
        let (count, lines, _) = counts(&scan_text(&matcher, text).matches[0]);
        let mut expected = vec![2, 5, 8];
        if times > 3 {
            expected.push(3 * times - 1);
        }
        assert_eq!((count, lines), (times, expected));
    }
}

#[test]
fn lines_cut_and_whole_count_together_in_their_order() {
    let whole = "CUDA error: peer access is not supported between these two devices\n";
    let text = format!("{}{whole}step\n{}{whole}", cut(2), cut(4));
    let summary = scan_text(&matcher(), text);
    let (count, lines, folds) = counts(&summary.matches[0]);
    assert_eq!((count, lines), (8, vec![1, 4, 7, 21]));
    assert_eq!(folds, [(8, vec![1, 4, 7, 21])]);
}

#[test]
fn ranks_that_write_at_once_count_each_line_once() {
    // Every rank begins before the first ends, the last to begin ends first.
    let ranks = 8;
    let begun = lines(ranks, |rank| format!("[rank{rank}]: {FIRST}"));
    let ended = lines(ranks, |n| format!("[rank{}]: {SECOND}", ranks - 1 - n));
    for times in [1, 6] {
        let text = format!("{begun}{ended}").repeat(times);
        let summary = scan_text(&system_error(), &text);
        let found = &summary.matches[0];
        assert_eq!(found.count, u64::try_from(ranks * times).unwrap());
        let lines: Vec<u64> = found.lines.iter().map(|line| line.line).collect();
        let last = u64::try_from(2 * ranks * (times - 1) + ranks).unwrap();
        assert_eq!(lines, [1, 2, 3, last]);
    }
}

#[test]
fn in_a_long_log_the_lines_of_a_rank_are_known_too() {
    let before = lines(HEAD_BYTES / 10, |n| format!("step {n} is done"));
    let text = |times: usize| {
        let story = format!("[rank0]: {FIRST}\n[rank1]: {FIRST}\n[rank1]: {SECOND}\n[rank0]: {SECOND}\n");
        format!("{before}{}", story.repeat(times))
    };
    for times in [1, 6, 2_000] {
        let summary = scan_text(&system_error(), text(times));
        assert_eq!(summary.matches[0].count, u64::try_from(2 * times).unwrap());
    }
}

#[test]
fn what_is_found_late_stands_where_it_began() {
    let mut records = super::super::testing::records();
    records[2].leads_to = vec![records[0].id.clone()];
    let known = matcher_of(records);
    let xid = "NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off.\n";
    let whole = "CUDA error: peer access is not supported between these two devices\n";
    // Cut on lines 1 and 2, the other error on 34, whole again on 65: too far apart to wrap one another.
    let steps = "step\n".repeat(30);
    let text = format!("{}{steps}{xid}{steps}{whole}", cut(1));
    let summary = scan_text(&known, &text);
    let refused = summary
        .matches
        .iter()
        .find(|found| found.id.domain() == "cuda")
        .unwrap();
    assert_eq!(counts(refused), (2, vec![1, 65], vec![(2, vec![1, 65])]));
    let causes: Vec<_> = summary
        .root_causes
        .iter()
        .map(|cause| (cause.id.domain(), cause.line))
        .collect();
    assert_eq!(causes, [("cuda", 1), ("xid", 34)]);
}

#[test]
fn a_signature_that_ends_late_stands_on_its_first_line() {
    let matcher = matcher_of(vec![
        record("nccl/system-error", &format!("{FIRST}\n{SECOND}")),
        record("cuda/other", "frobnicator_infarction"),
    ]);
    let text = format!(
        "[rank0]: {FIRST}\n[rank1]: {FIRST}\nCUDA frobnicator_infarction\n[rank1]: {SECOND}\n[rank0]: {SECOND}\n"
    );
    let summary = scan_text(&matcher, &text);
    let story = summary
        .matches
        .iter()
        .find(|found| found.id.domain() == "nccl")
        .unwrap();
    assert_eq!(counts(story), (2, vec![1, 2], vec![(2, vec![1, 2])]));
    assert_eq!(summary.root_cause.unwrap().as_str(), "nccl/system-error");
    assert_eq!(summary.root_causes[0].line, 1);
}

/// Two errors of the kernel log, of which the one leads to the other.
fn driver_errors() -> Arc<Matcher> {
    let mut fallen = record("xid/79", "GPU has fallen off the bus");
    fallen.leads_to = vec!["driver/init-failed".parse().unwrap()];
    matcher_of(vec![
        fallen,
        record("driver/init-failed", "RmInitAdapter failed!"),
    ])
}

/// The order, and the first causes with their lines.
fn order_and_causes(text: &str) -> (Order, Vec<(String, u64)>) {
    let summary = scan_text(&driver_errors(), text);
    let causes = summary.root_causes.iter();
    let causes = causes.map(|cause| (cause.id.domain().to_owned(), cause.line));
    (summary.order, causes.collect())
}

#[test]
fn a_line_that_is_read_again_stands_on_the_clock_of_its_neighbours() {
    let init =
        |seconds: &str| format!("[{seconds:>12}] NVRM: GPU 0000:01:00.0: RmInitAdapter failed! (0x26)\n");
    let xid = |seconds: &str| format!("[{seconds:>12}] NVRM: Xid 79, GPU has fallen off the bus.\n");
    // A blank of pages, which only the second reading takes for one.
    let pasted = |line: String| line.replace("RmInitAdapter failed", "RmInitAdapter\u{a0}failed");
    // A terminal cut it; both lines are read as one after the whole text.
    let cut = |line: String| line.replace("RmInitAdapter failed", "RmInitAdapter \nfailed");
    let all = |parts: &[String]| parts.concat();
    for (plain, changed) in [
        // One boot: before all that was read first, among it, behind it.
        (
            all(&[init("5.100000"), xid("5000.000000")]),
            all(&[pasted(init("5.100000")), xid("5000.000000")]),
        ),
        (
            all(&[xid("5.100000"), init("2000.000000"), xid("5000.000000")]),
            all(&[xid("5.100000"), pasted(init("2000.000000")), xid("5000.000000")]),
        ),
        (
            all(&[xid("5.100000"), init("5000.000000")]),
            all(&[xid("5.100000"), pasted(init("5000.000000"))]),
        ),
        // Two boots, with the line at either end of the first or the second, or in a boot of its own.
        (
            all(&[init("5000.000000"), xid("5.100000")]),
            all(&[pasted(init("5000.000000")), xid("5.100000")]),
        ),
        (
            all(&[xid("5000.000000"), init("5.100000"), xid("90.000000")]),
            all(&[xid("5000.000000"), pasted(init("5.100000")), xid("90.000000")]),
        ),
        (
            all(&[xid("5000.000000"), init("6000.000000"), xid("90.000000")]),
            all(&[xid("5000.000000"), pasted(init("6000.000000")), xid("90.000000")]),
        ),
        (
            all(&[xid("5000.000000"), init("900.000000"), xid("90.000000")]),
            all(&[xid("5000.000000"), pasted(init("900.000000")), xid("90.000000")]),
        ),
    ] {
        assert_ne!(plain, changed);
        assert_eq!(order_and_causes(&changed), order_and_causes(&plain), "{changed}");
    }
    let text = pasted(init("5.100000")) + &xid("5000.000000");
    let causes = vec![("driver".to_owned(), 1), ("xid".to_owned(), 2)];
    assert_eq!(order_and_causes(&text), (Order::Time, causes));
    let text = cut(init("5.100000")) + &xid("5000.000000");
    assert_eq!(order_and_causes(&text).0, Order::Time);
    // A boot between two lines that were read before it was known of has no time: one clock stands on both sides.
    let text = xid("5.100000") + &pasted(init("5000.000000")) + &xid("90.000000");
    assert_eq!(order_and_causes(&text).0, Order::Line);
}
