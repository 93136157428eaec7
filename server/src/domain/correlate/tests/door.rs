//! Which rules are let in.

use kb_core::annex::ProbeScope;
use proptest::prelude::*;

use super::*;

/// In the stack of a thread that computes for requests: a parser that goes down with the text must not take the
/// process with it.
#[test]
fn no_rule_is_too_deep_for_a_thread() {
    let within = |text: String| {
        let work = move || {
            let rules = json!([{ "id": "deep", "scope": "report", "when": text }]);
            correlate(&[record_with(&rules)], &report(0, &[]));
        };
        let thread = std::thread::Builder::new().stack_size(2 << 20).spawn(work);
        thread.unwrap().join().unwrap();
    };
    for (piece, end) in [
        ("1?1:", "1"),
        ("!", "true"),
        ("-", "1"),
        ("1+", "1"),
        ("1&&", "1"),
        ("1==", "1"),
        ("1 in ", "1"),
        ("1\tin\n", "1"),
        ("(", "1"),
        ("[", "1"),
        ("{1:", "1"),
        ("a(", "1"),
    ] {
        // As long as a rule may be, as many joints, and as deep as brackets go.
        let longest = (4_096 - end.len()) / piece.len();
        for count in [longest, longest.min(990), 60, 32] {
            within(piece.repeat(count) + end);
        }
    }
    for piece in [".a", "[0]", ".a()", "()", "{}"] {
        for count in [4_000 / piece.len(), 490] {
            within("report".to_owned() + &piece.repeat(count));
        }
    }
}

#[test]
fn bad_rules_are_refused_with_a_reason() {
    let long = format!("true {}", "|| true ".repeat(600));
    let deep = "report.gpus.exists(a, report.gpus.exists(b, report.gpus.exists(c, true)))";
    let costly = format!(
        "report.gpus.exists(a, report.gpus.exists(b, {}))",
        vec!["a.cuda_ordinal == b.cuda_ordinal"; 20].join(" && ")
    );
    let many = format!("1 in [{}]", vec!["1"; 65].join(", "));
    let brackets = format!("{}true{}", "(".repeat(40), ")".repeat(40));
    let deep_sum = format!("{}1", "1+".repeat(200));
    let joints = format!("{}1", "1+".repeat(1_001));
    for (text, rule, word) in [
        ("report.gpus.exists(", "rule-syntax", "not CEL"),
        ("", "rule-syntax", ""),
        (long.as_str(), "rule-length", "4096"),
        (deep, "rule-nesting", "deeper than 2"),
        (costly.as_str(), "rule-cost", "250000"),
        (many.as_str(), "rule-list", "65"),
        (brackets.as_str(), "rule-nesting", "brackets"),
        (deep_sum.as_str(), "rule-nesting", "deeper than 64"),
        (joints.as_str(), "rule-nesting", "1001 operators"),
        ("pair.nvlinks.value == 0", "rule-name", "\"pair\""),
        ("frobnicate(report)", "rule-name", "frobnicate"),
        (
            "report.gpus.exists(g, (report.gpus + report.gpus).exists(h, true))",
            "rule-cost",
            "'+'",
        ),
        ("(report.gpus + report.gpus).exists(h, true)", "rule-cost", "'+'"),
        (
            "report.gpus.map(g, report.gpus + report.gpus)",
            "rule-cost",
            "'+'",
        ),
        (
            "report.gpus.map(g, g == 1 ? report.gpus + report.gpus : [])",
            "rule-cost",
            "'+'",
        ),
        ("report.gpus.exists(g, true) && g == 1", "rule-name", "\"g\""),
        (
            "report.gpus.map(a, report.gpus.map(b, report))",
            "rule-cost",
            "copy the report",
        ),
        (
            "report.gpus.exists(a, report.gpus.map(b, report).size() == 0)",
            "rule-cost",
            "copy the report",
        ),
        (
            "report.gpus.exists(a, [report] == [report])",
            "rule-cost",
            "copy the report",
        ),
        (
            "report.gpus.map(a, [a, a, a, a, a, a, a, a, a, a, a, a])",
            "rule-cost",
            "copy the report",
        ),
        ("Message{a: 1} == 1", "rule-syntax", "Message"),
    ] {
        let error = check_expression(ProbeScope::Report, text).expect_err(text);
        assert_eq!(error.rule, rule, "{text}: {error}");
        assert!(
            error.reason.contains(word) && !error.fix.is_empty(),
            "{text}: {error}"
        );
    }
    for text in [
        "size(report.gpus) + 1 > 2",
        "has(report.node.hostname)",
        "report.pairs.map(p, p.a).size() < 3",
        "report.gpus.all(a, report.gpus.exists_one(b, b.cuda_ordinal == a.cuda_ordinal))",
    ] {
        assert_eq!(check_expression(ProbeScope::Report, text), Ok(()), "{text}");
    }
}

#[test]
fn the_rules_of_the_seeds_pass_the_door_and_a_bad_one_names_its_place() {
    let annex = kb_core::annex::read_annex(PEER_ACCESS.1).unwrap();
    assert_eq!(check_rules(&annex), []);
    let (_, text) =
        record_with(&json!([{ "id": "x", "scope": "gpu", "when": "true", "evidence": ["gpu", "pair"] }]));
    let violations = check_rules(&kb_core::annex::read_annex(&text).unwrap());
    assert_eq!(violations.len(), 1);
    assert_eq!(
        (violations[0].pointer.as_str(), violations[0].rule),
        ("/probe/0/evidence/1", "rule-name")
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn no_text_makes_the_door_panic(text in "(\\PC|report|\\.gpus|\\.exists\\(|a,|\\(|\\)|\\[|\\]|\\{|\\}|&&|==|\\+|true|has\\(|1){0,24}") {
        let _ = check_expression(ProbeScope::Report, &text);
    }
}
