//! When to try again: twice as long after each failure, with chance in it so that a fleet does not come back at one
//! instant, and never before the server's own `Retry-After`.

use std::time::{Duration, Instant};

use super::receipt::Receipt;
use super::{Body, UploadError, Uploader};

const FIRST: Duration = Duration::from_secs(1);
/// The longest wait, before chance; a server that asks for more gets it.
const LONGEST: Duration = Duration::from_mins(2);
const MOST_ASKED: Duration = Duration::from_hours(1);

pub(crate) struct Patience<'a> {
    /// No new try begins after this long; zero tries once.
    pub(crate) limit: Duration,
    pub(crate) chance: &'a dyn Fn() -> u64,
    pub(crate) sleep: &'a dyn Fn(Duration),
    pub(crate) say: &'a dyn Fn(&str),
}

/// Sends until the server has it, refuses for good, or patience ends.
pub(crate) fn send(
    uploader: &Uploader,
    body: &Body,
    patience: &Patience<'_>,
) -> Result<Receipt, UploadError> {
    let began = Instant::now();
    let mut failures = 0;
    loop {
        let error = match uploader.send(body) {
            Ok(receipt) => return Ok(receipt),
            Err(error) => error,
        };
        if !error.may_pass() {
            return Err(error);
        }
        let pause = pause(failures, error.retry_after(), (patience.chance)());
        if began.elapsed() + pause >= patience.limit {
            return Err(error);
        }
        (patience.say)(&format!("{error}; trying again in {:.1} s", pause.as_secs_f64()));
        (patience.sleep)(pause);
        failures += 1;
    }
}

/// When a program that comes again by itself may ask the server next.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    failures: u32,
    not_before: Option<Instant>,
}

impl Pace {
    pub(crate) fn may_send(&self, now: Instant) -> bool {
        self.not_before.is_none_or(|instant| now >= instant)
    }

    /// Learns how the last try ended; `random` are random bits.
    pub(crate) fn learn(&mut self, refusal: Option<&UploadError>, now: Instant, random: u64) {
        let Some(error) = refusal else {
            *self = Self::default();
            return;
        };
        self.not_before = now.checked_add(pause(self.failures, error.retry_after(), random));
        self.failures = self.failures.saturating_add(1);
    }
}

/// Between half of the doubled wait and all of it; at least what the server asked for.
pub(crate) fn pause(failures: u32, asked: Option<Duration>, random: u64) -> Duration {
    let whole = FIRST.saturating_mul(1 << failures.min(16)).min(LONGEST);
    let half = whole / 2;
    let part = u32::try_from(random % 1024).unwrap_or_default();
    let chosen = half + half * part / 1024;
    // Chance also above what is asked: all clients of a server were told the same.
    asked.map_or(chosen, |asked| asked.min(MOST_ASKED) + chosen.min(FIRST))
}

/// `Retry-After` (RFC 9110, section 10.2.3): seconds, or a date, which counts from `now`.
pub(super) fn retry_after(value: &str, now: time::OffsetDateTime) -> Option<Duration> {
    let value = value.trim();
    if let Ok(seconds) = value.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = time::OffsetDateTime::parse(value, &time::format_description::well_known::Rfc2822).ok()?;
    Some((date - now).try_into().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::macros::datetime;

    #[test]
    fn waits_double_up_to_a_limit_with_chance() {
        let seconds: Vec<u64> = (0..9)
            .map(|failures| pause(failures, None, 1023).as_millis().try_into().unwrap())
            .collect();
        assert_eq!(seconds[0], 999);
        assert!(seconds.is_sorted());
        assert!((119_000..=120_000).contains(&seconds[8]));
        assert_eq!(pause(3, None, 0), Duration::from_secs(4), "never less than half");
        assert_ne!(pause(3, None, 0), pause(3, None, 512));
        assert!(pause(u32::MAX, None, u64::MAX) <= LONGEST);
    }

    #[test]
    fn the_server_is_not_asked_before_it_said() {
        let asked = Duration::from_mins(5);
        assert!(pause(0, Some(asked), 0) >= asked);
        assert!(pause(0, Some(Duration::MAX), 0) <= MOST_ASKED + FIRST);
    }

    #[test]
    fn a_server_that_refused_is_left_alone_as_long_as_it_asked() {
        let now = Instant::now();
        let refused = |retry_after| UploadError::Refused {
            server: "http://127.0.0.1".to_owned(),
            status: 503,
            code: None,
            detail: String::new(),
            retry_after,
        };
        let mut pace = Pace::default();
        assert!(pace.may_send(now));
        pace.learn(Some(&refused(Some(Duration::from_mins(20)))), now, 0);
        assert!(!pace.may_send(now + Duration::from_mins(19)));
        assert!(pace.may_send(now + Duration::from_mins(21)));
        for _ in 0..9 {
            pace.learn(Some(&refused(None)), now, 0);
        }
        assert!(!pace.may_send(now + Duration::from_secs(59)), "it grew");
        pace.learn(None, now, 0);
        assert!(pace.may_send(now));
    }

    #[test]
    fn both_forms_of_retry_after_are_read() {
        let now = datetime!(1994-11-06 08:49:07 UTC);
        assert_eq!(retry_after(" 120 ", now), Some(Duration::from_mins(2)));
        assert_eq!(
            retry_after("Sun, 06 Nov 1994 08:49:37 GMT", now),
            Some(Duration::from_secs(30))
        );
        assert_eq!(
            retry_after("Sun, 06 Nov 1994 08:49:00 GMT", now),
            Some(Duration::ZERO),
            "past"
        );
        assert_eq!(retry_after("soon", now), None);
    }
}
