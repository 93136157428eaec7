//! What a record must show for the tier it claims.

use super::*;

#[test]
fn who_says_reproduced_names_the_report() {
    let claimed = put(DOCUMENT, "/verification_tier", "\"reproduced\"");
    let at = |pointer: &str, rule| [(pointer.to_owned(), rule, Severity::Error)];
    assert_eq!(rules(&claimed, ANNEX), at("/verification_tier", "no-report"));
    let report = r#"[{"report": "run-7", "on": "2026-11-22", "hardware": "2x NVIDIA H200"}]"#;
    assert_eq!(rules(&claimed, &put(ANNEX, "/reproduced", report)), []);
    for (value, pointer, rule) in [
        (
            r#"[{"report": "run 7", "on": "2026-11-22", "hardware": "x"}]"#,
            "/reproduced/0/report",
            "id",
        ),
        (
            r#"[{"report": "run-7", "on": "today", "hardware": "x"}]"#,
            "/reproduced/0/on",
            "day",
        ),
        (
            r#"[{"report": "run-7", "on": "2026-11-22", "hardware": " "}]"#,
            "/reproduced/0/hardware",
            "empty",
        ),
        (
            r#"[{"report": "run-7", "on": "2026-11-22", "hardware": "x", "output": "a log"}]"#,
            "/reproduced/0/output",
            "name",
        ),
    ] {
        assert_eq!(
            rules(DOCUMENT, &put(ANNEX, "/reproduced", value)),
            at(pointer, rule),
            "{value}"
        );
    }
}

#[test]
fn what_is_documented_is_cited_whole() {
    let no_source = |pointer: &str| (pointer.to_owned(), "no-source", Severity::Warning);
    let edge = r#"[{"error_id": "cuda/other", "condition": "always"}]"#;
    let graph =
        format!(r#"{{"leads_to": {edge}, "preceded_by": {edge}, "frequently_confused_with": {edge}}}"#);
    let linked = put(DOCUMENT, "/transition_graph", &graph);
    let follows = (
        "/transition_graph/leads_to/0".to_owned(),
        "edge-no-source",
        Severity::Warning,
    );
    assert_eq!(
        rules(&linked, ANNEX),
        std::slice::from_ref(&follows),
        "another tier claims less"
    );
    let documented = put(&linked, "/verification_tier", "\"documented\"");
    let missing = [
        no_source("/root_cause"),
        follows,
        no_source("/transition_graph/preceded_by/0"),
    ];
    assert_eq!(rules(&documented, ANNEX), missing);
    let citing = |pointers: &str| put(ANNEX, "/sources/0/supports", pointers);
    let some = r#"["/dead_ends/0", "/root_cause", "/transition_graph/leads_to/0/condition"]"#;
    assert_eq!(
        rules(&documented, &citing(some)),
        [no_source("/transition_graph/preceded_by/0")]
    );
    let all = some.replace(']', r#", "/transition_graph/preceded_by/0"]"#);
    assert_eq!(rules(&documented, &citing(&all)), []);
}

#[test]
fn what_follows_rests_on_a_page_or_a_run() {
    let edges = r#"[{"error_id": "cuda/other", "condition": "always"}, {"error_id": "cuda/more"}]"#;
    let linked = put(DOCUMENT, "/transition_graph/leads_to", edges);
    let missing = |index: usize| {
        let pointer = format!("/transition_graph/leads_to/{index}");
        (pointer, "edge-no-source", Severity::Warning)
    };
    assert_eq!(rules(&linked, ANNEX), [missing(0), missing(1)]);
    let page = r#"["/dead_ends/0", "/transition_graph/leads_to/0/condition"]"#;
    let annex = put(ANNEX, "/sources/0/supports", page);
    assert_eq!(rules(&linked, &annex), [missing(1)]);
    let run = |pointers: &str| {
        let run = format!(
            r#"[{{"report": "run-7", "on": "2026-11-22", "hardware": "2x NVIDIA H200", "output": "a", "supports": {pointers}}}]"#
        );
        rules(&linked, &put(&annex, "/reproduced", &run))
    };
    assert_eq!(run(r#"["/transition_graph/leads_to/1"]"#), []);
    // The pointer to a neighbour with the same first digit, and one to nothing.
    let to_nothing = |at: &str| (at.to_owned(), "supports-nothing", Severity::Warning);
    assert_eq!(
        run(r#"["/transition_graph/leads_to/12"]"#),
        [missing(1), to_nothing("/reproduced/0/supports/0")]
    );
}
