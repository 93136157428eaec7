//! Places for answers that are made while they are sent: an answer nobody reads holds memory, so their number is bounded.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use actix_web::http::header::{self, HeaderValue};

use super::error::{Code, Problem};
use super::limits;

/// Seconds after which a refused caller may ask again.
const ASK_AGAIN: HeaderValue = HeaderValue::from_static("5");

#[derive(Debug, Clone, Default)]
pub struct Places(Arc<Mutex<HashMap<IpAddr, usize>>>);

/// A place, until it is dropped.
#[derive(Debug)]
pub struct Place {
    places: Places,
    client: IpAddr,
}

impl Places {
    /// A place for an answer to `client`: 429 where it has all that one may have, 503 where none is left.
    pub fn take(&self, client: IpAddr) -> Result<Place, Problem> {
        let mut taken = self.lock();
        let of_client = taken.get(&client).copied().unwrap_or_default();
        let refusal = if of_client >= limits::EXPORTS_OF_CLIENT {
            Some((
                Code::RateLimited,
                "this address has as many exports under way as it may have",
            ))
        } else if taken.values().sum::<usize>() >= limits::EXPORTS {
            Some((Code::Unavailable, "too many exports are under way: ask again"))
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
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
        let places = Places::default();
        let client = |number: u8| IpAddr::from([192, 0, 2, number]);
        let of_one: Vec<Place> = (0..limits::EXPORTS_OF_CLIENT)
            .map(|_| places.take(client(0)).unwrap())
            .collect();
        assert_eq!(places.take(client(0)).unwrap_err().code(), Code::RateLimited);
        let mut others: Vec<Place> = (limits::EXPORTS_OF_CLIENT..limits::EXPORTS)
            .map(|number| places.take(client(u8::try_from(number).unwrap())).unwrap())
            .collect();
        assert_eq!(places.take(client(200)).unwrap_err().code(), Code::Unavailable);
        others.pop();
        assert!(places.take(client(200)).is_ok());
        drop((of_one, others));
        assert!(places.lock().is_empty());
    }
}
