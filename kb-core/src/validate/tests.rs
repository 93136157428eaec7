//! Every rule is broken once, in a record that is otherwise without fault.

mod blame;
mod claims;
mod lost;
mod phrases;
mod sets;

use super::*;
use crate::text::{Position, insert_member, replace_value};

const DOCUMENT: &str = include_str!("testdata/good.json");
const ANNEX: &str = include_str!("testdata/good.ext.json");

fn rules(document: &str, annex: &str) -> Vec<(String, &'static str, Severity)> {
    let found = check_record(None, document, annex);
    found
        .into_iter()
        .map(|v| (v.pointer, v.rule, v.severity))
        .collect()
}

#[test]
fn the_good_record_has_no_fault() {
    assert_eq!(rules(DOCUMENT, ANNEX), []);
}

/// Writes `value` at `pointer`, whether or not something stands there.
fn put(text: &str, pointer: &str, value: &str) -> String {
    replace_value(text, pointer, value).unwrap_or_else(|_| insert_member(text, pointer, value).unwrap())
}

fn assert_faults(
    cases: &[(&str, &str, &str, &'static str)],
    severity: Severity,
    check: impl Fn(&str, &str) -> Vec<(String, &'static str, Severity)>,
) {
    for &(pointer, value, at, rule) in cases {
        assert_eq!(
            check(pointer, value),
            [(at.to_owned(), rule, severity)],
            "{pointer} = {value}"
        );
    }
}

#[test]
fn documents_that_are_refused() {
    let cases = [
        ("/id", "\"cuda//x\"", "/id", "id"),
        ("/id", "7", "/id", "type"),
        ("/id", "\"cuda/x.ext\"", "/id", "id-ends-ext"),
        ("/id", "\"cuda/x.schema\"", "/id", "id-ends-schema"),
        ("/signature", "\" \"", "/signature", "empty"),
        ("/signature", "null", "/signature", "type"),
        ("/regex", "\"(\"", "/regex", "pattern/syntax"),
        ("/regex", "\".*\"", "/regex", "pattern/no-literal"),
        ("/regex", "\"(?=a)aaaa\"", "/regex", "pattern/syntax"),
        ("/aliases", "[\"No\"]", "/aliases/0", "alias"),
        ("/aliases", "[\"a/b\", \"a/b\"]", "/aliases/1", "alias"),
        ("/aliases", "[\"cuda/good\"]", "/aliases/0", "alias"),
        ("/confidence", "84", "/confidence", "range"),
        (
            "/workarounds/0/success_rate",
            "-0.1",
            "/workarounds/0/success_rate",
            "range",
        ),
        (
            "/workarounds/0/success_rate",
            "\"often\"",
            "/workarounds/0/success_rate",
            "type",
        ),
        ("/evidence_count", "1.0", "/evidence_count", "range"),
        ("/evidence_count", "-0", "/evidence_count", "range"),
        (
            "/official_doc_url",
            "\"javascript:alert(1)\"",
            "/official_doc_url",
            "url",
        ),
        ("/official_doc_url", "\"https://\"", "/official_doc_url", "url"),
        (
            "/official_doc_url",
            "\"https://a b/\"",
            "/official_doc_url",
            "url",
        ),
        ("/first_seen", "\"2024-02-30\"", "/first_seen", "day"),
        ("/tags", "\"gpu\"", "/tags", "type"),
        (
            "/transition_graph/leads_to",
            "[{}]",
            "/transition_graph/leads_to/0",
            "missing-key",
        ),
    ];
    assert_faults(&cases, Severity::Error, |pointer, value| {
        rules(&put(DOCUMENT, pointer, value), ANNEX)
    });

    let without_cause = crate::text::remove_member(DOCUMENT, "/root_cause").unwrap();
    assert_eq!(
        rules(&without_cause, ANNEX),
        [(String::new(), "missing-key", Severity::Error)]
    );
    let twice = DOCUMENT.replacen("\"locale\"", "\"id\": \"cuda/good\",\n  \"locale\"", 1);
    assert_eq!(
        rules(&twice, ANNEX),
        [("/id".to_owned(), "duplicate-key", Severity::Error)]
    );
}

#[test]
fn annexes_that_are_refused() {
    let cases = [
        ("/schema_version", "2", "/schema_version", "version"),
        ("/codes", "[\" x\"]", "/codes/0", "code"),
        ("/patterns/0/id", "\"0\"", "/patterns/0/id", "duplicate-id"),
        ("/patterns/0/id", "\"a b\"", "/patterns/0/id", "name"),
        (
            "/patterns/0/regex",
            "\"good (a{1000}){1000}\"",
            "/patterns/0/regex",
            "pattern/too-large",
        ),
        ("/patterns/0/flags", "\"g\"", "/patterns/0/regex", "pattern/flag"),
        (
            "/phrases",
            r#"[{"id": "p", "context": "cuda-eror", "text": "good flange"}]"#,
            "/phrases/0/context",
            "phrase/context",
        ),
        (
            "/phrases",
            r#"[{"id": "p", "context": "cuda-error"}]"#,
            "/phrases/0",
            "phrase/text",
        ),
        (
            "/phrases",
            r#"[{"id": "p", "context": "cuda-number", "numbers": [1.5]}]"#,
            "/phrases/0/numbers/0",
            "range",
        ),
        (
            "/phrases",
            r#"[{"id": "0", "context": "cuda-error", "text": "good flange"}]"#,
            "/phrases/0/id",
            "duplicate-id",
        ),
        ("/severity", "\"bad\"", "/severity", "unknown-word"),
        ("/action", "\"pray\"", "/action", "unknown-word"),
        (
            "/at_fault",
            r#"{"who": "gremlins", "source": "https://example.com/"}"#,
            "/at_fault/who",
            "unknown-word",
        ),
        ("/at_fault", r#"{"who": "gpu"}"#, "/at_fault", "missing-key"),
        ("/probe/0/scope", "\"fleet\"", "/probe/0/scope", "unknown-word"),
        ("/probe/0/when", "\"\"", "/probe/0/when", "expression"),
        (
            "/relations",
            "{\"cancels\": [\"x\"]}",
            "/relations/cancels/0",
            "id",
        ),
        (
            "/relations",
            "{\"window_seconds\": 86401}",
            "/relations/window_seconds",
            "range",
        ),
        ("/sources/0/url", "\"example.org\"", "/sources/0/url", "url"),
        ("/sources/0/read_on", "\"today\"", "/sources/0/read_on", "day"),
        (
            "/superseded_by",
            "\"cuda/good\"",
            "/superseded_by",
            "superseded-by-itself",
        ),
    ];
    assert_faults(&cases, Severity::Error, |pointer, value| {
        rules(DOCUMENT, &put(ANNEX, pointer, value))
    });
    let long = format!("\"{}\"", "x".repeat(5_000));
    let found = rules(DOCUMENT, &put(ANNEX, "/probe/0/when", &long));
    assert_eq!(
        found,
        [("/probe/0/when".to_owned(), "expression", Severity::Error)]
    );
}

#[test]
fn documents_with_faults_of_content() {
    let cases = [
        (
            "/dead_ends/0/action",
            "\"\"",
            "/dead_ends/0/action",
            "empty-action",
        ),
        (
            "/workarounds/0/how",
            "\"Do it.\"",
            "/workarounds/0/how",
            "how-repeats-action",
        ),
        (
            "/workarounds/0/action",
            "\"\"",
            "/workarounds/0/action",
            "empty-action",
        ),
        (
            "/workarounds_zh/0",
            "\"Do it.\"",
            "/workarounds_zh/0",
            "not-chinese",
        ),
        ("/signature_zh", "\"bad\"", "/signature_zh", "not-chinese"),
        (
            "/workarounds_zh",
            "[\"做\", \"做\"]",
            "/workarounds_zh",
            "translation-count",
        ),
        ("/evidence_count", "1", "/confidence", "thin-evidence"),
        ("/error_code", "\"GPA\"", "/error_code", "made-up-code"),
        (
            "/verification_tier",
            "\"trust_me\"",
            "/verification_tier",
            "unknown-word",
        ),
        ("/resolvable", "\"maybe\"", "/resolvable", "unknown-word"),
        ("/domain", "\"nccl\"", "/domain", "domain"),
        ("/first_seen", "\"2025-01-01\"", "/last_confirmed", "days"),
        (
            "/signature",
            "\"CUDA error: rotten\"",
            "/signature",
            "misses-signature",
        ),
        (
            "/workarounds/0/sources",
            "[]",
            "/workarounds/0/sources",
            "no-source",
        ),
        (
            "/transition_graph/preceded_by",
            "[{\"error_id\": \"?\"}]",
            "/transition_graph/preceded_by/0/error_id",
            "edge-target",
        ),
        (
            "/transition_graph/preceded_by",
            "[{\"error_id\": \"cuda/good\"}]",
            "/transition_graph/preceded_by/0/error_id",
            "edge-to-itself",
        ),
    ];
    assert_faults(&cases, Severity::Warning, |pointer, value| {
        rules(&put(DOCUMENT, pointer, value), ANNEX)
    });
    let without_tags = crate::text::remove_member(DOCUMENT, "/tags").unwrap();
    assert_eq!(
        rules(&without_tags, ANNEX),
        [(String::new(), "missing-key", Severity::Warning)]
    );
}

#[test]
fn annexes_with_faults_of_content() {
    let cases = [
        (
            "/codes",
            "[\"error 217\", \"217\"]",
            "/codes/1",
            "code-not-in-text",
        ),
        (
            "/examples/0/text",
            "\"fine\"",
            "/examples/0/text",
            "misses-example",
        ),
        (
            "/examples/1/captures/gpu",
            "\"8\"",
            "/examples/1/captures/gpu",
            "wrong-capture",
        ),
        (
            "/examples/1/captures",
            "{\"gpus\": \"7\"}",
            "/examples/1/captures/gpus",
            "wrong-capture",
        ),
        (
            "/near_misses/0/text",
            "\"the good error on GPU 3\"",
            "/near_misses/0/text",
            "near-miss-matches",
        ),
        (
            "/dead_ends_zh/0/action",
            "\"Reboot\"",
            "/dead_ends_zh/0/action",
            "not-chinese",
        ),
        (
            "/workaround_notes",
            "[{\"kind\": \"repairs\", \"scope\": \"job\"}, {\"kind\": \"hides\", \"scope\": \"job\"}]",
            "/workaround_notes",
            "note-count",
        ),
        (
            "/harmless",
            "{\"unless\": \"it repeats\", \"unless_zh\": \"again\"}",
            "/harmless/unless_zh",
            "not-chinese",
        ),
        (
            "/sources/0/supports",
            "[\"/dead_ends/0\", \"/nowhere\"]",
            "/sources/0/supports/1",
            "supports-nothing",
        ),
    ];
    assert_faults(&cases, Severity::Warning, |pointer, value| {
        rules(DOCUMENT, &put(ANNEX, pointer, value))
    });

    let unproven = put(ANNEX, "/examples", "[{\"text\": \"CUDA error: good\"}]");
    let expected = (
        "/patterns/0/regex".to_owned(),
        "unproven-pattern",
        Severity::Warning,
    );
    assert_eq!(rules(DOCUMENT, &unproven), [expected]);
    let pattern = r#"[{"id": "two", "regex": "CUDA error: good\\nflange of the device"}]"#;
    let over_lines = put(&unproven, "/patterns", pattern);
    let shown = r#"[{"text": "CUDA error: good\nflange of the device"}]"#;
    let is_unproven = |annex: &str| {
        let rules = rules(DOCUMENT, annex);
        rules.iter().any(|(_, rule, _)| *rule == "unproven-pattern")
    };
    assert!(is_unproven(&over_lines));
    assert!(!is_unproven(&put(&over_lines, "/examples", shown)));
    let nothing = put(&put(DOCUMENT, "/regex", "null"), "/dead_ends", "[]");
    let expected = ("/regex".to_owned(), "unrecognisable", Severity::Warning);
    assert_eq!(rules(&nothing, "{\"schema_version\": 1}"), [expected]);
}

#[test]
fn positions_are_those_of_the_values() {
    let document = put(DOCUMENT, "/confidence", "2");
    let violation = check_record(None, &document, ANNEX).remove(0);
    let line = document
        .lines()
        .position(|line| line.contains("\"confidence\""))
        .unwrap()
        + 1;
    let column = "  \"confidence\": ".len() + 1;
    assert_eq!(violation.position, Some(Position { line, column }));
    assert!(is_refused(&[violation]));
}

#[test]
fn a_record_is_kept_under_its_own_id() {
    let other = "cuda/other".parse().unwrap();
    let found = check_record(Some(&other), DOCUMENT, ANNEX);
    assert_eq!(
        (found[0].rule, found[0].severity),
        ("id-mismatch", Severity::Error)
    );
    assert_eq!(
        check_record(Some(&"cuda/good".parse().unwrap()), DOCUMENT, ANNEX),
        []
    );
}

#[test]
fn many_violations_are_cut_short() {
    let many = format!("[{}]", vec!["1"; 900].join(","));
    assert_eq!(rules(&put(DOCUMENT, "/tags", &many), ANNEX).len(), 100);
}
