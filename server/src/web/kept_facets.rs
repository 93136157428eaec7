//! What sets affected nodes apart, kept for those who ask. All nodes are read and looked at for it, so it is worked out beside the
//! requests, and what was worked out before is given meanwhile.

#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use time::{Duration, OffsetDateTime};
use tokio::sync::Notify;

use super::compute::{ALL_RECORDS, Desk, Queue};
use super::error::Problem;
use crate::clock::Clock;
use crate::domain::facets::{Facets, Fleet, Pages, Work};
use crate::store::FacetStore;

/// An answer of this age is worked out anew.
const DUE_AFTER: Duration = Duration::minutes(5);
/// An older answer is given to nobody: the database did not answer, or nobody asked for long.
const GIVEN_FOR: Duration = Duration::minutes(10);
/// So long after the last question, or after the start, answers are worked out anew.
const WANTED_FOR: Duration = Duration::days(7);
/// Nothing is kept of fewer nodes before the first question: its answer is there at once all the same, and tells of nodes that came since.
const AHEAD_FROM: u32 = 1_000;

/// An answer and when it was computed.
type Kept = (OffsetDateTime, Arc<Facets>);

/// The last answers: of real nodes, and of simulated ones.
#[derive(Debug, Default)]
pub struct KeptFacets {
    real: Kind,
    simulated: Kind,
    due: Notify,
}

impl KeptFacets {
    /// The answer, at most ten minutes old. Where there is none, who asks waits for the same one as others who do.
    pub(super) async fn get(
        &self,
        desk: &Desk,
        store: &dyn FacetStore,
        (simulated, now): (bool, OffsetDateTime),
    ) -> Result<Kept, Problem> {
        let kind = self.kind(simulated);
        let Some(kept) = kind.ask(now) else {
            return kind.wait(now, worked_out(desk, store, simulated)).await;
        };
        if kind.is_due(now) {
            self.due.notify_one();
        }
        Ok(kept)
    }

    /// Works out what is due, one after the other, as work of nobody's: in turns with that of requests.
    pub async fn renew(&self, queue: &Queue, store: &dyn FacetStore, clock: &dyn Clock) {
        let desk = Desk::new(queue, None, true);
        for simulated in [false, true] {
            let kind = self.kind(simulated);
            let done = kind.renew(clock.now(), worked_out(&desk, store, simulated)).await;
            if let Err(problem) = done {
                let error = problem.cause().unwrap_or(problem.detail());
                tracing::warn!(
                    error,
                    "what sets nodes apart was not worked out; it is tried again within a minute"
                );
            }
        }
    }

    /// Ends when somebody got an answer that is due to be worked out anew.
    pub async fn is_due(&self) {
        self.due.notified().await;
    }

    fn kind(&self, simulated: bool) -> &Kind {
        if simulated { &self.simulated } else { &self.real }
    }
}

async fn worked_out(desk: &Desk, store: &dyn FacetStore, simulated: bool) -> Result<Facets, Problem> {
    let (mut fleet, mut pages) = (Fleet::default(), Pages::of(simulated));
    while let Some(page) = pages.next(store).await? {
        fleet = desk.go_on(ALL_RECORDS, move || fleet.with(page)).await?;
    }
    let mut work = None;
    let mut fleet = Some(fleet);
    let step = move || {
        let Some(fleet) = fleet.take() else {
            return work.as_mut().and_then(Work::step);
        };
        work = Some(Work::new(fleet));
        None
    };
    Ok(desk.in_turns(ALL_RECORDS, step).await?)
}

/// What is known of one kind of nodes.
#[derive(Debug, Default)]
struct Kind {
    known: Mutex<Known>,
    /// Held by who works it out.
    at_work: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct Known {
    kept: Option<Kept>,
    asked_at: Option<OffsetDateTime>,
    looked_first_at: Option<OffsetDateTime>,
}

impl Kind {
    /// Notes that somebody asks. Nothing where no answer may be given.
    fn ask(&self, now: OffsetDateTime) -> Option<Kept> {
        let mut known = self.known();
        known.asked_at = Some(now);
        known.given(now)
    }

    fn is_due(&self, now: OffsetDateTime) -> bool {
        self.known().is_due(now)
    }

    /// What others have worked out meanwhile, or else what `work` does.
    async fn wait<E>(
        &self,
        now: OffsetDateTime,
        work: impl Future<Output = Result<Facets, E>>,
    ) -> Result<Kept, E> {
        let _turn = self.at_work.lock().await;
        let given = self.known().given(now);
        match given {
            Some(kept) => Ok(kept),
            None => Ok(self.keep(now, work.await?)),
        }
    }

    async fn renew<E>(
        &self,
        now: OffsetDateTime,
        work: impl Future<Output = Result<Facets, E>>,
    ) -> Result<(), E> {
        let _turn = self.at_work.lock().await;
        let is_wanted = {
            let mut known = self.known();
            known.looked_first_at.get_or_insert(now);
            known.is_wanted(now) && known.is_due(now)
        };
        if is_wanted {
            self.keep(now, work.await?);
        }
        Ok(())
    }

    fn keep(&self, now: OffsetDateTime, facets: Facets) -> Kept {
        let mut known = self.known();
        // That there are no nodes is quickly found, and wrong as soon as one reports.
        let least = known.asked_at.map_or(AHEAD_FROM, |_| 1);
        let is_kept = facets.nodes >= least;
        let answer = (now, Arc::new(facets));
        known.kept = is_kept.then(|| answer.clone());
        answer
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        // What a panic elsewhere left is whole.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn given(&self, now: OffsetDateTime) -> Option<Kept> {
        self.kept.clone().filter(|(at, _)| is_within(GIVEN_FOR, *at, now))
    }

    fn is_due(&self, now: OffsetDateTime) -> bool {
        let kept = self.kept.as_ref();
        kept.is_none_or(|(at, _)| !is_within(DUE_AFTER, *at, now))
    }

    fn is_wanted(&self, now: OffsetDateTime) -> bool {
        let last = self.asked_at.or(self.looked_first_at);
        last.is_some_and(|last| now - last < WANTED_FOR)
    }
}

/// A time that lies ahead is as one that has gone: the clock was set back.
fn is_within(age: Duration, at: OffsetDateTime, now: OffsetDateTime) -> bool {
    (now - at).abs() < age
}
