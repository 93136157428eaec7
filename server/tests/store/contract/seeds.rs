//! Seeding: what comes with the program, and what people made of it.

use std::sync::Arc;

use kb_core::ids::{RecordId, Seq};
use peerless::store::{
    By, Expected, Merge, RecordState, SeedOutcome, SeedRecord, SeedSet, SeedSource, SeedTaken, Store,
    StoreError,
};
use serde_json::json;

use crate::support::{Place, at, draft, id, publish, published, record, record_with, revision, seed};

pub(super) fn seeds(word: &str) -> Vec<SeedRecord> {
    ["cuda/a", "cuda/b"]
        .map(|name| seed(name, record(name, word)))
        .into()
}

pub(super) fn ids(names: &[&str]) -> Vec<RecordId> {
    names.iter().map(|name| id(name)).collect()
}

async fn document(store: &dyn Store, name: &str, number: u32) -> String {
    store
        .revision(&id(name), revision(number))
        .await
        .unwrap()
        .unwrap()
        .document
}

pub(crate) async fn new_seeds_are_published(place: Arc<Place>) {
    let store = place.store().await;
    let outcome = store
        .seed(SeedSource::Program, seeds("one").into(), at(10))
        .await
        .unwrap();
    assert_eq!(outcome.added, ids(&["cuda/a", "cuda/b"]));
    assert_eq!(
        (outcome.updated.len(), outcome.unchanged, outcome.conflicts.len()),
        (0, 0, 0)
    );
    let page = store.feed(Seq(0), 10).await.unwrap();
    assert_eq!(page.changes.len(), 2);
    assert_eq!(page.reaches, Seq(2));
    let texts = page.changes[0].published.as_ref().unwrap();
    assert_eq!((texts.meta.actor.as_str(), texts.meta.at), ("seed", at(10)));
    assert_eq!(texts.document, record("cuda/a", "one").0);
    assert_eq!(
        store.status(&id("cuda/a")).await.unwrap().unwrap().state,
        RecordState::Published
    );
}

pub(crate) async fn a_set_is_remembered_while_all_of_it_is_in(place: Arc<Place>) {
    let store = place.store().await;
    let bring = async |records, sha256: Option<&str>, second| {
        let sha256 = sha256.map(str::to_owned);
        let set = SeedSet { records, sha256 };
        store.seed(SeedSource::Program, set, at(second)).await.unwrap()
    };
    let known = async || store.seeded_set(SeedSource::Program).await.unwrap();
    assert_eq!(known().await, None);
    bring(seeds("one"), Some("first"), 10).await;
    assert_eq!(known().await.as_deref(), Some("first"));
    assert_eq!(store.seeded_set(SeedSource::Import).await.unwrap(), None);
    // The same records under another sum, and other records under none.
    bring(seeds("one"), Some("second"), 20).await;
    assert_eq!(known().await.as_deref(), Some("second"));
    bring(seeds("two"), None, 30).await;
    assert_eq!(known().await, None);
    bring(seeds("two"), Some("third"), 40).await;
    assert_eq!(known().await.as_deref(), Some("third"));
    // What waits for a person is listed at every start.
    published(&*store, "cuda/a", record("cuda/a", "own")).await;
    let outcome = bring(seeds("three"), Some("fourth"), 60).await;
    assert_eq!(outcome.conflicts.len(), 1);
    assert_eq!(known().await, None);
    let outcome = bring(seeds("three"), Some("fourth"), 70).await;
    assert_eq!((outcome.conflicts.len(), known().await), (1, None));
}

pub(crate) async fn it_is_known_who_ever_brought_records(place: Arc<Place>) {
    let store = place.store().await;
    published(store.as_ref(), "cuda/a", record("cuda/a", "own")).await;
    let brought = async |source| store.was_seeded(source).await.unwrap();
    assert!(!brought(SeedSource::Program).await && !brought(SeedSource::Import).await);
    store
        .seed(SeedSource::Import, seeds("one").into(), at(10))
        .await
        .unwrap();
    assert!(!brought(SeedSource::Program).await && brought(SeedSource::Import).await);
    // Nothing of it is taken over here, and it was brought all the same.
    let other = vec![seed("cuda/a", record("cuda/a", "another"))];
    store
        .seed(SeedSource::Program, other.into(), at(11))
        .await
        .unwrap();
    assert!(brought(SeedSource::Program).await);
}

