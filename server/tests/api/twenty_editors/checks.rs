//! What twenty editors leave: all that they were told of, once, and nothing that contradicts it.

use std::collections::BTreeSet;

use kb_core::ids::{RecordId, Revision};
use peerless::store::{AuditEntry, ReviewState, Store};
use serde_json::Value;

use super::{Told, changed};
use crate::test_app::TestApp;

/// What somebody was told stands in the audit once, under his name.
pub(super) fn check_told(told: &[Told], rows: &[AuditEntry]) {
    let of = |action: &'static str| rows.iter().filter(move |row| row.action == action);
    for told in told {
        if let Some(saved) = told.saved {
            let saves = of("record.save")
                .filter(|row| row.subject == told.record && row.to_revision == Some(Revision(saved)));
            let by: Vec<&str> = saves.map(|row| row.by.name.as_str()).collect();
            assert_eq!(by, [told.editor.as_str()], "{told:?}");
        }
        if let Some((seq, revision)) = told.published {
            let done = rows.iter().filter(|row| {
                ["record.publish", "record.withdraw"].contains(&row.action.as_str())
                    && row.detail["seq"] == seq
                    && row.subject == told.record
                    && row.to_revision.or(row.from_revision) == Some(Revision(revision))
            });
            assert_eq!(done.count(), 1, "{told:?}");
        }
    }
    let sent_back = told.iter().filter(|told| told.sent_back).count();
    assert_eq!(of("review.send_back").count(), sent_back);
    let saved: BTreeSet<(&str, u32)> = told
        .iter()
        .filter_map(|told| Some((told.record.as_str(), told.saved?)))
        .collect();
    let acknowledged = told.iter().filter(|told| told.saved.is_some()).count();
    assert_eq!(saved.len(), acknowledged, "one revision for two editors");
}

/// Every revision is the one before it with one change more, or an older one that was brought back: no change was lost.
pub(super) async fn check_texts(store: &dyn Store, id: &RecordId) {
    let head = store.status(id).await.unwrap().unwrap().head.0;
    let mut history: Vec<(Value, Value)> = Vec::new();
    for number in 1..=head {
        let texts = store.revision(id, Revision(number)).await.unwrap().unwrap();
        let now: (Value, Value) = (
            serde_json::from_str(&texts.document).unwrap(),
            serde_json::from_str(&texts.annex).unwrap(),
        );
        if let Some((document, annex)) = history.last() {
            let note = texts.meta.note.unwrap();
            let expected = match note.strip_prefix("Back to r") {
                Some(older) => history[older.parse::<usize>().unwrap() - 1].clone(),
                None => changed(document, annex, &note),
            };
            assert_eq!(now, expected, "{id} r{number}: {note}");
        }
        history.push(now);
    }
}

pub(super) async fn check_reviews(store: &dyn Store, id: &RecordId, told: &[Told], rows: &[AuditEntry]) {
    let mut reviews = store.reviews(id, 10_000).await.unwrap();
    reviews.reverse();
    let numbers: Vec<u32> = reviews.iter().map(|review| review.n).collect();
    let asked = rows
        .iter()
        .filter(|row| row.action == "review.ask" && row.subject == id.as_str());
    let asked: Vec<(Revision, &str)> = asked
        .map(|row| (row.to_revision.unwrap(), row.by.name.as_str()))
        .collect();
    let kept: Vec<(Revision, &str)> = reviews
        .iter()
        .map(|review| (review.revision, review.asked_by.name.as_str()))
        .collect();
    assert_eq!(kept, asked, "{id}");
    for told in told.iter().filter(|told| told.record == id.as_str()) {
        assert!(told.asked.is_none_or(|n| numbers.contains(&n)), "{told:?}");
    }
    let open = reviews.iter().filter(|review| review.state == ReviewState::Open);
    assert!(open.count() <= 1, "{id}: {reviews:?}");
}

/// Readers see what the state says, whole.
pub(super) async fn check_readers(app: &TestApp, id: &RecordId) {
    let status = app.store.status(id).await.unwrap().unwrap();
    let published = status.published.unwrap();
    let seen = app.get(&format!("/api/v1/records/{id}")).await;
    assert_eq!(seen.headers()["peerless-state"], status.state.as_str());
    assert_eq!(
        seen.headers()["etag"].to_str().unwrap(),
        format!("\"{published}\"")
    );
    let texts = app.store.revision(id, published).await.unwrap().unwrap();
    assert_eq!(seen.text().await.unwrap(), texts.document);
}
