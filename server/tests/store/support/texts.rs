//! Records, reports and moments for tests.

use kb_core::ids::{RecordId, Revision};
use kb_core::verdict::Verdict;
use peerless::store::{
    By, Causes, Expected, Hardware, Machine, NewReport, NewRevision, Origin, PackedMeasurement, Publish,
    Published, Saved, SeedRecord, Store, Weight,
};
use serde_json::{Value, json};
use time::macros::datetime;
use time::{Duration, OffsetDateTime};

/// A moment: `second` seconds after the tests' beginning of time.
pub(crate) fn at(second: i64) -> OffsetDateTime {
    datetime!(2026-01-02 03:04:05.678901 UTC) + Duration::seconds(second)
}

pub(crate) fn id(text: &str) -> RecordId {
    text.parse().unwrap()
}

pub(crate) fn revision(number: u32) -> Revision {
    Revision(number)
}

/// The two texts of a record, told from others by `word`.
pub(crate) fn record(id: &str, word: &str) -> (String, String) {
    record_with(id, word, json!({}), json!({}))
}

/// The same with keys replaced in the document and in the annex.
pub(crate) fn record_with(id: &str, word: &str, document: Value, annex: Value) -> (String, String) {
    let mut whole = json!({
        "id": id,
        "signature": format!("error: {word}"),
        "regex": format!("error: {word}"),
        "domain": id.split('/').next().unwrap(),
        "category": "runtime_error",
        "root_cause": "a test",
        "aliases": [],
    });
    let mut whole_annex = json!({ "schema_version": 1 });
    for (target, keys) in [(&mut whole, document), (&mut whole_annex, annex)] {
        for (key, value) in keys.as_object().unwrap() {
            target[key] = value.clone();
        }
    }
    (whole.to_string(), whole_annex.to_string())
}

/// A change of a head.
pub(crate) fn draft(id: &str, texts: (String, String), expected: Expected) -> NewRevision {
    NewRevision {
        id: self::id(id),
        document: texts.0,
        annex: texts.1,
        expected,
        by: By::system("ada"),
        note: None,
        at: at(1),
    }
}

pub(crate) fn publish(id: &str, revision: u32) -> Publish {
    Publish {
        id: self::id(id),
        revision: Revision(revision),
        by: By::system("ada"),
        after: None,
        forced: None,
        reason: None,
        at: at(2),
    }
}

/// Saves the next head and publishes it.
pub(crate) async fn published(store: &dyn Store, id: &str, texts: (String, String)) -> Published {
    let status = store.status(&self::id(id)).await.unwrap();
    let expected = status.map_or(Expected::Absent, |status| Expected::Head(status.head));
    let Saved::Saved(revision) = store.save_head(draft(id, texts, expected)).await.unwrap() else {
        panic!("{id} was not saved");
    };
    store.publish(publish(id, revision.0)).await.unwrap()
}

pub(crate) fn seed(id: &str, texts: (String, String)) -> SeedRecord {
    SeedRecord {
        id: self::id(id),
        document: texts.0,
        annex: texts.1,
    }
}

/// A report received `second` seconds after the beginning of time.
pub(crate) fn report(node: &str, id: &str, second: i64) -> NewReport {
    NewReport {
        node: node.parse().unwrap(),
        id: id.parse().unwrap(),
        hostname: Some(format!("{node}.example")),
        body_zstd: vec![0x28, 0xb5, 0, 0xff],
        body_sha256: format!("{:064}", 1),
        body_bytes: 4096,
        finished_at: at(second - 5),
        received_at: at(second),
        ended_at: None,
        schema: (1, 0),
        simulated: true,
        verdict: Verdict::Healthy,
        weight: Weight::Proof,
        origin: Origin::Look,
        reason: "every check passed".to_owned(),
        gpus: 2,
        measurements: vec![PackedMeasurement {
            metric: "d2d_bandwidth.ce.push.p2p".to_owned(),
            unit: "GB/s".to_owned(),
            bytes: 1 << 30,
            n: 2,
            matrix: [f64::NAN, 390.1, 390.2, f64::NAN]
                .iter()
                .flat_map(|cell| cell.to_le_bytes())
                .collect(),
        }],
        machine: Some(Machine::default()),
        causes: Causes::default(),
        judged: None,
        hardware: Hardware::default(),
        facets: None,
        baseline: None,
        found: None,
    }
}
