//! The table of fields against what records may hold, and forms that change nothing but what was changed.

use super::*;
use crate::annex::EMPTY;
use crate::text::{Part, Tree};

const DOCUMENT: &str = r#"{
  "id": "cuda/x",
  "signature": "a\u00e9  b",
  "domain": "cuda",
  "category":"runtime_error",
  "root_cause": "one\ntwo",
  "confidence": 0.50,
  "tags": ["a",   "b"],
  "workarounds": [
    {"action": "first"},
    {"action": "second", "how": null},
    {"action": "third", "extra": {"kept": 1.0}}
  ],
  "workarounds_zh": ["一", "二", "三"],
  "unknown": [1, 2]
}
"#;
const ANNEX: &str = r#"{
  "schema_version": 1,
  "sources": [
    {"url": "https://a.example/", "read_on": "2026-01-02", "supports": ["/workarounds/0", "/workarounds/2/how", "/root_cause"]}
  ],
  "disputes": [{"pointer": "/workarounds/0", "why": "w", "source": "https://a.example/"}]
}"#;

fn texts() -> Texts {
    Texts::parse(DOCUMENT, ANNEX).unwrap()
}

fn all() -> impl Iterator<Item = &'static Field> {
    SECTIONS.iter().flat_map(|section| section.fields)
}

/// Every value that a form of this record shows, and sends back.
fn shown(texts: &Texts) -> Vec<(Part, String, (Input, bool), String)> {
    let mut found = Vec::new();
    for field in all() {
        let value = texts.part(field.part).find(field.pointer);
        match (field.input, value) {
            (Input::Rows(columns), Some(Tree::Array(rows))) => {
                for (at, row) in rows.iter().enumerate() {
                    for column in columns {
                        let pointer = format!("{}/{at}/{}", field.pointer, column.key);
                        let (text, _) = read(row.child(column.key), column.input);
                        found.push((field.part, pointer, (column.input, column.required), text));
                    }
                }
            }
            (input, value) => {
                let (text, _) = read(value, input);
                found.push((
                    field.part,
                    field.pointer.to_owned(),
                    (input, field.required),
                    text,
                ));
            }
        }
    }
    found
}

#[test]
fn every_field_of_a_record_has_a_place_in_the_form() {
    let own = |part: Part| -> Vec<&str> {
        all()
            .filter(|field| field.part == part)
            .filter_map(|field| field.pointer.split('/').nth(1))
            .collect()
    };
    let (document, annex) = (own(Part::Document), own(Part::Annex));
    for (name, known, not_shown) in [
        ("document", document, ["id"].as_slice()),
        ("annex", annex, ["schema_version"].as_slice()),
    ] {
        let schema = format!(
            "{}/../kb-seed/schema/{name}.schema.json",
            env!("CARGO_MANIFEST_DIR")
        );
        let schema: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(schema).unwrap()).unwrap();
        for key in schema["properties"].as_object().unwrap().keys() {
            let there = known.contains(&key.as_str()) || not_shown.contains(&key.as_str());
            assert!(there, "{name}: {key} has no field");
        }
    }
}

#[test]
fn a_form_sent_back_as_it_was_changes_no_byte() {
    let mut texts = texts();
    for (part, pointer, input, text) in shown(&texts.clone()) {
        assert_eq!(
            write(&mut texts, (part, &pointer), input, &text),
            Ok(false),
            "{pointer}"
        );
        let windows = text.replace('\n', "\r\n");
        assert_eq!(
            write(&mut texts, (part, &pointer), input, &windows),
            Ok(false),
            "{pointer}"
        );
    }
    assert_eq!(
        texts.written(DOCUMENT, ANNEX).unwrap(),
        (DOCUMENT.to_owned(), ANNEX.to_owned())
    );
}

#[test]
fn a_changed_field_changes_its_own_bytes_alone() {
    let mut texts = texts();
    let given = [
        ("/root_cause", Input::Paragraph, "three\r\nfour"),
        ("/confidence", Input::Number, "0.7"),
        ("/workarounds/1/how", Input::Paragraph, "so"),
        ("/workarounds/2/success_rate", Input::Number, "many"),
        ("/tags", Input::Lines, "a\nb\n\n c "),
    ];
    for (pointer, input, text) in given {
        let done = write(&mut texts, (Part::Document, pointer), (input, false), text);
        assert_eq!(done, Ok(true), "{pointer}");
    }
    let (document, annex) = texts.written(DOCUMENT, ANNEX).unwrap();
    let expected = DOCUMENT
        .replace(r"one\ntwo", r"three\nfour")
        .replace("0.50", "0.7")
        .replace("\"how\": null", "\"how\": \"so\"")
        .replace(
            "\"extra\": {\"kept\": 1.0}",
            "\"extra\": {\"kept\": 1.0}, \"success_rate\": \"many\"",
        )
        .replace("[\"a\",   \"b\"]", "[\"a\",   \"b\",   \"c\"]");
    assert_eq!(document, expected);
    assert_eq!(annex, ANNEX);
}