pub(crate) async fn unchanged_seeds_write_nothing(place: Arc<Place>) {
    let store = place.store().await;
    store
        .seed(SeedSource::Program, seeds("one").into(), at(10))
        .await
        .unwrap();
    let outcome = store
        .seed(SeedSource::Program, seeds("one").into(), at(20))
        .await
        .unwrap();
    assert_eq!(
        outcome,
        SeedOutcome {
            unchanged: 2,
            ..SeedOutcome::default()
        }
    );
    assert_eq!(store.head_seq().await.unwrap(), Seq(2));
    assert_eq!(store.revisions(&id("cuda/a")).await.unwrap().len(), 1);
}

pub(crate) async fn a_changed_seed_makes_a_revision(place: Arc<Place>) {
    let store = place.store().await;
    store
        .seed(SeedSource::Program, seeds("one").into(), at(10))
        .await
        .unwrap();
    let mut changed = seeds("one");
    // The annex alone counts as a change too.
    changed[1] = seed(
        "cuda/b",
        record_with("cuda/b", "one", json!({}), json!({"codes": ["Xid 79"]})),
    );
    let outcome = store
        .seed(SeedSource::Program, changed.into(), at(20))
        .await
        .unwrap();
    assert_eq!(outcome.updated, ids(&["cuda/b"]));
    assert_eq!((outcome.added.len(), outcome.unchanged), (0, 1));
    let status = store.status(&id("cuda/b")).await.unwrap().unwrap();
    assert_eq!(
        (status.head, status.published, status.seq),
        (revision(2), Some(revision(2)), Some(Seq(3)))
    );
    assert_eq!(store.records_by_code("xid 79").await.unwrap(), ids(&["cuda/b"]));
    // And again: what was imported last is what is compared.
    let back = store
        .seed(SeedSource::Program, seeds("one").into(), at(30))
        .await
        .unwrap();
    assert_eq!(back.updated, ids(&["cuda/b"]));
    assert!(store.records_by_code("xid 79").await.unwrap().is_empty());
}

pub(crate) async fn an_edit_survives_and_the_conflict_is_listed(place: Arc<Place>) {
    let store = place.store().await;
    store
        .seed(SeedSource::Program, seeds("one").into(), at(10))
        .await
        .unwrap();
    published(&*store, "cuda/a", record("cuda/a", "edited")).await;

    // The same seeds again: no conflict, there is nothing new to import.
    assert_eq!(
        store
            .seed(SeedSource::Program, seeds("one").into(), at(20))
            .await
            .unwrap()
            .conflicts,
        []
    );

    let changed = seeds("two");
    let waiting = changed[0].sha256();
    let outcome = store
        .seed(SeedSource::Program, changed.into(), at(30))
        .await
        .unwrap();
    assert_eq!(outcome.updated, ids(&["cuda/b"]));
    assert_eq!(outcome.conflicts.len(), 1);
    let conflict = &outcome.conflicts[0];
    assert_eq!(
        (&conflict.id, conflict.head, conflict.since),
        (&id("cuda/a"), revision(2), at(30))
    );
    assert_eq!(conflict.seed_sha256, waiting);
    assert!(document(&*store, "cuda/a", 2).await.contains("edited"));
    assert_eq!(
        store.status(&id("cuda/a")).await.unwrap().unwrap().head,
        revision(2)
    );

    // It stays listed, with the day it was noticed, and costs no revision.
    let head_seq = store.head_seq().await.unwrap();
    let again = store
        .seed(SeedSource::Program, seeds("two").into(), at(40))
        .await
        .unwrap();
    assert_eq!(again.conflicts, outcome.conflicts);
    assert_eq!(store.seed_conflicts().await.unwrap(), outcome.conflicts);
    let newer = store
        .seed(SeedSource::Program, seeds("three").into(), at(50))
        .await
        .unwrap();
    assert_eq!(newer.conflicts[0].since, at(30));
    assert_eq!(newer.conflicts[0].seed_sha256, seeds("three")[0].sha256());
    assert_eq!(store.head_seq().await.unwrap(), Seq(head_seq.0 + 1));

    // The seeds go back to what was imported: nothing waits any more.
    store
        .seed(SeedSource::Program, seeds("one").into(), at(60))
        .await
        .unwrap();
    assert_eq!(store.seed_conflicts().await.unwrap(), []);
    assert!(document(&*store, "cuda/a", 2).await.contains("edited"));
}

