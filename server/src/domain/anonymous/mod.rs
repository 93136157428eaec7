//! Writing without a login: whether it is allowed, how much of it, and for how long it is kept. What is written is a matter of
//! whoever keeps it here: suggestions, votes, lines that nobody knows, shared answers.

use std::net::IpAddr;

use sha2::{Digest, Sha256};
use time::{Duration, OffsetDateTime, UtcOffset};

use crate::store::{
    AnonymousKind, AnonymousStore, AnonymousTotals, NewAnonymous, StoreError, Voter, VoterKind,
};

pub const ENTRY_BYTES: usize = 64 << 10;
/// Entries from one address on one day, in UTC.
pub const A_DAY: u32 = 20;
/// All entries together, in bytes. The oldest go first.
pub const ROOM_BYTES: u64 = 256 << 20;
/// How long an entry is kept that nobody took up.
pub const KEPT_FOR: Duration = Duration::days(90);

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AnonymousError {
    #[error("this server takes nothing without a login: log in at /login, or send a token")]
    Off,
    #[error("this is longer than {ENTRY_BYTES} bytes")]
    TooLarge,
    #[error("{A_DAY} entries came from this address today: try again tomorrow (UTC), or log in at /login")]
    TooManyToday,
}

#[derive(Debug, Clone, Copy)]
pub struct Nobody {
    pub is_allowed: bool,
    /// The address that is counted: of IPv6 the network of the host.
    pub client: Option<IpAddr>,
}

impl Nobody {
    pub fn check(self) -> Result<(), AnonymousError> {
        if self.is_allowed {
            Ok(())
        } else {
            Err(AnonymousError::Off)
        }
    }

    pub fn entry(
        self,
        (kind, subject): (AnonymousKind, &str),
        body: String,
        at: OffsetDateTime,
    ) -> Result<NewAnonymous, AnonymousError> {
        self.check()?;
        if body.len() > ENTRY_BYTES {
            return Err(AnonymousError::TooLarge);
        }
        Ok(NewAnonymous {
            kind,
            subject: subject.to_owned(),
            body,
            key_sha256: None,
            name_sha256: None,
            source: source(self.client, at),
            at,
            expires_at: at + KEPT_FOR,
            most_a_day: A_DAY,
            room_bytes: ROOM_BYTES,
        })
    }

    pub fn voter(self) -> Voter {
        Voter {
            kind: VoterKind::Anonymous,
            id: String::new(),
        }
    }
}

pub async fn tend(
    store: &dyn AnonymousStore,
    now: OffsetDateTime,
) -> Result<(u64, AnonymousTotals), StoreError> {
    let expired = store.expire_anonymous(now).await?;
    Ok((expired, store.anonymous_totals().await?))
}

pub fn until_tomorrow(now: OffsetDateTime) -> Duration {
    let today = now.to_offset(UtcOffset::UTC).date();
    let tomorrow = today.next_day().unwrap_or(today).midnight().assume_utc();
    tomorrow - now
}

/// Another hash for an address on each day: counts of two days cannot be put together.
fn source(client: Option<IpAddr>, at: OffsetDateTime) -> String {
    let day = at.to_offset(UtcOffset::UTC).date();
    let address = client.map_or_else(|| "unknown".to_owned(), |client| client.to_string());
    hex::encode(Sha256::digest(format!("{day} {address}")))
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    const NOW: OffsetDateTime = datetime!(2026-01-02 23:00:00 UTC);

    fn written(is_allowed: bool, bytes: usize, last: u8) -> Result<NewAnonymous, AnonymousError> {
        let nobody = Nobody {
            is_allowed,
            client: Some(IpAddr::from([192, 0, 2, last])),
        };
        nobody.entry((AnonymousKind::Suggestion, "cuda/x"), "x".repeat(bytes), NOW)
    }

    #[test]
    fn nothing_is_kept_unless_it_is_allowed_and_short() {
        assert_eq!(written(false, 1, 1).unwrap_err(), AnonymousError::Off);
        assert_eq!(
            written(true, ENTRY_BYTES + 1, 1).unwrap_err(),
            AnonymousError::TooLarge
        );
        let kept = written(true, ENTRY_BYTES, 1).unwrap();
        assert_eq!(kept.expires_at, NOW + KEPT_FOR);
    }

    #[test]
    fn an_address_is_another_on_the_next_day() {
        let [one, other] = [1, 2].map(|last| written(true, 1, last).unwrap().source);
        assert_ne!(one, other);
        assert_eq!(one, written(true, 1, 1).unwrap().source);
        let client = Some(IpAddr::from([192, 0, 2, 1]));
        assert_ne!(one, source(client, NOW + Duration::hours(1)));
        assert_eq!(until_tomorrow(NOW), Duration::hours(1));
    }
}
