//! Follows the store's feed and swaps in what changed. One for each process; it outlives every fault it meets.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use kb_core::ids::Seq;
use tokio::time::Instant;

use super::assembler::Assembler;
use super::background::{self, Beside};
use super::generation::Generation;
use super::knowledge::Knowledge;
use super::offline;
use super::reading::takes_threads;
use crate::store::{FeedChange, FeedStore, SeedRecord, StoreError};
use peerless_search::SearchError;

/// Default time between questions for the newest seq: with the building, an edit shows within the promised second.
pub const DEFAULT_INTERVAL: Duration = Duration::from_millis(200);

/// Changes read at a time; a record has at most 2 x 256 KiB, most have 10.
const PAGE: u32 = 500;

/// Longest pause after faults; the first is the interval, each doubles.
const MAX_PAUSE: Duration = Duration::from_secs(5);

const MAX_REST: Duration = Duration::from_millis(250);

/// Why a step of the follower failed. The generation in use stays.
#[derive(Debug, thiserror::Error)]
pub enum FeedError {
    #[error("the feed cannot be read: {0}")]
    Store(#[from] StoreError),
    #[error("the feed stands still at seq {0} although more should follow")]
    StandsStill(Seq),
    #[error("the next generation cannot be built: {0}")]
    Build(#[from] SearchError),
    /// Building panicked, which is a fault of ours.
    #[error("building the next generation panicked")]
    Panicked,
}

#[derive(Debug)]
pub struct Follower {
    store: Arc<dyn FeedStore>,
    knowledge: Arc<Knowledge>,
    /// `None` after a fault: the next step starts over from the beginning of the feed.
    assembler: Option<Assembler>,
    beside: Vec<SeedRecord>,
}

pub async fn load(store: Arc<dyn FeedStore>) -> Result<Follower, FeedError> {
    load_beside(store, Vec::new()).await
}

/// As [`load`], with records beside those of the store. They give way to what the store publishes or withdraws under their ids.
pub async fn load_beside(store: Arc<dyn FeedStore>, beside: Vec<SeedRecord>) -> Result<Follower, FeedError> {
    let began = Instant::now();
    let (changes, reaches) = read_all(store.as_ref(), &beside).await?;
    let (assembler, mut first) = assemble(Beside::Nobody, None, changes, reaches).await?;
    first.built_in = began.elapsed();
    let took_ms = first.built_in.as_millis();
    tracing::info!(seq = %first.seq, records = first.len(), took_ms, "knowledge loaded");
    Ok(Follower {
        store,
        knowledge: Arc::new(Knowledge::new(first, began)),
        assembler: Some(assembler),
        beside,
    })
}

impl Follower {
    pub fn knowledge(&self) -> Arc<Knowledge> {
        Arc::clone(&self.knowledge)
    }

    /// Follows until `shutdown` ends, asking every `interval` and whenever [`Knowledge::nudge`] is called.
    pub async fn run(mut self, interval: Duration, shutdown: impl Future<Output = ()>) {
        let mut shutdown = std::pin::pin!(shutdown);
        let mut faults = 0_u32;
        let mut rested = Instant::now();
        loop {
            let pause = interval
                .saturating_mul(2_u32.saturating_pow(faults))
                .min(MAX_PAUSE.max(interval));
            let knowledge = Arc::clone(&self.knowledge);
            tokio::select! {
                () = &mut shutdown => return,
                () = tokio::time::sleep(pause) => {}
                () = knowledge.nudged.notified(), if faults == 0 => {}
            }
            tokio::select! {
                () = &mut shutdown => return,
                () = tokio::time::sleep_until(rested) => {}
            }
            let step = tokio::select! {
                () = &mut shutdown => return,
                step = self.catch_up() => step,
            };
            match step {
                Ok(changed) => {
                    if changed {
                        // Who publishes all the time gets half of the time: what comes meanwhile comes together.
                        rested = Instant::now() + self.knowledge.current().built_in.min(MAX_REST);
                    }
                    if faults > 0 {
                        tracing::info!(seq = %self.knowledge.current().seq, "the feed is followed again");
                    }
                    faults = 0;
                }
                Err(error) => {
                    if faults == 0 {
                        tracing::error!(%error, "the feed cannot be followed, readers keep what they have");
                    }
                    faults = faults.saturating_add(1);
                }
            }
        }
    }

    /// One step: takes in what is new. True when a new generation was swapped in.
    pub async fn catch_up(&mut self) -> Result<bool, FeedError> {
        self.knowledge.let_go().await;
        let held = self.knowledge.current();
        let asked = Instant::now();
        let newest = self.store.head_seq().await?;
        if self.assembler.as_ref().is_some_and(Assembler::has_failed) {
            tracing::error!("the search index could not be built: starting over");
            self.assembler = None;
        }
        self.knowledge.saw(newest, asked);
        if newest == held.seq && self.assembler.is_some() {
            return Ok(false);
        }
        if newest < held.seq {
            tracing::warn!(held = %held.seq, %newest, "the database is older than what this server holds: starting over");
            self.assembler = None;
        }
        let began = Instant::now();
        let (changes, reaches) = match &self.assembler {
            Some(_) => read_after(self.store.as_ref(), held.seq).await?,
            None => read_all(self.store.as_ref(), &self.beside).await?,
        };
        // Taken out for the time of the step: whatever goes wrong in it, the next one starts over.
        let beside = if self.assembler.is_none() || takes_threads(changes.len()) {
            Beside::RequestsWithThreads
        } else {
            Beside::Requests
        };
        let (assembler, mut next) = assemble(beside, self.assembler.take(), changes, reaches).await?;
        next.built_in = began.elapsed();
        let took_ms = next.built_in.as_millis();
        tracing::info!(seq = %next.seq, generation = next.number, records = next.len(), took_ms, "knowledge changed");
        self.assembler = Some(assembler);
        self.knowledge.swap(next, began);
        Ok(true)
    }
}

/// Everything, with the records beside the store's as if they were published before it began: their seqs are below zero, and
/// each has its own, for the search index tells records apart by it.
async fn read_all(store: &dyn FeedStore, beside: &[SeedRecord]) -> Result<(Vec<FeedChange>, Seq), FeedError> {
    let mut changes: Vec<FeedChange> = (1..)
        .zip(beside)
        .map(|(number, record): (i64, _)| offline::change(Seq(-number), record.clone()))
        .collect();
    let (published, reaches) = read_after(store, Seq(0)).await?;
    changes.extend(published);
    Ok((changes, reaches))
}

/// Every change after a seq, with the seq that this reaches.
async fn read_after(store: &dyn FeedStore, after: Seq) -> Result<(Vec<FeedChange>, Seq), FeedError> {
    let mut changes = Vec::new();
    let mut reached = after;
    loop {
        let page = store.feed(reached, PAGE).await?;
        if page.more && page.reaches <= reached {
            return Err(FeedError::StandsStill(reached));
        }
        reached = reached.max(page.reaches);
        changes.extend(page.changes);
        if !page.more {
            return Ok((changes, reached));
        }
    }
}

/// Builds the next generation where it is in nobody's way.
async fn assemble(
    beside: Beside,
    assembler: Option<Assembler>,
    changes: Vec<FeedChange>,
    reaches: Seq,
) -> Result<(Assembler, Generation), FeedError> {
    let work = background::run(beside, move || {
        let mut assembler = match assembler {
            Some(assembler) => assembler,
            None => Assembler::new()?,
        };
        let next = assembler.apply(changes, reaches)?;
        Ok::<_, SearchError>((assembler, next))
    });
    Ok(work.await.ok_or(FeedError::Panicked)??)
}
