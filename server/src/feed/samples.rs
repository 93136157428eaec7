//! Generations for tests, made from texts without a store.

use std::sync::Arc;

use kb_core::ids::{RecordId, Revision, Seq};
use kb_core::text::Sha256;
use serde_json::{Value, json};
use time::OffsetDateTime;

use super::Generation;
use super::assembler::Assembler;
use crate::store::{FeedChange, RevisionMeta, RevisionTexts};

/// The document and annex of the first seed.
pub(crate) const PEER_ACCESS: (&str, &str) = (
    include_str!("../../../kb-seed/cuda/peer-access-unsupported-by-hardware.json"),
    include_str!("../../../kb-seed/cuda/peer-access-unsupported-by-hardware.ext.json"),
);

pub(crate) fn document(id: &str, signature: &str) -> Value {
    let domain = id.split('/').next().unwrap_or_default();
    json!({
        "id": id, "signature": signature, "regex": null, "domain": domain, "category": "runtime_error",
        "root_cause": format!("why {signature} happens"),
    })
}

/// When a change was published: a second after the one before it. All revisions were made at the epoch.
fn published_at(seq: i64) -> OffsetDateTime {
    OffsetDateTime::UNIX_EPOCH + time::Duration::seconds(seq)
}

pub(crate) fn change(seq: i64, id: &str, document: &str, annex: &str) -> FeedChange {
    let meta = RevisionMeta {
        revision: Revision(u32::try_from(seq).unwrap()),
        actor: "test".to_owned(),
        note: None,
        at: OffsetDateTime::UNIX_EPOCH,
        document_sha256: Sha256::of(document).to_string(),
        annex_sha256: Sha256::of(annex).to_string(),
    };
    let texts = RevisionTexts {
        meta,
        document: document.to_owned(),
        annex: annex.to_owned(),
    };
    FeedChange {
        seq: Seq(seq),
        id: id.parse().unwrap(),
        changed_at: published_at(seq),
        published: Some(texts),
        forced: None,
        former: Vec::new(),
    }
}

pub(crate) fn tombstone(seq: i64, id: &str) -> FeedChange {
    let id: RecordId = id.parse().unwrap();
    FeedChange {
        seq: Seq(seq),
        id,
        changed_at: published_at(seq),
        published: None,
        forced: None,
        former: Vec::new(),
    }
}

/// The same record under another id; the one that it had is a former one.
pub(crate) fn renamed((document, annex): (&str, &str), to: &str) -> (String, String) {
    let mut document: Value = serde_json::from_str(document).unwrap();
    let former = document["id"].take();
    document["aliases"] = json!([former]);
    document["id"] = json!(to);
    (document.to_string(), annex.to_owned())
}

/// A generation of these records; seq and revision of each are its place, from 1.
pub(crate) fn generation_of(records: &[(String, String)]) -> Arc<Generation> {
    let mut changes = Vec::new();
    for (seq, (document, annex)) in (1..).zip(records) {
        let id = serde_json::from_str::<Value>(document).unwrap()["id"]
            .as_str()
            .unwrap()
            .to_owned();
        changes.push(change(seq, &id, document, annex));
    }
    let reaches = Seq(i64::try_from(changes.len()).unwrap());
    let generation = Assembler::new().apply(changes, reaches).unwrap();
    assert_eq!(generation.left_out, []);
    Arc::new(generation)
}
