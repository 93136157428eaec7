//! Whether the audit tells how every record came to stand as it does: its rows are played again from the first to the last, and what
//! comes out is held against the records, their revisions and the feed.

use std::collections::BTreeMap;

use kb_core::ids::{RecordId, Revision, Seq};
use peerless::store::{AuditEntry, AuditQuery, ListQuery, RecordState, RecordStatus, Store};

/// More than a test writes.
const ALL: u32 = 1_000_000;

/// A record as the audit tells it.
#[derive(Debug, Default, Clone)]
struct Played {
    head: u32,
    published: Option<u32>,
    state: Option<RecordState>,
    seq: Option<i64>,
    into: Option<String>,
}

/// All rows of the audit, the oldest first.
pub async fn rows(store: &dyn Store) -> Vec<AuditEntry> {
    let query = AuditQuery {
        limit: ALL,
        ..AuditQuery::default()
    };
    let mut rows = store.audit(&query).await.unwrap();
    rows.reverse();
    rows
}

/// Panics where audit and state differ. The database has no records but those that were saved through the interface.
pub async fn check(store: &dyn Store) -> Vec<AuditEntry> {
    let rows = rows(store).await;
    let (played, newest) = play(&rows);
    let query = ListQuery {
        drafts: true,
        limit: ALL,
        ..ListQuery::default()
    };
    let listed = store.list(query).await.unwrap();
    let listed: Vec<RecordStatus> = listed.into_iter().map(|listing| listing.status).collect();
    let ids: Vec<&str> = listed.iter().map(|status| status.id.as_str()).collect();
    let told: Vec<&str> = played.keys().copied().collect();
    assert_eq!(
        ids, told,
        "the records that there are, and those of which the audit tells"
    );
    for status in &listed {
        check_record(store, status, &played[status.id.as_str()], &rows).await;
    }
    assert_eq!(store.head_seq().await.unwrap(), Seq(newest));
    let feed = store.feed(Seq(0), ALL).await.unwrap();
    let mut of_feed: Vec<(RecordId, Seq)> = feed
        .changes
        .into_iter()
        .map(|change| (change.id, change.seq))
        .collect();
    of_feed.sort();
    let of_records = listed
        .into_iter()
        .filter_map(|status| Some((status.id, status.seq?)));
    assert_eq!(
        of_feed,
        of_records.collect::<Vec<_>>(),
        "the feed, and the records"
    );
    rows
}

/// Plays the rows; the records, and the newest seq.
fn play(rows: &[AuditEntry]) -> (BTreeMap<&str, Played>, i64) {
    let mut records: BTreeMap<&str, Played> = BTreeMap::new();
    let mut newest = 0;
    for (row, n) in rows.iter().zip(1..) {
        assert_eq!(row.n, n, "a gap in the audit: {row:?}");
        let (from, to) = (
            row.from_revision.map(|revision| revision.0),
            row.to_revision.map(|revision| revision.0),
        );
        let seq = row.detail["seq"].as_i64();
        let record = match row.action.as_str() {
            "record.save" | "record.publish" | "record.withdraw" | "record.merge" => {
                records.entry(row.subject.as_str()).or_default()
            }
            _ => continue,
        };
        let taken = match row.action.as_str() {
            "record.save" => {
                assert_eq!(from.unwrap_or(0), record.head, "not saved upon the head: {row:?}");
                assert_eq!(to, Some(record.head + 1), "a gap in the history: {row:?}");
                record.head += 1;
                0
            }
            "record.publish" => {
                assert_eq!(from, record.published, "{row:?}");
                assert!(to >= Some(1) && to <= Some(record.head), "{row:?}");
                *record = Played {
                    published: to,
                    state: Some(RecordState::Published),
                    seq,
                    into: None,
                    ..record.clone()
                };
                1
            }
            action => {
                assert_eq!(record.state, Some(RecordState::Published), "{row:?}");
                assert_eq!(from, record.published, "{row:?}");
                record.state = Some(RecordState::Withdrawn);
                record.seq = seq;
                if action == "record.withdraw" {
                    1
                } else {
                    let into = row.detail["into"].as_str().unwrap();
                    record.seq = seq.map(|seq| seq - 1);
                    record.into = Some(into.to_owned());
                    let target = records.get_mut(into).unwrap();
                    assert_eq!(target.state, Some(RecordState::Published), "{row:?}");
                    target.seq = seq;
                    2
                }
            }
        };
        newest += taken;
        assert!(taken == 0 || seq == Some(newest), "a gap in the feed: {row:?}");
    }
    (records, newest)
}

async fn check_record(store: &dyn Store, status: &RecordStatus, played: &Played, rows: &[AuditEntry]) {
    let id = &status.id;
    let state = played.state.unwrap_or(RecordState::Draft);
    assert_eq!(
        (
            status.head,
            status.published,
            status.seq,
            status.state,
            store.resolve_alias(id.as_str()).await.unwrap()
        ),
        (
            Revision(played.head),
            played.published.map(Revision),
            played.seq.map(Seq),
            state,
            played.into.as_ref().map(|into| into.parse().unwrap())
        ),
        "{id}: the record, and what the audit tells of it"
    );
    let revisions = store.revisions(id).await.unwrap();
    let history: Vec<(u32, &str)> = revisions
        .iter()
        .rev()
        .map(|meta| (meta.revision.0, meta.actor.as_str()))
        .collect();
    let saves = rows
        .iter()
        .filter(|row| row.action == "record.save" && row.subject == id.as_str());
    let saves: Vec<(u32, &str)> = saves
        .map(|row| (row.to_revision.unwrap().0, row.by.name.as_str()))
        .collect();
    assert_eq!(
        history, saves,
        "{id}: the revisions, and what the audit tells of them"
    );
}