#[test]
fn an_emptied_field_is_taken_away() {
    let mut texts = texts();
    let clear = |texts: &mut Texts, part, pointer: &str, input, required| {
        write(texts, (part, pointer), (input, required), " \r\n").unwrap()
    };
    assert!(clear(
        &mut texts,
        Part::Document,
        "/confidence",
        Input::Number,
        false
    ));
    assert!(clear(
        &mut texts,
        Part::Document,
        "/signature",
        Input::Paragraph,
        true
    ));
    assert!(clear(&mut texts, Part::Document, "/tags", Input::Lines, false));
    assert!(!clear(&mut texts, Part::Annex, "/title", Input::Line, false));
    write(
        &mut texts,
        (Part::Annex, "/at_fault/who"),
        (Input::Choice(&["gpu"]), false),
        "gpu",
    )
    .unwrap();
    assert!(clear(
        &mut texts,
        Part::Annex,
        "/at_fault/who",
        Input::Choice(&["gpu"]),
        false
    ));
    let (document, annex) = texts.written(DOCUMENT, ANNEX).unwrap();
    let expected = DOCUMENT
        .replace("0.50", "null")
        .replace(r#""a\u00e9  b""#, "\"\"")
        .replace("[\"a\",   \"b\"]", "[]");
    assert_eq!((document, annex), (expected, ANNEX.to_owned()));
}

#[test]
fn the_first_row_of_an_empty_record_is_laid_out() {
    let mut texts = Texts::parse("{}", EMPTY).unwrap();
    let input = (Input::Line, true);
    write(&mut texts, (Part::Annex, "/patterns/0/id"), input, "p").unwrap();
    write(&mut texts, (Part::Annex, "/patterns/0/regex"), input, "x{2}").unwrap();
    write(
        &mut texts,
        (Part::Document, "/transition_graph/leads_to/0/error_id"),
        (Input::Ids, true),
        "a/b",
    )
    .unwrap();
    let (document, annex) = texts.written("{}", EMPTY).unwrap();
    assert!(annex.contains("\"id\": \"p\","), "{annex}");
    assert_eq!(
        document,
        "{\n  \"transition_graph\": {\n    \"leads_to\": [\n      {\n        \"error_id\": \"a/b\"\n      }\n    ]\n  }\n}"
    );
}

#[test]
fn what_a_field_cannot_hold_is_shown_as_json_or_refused() {
    let object = Tree::parse(r#"{"a": 1}"#).unwrap();
    assert!(matches!(read(Some(&object), Input::Line), (text, Input::Json) if text == r#"{"a": 1}"#));
    let array = Tree::parse(r#"["two\nlines"]"#).unwrap();
    assert!(matches!(read(Some(&array), Input::Lines), (_, Input::Json)));
    let mut texts = texts();
    let refused = write(
        &mut texts,
        (Part::Document, "/os_specific"),
        (Input::Json, false),
        "{",
    );
    assert!(matches!(refused, Err(Refused::Json(_))), "{refused:?}");
    let refused = write(
        &mut texts,
        (Part::Document, "/signature/x"),
        (Input::Line, false),
        "y",
    );
    assert!(matches!(refused, Err(Refused::Nowhere(_))), "{refused:?}");
}

#[test]
fn lists_beside_and_pointers_follow_a_row() {
    let mut texts = texts();
    let (edit, list) = parse_row_edit("remove:/workarounds/0").unwrap();
    assert!(edit_row(&mut texts, (Part::Document, list), edit));
    assert!(edit_row(
        &mut texts,
        (Part::Document, "/workarounds"),
        RowEdit::Down(0)
    ));
    assert!(!edit_row(
        &mut texts,
        (Part::Document, "/workarounds"),
        RowEdit::Up(0)
    ));
    assert!(!edit_row(
        &mut texts,
        (Part::Document, "/workarounds"),
        RowEdit::Down(1)
    ));
    assert!(!edit_row(
        &mut texts,
        (Part::Document, "/unknown"),
        RowEdit::Remove(0)
    ));
    let at = |pointer: &str| texts.document.find(pointer).unwrap().compact();
    assert_eq!(at("/workarounds/0/action"), "\"third\"");
    assert_eq!(at("/workarounds_zh"), "[\"三\", \"二\"]");
    let supports = texts.annex.find("/sources/0/supports").unwrap().compact();
    assert_eq!(supports, "[\"/workarounds/0/how\", \"/root_cause\"]");
    assert_eq!(texts.annex.find("/disputes").unwrap().compact(), "[]");
}
