//! For any bytes: nothing panics, chunks change nothing, and the engine finds what running every pattern on every
//! line finds.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, LazyLock};

use proptest::prelude::*;
use regex_automata::meta::Regex;
use regex_automata::util::syntax;

use super::super::testing::{matcher, matcher_of, pattern, record};
use super::super::{Event, ScanOptions, Sieve, Summary};
use crate::matcher::Matcher;

const PATTERNS: [&str; 12] = [
    "peer access is not supported",
    r"GPU:(?<from>\d+) to GPU:(?<to>\d+)",
    "out of memory|illegal address",
    r"Xid \((?<pci>PCI:[0-9a-f:.]+)\): (?<xid>\d+)",
    "allocat(?:e|ion) of .* failed",
    r"\bstale file handle\b",
    "(?:link|lane) [0-9]+ (?:down|degraded)",
    "devices? (?:was|were) lost",
    "ss.*kkk",
    "error.{0,10}error",
    "显存.*不足",
    r"(?-i:Case) (?i:Matters)",
];

const PIECES: [&str; 30] = [
    "peer access is not supported",
    "PEER ACCESS IS not ",
    "GPU:",
    "0",
    "12",
    " to GPU:",
    "out of memory",
    "illegal ",
    "address",
    "Xid (PCI:0000:3b:00): 79",
    "Xid (",
    "PCI:",
    "): ",
    "allocate of x failed",
    "allocation of ",
    " failed",
    "stale file handle",
    "_",
    "link 3 down",
    "lane 4 degraded",
    "devices were lost",
    "device was",
    "ssKKK",
    "error",
    "显存",
    "不足",
    "Case MATTERS",
    "case matters",
    "\r",
    "\n",
];

static EVERYTHING: LazyLock<Arc<Matcher>> = LazyLock::new(|| {
    let records = PATTERNS.iter().enumerate().map(|(number, regex)| {
        let mut record = record(&format!("cuda/r{number}"), "");
        record.patterns = vec![pattern("0", regex)];
        record
    });
    matcher_of(records.collect())
});

/// Every pattern on every line, compiled by itself.
fn naive(text: &[u8]) -> BTreeSet<Place> {
    let mut found = BTreeSet::new();
    for (number, regex) in PATTERNS.iter().enumerate() {
        let config = syntax::Config::new().case_insensitive(true).utf8(false);
        let regex = Regex::builder().syntax(config).build(regex).unwrap();
        let mut offset = 0;
        for (line, bytes) in text.split(|b| *b == b'\n').enumerate() {
            let shown = bytes.strip_suffix(b"\r").unwrap_or(bytes);
            if let Some(hit) = regex.find(shown) {
                let place = |at: usize| u64::try_from(offset + at).unwrap();
                let line = u64::try_from(line + 1).unwrap();
                found.insert((
                    line,
                    format!("cuda/r{number}"),
                    place(hit.start()),
                    place(hit.end()),
                ));
            }
            offset += bytes.len() + 1;
        }
    }
    found
}

/// Text in which the patterns and what nearly matches them are frequent. Each line names the domain.
fn any_text() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        12 => prop::sample::select(PIECES.to_vec()).prop_map(|piece| piece.as_bytes().to_vec()),
        2 => Just(b"\n".to_vec()),
        1 => prop::collection::vec(any::<u8>().prop_filter("no escape", |b| *b != 0x1b), 0..6),
        1 => "[ -~]{0,12}".prop_map(String::into_bytes),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| {
        let text = pieces.concat();
        let lines: Vec<Vec<u8>> = text
            .split(|b| *b == b'\n')
            .map(|line| [b"cuda ", line].concat())
            .collect();
        lines.join(&b'\n')
    })
}

/// Line, record, and from where to where.
type Place = (u64, String, u64, u64);

fn is_candidate_around(event: &Event, (line, record, start, end): &Place) -> bool {
    let Event::Candidate(hit) = event else {
        return false;
    };
    let is_wider = hit.end - hit.start > end - start;
    let is_around = hit.start <= *start && hit.end >= *end;
    hit.line == *line && hit.record.to_string() == *record && is_wider && is_around
}

fn across_lines(text: &[u8], place: Range<u64>) -> bool {
    let [start, end] = [place.start, place.end].map(|at| usize::try_from(at).unwrap());
    text[start..end].contains(&b'\n')
}

