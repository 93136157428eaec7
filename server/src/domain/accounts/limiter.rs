//! How often somebody may try to log in: the more attempts fail, the longer the next has to wait, and never for ever.
//!
//! Attempts are counted for each account, whether there is one of that name or not, and for each address. Where an account was
//! logged in to from an address before, only the attempts of that address count for
//! it: attempts from elsewhere do not keep its owner out.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use time::OffsetDateTime;

use crate::store::fold_login;

/// Attempts on an account, or on an account from one address, before the next has to wait.
const FREE_OF_ACCOUNT: u32 = 5;
/// The same for all accounts from one address: an office may have one address.
const FREE_OF_ADDRESS: u32 = 20;
/// The first wait. Each further failure doubles it.
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_mins(1);
/// Failures are forgotten after so long without another.
const FORGOTTEN_AFTER: Duration = Duration::from_mins(15);
/// Entries of each kind that are kept. Beyond it the oldest go.
const MOST: usize = 20_000;

#[derive(Debug, Default)]
pub struct LoginLimiter(Mutex<Counts>);

#[derive(Debug, Default)]
struct Counts {
    failures: HashMap<Key, Failures>,
    /// Where an account was logged in to, and when last.
    known: HashMap<(String, IpAddr), OffsetDateTime>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key {
    Account(String),
    AccountFrom(String, IpAddr),
    Address(IpAddr),
}

#[derive(Debug, Clone, Copy)]
struct Failures {
    count: u32,
    last: OffsetDateTime,
}

/// An attempt that may be made. It counts as failed until it has [succeeded](LoginLimiter::succeeded): many at once gain nothing.
#[derive(Debug, Clone)]
pub struct Attempt {
    login: String,
    address: IpAddr,
}

impl LoginLimiter {
    /// Whether an attempt may be made now; else how long it has to wait.
    pub fn admit(&self, login: &str, address: IpAddr, now: OffsetDateTime) -> Result<Attempt, Duration> {
        let login = fold_login(login);
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_known = counts.known.contains_key(&(login.clone(), address));
        let mut keys = vec![
            (Key::AccountFrom(login.clone(), address), FREE_OF_ACCOUNT),
            (Key::Address(address), FREE_OF_ADDRESS),
        ];
        if !is_known {
            keys.push((Key::Account(login.clone()), FREE_OF_ACCOUNT));
        }
        let waits = keys.iter().map(|(key, free)| counts.wait(key, *free, now));
        let wait = waits.max().unwrap_or_default();
        if !wait.is_zero() {
            return Err(wait);
        }
        for (key, _) in keys {
            counts.fail(key, now);
        }
        Ok(Attempt { login, address })
    }

    /// The attempt was right: what failed before is forgotten.
    pub fn succeeded(&self, attempt: Attempt, now: OffsetDateTime) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Attempt { login, address } = attempt;
        counts.failures.remove(&Key::Account(login.clone()));
        counts.failures.remove(&Key::AccountFrom(login.clone(), address));
        // Others at the same address keep theirs, or a login of one's own would pay for guesses at others.
        if let Some(failures) = counts.failures.get_mut(&Key::Address(address)) {
            failures.count = failures.count.saturating_sub(1);
        }
        counts.known.insert((login, address), now);
        if counts.known.len() > MOST {
            let oldest = counts.known.iter().min_by_key(|(_, at)| **at);
            if let Some(oldest) = oldest.map(|(key, _)| key.clone()) {
                counts.known.remove(&oldest);
            }
        }
    }
}

impl Counts {
    fn wait(&self, key: &Key, free: u32, now: OffsetDateTime) -> Duration {
        let Some(failures) = self.failures.get(key) else {
            return Duration::ZERO;
        };
        let since = Duration::try_from(now - failures.last).unwrap_or_default();
        if failures.count < free || since >= FORGOTTEN_AFTER {
            return Duration::ZERO;
        }
        let doublings = (failures.count - free).min(10);
        let wait = (FIRST_WAIT * (1 << doublings)).min(LONGEST_WAIT);
        wait.saturating_sub(since)
    }