pub(crate) async fn an_edit_that_equals_the_seed_ends_the_conflict(place: Arc<Place>) {
    let store = place.store().await;
    store
        .seed(SeedSource::Program, seeds("one").into(), at(10))
        .await
        .unwrap();
    published(&*store, "cuda/a", record("cuda/a", "edited")).await;
    store
        .seed(SeedSource::Program, seeds("two").into(), at(20))
        .await
        .unwrap();
    published(&*store, "cuda/a", record("cuda/a", "two")).await;
    assert_eq!(
        store
            .seed(SeedSource::Program, seeds("two").into(), at(30))
            .await
            .unwrap()
            .conflicts,
        []
    );
    assert_eq!(store.seed_conflicts().await.unwrap(), []);
    // From here on the seeds lead again.
    let outcome = store
        .seed(SeedSource::Program, seeds("three").into(), at(40))
        .await
        .unwrap();
    assert_eq!(outcome.updated, ids(&["cuda/a", "cuda/b"]));
}

pub(crate) async fn withdrawn_stays_withdrawn(place: Arc<Place>) {
    let store = place.store().await;
    store
        .seed(SeedSource::Program, seeds("one").into(), at(10))
        .await
        .unwrap();
    store
        .withdraw(&id("cuda/a"), &By::system("ada"), at(15))
        .await
        .unwrap();
    store
        .seed(SeedSource::Program, seeds("one").into(), at(20))
        .await
        .unwrap();
    let outcome = store
        .seed(SeedSource::Program, seeds("two").into(), at(30))
        .await
        .unwrap();
    assert_eq!(outcome.conflicts.len(), 1);
    assert_eq!(
        store.status(&id("cuda/a")).await.unwrap().unwrap().state,
        RecordState::Withdrawn
    );
}

pub(crate) async fn another_published_revision_is_an_edit(place: Arc<Place>) {
    let store = place.store().await;
    store
        .seed(SeedSource::Program, seeds("one").into(), at(10))
        .await
        .unwrap();
    store
        .seed(SeedSource::Program, seeds("two").into(), at(20))
        .await
        .unwrap();
    // Somebody found the new one worse.
    store.publish(publish("cuda/a", 1)).await.unwrap();
    let outcome = store
        .seed(SeedSource::Program, seeds("three").into(), at(30))
        .await
        .unwrap();
    assert_eq!(outcome.updated, ids(&["cuda/b"]));
    assert_eq!(outcome.conflicts.len(), 1);
    assert_eq!(
        store.status(&id("cuda/a")).await.unwrap().unwrap().published,
        Some(revision(1))
    );
}

pub(crate) async fn gone_from_the_seeds_is_kept(place: Arc<Place>) {
    let store = place.store().await;
    store
        .seed(SeedSource::Program, seeds("one").into(), at(10))
        .await
        .unwrap();
    let outcome = store
        .seed(SeedSource::Program, SeedSet::default(), at(20))
        .await
        .unwrap();
    assert_eq!(outcome, SeedOutcome::default());
    assert_eq!(store.feed(Seq(0), 10).await.unwrap().changes.len(), 2);
    // Back again, changed: nobody touched it, so it follows.
    assert_eq!(
        store
            .seed(SeedSource::Program, seeds("two").into(), at(30))
            .await
            .unwrap()
            .updated
            .len(),
        2
    );
}

pub(crate) async fn a_local_record_of_that_name_is_kept(place: Arc<Place>) {
    let store = place.store().await;
    store
        .save_head(draft("cuda/a", record("cuda/a", "local"), Expected::Absent))
        .await
        .unwrap();
    let outcome = store
        .seed(SeedSource::Program, seeds("one").into(), at(10))
        .await
        .unwrap();
    assert_eq!(outcome.added, ids(&["cuda/b"]));
    assert_eq!(outcome.conflicts.len(), 1);
    assert_eq!(store.seed_conflicts().await.unwrap(), outcome.conflicts);
    let status = store.status(&id("cuda/a")).await.unwrap().unwrap();
    assert_eq!((status.head, status.state), (revision(1), RecordState::Draft));
}

pub(crate) async fn a_seed_whose_name_is_taken_keeps_no_other_out(place: Arc<Place>) {
    let store = place.store().await;
    let alias = |alias: &str| json!({ "aliases": [alias] });
    let local = record_with("cuda/local", "local", alias("cuda/b"), json!({}));
    published(&*store, "cuda/local", local).await;
    let outcome = store
        .seed(SeedSource::Program, seeds("one").into(), at(10))
        .await
        .unwrap();
    assert_eq!(outcome.added, ids(&["cuda/a"]));
    let by_local = SeedTaken {
        id: id("cuda/b"),
        holder: id("cuda/local"),
    };
    assert_eq!(outcome.taken, std::slice::from_ref(&by_local));
    assert_eq!(store.status(&id("cuda/b")).await.unwrap(), None);

    // The seeds call a record by another name, and the old one stands here still.
    let mut renamed = seeds("two");
    renamed.push(seed(
        "cuda/c",
        record_with("cuda/c", "one", alias("cuda/a"), json!({})),
    ));
    let outcome = store
        .seed(SeedSource::Program, renamed.clone().into(), at(20))
        .await
        .unwrap();
    assert_eq!(outcome.updated, ids(&["cuda/a"]));
    let by_old = SeedTaken {
        id: id("cuda/c"),
        holder: id("cuda/a"),
    };
    assert_eq!(outcome.taken, [by_local, by_old]);

    // Free again, it comes.
    let freed = record_with("cuda/local", "local", json!({}), json!({}));
    published(&*store, "cuda/local", freed).await;
    let outcome = store
        .seed(SeedSource::Program, renamed.into(), at(30))
        .await
        .unwrap();
    assert_eq!((outcome.added, outcome.taken.len()), (ids(&["cuda/b"]), 1));
}

