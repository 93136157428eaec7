//! The pattern cache, what a rebuild keeps, and how much words say.

mod codes;

use std::sync::Arc;

use super::cache::PatternCache;
use super::rarity::{SPECIFIC, text_weight, words};
use super::*;
use crate::scanner::testing::{lines, matcher_of, pattern, record, scan_text};
use crate::scanner::{ScanOptions, scan};

#[test]
fn a_pattern_for_a_whole_line_needs_no_other_sign_of_its_subject() {
    let mut alone = record("driver/no-devices", "");
    alone.patterns = vec![pattern("0", "^No devices were found$")];
    let mut row = record("dcgm/failed", "");
    row.patterns = vec![pattern("0", r"^\| memory +\| Fail +\|?$")];
    let matcher = matcher_of(vec![alone, row]);
    for (line, is_match) in [
        ("No devices were found", true),
        ("No devices were found\r", true),
        ("  3%|#         | 3/100\rNo devices were found", true),
        ("printer[33]: No devices were found", false),
        ("> No devices were found", false),
        ("The search ended: No devices were found", false),
        ("No devices were found on the network", false),
        ("| memory        | Fail     |", true),
        ("wandb: | memory        | Fail     |", true),
        (r#"    "| memory        | Fail     |","#, true),
        ("| memory        | Fail     | and a word", false),
    ] {
        let summary = scan_text(&matcher, line);
        assert_eq!(summary.matches.len(), usize::from(is_match), "{line}");
    }
}

#[test]
fn a_bad_pattern_costs_nothing_but_itself() {
    let mut record = record("cuda/x", "");
    record.patterns = vec![
        pattern("0", "("),
        pattern("1", r"\d+"),
        pattern("2", "peer access is unobtainable"),
    ];
    let (matcher, rejected) = Matcher::build(vec![record]);
    let listed: Vec<_> = rejected
        .iter()
        .map(|rejected| rejected.pattern.as_str())
        .collect();
    assert_eq!(listed, ["0"]);
    assert_eq!(
        scan_text(&Arc::new(matcher), "CUDA peer access is unobtainable")
            .matches
            .len(),
        1
    );
}

#[test]
fn patterns_without_a_literal_are_asked_of_every_line_and_listed() {
    let mut etag = record("api/etag", "");
    etag.patterns = vec![pattern("0", "W/"), pattern("anchored", r"^\d\d:\d\d$")];
    let mut word = record("cuda/word", "");
    word.patterns = vec![pattern("0", r"\bE\d\b"), pattern("1", "frobnicator lost")];
    let (matcher, rejected) = Matcher::build(vec![etag, word]);
    assert_eq!(rejected, []);
    let listed: Vec<_> = matcher
        .slow_patterns()
        .into_iter()
        .map(|(id, pattern)| format!("{id} {pattern}"))
        .collect();
    assert_eq!(listed, ["api/etag 0", "api/etag anchored", "cuda/word 0"]);
    let text =
        "nothing\napi: If-None-Match: w/1\r\n\nthe api said\ncuda E5 出错\n2026-01-01T00:00:00Z 12:34\n";
    let options = ScanOptions {
        report_candidates: true,
        ..ScanOptions::default()
    };
    let mut scanner = Arc::new(matcher).scanner(options);
    let found: Vec<_> = scanner
        .push(text.as_bytes())
        .into_iter()
        .map(|event| match event {
            crate::scanner::Event::Hit(hit) | crate::scanner::Event::Candidate(hit) => {
                format!("{} {} {}", hit.line, hit.record, hit.pattern)
            }
        })
        .collect();
    assert_eq!(found, ["2 api/etag 0", "5 cuda/word 0", "6 api/etag anchored"]);
}

#[test]
fn the_slow_lane_has_only_so_many_places() {
    let mut many = record("api/many", "");
    many.patterns = (0..=SLOW_LANE_PATTERNS)
        .map(|n| pattern(&n.to_string(), &format!(r"\d{{{}}}!", n + 1)))
        .collect();
    let (matcher, rejected) = Matcher::build(vec![many]);
    assert_eq!(matcher.slow_patterns().len(), SLOW_LANE_PATTERNS);
    assert_eq!(rejected.len(), 1);
    assert!(rejected[0].reason.contains("3 bytes"), "{}", rejected[0].reason);
}

#[test]
fn nothing_is_found_by_an_empty_matcher() {
    let (matcher, rejected) = Matcher::build(Vec::new());
    assert!(matcher.is_empty() && rejected.is_empty());
    let summary = scan_text(&Arc::new(matcher), "NVRM: Xid 79\n");
    assert_eq!(
        (summary.matches.len(), summary.lines_scanned, summary.root_cause),
        (0, 1, None)
    );
}

#[test]
fn a_rebuild_keeps_what_has_not_changed() {
    let with = |regex: &str| {
        let mut record = record("cuda/x", "");
        record.patterns = vec![pattern("0", r"CUDA thing \d+ broke"), pattern("1", regex)];
        record
    };
    let (first, _) = Matcher::build(vec![with(r"CUDA widget \d+ broke")]);
    let first = Arc::new(first);
    scan_text(&first, "CUDA thing 1 broke\nCUDA widget 1 broke\n");
    let compiled = first.compiled_bytes();
    assert!(compiled > 0, "patterns are compiled when a line needs them");
    let (second, _) = first.rebuild(vec![with(r"CUDA gadget \d+ broke")]);
    let second = Arc::new(second);
    let slot = |matcher: &Matcher, place| match &matcher.signal(place).unwrap().kind {
        Kind::Pattern(slot) => Arc::clone(slot),
        other => panic!("{other:?}"),
    };
    assert!(Arc::ptr_eq(&slot(&first, 0), &slot(&second, 0)));
    assert!(!Arc::ptr_eq(&slot(&first, 1), &slot(&second, 1)));
    assert_eq!(
        scan_text(&second, "CUDA thing 1 broke\nCUDA gadget 1 broke\n").matches[0].count,
        2
    );
    assert_eq!(
        scan_text(&first, "CUDA widget 1 broke\n").matches[0].count,
        1,
        "the old generation still works"
    );
}

/// A generation that was reached by steps keeps what wakes its patterns, until there are so many more literals that it is chosen anew.
#[test]
fn a_matcher_that_grew_finds_what_a_new_one_finds() {
    let of = |number: usize| {
        let mut record = record(
            &format!("cuda/gadget-{number}"),
            &format!("gadget signature {number}"),
        );
        record.patterns = vec![
            pattern(
                "one",
                &format!("CUDA gadget{number} (?:broke|burst) at step \\d+"),
            ),
            pattern(
                "two",
                &format!(r"Traceback of gadget{number}.*\n(?:.*\n)*CudaError: gone{number}"),
            ),
        ];
        record
    };
    let text: String = (0..40)
        .flat_map(|number| {
            [
                format!("CUDA gadget{number} broke at step 7\n"),
                format!("Traceback of gadget{number}\n  line\nCudaError: gone{number}\n"),
            ]
        })
        .collect();
    let hits = |matcher: Matcher| {
        let matches = scan_text(&Arc::new(matcher), &text).matches;
        let mut found: Vec<_> = matches.into_iter().map(|found| (found.id, found.count)).collect();
        found.sort();
        found
    };
    let mut grown = Matcher::build(vec![of(0)]).0;
    for last in 1..40 {
        grown = grown.rebuild((0..=last).map(of).collect()).0;
    }
    let found = hits(grown);
    assert_eq!(found.len(), 40);
    assert_eq!(found, hits(Matcher::build((0..40).map(of).collect()).0));
}

#[test]
fn compiled_patterns_stay_within_the_bound_and_come_back_when_needed() {
    let limit = 1 << 20;
    let mut many = record("cuda/x", "");
    many.patterns = (0..200)
        .map(|n| {
            pattern(
                &n.to_string(),
                &format!(r"gadget number{n} lost (?<what>\w+) \d+"),
            )
        })
        .collect();
    let (matcher, _) = build::build(vec![many], Arc::new(PatternCache::with_limit(limit)));
    let matcher = Arc::new(matcher);
    let text = lines(200, |n| format!("CUDA gadget number{n} lost sight 5"));
    for _ in 0..2 {
        let summary = scan(&matcher, text.as_bytes(), ScanOptions::default());
        assert_eq!(summary.matches[0].count, 200);
        assert!(
            matcher.compiled_bytes() <= limit,
            "{} bytes",
            matcher.compiled_bytes()
        );
    }
}

#[test]
fn many_threads_share_one_matcher() {
    let mut one = record("cuda/x", "");
    one.patterns = (0..40)
        .map(|n| pattern(&n.to_string(), &format!(r"gadget number{n} lost \d+")))
        .collect();
    let (matcher, _) = build::build(vec![one], Arc::new(PatternCache::with_limit(256 << 10)));
    let matcher = Arc::new(matcher);
    let text = lines(400, |n| format!("CUDA gadget number{} lost 5", n % 40));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(scan_text(&matcher, &text).matches[0].count, 400));
        }
    });
}

#[test]
fn common_words_say_little_and_identifiers_much() {
    for generic in [
        "out of memory",
        "invalid argument",
        "unknown error",
        "connection refused",
        "is not supported",
    ] {
        assert!(text_weight(generic.as_bytes()) < SPECIFIC, "{generic}");
    }
    for specific in [
        "cudaerrorpeeraccessunsupported",
        "nvrm: xid fallen",
        "gpu has fallen off the infiniband",
    ] {
        assert!(text_weight(specific.as_bytes()) >= SPECIFIC, "{specific}");
    }
    let found: Vec<_> = words("a_1 b,显存 ".as_bytes()).collect();
    assert_eq!(found, [(0, &b"a_1"[..]), (4, b"b"), (6, "显存".as_bytes())]);
}
