//! What each client holds of a budget, so that one of them does not take what others need.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::BodyError;

/// What each client holds, in units.
#[derive(Debug, Clone, Default)]
pub(super) struct Clients(Arc<Mutex<HashMap<IpAddr, usize>>>);

/// What one client may hold, in units.
#[derive(Debug, Clone, Copy)]
pub(super) struct Most {
    /// Of all its bodies together.
    pub(super) together: usize,
    /// Of a body that is its only one: a single one may be large.
    pub(super) alone: usize,
}

impl Most {
    /// Of a bound of so many units: half, and of one body nine tenths, so that others have some in any case.
    pub(super) fn of(units: usize) -> Self {
        Self {
            together: units / 2,
            alone: units - units / 10,
        }
    }
}

impl Clients {
    /// Notes `units` more for a body of a client that holds `own` already.
    pub(super) fn take(
        &self,
        client: IpAddr,
        (own, units): (usize, usize),
        most: Most,
    ) -> Result<Noted, BodyError> {
        let mut held = self.lock();
        let all = held.get(&client).copied().unwrap_or_default();
        let is_alone = all <= own && own + units <= most.alone;
        if all + units > most.together && !is_alone {
            return Err(BodyError::Busy);
        }
        held.insert(client, all + units);
        Ok(Noted {
            clients: self.clone(),
            client,
            units,
        })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        // None of the steps under it can panic.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a body holds of its client's share, until it is dropped.
#[derive(Debug)]
pub(super) struct Noted {
    clients: Clients,
    client: IpAddr,
    units: usize,
}

impl Noted {
    pub(super) fn merge(&mut self, mut more: Self) {
        self.units += std::mem::take(&mut more.units);
    }
}

impl Drop for Noted {
    fn drop(&mut self) {
        let mut held = self.clients.lock();
        let left = held.get(&self.client).copied().unwrap_or_default();
        match left.saturating_sub(self.units) {
            0 => held.remove(&self.client),
            left => held.insert(self.client, left),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_holds_half_or_one_large_body() {
        let (clients, most) = (Clients::default(), Most::of(100));
        let [one, other] = [[192, 0, 2, 1], [192, 0, 2, 2]].map(IpAddr::from);
        let take = |client, own, units| clients.take(client, (own, units), most);
        let mut first = take(one, 0, 40).unwrap();
        assert!(take(one, 0, 11).is_err(), "more than half together");
        let second = take(one, 0, 10).unwrap();
        assert!(take(one, 40, 20).is_err(), "it is not alone");
        drop(second);
        first.merge(take(one, 40, 50).unwrap());
        assert!(take(one, 90, 1).is_err(), "others need the rest");
        assert!(take(other, 0, 10).is_ok());
        drop(first);
        assert!(clients.lock().is_empty());
        assert!(take(one, 0, 90).is_ok());
    }
}
