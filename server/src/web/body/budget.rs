//! What all bodies together may hold in memory, all answers with what is found for them, all decompressors, and all of these
//! together, so that many large ones at once end in a 503 and not with the process. Of a body that is streamed only what is found in
//! it is held.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use actix_web::{HttpMessage as _, HttpRequest, web};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::BodyError;
use super::fair::{Clients, Most, Noted};
use crate::web::compute::Desk;
use crate::web::limits;
use crate::web::state::AppState;

const UNIT: usize = 1 << 10;
/// A small body, in units.
const SMALL: usize = limits::SMALL_BODY_BYTES / UNIT;

#[derive(Debug, Clone)]
pub struct Budget {
    own: Bound,
    free: usize,
    /// The bound that this budget shares with the server's others.
    of_all: Option<Bound>,
    /// What is left to small ones where the rest is taken.
    small: Option<Bound>,
}

#[derive(Debug, Clone)]
struct Bound {
    units: usize,
    left: Arc<Semaphore>,
    clients: Clients,
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
            bodies: Budget {
                small: Some(Bound::of(limits::SMALL_BODIES_BYTES)),
                ..budget(limits::BODIES_BYTES, limits::BODY_FREE_BYTES)
            },
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
            small: None,
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

    /// Takes `units` more for one that holds some already: of what all have, and where that is taken, of what is left to small ones.
    /// What is held of the one is given back for the other.
    fn take(&self, held: Option<&Held>, units: usize, client: Option<IpAddr>) -> Result<Held, BodyError> {
        let own = held.map_or(0, Held::units);
        let is_small = held.is_some_and(|held| held.is_small);
        let (anew, further) = ((0, own + units), (own, units));
        let taken = self.take_of_all(if is_small { anew } else { further }, client);
        match &self.small {
            Some(small) if taken.is_err() && own + units <= SMALL => Ok(Held {
                own: small.take(if is_small { further } else { anew }, client)?,
                of_all: None,
                is_small: true,
            }),
            _ => taken,
        }
    }

    fn take_of_all(&self, (own, units): (usize, usize), client: Option<IpAddr>) -> Result<Held, BodyError> {
        let of_all = self.of_all.as_ref();
        Ok(Held {
            own: self.own.take((own, units), client)?,
            of_all: of_all.map(|bound| bound.take((own, units), None)).transpose()?,
            is_small: false,
        })
    }

    pub fn share(&self) -> Share {
        Share {
            budget: Some(self.clone()),
            held: None,
            client: None,
        }
    }
}

impl Bound {
    fn of(bytes: usize) -> Self {
        let units = bytes / UNIT;
        Self {
            units,
            left: Arc::new(Semaphore::new(units)),
            clients: Clients::default(),
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

    /// Takes `units` more for one that holds `own`. Those of a client are counted together.
    fn take(&self, (own, units): (usize, usize), client: Option<IpAddr>) -> Result<Taken, BodyError> {
        let most = Most::of(self.units);
        let noted = client.map(|client| self.clients.take(client, (own, units), most));
        let noted = noted.transpose()?;
        let units = u32::try_from(units).map_err(|_| BodyError::Busy)?;
        let taken = Arc::clone(&self.left).try_acquire_many_owned(units);
        let permit = taken.map_err(|_| BodyError::Busy)?;
        Ok(Taken { permit, noted })
    }
}

/// The share of one body or answer.
#[derive(Debug, Default)]
pub struct Share {
    budget: Option<Budget>,
    held: Option<Held>,
    /// Whose it is, where what each holds is bounded.
    client: Option<IpAddr>,
}

#[derive(Debug)]
struct Held {
    own: Taken,
    of_all: Option<Taken>,
    /// Of what is left to small ones.
    is_small: bool,
}

impl Held {
    fn units(&self) -> usize {
        self.own.permit.num_permits()
    }

    /// What was taken of another bound takes the place of all that was held.
    fn merge(&mut self, more: Self) {
        if self.is_small != more.is_small {
            *self = more;
            return;
        }
        self.own.merge(more.own);
        if let (Some(of_all), Some(more)) = (&mut self.of_all, more.of_all) {
            of_all.merge(more);
        }
    }
}

/// What is held of one bound.
#[derive(Debug)]
struct Taken {
    permit: OwnedSemaphorePermit,
    noted: Option<Noted>,
}

impl Taken {
    fn merge(&mut self, more: Self) {
        self.permit.merge(more.permit);
        if let (Some(noted), Some(more)) = (&mut self.noted, more.noted) {
            noted.merge(more);
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
            client: Some(Desk::of(request).client()),
        }
    }

    /// Nothing yet, of what all answers may hold: for what is found in a text until it is answered.
    pub fn of_answers(request: &HttpRequest) -> Self {
        let state = request.app_data::<web::Data<AppState>>();
        Self {
            budget: state.map(|state| state.answers.clone()),
            held: None,
            client: None,
        }
    }

    /// Nothing yet, of what all decompressors may hold.
    pub(super) fn of_windows(request: &HttpRequest) -> Self {
        let state = request.app_data::<web::Data<AppState>>();
        Self {
            budget: state.map(|state| state.windows.clone()),
            held: None,
            client: None,
        }
    }

    /// Takes what `bytes` need; small ones always have room.
    pub fn grow_to(&mut self, bytes: usize) -> Result<(), BodyError> {
        let Some(budget) = &self.budget else {
            return Ok(());
        };
        let wanted = bytes.saturating_sub(budget.free).div_ceil(UNIT);
        let held = self.held.as_ref().map_or(0, Held::units);
        let Some(more @ 1..) = wanted.checked_sub(held) else {
            return Ok(());
        };
        let more = budget.take(self.held.as_ref(), more, self.client)?;
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
mod tests;
