//! The shares of all records in memory, so that a reader of a page asks no database.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use kb_core::ids::RecordId;
use tokio::sync::Mutex;

use super::share::{ActionTally, tally};
use crate::store::{OutcomeStore, StoreError};

#[derive(Debug, Default)]
pub struct Shares {
    held: RwLock<HashMap<RecordId, Arc<[ActionTally]>>>,
    /// Count of the votes that are in it. Two refreshes wait for each other, or the older could win.
    seen: Mutex<i64>,
}

impl Shares {
    pub fn of(&self, id: &RecordId) -> Arc<[ActionTally]> {
        let held = self.held.read().unwrap_or_else(PoisonError::into_inner);
        held.get(id).cloned().unwrap_or_default()
    }

    pub fn all(&self) -> Vec<(RecordId, Arc<[ActionTally]>)> {
        let held = self.held.read().unwrap_or_else(PoisonError::into_inner);
        held.iter()
            .map(|(id, tallies)| (id.clone(), Arc::clone(tallies)))
            .collect()
    }

    /// Takes in what was voted since the last time, by this server or another.
    pub async fn refresh(&self, store: &dyn OutcomeStore) -> Result<(), StoreError> {
        let mut seen = self.seen.lock().await;
        let (changed, now) = store.voted_since(*seen).await?;
        for id in changed {
            let tallies = tally(&store.votes(&id).await?).into();
            let mut held = self.held.write().unwrap_or_else(PoisonError::into_inner);
            held.insert(id, tallies);
        }
        *seen = now;
        Ok(())
    }
}
