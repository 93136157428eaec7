//! What all bodies together may hold in memory, all answers with what is found for them, all decompressors, and all of these
//! together, so that many large ones at once end in a 503 and not with the process. Of a body that is streamed only what is found in
//! it is held.

use std::sync::Arc;
use std::time::Duration;

use actix_web::{HttpMessage as _, HttpRequest, web};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::BodyError;
use crate::web::limits;
use crate::web::state::AppState;

const UNIT: usize = 1 << 10;

#[derive(Debug, Clone)]
pub struct Budget {
    own: Bound,
    free: usize,
    /// The bound that this budget shares with the server's others.
    of_all: Option<Bound>,
}

#[derive(Debug, Clone)]
struct Bound {
    units: usize,
    left: Arc<Semaphore>,
}

/// The budgets of a server.
#[derive(Debug, Clone)]
pub struct Budgets {
    /// For the bodies of all requests.
    pub bodies: Budget,
    /// For answers that are made whole, and what is found for them.
    pub answers: Budget,
    /// For what decompressors of streamed texts look back on.
    pub windows: Budget,
}

impl Budgets {
    /// Each has its own bound, and they have one together: not all of them are full at once.
    pub fn of_server() -> Self {
        Self::within(limits::HELD_BYTES)
    }

    fn within(bytes: usize) -> Self {
        let of_all = Bound::of(bytes);
        let budget = |bytes, free| Budget {
            of_all: Some(of_all.clone()),
            ..Budget::of(bytes, free)
        };
        Self {
            bodies: budget(limits::BODIES_BYTES, limits::BODY_FREE_BYTES),
            answers: budget(limits::ANSWERS_BYTES, limits::ANSWER_FREE_BYTES),
            windows: budget(limits::WINDOWS_BYTES, limits::WINDOW_FREE_BYTES),
        }
    }
}

impl Budget {
    /// `bytes` for all; the first `free` bytes of each are not counted.
    pub fn of(bytes: usize, free: usize) -> Self {
        Self {
            own: Bound::of(bytes),
            free,
            of_all: None,
        }
    }

    /// For answers where nothing else takes memory.
    pub fn of_answers() -> Self {
        Self::of(limits::ANSWERS_BYTES, limits::ANSWER_FREE_BYTES)
    }

    /// The longest that the rest of what takes its share is waited for: the less is left, the shorter.
    pub fn patience(&self) -> Duration {
        let own = self.own.patience();
        let of_all = self.of_all.as_ref().map_or(Duration::MAX, Bound::patience);
        own.min(of_all)
    }

    fn take(&self, units: u32) -> Result<Held, BodyError> {
        let of_all = self.of_all.as_ref();
        Ok(Held {
            own: self.own.take(units)?,
            of_all: of_all.map(|bound| bound.take(units)).transpose()?,
        })
    }

    pub fn share(&self) -> Share {
        Share {
            budget: Some(self.clone()),
            held: None,
        }
    }
}

impl Bound {
    fn of(bytes: usize) -> Self {
        let units = bytes / UNIT;
        Self {
            units,
            left: Arc::new(Semaphore::new(units)),
        }
    }

    fn patience(&self) -> Duration {
        let left = self.left.available_permits();
        if left < self.units / 4 {
            limits::FULL_GRACE
        } else if left < self.units / 2 {
            limits::CROWDED_GRACE
        } else {
            Duration::MAX
        }
    }

    fn take(&self, units: u32) -> Result<OwnedSemaphorePermit, BodyError> {
        let taken = Arc::clone(&self.left).try_acquire_many_owned(units);
        taken.map_err(|_| BodyError::Busy)
    }
}

/// The share of one body or answer.
#[derive(Debug, Default)]
pub struct Share {
    budget: Option<Budget>,
    held: Option<Held>,
}

#[derive(Debug)]
struct Held {
    own: OwnedSemaphorePermit,
    of_all: Option<OwnedSemaphorePermit>,
}

impl Held {
    fn merge(&mut self, more: Self) {
        self.own.merge(more.own);
        if let (Some(of_all), Some(more)) = (&mut self.of_all, more.of_all) {
            of_all.merge(more);
        }
    }
}

impl Share {
    /// Nothing yet, of the server's own budget.
    pub(super) fn of(request: &HttpRequest) -> Self {
        let state = request.app_data::<web::Data<AppState>>();
        Self {
            budget: state.map(|state| state.bodies.clone()),
            held: None,
        }
    }

