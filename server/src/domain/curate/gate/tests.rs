//! Records beside others, and beside each other.

use kb_core::record::Record;
use serde_json::{Value, json};

use super::refused;
use crate::feed::samples::{document, generation_of};

/// Texts of a record: its pattern, its example, and what else its annex says.
fn texts(id: &str, regex: &str, example: &str, mut annex: Value) -> (String, String) {
    let mut record = document(id, &format!("trouble of {id}"));
    record["regex"] = regex.into();
    annex["schema_version"] = json!(1);
    annex["examples"] = json!([{ "text": example }]);
    (record.to_string(), annex.to_string())
}

fn record((document, annex): &(String, String)) -> Record {
    Record::parse(document, annex).unwrap()
}

/// Which records are refused beside those that are published, and by which rule first.
fn told(new: &[(String, String)], published: &[(String, String)]) -> Vec<(String, &'static str)> {
    let new: Vec<Record> = new.iter().map(record).collect();
    let found = refused(&new, &generation_of(published)).unwrap();
    let told = found.into_iter();
    told.map(|(id, findings)| (id.to_string(), findings[0].rule))
        .collect()
}

const MESSAGE: &str = "frobnicator: wheel 7 came off the zorgblat axle";

fn narrow() -> (String, String) {
    texts(
        "cuda/narrow",
        "wheel [0-9]+ came off the zorgblat axle",
        MESSAGE,
        json!({}),
    )
}

/// Longer, so that it comes first on the other's example.
fn wide() -> (String, String) {
    let example = "frobnicator: wheel 9 came off the zorgblat axle of the second cart";
    let regex = "frobnicator: wheel [0-9]+ came off the zorgblat axle";
    texts("cuda/wide", regex, example, json!({}))
}

#[test]
fn records_of_one_import_are_held_against_each_other() {
    assert_eq!(told(&[narrow()], &[]), []);
    assert_eq!(told(&[wide()], &[]), []);
    let rule = "gate/others-example";
    assert_eq!(told(&[wide()], &[narrow()]), [("cuda/wide".to_owned(), rule)]);
    assert_eq!(told(&[narrow(), wide()], &[]), [("cuda/wide".to_owned(), rule)]);
}

/// Whether another loose record stands elsewhere in the corpus says nothing about this line.
#[test]
fn a_loose_record_does_not_hide_behind_another() {
    let loose = |id: &str, word: &str, annex| texts(id, word, &format!("zorgblat {word}"), annex);
    let one = loose("cuda/one", "NCCL INFO", json!({}));
    let alone = loose("cuda/two", "CUDA", json!({}));
    let rules = told(&[one, alone], &[]);
    assert_eq!(
        rules,
        [
            ("cuda/one".to_owned(), "gate/healthy-line"),
            ("cuda/two".to_owned(), "gate/healthy-line")
        ]
    );
    let many: Vec<(String, String)> = (0..120)
        .map(|number| loose(&format!("cuda/many-{number}"), "NCCL INFO", json!({})))
        .collect();
    assert_eq!(told(&many, &[]).len(), 120, "however many take the same line");
}