pub(crate) async fn a_seed_whose_name_moved_keeps_no_other_out(place: Arc<Place>) {
    let store = place.store().await;
    let alias = |alias: &str| json!({ "aliases": [alias] });
    let old = record_with("cuda/old", "old", alias("cuda/b"), json!({}));
    published(&*store, "cuda/old", old).await;
    published(&*store, "cuda/local", record("cuda/local", "local")).await;
    let merge = Merge {
        id: id("cuda/old"),
        into: id("cuda/local"),
        by: By::system("ada"),
        reason: None,
        expected: None,
        approves: None,
        at: at(5),
    };
    store.merge(merge).await.unwrap().unwrap();
    let mut shipped = seeds("one");
    shipped.push(seed(
        "cuda/c",
        record_with("cuda/c", "one", alias("cuda/b"), json!({})),
    ));
    let outcome = store
        .seed(SeedSource::Program, shipped.into(), at(10))
        .await
        .unwrap();
    assert_eq!(outcome.added, ids(&["cuda/a"]));
    let by_local = |name| SeedTaken {
        id: id(name),
        holder: id("cuda/local"),
    };
    assert_eq!(outcome.taken, [by_local("cuda/b"), by_local("cuda/c")]);
}

pub(crate) async fn two_servers_seed_once(place: Arc<Place>) {
    let many: Vec<SeedRecord> = (0..40)
        .map(|number| format!("cuda/r{number}"))
        .map(|name| seed(&name, record(&name, "one")))
        .collect();
    // Both start from nothing: the tables are made by whoever is first.
    let start = |many: Vec<SeedRecord>| {
        let place = Arc::clone(&place);
        tokio::spawn(async move {
            place
                .store()
                .await
                .seed(SeedSource::Program, many.into(), at(10))
                .await
                .unwrap()
        })
    };
    let (one, two) = (start(many.clone()), start(many));
    let (one, two) = (one.await.unwrap(), two.await.unwrap());
    assert_eq!(one.added.len() + two.added.len(), 40);
    assert_eq!(one.unchanged + two.unchanged, 40);
    let store = place.store().await;
    assert_eq!(store.head_seq().await.unwrap(), Seq(40));
    assert_eq!(store.revisions(&id("cuda/r7")).await.unwrap().len(), 1);
}

pub(crate) async fn one_bad_seed_leaves_everything_as_it_was(place: Arc<Place>) {
    let store = place.store().await;
    let mut bad = seeds("one");
    bad.push(seed("cuda/c", ("{}".to_owned(), "{}".to_owned())));
    let error = store
        .seed(SeedSource::Program, bad.into(), at(10))
        .await
        .unwrap_err();
    assert!(
        matches!(&error, StoreError::Damaged { id, .. } if id.as_str() == "cuda/c"),
        "{error}"
    );

    let alias = |name: &str| {
        seed(
            name,
            record_with(name, "one", json!({"aliases": ["cuda/old"]}), json!({})),
        )
    };
    let error = store
        .seed(
            SeedSource::Program,
            vec![alias("cuda/a"), alias("cuda/b")].into(),
            at(10),
        )
        .await
        .unwrap_err();
    assert!(matches!(error, StoreError::AliasTaken { .. }), "{error}");

    let twice = vec![seeds("one").remove(0), seeds("two").remove(0)];
    assert!(
        store
            .seed(SeedSource::Program, twice.into(), at(10))
            .await
            .is_err()
    );

    assert_eq!(store.head_seq().await.unwrap(), Seq(0));
    assert_eq!(store.status(&id("cuda/a")).await.unwrap(), None);
    assert_eq!(
        store
            .seed(SeedSource::Program, seeds("one").into(), at(20))
            .await
            .unwrap()
            .added
            .len(),
        2
    );
}
