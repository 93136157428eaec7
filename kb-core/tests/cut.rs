//! Own examples whose lines were cut at a width, or that stand behind what a terminal does not show.

#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod kb_seed;

use std::sync::Arc;

use kb_core::ids::Revision;
use kb_core::matcher::Matcher;
use kb_core::record::Record;
use kb_core::scanner::{ScanOptions, scan};

/// Changes a text.
type Change = fn(&str) -> String;

/// As `fold` writes it.
fn folded(text: &str, width: usize) -> String {
    let lines = text.split('\n').map(|line| {
        let letters: Vec<char> = line.chars().collect();
        let pieces = letters.chunks(width).map(|piece| piece.iter().collect());
        pieces.collect::<Vec<String>>().join("\n")
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Name, change, and of how many texts one may lose its record: never one of `usize::MAX`.
const CHANGES: [(&str, Change, usize); 4] = [
    ("fold -w 80", |text| folded(text, 80), 300),
    ("fold -w 120", |text| folded(text, 120), 770),
    ("BOM", |text| format!("\u{feff}{text}"), usize::MAX),
    (
        "progress bar",
        |text| format!("  3%|#         | 3/100 [00:01<00:32,  3.0it/s]\r{text}"),
        usize::MAX,
    ),
];

fn matcher(records: &[Record]) -> Arc<Matcher> {
    let signatures = records.iter().map(|record| record.signatures(Revision(1)));
    Arc::new(Matcher::build(signatures.collect()).0)
}

fn finds(matcher: &Arc<Matcher>, record: &Record, text: &str) -> bool {
    let summary = scan(matcher, text.as_bytes(), ScanOptions::default());
    summary.matches.iter().any(|found| found.id == *record.id())
}

#[test]
fn examples_are_recognised_where_their_lines_are_cut() {
    let records = kb_seed::records();
    let matcher = matcher(&records);
    let mut lost: Vec<Vec<String>> = CHANGES.iter().map(|_| Vec::new()).collect();
    let mut all = 0;
    for record in &records {
        for example in &record.annex.examples {
            all += 1;
            let text = example.text.as_str();
            for ((_, change, _), lost) in CHANGES.iter().zip(&mut lost) {
                let changed = change(text);
                let is_lost = changed != text && !finds(&matcher, record, &changed);
                if is_lost && finds(&matcher, record, text) {
                    lost.push(format!("{}: {text}", record.id()));
                }
            }
        }
    }
    for ((name, _, one_of), lost) in CHANGES.iter().zip(&lost) {
        println!("{name}: {} lost", lost.len());
        for text in lost {
            println!("  {text}");
        }
        assert!(lost.len() <= all / one_of, "{name}: {} of {all} lost", lost.len());
    }
}

#[test]
fn near_misses_stay_misses_where_their_lines_are_cut() {
    let records = kb_seed::records();
    let matcher = matcher(&records);
    for record in &records {
        for miss in &record.annex.near_misses {
            for width in [80, 120] {
                let text = folded(&miss.text, width);
                let is_found = text != miss.text && finds(&matcher, record, &text);
                // A line of it may be one by itself: a number that is cut is another number.
                let mut alone = text.lines().chain([miss.text.as_str()]);
                let mut is_one_anyway = || alone.any(|text| finds(&matcher, record, text));
                assert!(!is_found || is_one_anyway(), "{}: {text}", record.id());
            }
        }
    }
}
