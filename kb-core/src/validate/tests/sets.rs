//! Rules about a set of records.

use super::*;

fn set_rules(files: &[(&str, &str)]) -> Vec<(String, String, &'static str)> {
    let found = check_set(files.iter().copied());
    found
        .into_iter()
        .map(|f| (f.file, f.violation.pointer, f.violation.rule))
        .collect()
}

#[test]
fn a_set_pairs_files_and_knows_its_ids() {
    let good = [("kb/cuda/good.json", DOCUMENT), ("kb/cuda/good.ext.json", ANNEX)];
    assert_eq!(set_rules(&good), []);

    let other = put(DOCUMENT, "/id", "\"cuda/other\"");
    let other = put(&other, "/aliases", "[\"cuda/good\", \"cuda/old\"]");
    let edge = "[{\"error_id\": \"cuda/old\"}, {\"error_id\": \"cuda/gone\"}]";
    let pointing = put(DOCUMENT, "/transition_graph/preceded_by", edge);
    let cancelling = put(
        ANNEX,
        "/relations",
        "{\"cancels\": [\"cuda/other\", \"cuda/gone\"]}",
    );
    let shown = set_rules(&[
        ("cuda/good.json", &pointing),
        ("cuda/good.ext.json", &cancelling),
        ("cuda/other.json", &other),
        ("cuda/other.ext.json", ANNEX),
        ("cuda/lost.ext.json", ANNEX),
        ("cuda/notes.txt", ""),
        ("nccl/copy.json", DOCUMENT),
        ("nccl/copy.ext.json", ANNEX),
    ]);
    let expected = [
        ("cuda/good.ext.json", "/relations/cancels/1", "dangling"),
        (
            "cuda/good.json",
            "/transition_graph/preceded_by/1/error_id",
            "dangling",
        ),
        ("cuda/lost.ext.json", "", "no-document"),
        ("cuda/notes.txt", "", "file-name"),
        ("cuda/other.ext.json", "/examples", "found-by-another"),
        ("cuda/other.ext.json", "/examples/0/text", "not-first"),
        ("cuda/other.ext.json", "/examples/1/text", "not-first"),
        ("cuda/other.json", "/signature", "same-signature"),
        ("cuda/other.json", "/aliases/0", "alias-taken"),
        ("nccl/copy.ext.json", "/examples", "found-by-another"),
        ("nccl/copy.json", "/id", "path"),
        ("nccl/copy.json", "/id", "duplicate-id"),
        ("nccl/copy.json", "/signature", "same-signature"),
    ];
    let expected: Vec<_> = expected
        .map(|(file, at, rule)| (file.to_owned(), at.to_owned(), rule))
        .into();
    assert_eq!(shown, expected);
}

#[test]
fn in_a_folder_an_edge_that_nothing_bears_out_is_an_error() {
    let edge = r#"[{"error_id": "cuda/old", "condition": "always"}]"#;
    let linked = put(DOCUMENT, "/transition_graph/leads_to", edge);
    let linked = put(&linked, "/aliases", r#"["cuda/old"]"#);
    let of_edges = |annex: &str| {
        let files = [("cuda/good.json", linked.as_str()), ("cuda/good.ext.json", annex)];
        let found = check_set(files).into_iter().map(|found| found.violation);
        let of_rule = found.filter(|violation| violation.rule == "edge-no-source");
        of_rule
            .map(|violation| (violation.pointer, violation.severity))
            .collect::<Vec<_>>()
    };
    let place = "/transition_graph/leads_to/0";
    assert_eq!(of_edges(ANNEX), [(place.to_owned(), Severity::Error)]);
    let citing = put(ANNEX, "/sources/0/supports", &format!("[\"{place}\"]"));
    assert_eq!(of_edges(&citing), []);
}

/// Two records of a set, `cuda/good` and `cuda/twin`, with these values put into the documents.
fn twins(good: &[(&str, &str)], twin: &[(&str, &str)]) -> Vec<(String, String, &'static str)> {
    let with = |id: &str, values: &[(&str, &str)]| {
        let document = put(DOCUMENT, "/id", &format!("\"{id}\""));
        let document = put(&document, "/aliases", "[]");
        values
            .iter()
            .fold(document, |text, (pointer, value)| put(&text, pointer, value))
    };
    let (good, twin) = (with("cuda/good", good), with("cuda/twin", twin));
    set_rules(&[
        ("cuda/good.json", &good),
        ("cuda/good.ext.json", ANNEX),
        ("cuda/twin.json", &twin),
        ("cuda/twin.ext.json", ANNEX),
    ])
}

#[test]
fn records_of_a_set_say_different_things() {
    let told = |found: &[(String, String, &'static str)], rule: &str| {
        let of_rule = found.iter().filter(|(_, _, name)| *name == rule);
        of_rule
            .map(|(file, pointer, _)| format!("{file}{pointer}"))
            .collect::<Vec<_>>()
    };
    let cause = "\"The cable between the two boards was bent when the lid was closed, so that half of its lanes fail.\"";
    let other = "\"Somebody has set the switch of the board to the older mode, in which only one side may ask for memory.\"";
    let edge = |id: &str, text: &str| format!("[{{\"error_id\": \"{id}\", \"distinction\": \"{text}\"}}]");

    let alike = twins(&[("/root_cause", cause)], &[("/root_cause", cause)]);
    assert_eq!(
        told(&alike, "same-words").first().map(String::as_str),
        Some("cuda/twin.json/root_cause")
    );
    assert_eq!(told(&alike, "same-signature"), ["cuda/twin.json/signature"]);
    assert_eq!(told(&alike, "found-by-another").len(), 2, "{alike:?}");

    let confused = "/transition_graph/frequently_confused_with";
    let (there, back) = (
        edge("cuda/twin", "The good one is warm."),
        edge("cuda/good", "the good  one is WARM."),
    );
    let apart = twins(
        &[("/root_cause", cause), (confused, &there)],
        &[
            ("/root_cause", other),
            ("/signature", "\"another text\""),
            (confused, &back),
        ],
    );
    assert!(
        !told(&apart, "same-words")
            .iter()
            .any(|place| place.contains("root_cause")),
        "{apart:?}"
    );
    assert_eq!(told(&apart, "same-signature"), [""; 0]);
    assert_eq!(told(&apart, "found-by-another"), [""; 0]);
    assert_eq!(
        told(&apart, "same-distinction"),
        ["cuda/twin.json/transition_graph/frequently_confused_with/0/distinction"]
    );
}

#[test]
fn a_document_without_annex_is_one_warning() {
    let document = put(DOCUMENT, "/dead_ends", "[]");
    assert_eq!(
        set_rules(&[("cuda/good.json", &document)]),
        [("cuda/good.json".to_owned(), String::new(), "no-annex")]
    );
    let id_in_the_middle = [
        ("cuda/goodcuda/good.json", DOCUMENT),
        ("cuda/goodcuda/good.ext.json", ANNEX),
    ];
    assert_eq!(set_rules(&id_in_the_middle)[0].2, "path");
}
