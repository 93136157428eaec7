//! What people write without a login: suggestions, votes, kept lines, shared answers. One quota and one room hold for all of it.

use std::fmt::Debug;

use async_trait::async_trait;
use time::OffsetDateTime;

use super::StoreError;

/// The room of anonymous writing. Entries are counted from 1 in the order in which they were written.
#[async_trait]
pub trait AnonymousStore: Send + Sync + Debug {
    /// Keeps an entry, if its address has not used up its day. Where the room is full, the oldest entries go.
    async fn keep_anonymous(&self, entry: NewAnonymous) -> Result<AnonymousKept, StoreError>;

    /// Entries of a kind, the newest first, from before an entry.
    async fn anonymous(
        &self,
        kind: AnonymousKind,
        before: Option<i64>,
        limit: u32,
    ) -> Result<Vec<AnonymousEntry>, StoreError>;

    /// Removes an entry; false where there is none.
    async fn remove_anonymous(&self, n: i64) -> Result<bool, StoreError>;

    /// Removes the entry that was kept with the hash of this key; false where there is none.
    async fn take_back_anonymous(&self, key_sha256: &str) -> Result<bool, StoreError>;

    /// The entry that was kept with the hash of this name, unless its time is over.
    async fn anonymous_named(
        &self,
        name_sha256: &str,
        now: OffsetDateTime,
    ) -> Result<Option<AnonymousEntry>, StoreError>;

    /// Removes what is over, and counts of days before today; how many entries went.
    async fn expire_anonymous(&self, now: OffsetDateTime) -> Result<u64, StoreError>;

    async fn anonymous_totals(&self) -> Result<AnonymousTotals, StoreError>;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnonymousKind {
    /// A correction of a record.
    Suggestion,
    /// Whether something that a record advises helped.
    Vote,
    /// Lines that no record explains.
    Lines,
    Answer,
}

impl AnonymousKind {
    pub const ALL: [Self; 4] = [Self::Suggestion, Self::Vote, Self::Lines, Self::Answer];

    /// The word that the database uses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Suggestion => "suggestion",
            Self::Vote => "vote",
            Self::Lines => "lines",
            Self::Answer => "answer",
        }
    }

    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

#[derive(Debug, Clone)]
pub struct NewAnonymous {
    pub kind: AnonymousKind,
    /// What it is about: the id of a record; empty where it is about none.
    pub subject: String,
    pub body: String,
    /// Hash of the key by which its writer takes it back.
    pub key_sha256: Option<String>,
    /// Hash of the name under which it is read.
    pub name_sha256: Option<String>,
    /// Where it comes from, as a hash that is good for the day alone.
    pub source: String,
    pub at: OffsetDateTime,
    pub expires_at: OffsetDateTime,
    /// Most entries from one source on one day.
    pub most_a_day: u32,
    /// Most bytes of all entries together.
    pub room_bytes: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnonymousKept {
    Kept {
        n: i64,
        /// Bytes of all entries now.
        bytes_in_all: u64,
        /// Older entries that went for it.
        pushed_out: u64,
    },
    /// The source has written as much today as it may; nothing was kept.
    TooManyToday,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnonymousEntry {
    pub n: i64,
    pub kind: AnonymousKind,
    pub subject: String,
    pub body: String,
    pub written_at: OffsetDateTime,
    pub expires_at: OffsetDateTime,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AnonymousTotals {
    pub entries: u64,
    pub bytes: u64,
}
