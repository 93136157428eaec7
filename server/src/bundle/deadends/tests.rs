//! Small canons by hand, in the form of theirs: what they become, and that they come back.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::*;

fn canon(id: &str, regex: &str, environment: &str) -> String {
    let regex = serde_json::to_string(regex).unwrap();
    format!(
        r#"{{
  "schema_version": "1.0.0",
  "id": "{id}",
  "url": "https://deadends.dev/{id}",
  "error": {{
    "signature": "CUDA error: made up for this test",
    "regex": {regex},
    "domain": "cuda",
    "category": "runtime_error",
    "first_seen": "2024-01-01",
    "last_confirmed": "2026-02-13"
  }},
  "environment": {environment},
  "verdict": {{
    "resolvable": "partial",
    "fix_success_rate": 0.90,
    "confidence": 0.5,
    "last_updated": "2026-02-13",
    "summary": "Because a test needs it – \u00e9."
  }},
  "dead_ends": [
    {{
      "action": "Hope",
      "why_fails": "It never helped",
      "fail_rate": 0.70,
      "common_misconception": "that it does",
      "sources": []
    }}
  ],
  "workarounds": [
    {{
      "action": "Write a test",
      "success_rate": 1.0,
      "tradeoff": "time",
      "sources": ["https://example.com/"]
    }}
  ],
  "transition_graph": {{
    "leads_to": [
      {{
        "error_id": "cuda/unknown/any",
        "probability": 0.30
      }}
    ],
    "preceded_by": [],
    "frequently_confused_with": []
  }},
  "metadata": {{
    "generated_by": "hand",
    "generation_date": "2026-02-13",
    "review_status": "auto_generated",
    "evidence_count": 80,
    "page_views": 3,
    "last_verification": "2026-02-13"
  }}
}}
"#
    )
}

const LINUX: &str = r#"{
    "runtime": {
      "name": "cuda",
      "version_range": ">=11.0,<13.0"
    },
    "os": "linux",
    "python": ">=3.9",
    "hardware": {
      "gpu": "NVIDIA",
      "vram_gb": 24
    }
  }"#;
const COUNTRY: &str =
    r#"{"runtime": {"name": "law", "version_range": "any"}, "os": "any", "additional": {"country": "kr"}}"#;

fn files(canons: &[(&str, String)]) -> BTreeMap<String, Vec<u8>> {
    canons
        .iter()
        .map(|(file, text)| ((*file).to_owned(), text.clone().into_bytes()))
        .collect()
}

fn one(text: String) -> Imported {
    import(&files(&[("canons/a.json", text)]), &Options::default())
}

#[test]
fn a_canon_becomes_a_record_and_comes_back_byte_for_byte() {
    let text = canon("cuda/made-up/cuda12", "made up for this test", LINUX);
    let imported = one(text.clone());
    let record = &imported.records[0];
    let document: Value = serde_json::from_str(&record.document).unwrap();
    assert_eq!(document.as_object().unwrap().len(), 30);
    for (pointer, expected) in [
        ("/id", json!("cuda/made-up/cuda12")),
        ("/root_cause", json!("Because a test needs it – é.")),
        ("/versions/0/version", json!("cuda>=11.0,<13.0")),
        ("/versions/1/version", json!("python>=3.9")),
        ("/os_specific", json!({"linux": {}})),
        ("/verification_tier", json!("ai_generated")),
        ("/evidence_count", json!(80)),
        ("/tags", json!(["runtime_error", "NVIDIA"])),
        ("/aliases", json!(["cuda/made-up"])),
        ("/dead_ends/0/common_misconception", json!("that it does")),
        ("/workarounds/0/how", Value::Null),
    ] {
        assert_eq!(
            document.pointer(pointer).unwrap_or(&Value::Null),
            &expected,
            "{pointer}"
        );
    }
    let annex: Value = serde_json::from_str(&record.annex).unwrap();
    assert_eq!(annex["origin"]["url"], "https://deadends.dev/cuda/made-up/cuda12");
    assert_eq!(annex["hardware"]["vram_gb"], 24);
    assert_eq!(annex["provenance"]["page_views"], 3);

    let back = to_canon(&record.document, &record.annex).unwrap();
    assert_eq!((back.file.as_str(), back.text), ("canons/a.json", text));
    assert_eq!((imported.tally.same_bytes, imported.tally.same_values), (1, 1));
    assert_eq!(
        imported.tally.fields["/transition_graph/leads_to/*/probability"],
        (1, 1)
    );
    assert_eq!(imported.dangling.len(), 1);
    assert!(imported.reviews.is_empty(), "{:?}", imported.reviews);
}

