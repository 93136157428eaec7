//! Places for what holds memory while a client reads or sends: exports that are made while they are sent, texts of which the
//! rest is awaited. Their number is bounded, for each client and for all.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use actix_web::http::header::{self, HeaderValue};

use super::error::{Code, Problem};
/// Seconds after which a refused caller may ask again.
const ASK_AGAIN: HeaderValue = HeaderValue::from_static("5");

#[derive(Debug, Clone)]
pub struct Places {
    what: &'static str,
    of_client: usize,
    of_all: usize,
    taken: Arc<Mutex<HashMap<IpAddr, usize>>>,
}

/// A place, until it is dropped.
#[derive(Debug)]
pub struct Place {
    places: Places,
    client: IpAddr,
}

impl Places {
    pub fn new(what: &'static str, of_client: usize, of_all: usize) -> Self {
        Self {
            what,
            of_client,
            of_all,
            taken: Arc::default(),
        }
    }

    /// A place for `client`: 429 where it has all that one may have, 503 where none is left.
    pub fn take(&self, client: IpAddr) -> Result<Place, Problem> {
        let mut taken = self.lock();
        let of_client = taken.get(&client).copied().unwrap_or_default();
        let what = self.what;
        let refusal = if of_client >= self.of_client {
            Some((
                Code::RateLimited,
                format!("this address has as many {what} under way as it may have"),
            ))
        } else if taken.values().sum::<usize>() >= self.of_all {
            Some((
                Code::Unavailable,
                format!("too many {what} are under way: ask again"),
            ))
        } else {
            None
        };
        if let Some((code, why)) = refusal {
            return Err(Problem::new(code, why).with_header(header::RETRY_AFTER, ASK_AGAIN));
        }
        taken.insert(client, of_client + 1);
        drop(taken);
        Ok(Place {
            places: self.clone(),
            client,
        })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        // A panic elsewhere leaves counts that are still right: none of the steps here can.
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.places.lock();
        if let Some(of_client) = taken.get_mut(&self.client) {
            *of_client = of_client.saturating_sub(1);
            if *of_client == 0 {
                taken.remove(&self.client);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_some_places_and_all_addresses_have_more() {
        let places = Places::new("exports", 4, 64);
        let client = |number: u8| IpAddr::from([192, 0, 2, number]);
        let of_one: Vec<Place> = (0..4).map(|_| places.take(client(0)).unwrap()).collect();
        assert_eq!(places.take(client(0)).unwrap_err().code(), Code::RateLimited);
        let mut others: Vec<Place> = (4..64)
            .map(|number| places.take(client(number)).unwrap())
            .collect();
        assert_eq!(places.take(client(200)).unwrap_err().code(), Code::Unavailable);
        others.pop();
        assert!(places.take(client(200)).is_ok());
        drop((of_one, others));
        assert!(places.lock().is_empty());
    }
}
