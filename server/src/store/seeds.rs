//! Seeds: records that come with the program, and records that are imported.

use std::fmt::Debug;

use async_trait::async_trait;
use kb_core::ids::{RecordId, Revision};
use time::OffsetDateTime;

use super::{StoreError, digest};

/// Imports of seeds, and what they left as it was.
#[async_trait]
pub trait SeedStore: Send + Sync + Debug {
    /// Imports seeds in one transaction, safe for two servers at once: new -> published revision by `seed`;
    /// head unchanged since the last import -> new published revision; edited since -> kept and listed as a
    /// conflict; gone from the seeds -> kept. Withdrawing a seeded record, or publishing another revision of it,
    /// counts as an edit. A head that equals the seed is taken as imported. A seed whose id or former ids belong to
    /// another record is left out and named; two seeds that claim one name are refused, with all others.
    ///
    /// "Edited" is seen from the source: what somebody imported over a record of the program stays when the program
    /// brings another text; an import may replace what is as the program brought it.
    async fn seed(
        &self,
        source: SeedSource,
        seeds: SeedSet,
        at: OffsetDateTime,
    ) -> Result<SeedOutcome, StoreError>;

    /// [`SeedSet::sha256`] of what a source brought last, where all of it was imported and nothing waits.
    async fn seeded_set(&self, source: SeedSource) -> Result<Option<String>, StoreError>;

    async fn was_seeded(&self, source: SeedSource) -> Result<bool, StoreError>;

    /// Seeds that were not imported because somebody had edited the record.
    async fn seed_conflicts(&self) -> Result<Vec<SeedConflict>, StoreError>;
}

/// Who brings records. Each remembers what it brought last, so that neither overwrites the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeedSource {
    /// The records that come with the program.
    Program,
    Import,
}

impl SeedSource {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Program => "program",
            Self::Import => "import",
        }
    }

    pub fn actor(self) -> &'static str {
        match self {
            Self::Program => "seed",
            Self::Import => "import",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeedRecord {
    pub id: RecordId,
    pub document: String,
    pub annex: String,
}

/// What a source brings at once.
#[derive(Debug, Clone, Default)]
pub struct SeedSet {
    pub records: Vec<SeedRecord>,
    /// By which the source knows the set again.
    pub sha256: Option<String>,
}

impl From<Vec<SeedRecord>> for SeedSet {
    fn from(records: Vec<SeedRecord>) -> Self {
        Self {
            records,
            sha256: None,
        }
    }
}

impl SeedRecord {
    /// SHA-256 over the SHA-256 of the document and that of the annex, hex.
    pub fn sha256(&self) -> String {
        digest::pair(&digest::text(&self.document), &digest::text(&self.annex))
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SeedOutcome {
    pub added: Vec<RecordId>,
    pub updated: Vec<RecordId>,
    pub unchanged: usize,
    pub conflicts: Vec<SeedConflict>,
    /// Not imported because another record has the name.
    pub taken: Vec<SeedTaken>,
}

/// A seed whose id, or a former id of it, belongs to another record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeedTaken {
    pub id: RecordId,
    pub holder: RecordId,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeedConflict {
    pub id: RecordId,
    /// Its head, which somebody edited (or left, and withdrew the record or published another revision).
    pub head: Revision,
    /// [`SeedRecord::sha256`] of the seed that waits.
    pub seed_sha256: String,
    pub since: OffsetDateTime,
}
