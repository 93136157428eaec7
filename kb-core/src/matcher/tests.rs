//! Codes and their domains, the pattern cache, and what a rebuild keeps.

use std::sync::Arc;

use super::cache::PatternCache;
use super::rarity::{SPECIFIC, text_weight, words};
use super::*;
use crate::scanner::testing::{lines, matcher_of, pattern, record, scan_text};
use crate::scanner::{ScanOptions, scan};

/// Where a record with this domain and code is found on a line: `match`, `candidate` or nothing.
fn verdict(domain: &str, code: &str, line: &str) -> &'static str {
    let mut record = record(&format!("{domain}/x"), "");
    record.codes = vec![code.to_owned()];
    let (matcher, rejected) = Matcher::build(vec![record]);
    assert_eq!(rejected, []);
    let summary = scan_text(&Arc::new(matcher), line);
    match (summary.matches.len(), summary.candidates.len()) {
        (1, 0) => "match",
        (0, 1) => "candidate",
        (0, 0) => "",
        other => panic!("{other:?}"),
    }
}

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
fn each_number_of_a_list_counts_and_a_count_is_none() {
    for (domain, code, line, expected) in [
        ("xid", "Xid 79", "Xid 31,79", "match"),
        ("xid", "Xid 79", "gpu 3 xid errors: 13, 79", "match"),
        ("xid", "Xid 79", "XIDs seen: 31, 79", "match"),
        ("xid", "Xid 79", "xid_errors: [13, 79]", "match"),
        ("xid", "Xid 79", r#"{"gpu":3,"xids":[13,79]}"#, "match"),
        ("xid", "Xid 79", "Xid 31, 79 and 43", "match"),
        ("xid", "Xid 79", "Xid 31, 79 times", ""),
        ("xid", "Xid 79", "NVRM: Xid (PCI:0000:3b:00): 31, 79", ""),
        (
            "cuda",
            "CUDA error 12",
            "cuda_memtest: ERROR: 12 errors found in block 34",
            "",
        ),
    ] {
        assert_eq!(verdict(domain, code, line), expected, "{code} in {line:?}");
    }
}

#[test]
fn numbers_need_their_family_and_their_domain() {
    for (domain, code, line, expected) in [
        (
            "xid",
            "Xid 79",
            "NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, GPU has fallen off the bus.",
            "match",
        ),
        ("xid", "Xid 79", "got Xid 79 on node 3", "match"),
        ("xid", "Xid 79", "XID: 79", "match"),
        ("xid", "Xid 79", "Xids 79", "match"),
        ("xid", "Xid 79", "NVRM: Xid (PCI:0000:79:00): 31, pid=79", ""),
        ("xid", "Xid 79", "NVRM: Xid (PCI:0000:3b:00): 790, pid=1", ""),
        ("xid", "Xid 79", "NVRM: Xid (PCI:0000:3b:00): 79.5", ""),
        ("xid", "Xid 79", "it is 79 degrees", ""),
        ("xid", "Xid 79", "SXid 79", ""),
        // Sentences about a kind of event.
        ("xid", "Xid 79", "all XID 79s are ignored by our health check", ""),
        (
            "xid",
            "Xid 79",
            "XID 79s are ignored, be smarter when handling XID 79",
            "",
        ),
        (
            "xid",
            "Xid 79",
            "XID 31s are ignored, but then came XID 79",
            "match",
        ),
        ("xid", "Xid 79", "seen Xid 79x, Xid 79_1 and Xid 79y", ""),
        // The word of DHCP, of remote calls and of databases.
        ("xid", "Xid 79", "dhclient: port 67 eth0 xid 79", "candidate"),
        (
            "xid",
            "Xid 79",
            "rpcrdma: mlx5_0 sent a reply for xid 79",
            "candidate",
        ),
        ("xid", "Xid 79", "xid=79 db=orders duration: 3 ms", "candidate"),
        ("xid", "Xid 79", "DHCPDISCOVER (xid=0x4f79)", ""),
        ("xid", "Xid 79", "xid 79", "match"),
        ("xid", "Xid 79", " \"xid 79\"? ", "match"),
        ("xid", "Xid 79", "xid 79？", "match"),
        ("xid", "Xid 79", "is it xid 79?", "candidate"),
        ("xid", "Xid 79", "our gpu went away with xid 79", "match"),
        ("xid", "Xid 79", "nvidia-smi hangs after xid=79", "match"),
        ("xid", "Xid 79", "xid (pci:0000:3b:00): 79", "match"),
        (
            "pytorch",
            "Xid 79",
            "kernel: NVRM: Xid (PCI:0000:3b:00): 79",
            "match",
        ),
        ("xid", "Xid 79", "Xids (79)", ""),
        ("xid", "Xid 79", "Xid (79)", "match"),
        ("nvml", "NVML error 1", "NVML errors (1)", ""),
        ("nvml", "NVML error 1", "NVML error (1)", "match"),
        (
            "xid",
            "SXid 12028",
            "nvidia-nvswitch0: SXid (PCI:0000:c2:00.0): 12028, Non-fatal",
            "match",
        ),
        (
            "cuda",
            "error 217",
            "CUDA error 217 at ggml-cuda.cu:6292",
            "match",
        ),
        ("cuda", "error 217", "CUDA Driver API: error code 217", "match"),
        (
            "cuda",
            "error 217",
            "cudaMemcpyPeer failed with error: 217.",
            "match",
        ),
        ("cuda", "error 217", "process exited with error 217", "candidate"),
        ("cuda", "error 217", "NCCL error 217", "candidate"),
        ("cuda", "error 217", "CUDA error 2170", ""),
        ("cuda", "error 217", "CUDA error 700 at line 217", ""),
        ("cuda", "CUDA error 217", "CUDA error: 217", "match"),
        ("cuda", "CUDA error 217", "error 217", "candidate"),
        (
            "cuda",
            "error 500",
            "Error: 500 Internal Server Error: runner has ended: CUDA error: out of memory",
            "",
        ),
        ("cuda", "error 500", "CUDA error: 500 not found", "match"),
        (
            "cuda",
            "Cuda failure 217",
            "NCCL WARN Cuda failure 217 'peer access is not supported'",
            "match",
        ),
        ("nccl", "error 2", "NCCL error 2", "match"),
        ("nccl", "error 2", "CUDA error 2", "candidate"),
    ] {
        assert_eq!(verdict(domain, code, line), expected, "{code} in {line:?}");
    }
}

#[test]
fn what_the_driver_prints_counts_on_a_line_of_any_length() {
    let mut lost = record("xid/79-lost", "a signature of its own");
    lost.patterns = vec![pattern("0", r"Xid \((?P<device>[0-9a-zA-Z:]{3,39})\): 79")];
    let matcher = matcher_of(vec![lost]);
    let around = "\"label\": \"value\", ".repeat(40);
    for (line, expected) in [
        (
            format!("{{{around} \"log\": \"NVRM: Xid (PCI:0000:3b:00): 79, gone\"}}"),
            1,
        ),
        (
            format!("{{{around} \"log\": \"NVRM: Xid (PCI:0000:3b:00): 7, gone\"}}"),
            0,
        ),
    ] {
        assert_eq!(scan_text(&matcher, &line).matches.len(), expected, "{line}");
    }
}

#[test]
fn names_stand_as_words_apart_from_case() {
    for (code, line, expected) in [
        (
            "cudaErrorPeerAccessUnsupported",
            "failed (cudaErrorPeerAccessUnsupported)",
            "match",
        ),
        (
            "cudaErrorPeerAccessUnsupported",
            "cudaerrorpeeraccessunsupported=217",
            "match",
        ),
        (
            "cudaErrorPeerAccessUnsupported",
            "xcudaErrorPeerAccessUnsupported",
            "",
        ),
        (
            "cudaErrorPeerAccessUnsupported",
            "cudaErrorPeerAccessUnsupported_v2",
            "",
        ),
        (
            "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED",
            "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED: x",
            "match",
        ),
        ("ncclSystemError", "ncclSystemError: System call failed", "match"),
        ("ncclSystemError", "ncclSystemErrors ncclSystemError", "match"),
        (
            "unhandled system error",
            "NCCL error: unhandled system error",
            "match",
        ),
        ("unknown error", "unknown error", "candidate"),
        ("unknown error", "CUDA: unknown error", "match"),
    ] {
        assert_eq!(verdict("cuda", code, line), expected, "{code} in {line:?}");
    }
}

#[test]
fn a_domain_means_the_same_in_capitals() {
    let mut record = record("cuda/x", "");
    record.domain = "CUDA".to_owned();
    record.codes = vec!["error 217".to_owned()];
    let (matcher, rejected) = Matcher::build(vec![record]);
    assert_eq!(rejected, []);
    let matcher = Arc::new(matcher);
    assert_eq!(scan_text(&matcher, "CUDA error 217").matches.len(), 1);
    assert_eq!(scan_text(&matcher, "NCCL error 217").matches.len(), 0);
}

#[test]
fn codes_that_prove_nothing_in_text_are_listed() {
    let mut record = record("weather/x", "");
    record.codes = ["79", "GPA", "error 5", "Xid 5"].map(str::to_owned).to_vec();
    let (_, rejected) = Matcher::build(vec![record]);
    let listed: Vec<_> = rejected
        .iter()
        .map(|rejected| rejected.pattern.as_str())
        .collect();
    assert_eq!(listed, ["code:79", "code:GPA", "code:error 5"]);
    assert!(
        rejected[0].reason.contains("bare number"),
        "{}",
        rejected[0].reason
    );
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
