//! Follows the store's feed and swaps in what changed. One for each process; it outlives every fault it meets.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use kb_core::ids::Seq;
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::assembler::Assembler;
use super::background::{self, Beside};
use super::generation::Generation;
use super::knowledge::Knowledge;
use super::offline;
use super::reading::takes_threads;
use crate::store::{FeedChange, FeedPage, FeedStore, SeedRecord, StoreError};
use peerless_search::SearchError;

/// Default time between questions for the newest seq: with the building, an edit shows within the promised second.
pub const DEFAULT_INTERVAL: Duration = Duration::from_millis(200);

/// Changes read at a time; a record has at most 2 x 256 KiB, most have 10.
const PAGE: u32 = 500;

/// Pages that are read before they can be taken in; each may hold hundreds of megabytes.
const PAGES_AHEAD: usize = 1;

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
    #[error("the search index cannot be built: {0}")]
    Index(SearchError),
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
    let (assembler, mut first) = assemble_all(Beside::Nobody, store.as_ref(), &beside).await?;
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

    /// Has the index built, and follows until `shutdown` ends, asking every `interval` and whenever [`Knowledge::nudge`] is called.
    pub async fn run(mut self, interval: Duration, shutdown: impl Future<Output = ()>) {
        self.knowledge.current().begin_index();
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
                        // Where it started over, the new one has none yet.
                        self.knowledge.current().begin_index();
                        // Who publishes all the time gets half of the time: what comes meanwhile comes together.
                        rested = Instant::now() + self.knowledge.current().built_in.min(MAX_REST);
                    }
                    // An index that could not be built may fail again: until it is there, the fault has not passed.
                    if faults > 0 && self.has_index() {
                        tracing::info!(seq = %self.knowledge.current().seq, "the feed is followed again");
                        faults = 0;
                    }
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

    fn has_index(&self) -> bool {
        let has_failed = self.assembler.as_ref().is_some_and(Assembler::has_failed);
        self.knowledge.current().index.is_built() && !has_failed
    }

    /// The next step finds that the index cannot be built.
    #[cfg(test)]
    pub(super) fn fail_index(&mut self) {
        if let Some(assembler) = &mut self.assembler {
            assembler.fail();
        }
    }

    /// One step: takes in what is new. True when a new generation was swapped in.
    pub async fn catch_up(&mut self) -> Result<bool, FeedError> {
        self.knowledge.let_go().await;
        let held = self.knowledge.current();
        let asked = Instant::now();
        let newest = self.store.head_seq().await?;
        self.knowledge.saw(newest, asked);
        if let Some(error) = self.assembler.as_mut().and_then(Assembler::failure) {
            self.assembler = None;
            return Err(FeedError::Index(error));
        }
        if newest == held.seq && self.assembler.is_some() {
            return Ok(false);
        }
        if newest < held.seq {
            tracing::warn!(held = %held.seq, %newest, "the database is older than what this server holds: starting over");
            self.assembler = None;
        }
        let began = Instant::now();
        let news = match &self.assembler {
            Some(_) => Some(read_after(self.store.as_ref(), held.seq).await?),
            None => None,
        };
        // Taken out for the time of the step: whatever goes wrong in it, the next one starts over.
        let (assembler, mut next) = match (self.assembler.take(), news) {
            (Some(assembler), Some((changes, reaches))) => assemble(assembler, changes, reaches).await?,
            _ => assemble_all(Beside::RequestsWithThreads, self.store.as_ref(), &self.beside).await?,
        };
        next.built_in = began.elapsed();
        let took_ms = next.built_in.as_millis();
        tracing::info!(seq = %next.seq, generation = next.number, records = next.len(), took_ms, "knowledge changed");
        self.assembler = Some(assembler);
        self.knowledge.swap(next, began);
        Ok(true)
    }
}

/// Every change after a seq, with the seq that this reaches.
async fn read_after(store: &dyn FeedStore, after: Seq) -> Result<(Vec<FeedChange>, Seq), FeedError> {
    let (mut changes, mut reaches) = (Vec::new(), after);
    let mut pages = Pages::after(store, after);
    while let Some(page) = pages.next_page().await? {
        changes.extend(page.changes);
        reaches = page.reaches;
    }
    Ok((changes, reaches))
}

/// Sends every page on, until nobody takes them: who does not has failed, and says so.
pub(super) async fn send_all(store: &dyn FeedStore, sender: mpsc::Sender<FeedPage>) -> Result<(), FeedError> {
    let mut pages = Pages::after(store, Seq(0));
    while let Some(page) = pages.next_page().await? {
        if sender.send(page).await.is_err() {
            break;
        }
    }
    Ok(())
}

/// Every change after a seq, by pages. What the last one reaches is all that there is.
struct Pages<'s> {
    store: &'s dyn FeedStore,
    reached: Seq,
    is_over: bool,
}

impl<'s> Pages<'s> {
    fn after(store: &'s dyn FeedStore, after: Seq) -> Self {
        Self {
            store,
            reached: after,
            is_over: false,
        }
    }

    async fn next_page(&mut self) -> Result<Option<FeedPage>, FeedError> {
        if self.is_over {
            return Ok(None);
        }
        let page = self.store.feed(self.reached, PAGE).await?;
        if page.more && page.reaches <= self.reached {
            return Err(FeedError::StandsStill(self.reached));
        }
        self.reached = self.reached.max(page.reaches);
        self.is_over = !page.more;
        Ok(Some(FeedPage {
            reaches: self.reached,
            ..page
        }))
    }
}

/// Builds the next generation where it is in nobody's way.
async fn assemble(
    mut assembler: Assembler,
    changes: Vec<FeedChange>,
    reaches: Seq,
) -> Result<(Assembler, Generation), FeedError> {
    let beside = if takes_threads(changes.len()) {
        Beside::RequestsWithThreads
    } else {
        Beside::Requests
    };
    let work = background::run(beside, move || {
        let next = assembler.apply(changes, reaches)?;
        Ok::<_, SearchError>((assembler, next))
    });
    Ok(work.await.ok_or(FeedError::Panicked)??)
}

/// Builds a generation of everything: of records beside the store's, as if they were published before it began, and of all that
/// it has. Each page is taken in while the store reads the next one.
async fn assemble_all(
    beside: Beside,
    store: &dyn FeedStore,
    others: &[SeedRecord],
) -> Result<(Assembler, Generation), FeedError> {
    // Their seqs are below zero, and each has its own, for the search index tells records apart by it.
    let others = (1..).zip(others);
    let others = others.map(|(number, record): (i64, _)| offline::change(Seq(-number), record.clone()));
    let others: Vec<FeedChange> = others.collect();
    let (sender, mut pages) = mpsc::channel(PAGES_AHEAD);
    let reading = send_all(store, sender);
    let building = background::run(beside, move || {
        let mut assembler = Assembler::new();
        let mut news = assembler.begin()?;
        assembler.take(others, &mut news)?;
        let mut reaches = None;
        while let Some(page) = pages.blocking_recv() {
            assembler.take(page.changes, &mut news)?;
            reaches = (!page.more).then_some(page.reaches);
        }
        // Without a last page reading has failed, and says so.
        let Some(reaches) = reaches else {
            return Ok(None);
        };
        let first = assembler.build(news, reaches)?;
        Ok::<_, SearchError>(Some((assembler, first)))
    });
    let (read, built) = tokio::join!(reading, building);
    read?;
    built.ok_or(FeedError::Panicked)??.ok_or(FeedError::Panicked)
}
