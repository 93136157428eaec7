//! Two sources of records: the program's own and somebody's imports.

use std::sync::Arc;

use kb_core::ids::Seq;
use peerless::store::{Expected, SeedSource};

use super::seeds::{ids, seeds};
use crate::support::{Place, at, draft, record, revision};

pub(crate) async fn the_program_never_takes_back_what_was_imported(place: Arc<Place>) {
    let store = place.store().await;
    store
        .seed(SeedSource::Program, seeds("one").into(), at(10))
        .await
        .unwrap();

    let imported = store
        .seed(SeedSource::Import, seeds("two").into(), at(20))
        .await
        .unwrap();
    assert_eq!(imported.updated, ids(&["cuda/a", "cuda/b"]));
    let newer = store
        .seed(SeedSource::Import, seeds("three").into(), at(30))
        .await
        .unwrap();
    assert_eq!(newer.updated, ids(&["cuda/a", "cuda/b"]));

    // A restart with the same records changes nothing, one with others waits.
    let same = store
        .seed(SeedSource::Program, seeds("one").into(), at(40))
        .await
        .unwrap();
    assert_eq!((same.unchanged, same.conflicts.len()), (2, 0));
    let other = store
        .seed(SeedSource::Program, seeds("four").into(), at(50))
        .await
        .unwrap();
    assert_eq!((other.updated.len(), other.conflicts.len()), (0, 2));
    let page = store.feed(Seq(0), 10).await.unwrap();
    let texts = page.changes[0].published.as_ref().unwrap();
    assert_eq!(
        (texts.meta.actor.as_str(), &texts.document),
        ("import", &record("cuda/a", "three").0)
    );
}

pub(crate) async fn an_import_keeps_what_somebody_edited(place: Arc<Place>) {
    let store = place.store().await;
    store
        .seed(SeedSource::Program, seeds("one").into(), at(10))
        .await
        .unwrap();
    let edit = draft("cuda/a", record("cuda/a", "edited"), Expected::Head(revision(1)));
    store.save_head(edit).await.unwrap();
    let outcome = store
        .seed(SeedSource::Import, seeds("two").into(), at(20))
        .await
        .unwrap();
    assert_eq!(outcome.updated, ids(&["cuda/b"]));
    assert_eq!(outcome.conflicts.len(), 1);
}