    fn fail(&mut self, key: Key, now: OffsetDateTime) {
        if self.failures.len() >= MOST && !self.failures.contains_key(&key) {
            self.make_room(now);
        }
        let failures = self
            .failures
            .entry(key)
            .or_insert(Failures { count: 0, last: now });
        if now - failures.last >= FORGOTTEN_AFTER {
            failures.count = 0;
        }
        failures.count = failures.count.saturating_add(1);
        failures.last = now;
    }

    /// Forgets what is over; where that is nothing, the half that failed least.
    fn make_room(&mut self, now: OffsetDateTime) {
        self.failures
            .retain(|_, failures| now - failures.last < FORGOTTEN_AFTER);
        if self.failures.len() < MOST {
            return;
        }
        let mut counts: Vec<(u32, OffsetDateTime)> = self
            .failures
            .values()
            .map(|failures| (failures.count, failures.last))
            .collect();
        counts.sort_unstable();
        let Some(middle) = counts.get(counts.len() / 2).copied() else {
            return;
        };
        self.failures
            .retain(|_, failures| (failures.count, failures.last) > middle);
    }
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    const NOW: OffsetDateTime = datetime!(2026-01-02 03:04:05 UTC);

    fn address(last: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, last])
    }

    fn later(seconds: i64) -> OffsetDateTime {
        NOW + time::Duration::seconds(seconds)
    }

    #[test]
    fn the_wait_grows_and_has_an_end() {
        let limiter = LoginLimiter::default();
        for _ in 0..FREE_OF_ACCOUNT {
            limiter.admit("ada", address(1), NOW).unwrap();
        }
        let mut now = NOW;
        let mut waits = Vec::new();
        for _ in 0..9 {
            let wait = limiter.admit("ADA", address(1), now).unwrap_err();
            waits.push(wait.as_secs());
            now += wait;
            limiter.admit("ada", address(1), now).unwrap();
        }
        assert_eq!(waits, [1, 2, 4, 8, 16, 32, 60, 60, 60]);
        // Long after, it is as if nothing had been.
        now += FORGOTTEN_AFTER;
        for _ in 0..FREE_OF_ACCOUNT {
            limiter.admit("ada", address(1), now).unwrap();
        }
        assert!(limiter.admit("ada", address(1), now).is_err());
    }

    #[test]
    fn other_addresses_do_not_help_against_one_account() {
        let limiter = LoginLimiter::default();
        for last in 0..5 {
            limiter.admit("ada", address(last), NOW).unwrap();
        }
        assert!(limiter.admit("ada", address(99), NOW).is_err());
        assert!(limiter.admit("bob", address(99), NOW).is_ok());
    }

    #[test]
    fn other_accounts_do_not_help_from_one_address() {
        let limiter = LoginLimiter::default();
        let mut admitted = 0;
        for account in 0..100 {
            admitted += u32::from(
                limiter
                    .admit(&format!("person{account}"), address(1), NOW)
                    .is_ok(),
            );
        }
        assert_eq!(admitted, FREE_OF_ADDRESS);
    }

    #[test]
    fn who_logged_in_from_an_address_is_not_kept_out_by_others() {
        let limiter = LoginLimiter::default();
        let attempt = limiter.admit("ada", address(1), NOW).unwrap();
        limiter.succeeded(attempt, NOW);
        for second in 0..600 {
            let _ = limiter.admit("ada", address(66), later(second));
        }
        assert!(limiter.admit("ada", address(2), later(600)).is_err());
        let attempt = limiter.admit("ada", address(1), later(600)).unwrap();
        limiter.succeeded(attempt, later(600));
    }

    #[test]
    fn memory_is_bounded_and_the_worst_are_remembered() {
        let limiter = LoginLimiter::default();
        for _ in 0..FREE_OF_ACCOUNT {
            limiter.admit("ada", address(1), NOW).unwrap();
        }
        for account in 0..u32::try_from(MOST).unwrap() {
            let from = IpAddr::from(account.to_be_bytes());
            let _ = limiter.admit(&format!("a{account}"), from, NOW);
        }
        assert!(limiter.0.lock().unwrap().failures.len() <= MOST + 3);
        assert!(limiter.admit("ada", address(1), NOW).is_err());
    }
}
