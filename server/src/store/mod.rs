//! Where records, reports and tokens are kept: one trait in domain words, one generic SQL implementation for
//! SQLite and PostgreSQL.
//!
//! Absence is `Option`, never an error; times are passed in. What must hold for every engine is written down as
//! the contract suite and run on each.

mod digest;
mod error;
mod sql;
mod types;

pub use error::StoreError;
pub use sql::{Backup, BackupError, ConnectOptions, Migrated, backup, connect, migrate, sqlite_file};
pub use types::*;

use async_trait::async_trait;
use kb_core::ids::{NodeId, RecordId, ReportId, Revision, Seq};
use time::OffsetDateTime;

/// The whole store. Each method is one transaction.
#[async_trait]
pub trait Store: Send + Sync + std::fmt::Debug {
    // --- records -------------------------------------------------------------------------------------------

    /// Makes a new head revision in state draft. Never touches what readers see.
    ///
    /// [`Saved::Unchanged`] when document and annex equal the head's byte for byte, whatever was expected: the same
    /// request twice does no harm. A new id that is a former id of another record is refused.
    async fn save_head(&self, change: NewRevision) -> Result<Saved, StoreError>;

    /// Publishes `revision` (any revision, so that an older one can be brought back): rebuilds the record's
    /// codes, aliases and edges, and takes the next seq, all in one transaction. Publishing what is published
    /// already changes nothing and answers with the seq it had.
    async fn publish(&self, publish: Publish) -> Result<Published, StoreError>;

    /// Takes a record out of matching and search; it stays readable by id and by its aliases, marked. Takes the next
    /// seq. Of a record that is withdrawn already nothing changes; of one that was never published it is refused.
    async fn withdraw(&self, id: &RecordId, actor: &str, at: OffsetDateTime)
    -> Result<Published, StoreError>;

    /// Where a record stands. Does not follow aliases.
    async fn status(&self, id: &RecordId) -> Result<Option<RecordStatus>, StoreError>;

    /// The id that a former id (alias) now goes by.
    async fn resolve_alias(&self, alias: &str) -> Result<Option<RecordId>, StoreError>;

    /// One revision with its texts.
    async fn revision(&self, id: &RecordId, revision: Revision) -> Result<Option<RevisionTexts>, StoreError>;

    /// All revisions of a record, newest first, without texts.
    async fn revisions(&self, id: &RecordId) -> Result<Vec<RevisionMeta>, StoreError>;

    /// Records in id order after `after`; with `since`, those whose published face changed after that seq, in
    /// seq order (tombstones included); with `before`, those whose face changed last before that seq, newest first.
    async fn list(&self, query: ListQuery) -> Result<Vec<RecordListing>, StoreError>;

    /// Published records that carry this code, compared without case and with runs of blanks as one.
    async fn records_by_code(&self, code: &str) -> Result<Vec<RecordId>, StoreError>;

    /// Edges of published records that start or end at `id`, or (unresolved) name it as text.
    async fn edges_around(&self, id: &RecordId) -> Result<Vec<StoredEdge>, StoreError>;

    // --- feed ----------------------------------------------------------------------------------------------

    /// The newest seq. Cheap enough to ask five times a second.
    async fn head_seq(&self) -> Result<Seq, StoreError>;

    /// Published faces of records that changed after `after`, each once (its newest), in seq order, with the
    /// seq that the page reaches. Read in one consistent snapshot. `after = 0` gives everything.
    async fn feed(&self, after: Seq, limit: u32) -> Result<FeedPage, StoreError>;

    // --- seeding -------------------------------------------------------------------------------------------

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
        seeds: Vec<SeedRecord>,
        at: OffsetDateTime,
    ) -> Result<SeedOutcome, StoreError>;

    /// Seeds that were not imported because somebody had edited the record.
    async fn seed_conflicts(&self) -> Result<Vec<SeedConflict>, StoreError>;

    // --- reports -------------------------------------------------------------------------------------------

    /// Keeps a report once. Same node, id and body again -> [`ReportSaved::Duplicate`]; other body ->
    /// [`ReportSaved::Conflict`], nothing changed.
    async fn save_report(&self, report: NewReport) -> Result<ReportSaved, StoreError>;

    /// A report with its body. With `node` absent: `Ambiguous` when several nodes used the id.
    async fn report(&self, node: Option<&NodeId>, id: &ReportId) -> Result<Option<StoredReport>, StoreError>;

    /// Reports, newest first; of one node if given.
    async fn reports(&self, query: ReportQuery) -> Result<Vec<ReportListing>, StoreError>;

    /// Nodes by id, each with the report whose verdict stands and its latest; with `label` (name, value) those that have it.
    async fn nodes(
        &self,
        after: Option<&NodeId>,
        label: Option<(&str, &str)>,
        limit: u32,
    ) -> Result<Vec<NodeListing>, StoreError>;

    /// One node in the same way; `None` when no report of it came.
    async fn node(&self, id: &NodeId) -> Result<Option<NodeListing>, StoreError>;

    /// What happened to a node, newest first.
    async fn node_events(&self, id: &NodeId, limit: u32) -> Result<Vec<NodeEvent>, StoreError>;

    /// All nodes counted: by verdict, by what their reports show, by when their latest runs ended.
    async fn fleet(&self, query: FleetQuery) -> Result<Fleet, StoreError>;

    /// Replaces the findings of a report (correlation ran again), unless those kept were made with a newer feed.
    async fn replace_findings(
        &self,
        node: &NodeId,
        report: &ReportId,
        seq: Seq,
        findings: Vec<NewFinding>,
    ) -> Result<(), StoreError>;

    /// Findings of a report.
    async fn findings(&self, node: &NodeId, report: &ReportId) -> Result<Vec<StoredFinding>, StoreError>;

    /// Latest reports and latest proofs of nodes whose findings were made with a feed older than `seq`, oldest first.
    async fn reports_to_correlate(&self, seq: Seq, limit: u32) -> Result<Vec<StoredReport>, StoreError>;

    // --- outcomes ------------------------------------------------------------------------------------------

    /// Keeps a vote. A reporter has one for each action and environment, and may change it.
    async fn save_outcome(&self, outcome: NewOutcome) -> Result<OutcomeSaved, StoreError>;

    /// Votes on a record, by action and environment.
    async fn outcomes(&self, id: &RecordId) -> Result<Vec<OutcomeCount>, StoreError>;

    // --- tokens --------------------------------------------------------------------------------------------

    /// Keeps the hashes of tokens, all or none.
    async fn create_tokens(&self, tokens: Vec<NewToken>) -> Result<(), StoreError>;

    /// Keeps a token's hash.
    async fn create_token(&self, token: NewToken) -> Result<(), StoreError> {
        self.create_tokens(vec![token]).await
    }

    /// Keeps the credential of a node, bound to node and machine, which the join token `by` gives it. One node has one
    /// credential: that of the same machine is revoked, and takes no use of the join token; that of another refuses it.
    async fn enrol_node(&self, by: &str, token: NewToken) -> Result<Enrolled, StoreError>;

    /// A token by its public part.
    async fn token(&self, id: &str) -> Result<Option<StoredToken>, StoreError>;

    /// All tokens, without hashes shown to anyone.
    async fn tokens(&self) -> Result<Vec<StoredToken>, StoreError>;

    /// Revokes; false when there is no such token.
    async fn revoke_token(&self, id: &str, at: OffsetDateTime) -> Result<bool, StoreError>;

    // --- operation -----------------------------------------------------------------------------------------

    /// Commits a transaction that changes nothing, and says why where that cannot be done now.
    async fn check_write(&self) -> Result<(), StoreError>;
}
