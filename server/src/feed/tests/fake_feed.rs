//! A feed that is made by hand, and fails where it is told to.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use kb_core::ids::Seq;

use crate::store::{FeedChange, FeedPage, FeedStore, StoreError};

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) head: i64,
    pub(super) changes: Vec<FeedChange>,
    pub(super) fails: bool,
    pub(super) stands_still: bool,
    /// Pages that go on from here cannot be read.
    pub(super) fails_after: Option<Seq>,
    /// How long the store thinks before it gives changes.
    pub(super) slow: Duration,
    /// How often it was asked for some.
    pub(super) asked: usize,
}

#[derive(Debug, Clone, Default)]
pub(super) struct FakeFeed(Arc<Mutex<State>>);

impl FakeFeed {
    /// Makes a change; a record's newest change takes its former one's place, as in the store.
    pub(super) fn publish(&self, change: FeedChange) {
        self.with(|state| {
            state.head = change.seq.0;
            state.changes.retain(|known| known.id != change.id);
            state.changes.push(change);
        });
    }

    pub(super) fn with(&self, edit: impl FnOnce(&mut State)) {
        edit(&mut self.0.lock().unwrap());
    }
}

#[async_trait]
impl FeedStore for FakeFeed {
    async fn head_seq(&self) -> Result<Seq, StoreError> {
        let state = self.0.lock().unwrap();
        if state.fails {
            Err(StoreError::Unavailable("the test says so".to_owned()))
        } else {
            Ok(Seq(state.head))
        }
    }

    async fn feed(&self, after: Seq, _: u32) -> Result<FeedPage, StoreError> {
        let slow = {
            let mut state = self.0.lock().unwrap();
            state.asked += 1;
            state.slow
        };
        if !slow.is_zero() {
            tokio::time::sleep(slow).await;
        }
        // Two changes a page, whatever was asked, so that pages are walked.
        let state = self.0.lock().unwrap();
        if state.fails_after.is_some_and(|from| after >= from) {
            return Err(StoreError::Unavailable("the test says so".to_owned()));
        }
        if state.stands_still {
            return Ok(FeedPage {
                reaches: after,
                more: true,
                changes: Vec::new(),
            });
        }
        let later: Vec<&FeedChange> = state.changes.iter().filter(|change| change.seq > after).collect();
        let page: Vec<FeedChange> = later
            .iter()
            .take(2)
            .map(|change| FeedChange::clone(change))
            .collect();
        let more = later.len() > page.len();
        let reaches = match page.last() {
            Some(last) if more => last.seq,
            _ => Seq(state.head),
        };
        Ok(FeedPage {
            reaches,
            more,
            changes: page,
        })
    }
}
