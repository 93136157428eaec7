//! Files of deadends.dev: refused with a reason, counted as something else, or records that keep the rules and go back.

use std::collections::BTreeMap;

use peerless::bundle::deadends::{Imported, Options, import, to_canon};
use peerless::domain::curate::check_texts;

/// Pieces of canons.
pub(crate) const WORDS: &[&str] = &[
    "\"id\": \"cuda/x/y\",",
    "\"error\": {",
    "\"verdict\": {}",
    "\"regex\": \"(?=x)\",",
    "\"regex\": \"((((((x{1000}){1000}\",",
    "\"error_id\": \"Not An Id\"",
    "\"additional\": {\"country\": \"kr\"}",
    "\"environment\": null,",
    "\"metadata\": [],",
    "\"evidence_count\": 1e999,",
    "\"review_status\": 7,",
    "\"\\ud800\"",
    "\"\\u0000\"",
    "0.50",
    "null",
    "{",
    "}",
    ",",
];

const FILE: &str = "cuda/made-up/any.json";

/// One file in: one record, one refusal or one other file. A record keeps the rules, and what it gives back makes it again.
pub(crate) fn check(text: &[u8]) {
    let imported = read(text);
    let outcomes = imported.records.len() + imported.refused.len() + imported.others;
    assert_eq!(outcomes, 1, "{imported:?}");
    let Some(record) = imported.records.first() else {
        return;
    };
    let checked = check_texts(&record.id, &record.document, &record.annex);
    assert!(checked.is_ok(), "{checked:?}");
    let back = to_canon(&record.document, &record.annex).unwrap();
    assert_eq!(back.file, FILE);
    if imported.tally.same_bytes == 1 {
        assert_eq!(back.text.as_bytes(), text);
    }
    let again = read(back.text.as_bytes());
    let again = &again.records[0];
    assert_eq!((&again.id, &again.document), (&record.id, &record.document));
    assert_eq!(again.annex, record.annex);
}

fn read(text: &[u8]) -> Imported {
    let options = Options {
        countries: true,
        ..Options::default()
    };
    import(&BTreeMap::from([(FILE.to_owned(), text.to_vec())]), &options)
}
