//! Bundles of records that were taken in.

use std::sync::Arc;

use peerless::store::BundleTaken;

use crate::support::{Place, at};

pub(crate) async fn the_bundle_that_was_taken_last_is_known(place: Arc<Place>) {
    let store = place.store().await;
    assert_eq!(store.last_bundle().await.unwrap(), None);
    let taken = |made: i64, taken: i64| BundleTaken {
        made_at: at(made),
        records: 1946,
        key_id: "E7620F1842B4E81F".to_owned(),
        sha256: "00".repeat(32),
        taken_at: at(taken),
    };
    for bundle in [taken(50, 60), taken(10, 70)] {
        store.note_bundle(&bundle).await.unwrap();
        // An older one that was taken on purpose is what counts from then on.
        assert_eq!(store.last_bundle().await.unwrap(), Some(bundle));
    }
}
