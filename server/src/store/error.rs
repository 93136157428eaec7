//! What a store can refuse.

use kb_core::ids::{RecordId, Revision};

/// Why a call failed. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// No such record.
    #[error("there is no record {0}")]
    NoRecord(RecordId),
    /// No such revision of the record.
    #[error("record {0} has no revision {1}")]
    NoRevision(RecordId, Revision),
    /// A former id that another record holds, as id or as alias.
    #[error("{alias:?} is already the id or an alias of {holder}")]
    AliasTaken {
        /// The alias asked for.
        alias: String,
        /// Who has it.
        holder: RecordId,
    },
    /// Several nodes used this report id.
    #[error("several nodes sent a report with this id: name the node")]
    AmbiguousReport,
    /// The stored text no longer parses: another program wrote it.
    #[error("record {id} {revision} in the database is damaged: {reason}")]
    Damaged {
        /// The record.
        id: RecordId,
        /// Its revision.
        revision: Revision,
        /// What is wrong.
        reason: String,
    },
    /// The database is newer than this program.
    #[error("the database has migration {found}, this program knows up to {known}: install a newer peerless")]
    NewerDatabase {
        /// Newest migration applied.
        found: i64,
        /// Newest migration known.
        known: i64,
    },
    /// The disk is full or a limit on size was reached.
    #[error("the database cannot grow: {0}")]
    Full(String),
    /// The database may not be written.
    #[error("the database cannot be written: {0}")]
    ReadOnly(String),
    /// No connection, a lost one, or a lock that was not given in time; trying again may help.
    #[error("the database does not answer: {0}")]
    Unavailable(String),
    /// Anything else the database says.
    #[error("the database refused: {0}")]
    Database(#[source] sqlx::Error),
}