fn run(matcher: &Arc<Matcher>, text: &[u8], cuts: &[usize]) -> (Vec<Event>, Summary) {
    let options = ScanOptions {
        report_candidates: true,
        ..ScanOptions::default()
    };
    let mut scanner = matcher.scanner(options);
    let mut events = Vec::new();
    let mut rest = text;
    for cut in cuts {
        let (now, later) = rest.split_at(*cut.min(&rest.len()));
        events.extend(scanner.push(now));
        rest = later;
    }
    events.extend(scanner.push(rest));
    let (last, summary) = scanner.finish_with_events();
    events.extend(last);
    (events, summary)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn the_engine_finds_what_every_pattern_on_every_line_finds(text in any_text()) {
        let (events, summary) = run(&EVERYTHING, &text, &[]);
        let places = events.iter().map(|event| match event {
            Event::Hit(hit) | Event::Candidate(hit) => {
                (hit.line, hit.record.to_string(), hit.start, hit.end)
            }
        });
        // Lines of one length look like those that a terminal cut: what stands across the cut is found too.
        let found: BTreeSet<_> = places.filter(|place| !across_lines(&text, place.2..place.3)).collect();
        // Of a line that is only a candidate, what a terminal shows between two carriage returns may be the message.
        let within = |place: &&Place| !events.iter().any(|event| is_candidate_around(event, place));
        let found: BTreeSet<_> = found.iter().filter(within).cloned().collect();
        prop_assert_eq!(&found, &naive(&text), "{:?}", events);
        let counted: u64 = summary.matches.iter().map(|found| found.count).sum();
        let hits = events.iter().filter(|event| matches!(event, Event::Hit(_)));
        prop_assert_eq!(counted, u64::try_from(hits.count()).unwrap());
    }

    #[test]
    fn chunks_change_nothing(
        text in any_text(),
        coloured in any::<bool>(),
        repeats in 1_usize..4,
        cuts in prop::collection::vec(0_usize..50, 0..40),
    ) {
        let mut text = text.repeat(repeats);
        if coloured {
            text = text.split(|b| *b == b' ').collect::<Vec<_>>().join(&b"\x1b[1m "[..]);
        }
        prop_assert_eq!(run(&EVERYTHING, &text, &cuts), run(&EVERYTHING, &text, &[]));
    }

    #[test]
    fn where_the_sieve_lets_nothing_through_a_scan_finds_nothing(
        pieces in prop::collection::vec(prop_oneof![
            2 => prop::sample::select(PIECES.to_vec()).prop_map(str::to_owned),
            2 => prop::sample::select(vec![
                "out of\\u0020memory", "peer \x1b[31maccess is not supported", "stale [0m[1mfile handle", "link 3&nbsp;down",
                "devices were\u{a0}lost", "#033[0mout of memory", "[111, 117, 116, 32, 111, 102, 32, 109, 101, 109, 111, 114, 121]",
            ]).prop_map(str::to_owned),
            1 => "[ -~]{0,12}",
        ], 0..5),
    ) {
        let text = format!("cuda {}", pieces.concat());
        let (events, _) = run(&EVERYTHING, text.as_bytes(), &[]);
        let lets_through = Sieve::of(&EVERYTHING).lets_through(text.as_bytes());
        prop_assert!(lets_through || events.is_empty(), "{text:?}: {events:?}");
    }

    #[test]
    fn chunks_change_nothing_on_long_lines(
        fillers in prop::collection::vec((0_usize..90_000, any::<prop::sample::Index>(), any::<bool>()), 1..5),
        cuts in prop::collection::vec(0_usize..100_000, 0..8),
    ) {
        let mut text = Vec::new();
        for (length, piece, ends) in fillers {
            text.resize(text.len() + length, b'-');
            text.extend_from_slice(piece.get(&PIECES).as_bytes());
            if ends {
                text.push(b'\n');
            }
        }
        prop_assert_eq!(run(&EVERYTHING, &text, &cuts), run(&EVERYTHING, &text, &[]));
    }

    #[test]
    fn no_bytes_make_a_scan_panic(
        text in prop::collection::vec(prop_oneof![
            4 => prop::sample::select(PIECES.to_vec()).prop_map(|piece| piece.as_bytes().to_vec()),
            4 => prop::collection::vec(any::<u8>(), 0..20),
            2 => prop::sample::select(vec!["\x1b[", "\x1b]", "\x1b", "\x1b[31m", "[ 12.345678] ", "Nov 21 07:19:10 ", "Xid ", "error 217", "CUDA "])
                .prop_map(|piece| piece.as_bytes().to_vec()),
        ], 0..60),
        cuts in prop::collection::vec(0_usize..50, 0..20),
    ) {
        let text = text.concat();
        let (_, summary) = run(&matcher(), &text, &cuts);
        prop_assert_eq!(summary.bytes_scanned, u64::try_from(text.len()).unwrap());
        let lines = memchr::memchr_iter(b'\n', &text).count() + usize::from(!text.ends_with(b"\n") && !text.is_empty());
        prop_assert_eq!(summary.lines_scanned, u64::try_from(lines).unwrap());
        for found in &summary.matches {
            prop_assert!((0.0..=1.0).contains(&found.score));
            for line in &found.lines {
                prop_assert!(line.start <= line.end && line.end <= summary.bytes_scanned);
                let marked = line.text.as_ref().unwrap();
                let (from, to) = (usize::try_from(marked.mark_start).unwrap(), usize::try_from(marked.mark_end).unwrap());
                prop_assert!(marked.text.get(from..to).is_some());
            }
        }
    }
}
