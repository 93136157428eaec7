//! Repeats are folded with exact counts, within bounds.

use super::super::testing::{lines, matcher, matcher_of, pattern, record, scan_text};
use super::super::{MAX_FOLDS, MAX_FOLDS_OF_RECORD, ScanOptions};

#[test]
fn repeats_fold_by_captured_values() {
    let log = lines(30, |number| {
        let bus = number % 3;
        format!("noise {number}\n[ {number}.000000] NVRM: Xid (PCI:0000:{bus}b:00): 79, GPU has fallen")
    });
    let summary = scan_text(&matcher(), &log);
    let found = &summary.matches[0];
    assert_eq!((found.count, found.overflow), (30, 0));
    let lines: Vec<u64> = found.lines.iter().map(|line| line.line).collect();
    assert_eq!(lines, [2, 4, 6, 60]);
    let folds: Vec<_> = found
        .folds
        .iter()
        .map(|fold| (fold.captures["pci"].as_str(), fold.count, fold.lines.clone()))
        .collect();
    assert_eq!(
        folds,
        [
            ("0000:0b:00", 10, vec![2, 8, 14, 56]),
            ("0000:1b:00", 10, vec![4, 10, 16, 58]),
            ("0000:2b:00", 10, vec![6, 12, 18, 60]),
        ]
    );
}

#[test]
fn a_fold_of_few_lines_names_each_once() {
    let line = "cudaErrorPeerAccessUnsupported\n";
    for (times, expected) in [
        (1, vec![1]),
        (3, vec![1, 2, 3]),
        (4, vec![1, 2, 3, 4]),
        (9, vec![1, 2, 3, 9]),
    ] {
        let summary = scan_text(&matcher(), line.repeat(times));
        assert_eq!(summary.matches[0].folds[0].lines, expected);
        assert_eq!(summary.matches[0].lines.len(), expected.len());
    }
}

#[test]
fn a_flood_of_distinct_values_is_counted_and_bounded() {
    let mut scanner = matcher().scanner(ScanOptions::default());
    let mut bytes = 0;
    let mut hits: u64 = 0;
    let filler = "padding ".repeat(60);
    while bytes < 30_000_000 {
        let block = lines(1_000, |_| {
            hits += 1;
            format!("NVRM: Xid (PCI:0000:3b:00): 79, pid={hits}, {filler}")
        });
        bytes += block.len();
        scanner.feed(block.as_bytes());
    }
    let summary = scanner.finish();
    let found = &summary.matches[0];
    let limit = u64::try_from(MAX_FOLDS_OF_RECORD).unwrap();
    assert_eq!(
        (found.count, found.folds.len(), found.overflow),
        (hits, MAX_FOLDS_OF_RECORD, hits - limit)
    );
    assert_eq!(found.lines.last().unwrap().line, hits);
    let note = format!(
        "{} lines of {} have captured values beyond the 64",
        hits - limit,
        found.id
    );
    assert!(summary.notes[0].starts_with(&note), "{:?}", summary.notes);
}

#[test]
fn all_records_together_are_bounded_too() {
    let records: Vec<_> = (0..300)
        .map(|number| {
            let mut record = record(&format!("cuda/r{number}"), "");
            record.patterns = vec![pattern("0", &format!(r"gadget{number}x infarction (?<at>\d+)"))];
            record
        })
        .collect();
    let matcher = matcher_of(records);
    let mut scanner = matcher.scanner(ScanOptions::default());
    for round in 0..MAX_FOLDS_OF_RECORD {
        for number in 0..300 {
            scanner.feed(format!("CUDA gadget{number}x infarction {round}\n").as_bytes());
        }
    }
    let summary = scanner.finish();
    let folds: usize = summary.matches.iter().map(|found| found.folds.len()).sum();
    let overflow: u64 = summary.matches.iter().map(|found| found.overflow).sum();
    let count: u64 = summary.matches.iter().map(|found| found.count).sum();
    assert_eq!(
        (folds, count),
        (MAX_FOLDS, 300 * u64::try_from(MAX_FOLDS_OF_RECORD).unwrap())
    );
    assert_eq!(overflow, count - u64::try_from(MAX_FOLDS).unwrap());
}

#[test]
fn long_values_and_lines_are_cut_and_marked() {
    let mut greedy = record("cuda/x", "");
    greedy.patterns = vec![pattern("0", "frobnicator infarction (?<rest>.*)")];
    let text = format!("CUDA frobnicator infarction {}\n", "é".repeat(5_000));
    let summary = scan_text(&matcher_of(vec![greedy]), text);
    let line = &summary.matches[0].lines[0];
    assert!(line.captures["rest"].ends_with('…') && line.captures["rest"].len() < 300);
    let marked = line.text.as_ref().unwrap();
    assert!(
        marked.cut && marked.text.ends_with('…') && !marked.text.contains('\u{fffd}'),
        "{}",
        marked.text
    );
}
