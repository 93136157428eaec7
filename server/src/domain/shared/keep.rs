//! Shared answers in the room of anonymous writing.

use kb_core::text::Sha256;
use time::{Duration, OffsetDateTime};

use super::Shared;
use crate::domain::anonymous::{AnonymousError, Nobody};
use crate::store::{AnonymousKept, AnonymousKind, AnonymousStore, StoreError};

/// For how many days an answer may be shared.
pub const DAYS: [u16; 3] = [1, 7, 30];

#[derive(Debug, thiserror::Error)]
pub enum ShareError {
    #[error("an answer is kept for 1, 7 or 30 days")]
    Days,
    #[error(transparent)]
    Anonymous(#[from] AnonymousError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

#[derive(Debug, Clone)]
pub struct Kept {
    pub shared: Shared,
    pub made: OffsetDateTime,
    pub until: OffsetDateTime,
}

/// Keeps an answer until the time given back. Who has the key may take it back. Only hashes of name and key are kept.
pub async fn keep(
    store: &dyn AnonymousStore,
    nobody: Nobody,
    (shared, days): (&Shared, u16),
    (name, key): (&str, &str),
    at: OffsetDateTime,
) -> Result<(OffsetDateTime, AnonymousKept), ShareError> {
    nobody.check()?;
    if !DAYS.contains(&days) {
        return Err(ShareError::Days);
    }
    let mut entry = nobody.entry((AnonymousKind::Answer, ""), shared.to_json(), at)?;
    entry.key_sha256 = Some(hash(key));
    entry.name_sha256 = Some(hash(name));
    entry.expires_at = at + Duration::days(i64::from(days));
    let until = entry.expires_at;
    match store.keep_anonymous(entry).await? {
        AnonymousKept::TooManyToday => Err(AnonymousError::TooManyToday.into()),
        kept @ AnonymousKept::Kept { .. } => Ok((until, kept)),
    }
}

/// The answer of this name, if its time is not over.
pub async fn find(
    store: &dyn AnonymousStore,
    name: &str,
    now: OffsetDateTime,
) -> Result<Option<Kept>, StoreError> {
    let entry = store.anonymous_named(&hash(name), now).await?;
    Ok(entry.and_then(|entry| {
        let shared = Shared::read(&entry.body)?;
        Some(Kept {
            shared,
            made: entry.written_at,
            until: entry.expires_at,
        })
    }))
}

fn hash(text: &str) -> String {
    Sha256::of(text.as_bytes()).to_string()
}