    /// Nothing yet, of what all answers may hold: for what is found in a text until it is answered.
    pub fn of_answers(request: &HttpRequest) -> Self {
        let state = request.app_data::<web::Data<AppState>>();
        Self {
            budget: state.map(|state| state.answers.clone()),
            held: None,
        }
    }

    /// Nothing yet, of what all decompressors may hold.
    pub(super) fn of_windows(request: &HttpRequest) -> Self {
        let state = request.app_data::<web::Data<AppState>>();
        Self {
            budget: state.map(|state| state.windows.clone()),
            held: None,
        }
    }

    /// Takes what `bytes` need; small ones always have room.
    pub fn grow_to(&mut self, bytes: usize) -> Result<(), BodyError> {
        let Some(budget) = &self.budget else {
            return Ok(());
        };
        let wanted = bytes.saturating_sub(budget.free).div_ceil(UNIT);
        let held = self.held.as_ref().map_or(0, |held| held.own.num_permits());
        let Some(more @ 1..) = wanted.checked_sub(held) else {
            return Ok(());
        };
        let more = u32::try_from(more).map_err(|_| BodyError::Busy)?;
        let more = budget.take(more)?;
        match &mut self.held {
            Some(held) => held.merge(more),
            None => self.held = Some(more),
        }
        Ok(())
    }

    /// Keeps the share until the request is answered, for what is made of a body is as large.
    pub fn keep(self, request: &HttpRequest) {
        let mut extensions = request.extensions_mut();
        if let Some(Shares(kept)) = extensions.get_mut() {
            kept.push(self);
        } else {
            extensions.insert(Shares(vec![self]));
        }
    }
}

/// What a request holds until it is answered.
struct Shares(Vec<Share>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_and_answers_have_one_bound_together() {
        let budgets = Budgets::within(1 << 20);
        let [mut body, mut answer] = [&budgets.bodies, &budgets.answers].map(Budget::share);
        assert_eq!(body.grow_to(limits::BODY_FREE_BYTES + (600 << 10)), Ok(()));
        let large = limits::ANSWER_FREE_BYTES + (500 << 10);
        assert_eq!(answer.grow_to(large), Err(BodyError::Busy));
        assert_eq!(
            answer.grow_to(limits::ANSWER_FREE_BYTES),
            Ok(()),
            "small ones have room"
        );
        let mut other = budgets.answers.share();
        assert_eq!(other.grow_to(limits::ANSWER_FREE_BYTES + (400 << 10)), Ok(()));
        drop(body);
        assert_eq!(answer.grow_to(large), Ok(()), "what was refused holds nothing");
        let mut window = budgets.windows.share();
        let large = limits::WINDOW_FREE_BYTES + (200 << 10);
        assert_eq!(window.grow_to(large), Err(BodyError::Busy));
        drop(other);
        assert_eq!(window.grow_to(large), Ok(()));
    }

    #[test]
    fn bodies_are_waited_for_less_while_others_hold_what_all_have_together() {
        let budgets = Budgets::within(1 << 20);
        let mut answer = budgets.answers.share();
        for (held, patience) in [
            (500, Duration::MAX),
            (600, limits::CROWDED_GRACE),
            (800, limits::FULL_GRACE),
        ] {
            assert_eq!(answer.grow_to(limits::ANSWER_FREE_BYTES + (held << 10)), Ok(()));
            assert_eq!(budgets.bodies.patience(), patience, "{held} KiB of 1024");
        }
        drop(answer);
        assert_eq!(budgets.bodies.patience(), Duration::MAX);
    }

    #[test]
    fn bodies_share_what_there_is() {
        let budget = Budget::of(1 << 20, limits::BODY_FREE_BYTES);
        let share = || budget.share();
        let large = limits::BODY_FREE_BYTES + (1 << 20);
        let mut first = share();
        assert_eq!(first.grow_to(large / 2), Ok(()));
        assert_eq!(first.grow_to(large), Ok(()));
        let mut second = share();
        assert_eq!(
            second.grow_to(limits::BODY_FREE_BYTES),
            Ok(()),
            "small ones have room"
        );
        assert_eq!(second.grow_to(limits::BODY_FREE_BYTES + 1), Err(BodyError::Busy));
        assert_eq!(budget.patience(), limits::FULL_GRACE);
        drop(first);
        assert_eq!(budget.patience(), Duration::MAX);
        assert_eq!(
            second.grow_to(large / 3 * 2),
            Ok(()),
            "what was held is free again"
        );
        assert_eq!(budget.patience(), limits::CROWDED_GRACE);
        assert_eq!(second.grow_to(large), Ok(()));
    }
}