#[test]
fn an_edit_made_here_goes_back_and_one_record_is_never_lost() {
    let record = one(canon("cuda/made-up/cuda12", "made up for this test", LINUX))
        .records
        .remove(0);
    let edited = record.document.replace("0.90", "0.25");
    let back: Value = serde_json::from_str(&to_canon(&edited, &record.annex).unwrap().text).unwrap();
    assert_eq!(back["verdict"]["fix_success_rate"], 0.25);
    assert_eq!(
        to_canon(&record.document, "{\"schema_version\": 1}"),
        None,
        "it is not from there"
    );
}

#[test]
fn patterns_that_cannot_be_used_are_kept_aside_and_listed() {
    for (regex, why) in [
        ("(?=look)ahead of time", "pattern/"),
        ("something else entirely", "own signature"),
    ] {
        let text = canon("cuda/made-up/cuda12", regex, LINUX);
        let imported = one(text.clone());
        let record = &imported.records[0];
        assert!(imported.reviews[0].1.contains(why), "{:?}", imported.reviews);
        assert!(record.document.contains("needs-review"));
        assert_eq!(to_canon(&record.document, &record.annex).unwrap().text, text);
    }
}

#[test]
fn slugs_with_several_environments_are_no_alias() {
    let several = |options: &Options| {
        let text = |id: &str| canon(id, "made up for this test", LINUX);
        let canons = [
            ("a.json", text("cuda/one/x")),
            ("b.json", text("cuda/two/x")),
            ("c.json", text("cuda/two/y")),
            ("again.json", text("cuda/one/x")),
        ];
        import(&files(&canons), options)
    };
    let imported = several(&Options::default());
    let aliases = |imported: &Imported| -> Vec<String> {
        let documents = imported
            .records
            .iter()
            .map(|record| serde_json::from_str::<Value>(&record.document).unwrap());
        documents
            .map(|document| document["aliases"].to_string())
            .collect()
    };
    // The id that comes twice makes its slug doubtful, too.
    assert_eq!(aliases(&imported), ["[]", "[]", "[]"]);
    assert_eq!(imported.refused.len(), 1);
    let taken = BTreeSet::from([
        "cuda/made-up".parse().unwrap(),
        "cuda/unknown/any".parse().unwrap(),
    ]);
    let options = Options {
        taken,
        ..Options::default()
    };
    let text = canon("cuda/made-up/cuda12", "made up for this test", LINUX);
    let imported = import(&files(&[("a.json", text)]), &options);
    assert_eq!(aliases(&imported), ["[]"]);
    assert_eq!(imported.dangling, [], "the target is known where the records go");
}

#[test]
fn what_is_not_asked_for_and_what_is_no_canon_is_counted() {
    let canons = [
        (
            "country.json",
            canon("legal/law/kr", "made up for this test", COUNTRY),
        ),
        ("stats.json", "{\"total\": 3}".to_owned()),
        ("list.json", "[]".to_owned()),
        ("broken.json", "{".to_owned()),
        ("bad-id.json", canon("Bad Id", "made up for this test", LINUX)),
        (
            "no-verdict.json",
            canon("cuda/a/b", "x", LINUX).replace("\"verdict\"", "\"opinion\""),
        ),
    ];
    let imported = import(&files(&canons), &Options::default());
    assert_eq!(
        (imported.records.len(), imported.countries, imported.others),
        (0, 1, 2)
    );
    let refused: Vec<_> = imported.refused.iter().map(|(file, _)| file.as_str()).collect();
    assert_eq!(refused, ["broken.json", "no-verdict.json", "bad-id.json"]);
    let options = Options {
        countries: true,
        ..Options::default()
    };
    assert_eq!(import(&files(&canons), &options).records.len(), 1);
}

#[test]
fn what_is_unknown_here_is_kept() {
    let text = canon("cuda/made-up/cuda12", "made up for this test", LINUX)
        .replace("\"category\": ", "\"severity\": 3,\n    \"category\": ")
        .replace(
            "  \"metadata\"",
            "  \"extra\": {\"a\": [1, 2.50]},\n  \"metadata\"",
        );
    let imported = one(text.clone());
    assert_eq!(
        (imported.tally.same_bytes, imported.tally.same_values),
        (0, 1),
        "only the order differs"
    );
}

#[test]
fn a_record_does_not_choose_any_place_on_the_disk() {
    let record = one(canon("cuda/made-up/cuda12", "made up for this test", LINUX))
        .records
        .remove(0);
    for file in ["../x.json", "/etc/x.json", "a/../../x.json", "x.sh"] {
        let annex = record.annex.replace("canons/a.json", file);
        let back = to_canon(&record.document, &annex).unwrap();
        assert_eq!(back.file, "cuda/made-up/cuda12.json", "{file}");
    }
}
