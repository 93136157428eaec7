//! What a store can refuse.

use kb_core::ids::{NodeId, RecordId, ReportId, Revision, Seq};

/// Why a call failed. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("there is no record {0}")]
    NoRecord(RecordId),
    #[error("another record was published meanwhile (seq {0})")]
    FeedMoved(Seq),
    #[error("record {0} was never published")]
    NeverPublished(RecordId),
    /// Readers see the revision already, so that nobody is asked to publish it.
    #[error("{0} is published: there is nothing to review")]
    IsPublished(Revision),
    /// Readers do not see the record, so that nobody is asked to withdraw it.
    #[error("record {0} is not published")]
    NotPublished(RecordId),
    #[error("{by} asks for something else with this record: wait until that is decided, or send it back")]
    AnotherQuestion { by: String },
    #[error("{by} asks for this with another note: what there is to add is a comment on the record")]
    AskedAlready { by: String },
    #[error("the review of {0} is not open any more")]
    NoOpenReview(RecordId),
    #[error("{0} was published meanwhile")]
    AnotherPublished(Revision),
    #[error("record {0} has no revision {1}")]
    NoRevision(RecordId, Revision),
    #[error("{alias:?} is already the id or an alias of {holder}")]
    AliasTaken { alias: String, holder: RecordId },
    #[error("several nodes sent a report with this id: name the node")]
    AmbiguousReport,
    #[error("node {0} sent no report {1}")]
    NoReport(NodeId, ReportId),
    /// A text that a database cannot keep.
    #[error("{what} cannot be kept: {reason}")]
    Unstorable {
        what: &'static str,
        reason: &'static str,
    },
    /// The stored text no longer parses: another program wrote it.
    #[error("record {id} {revision} in the database is damaged: {reason}")]
    Damaged {
        id: RecordId,
        revision: Revision,
        reason: String,
    },
    #[error("the database has migration {found}, this program knows up to {known}: install a newer peerless")]
    NewerDatabase { found: i64, known: i64 },
    #[error("the database has migration {found}, this program needs {known}: run `peerless migrate`")]
    OlderDatabase { found: i64, known: i64 },
    #[error("cannot migrate the database: {0}")]
    Migration(#[source] Box<sqlx::migrate::MigrateError>),
    #[error("cannot open the database {url}: {reason}")]
    Open {
        /// What was asked for, without a password.
        url: String,
        reason: String,
    },
    /// The engine is set up so that a commit may be lost in a crash.
    #[error("the database would lose what it confirmed when the machine stops: {0}")]
    NotDurable(String),
    /// The disk is full or a limit on size was reached.
    #[error("the database cannot grow: {0}")]
    Full(String),
    /// The file was moved or replaced since it was opened.
    #[error("the database file is not where this program opened it: {0}")]
    Moved(String),
    #[error("the database cannot be written: {0}")]
    ReadOnly(String),
    /// No connection, a lost one, or a lock that was not given in time; trying again may help.
    #[error("the database does not answer: {0}")]
    Unavailable(String),
    #[error("the database refused: {0}")]
    Database(#[source] sqlx::Error),
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        match &error {
            sqlx::Error::Database(refusal) => {
                let code = refusal.code().unwrap_or_default();
                classify(&code, refusal.message()).unwrap_or(Self::Database(error))
            }
            sqlx::Error::Io(_)
            | sqlx::Error::Tls(_)
            | sqlx::Error::PoolTimedOut
            | sqlx::Error::PoolClosed
            | sqlx::Error::WorkerCrashed => Self::Unavailable(error.to_string()),
            _ => Self::Database(error),
        }
    }
}

/// `SQLITE_IOERR_WRITE`: what a limit on file size (EFBIG) comes out as.
const IOERR_WRITE: i32 = 778;

/// The store's word for an engine's code: five characters from PostgreSQL (appendix A of its manual), a decimal
/// number from SQLite (sqlite.org/rescode.html: the low byte is the kind, the rest says more).
fn classify(code: &str, message: &str) -> Option<StoreError> {
    let text = message.to_owned();
    if code.len() == 5 {
        return match code {
            // disk_full
            "53100" => Some(StoreError::Full(text)),
            // read_only_sql_transaction, insufficient_privilege
            "25006" | "42501" => Some(StoreError::ReadOnly(text)),
            // too_many_connections, lock_not_available, query_canceled (over its time), the server goes or comes, lost races
            "53300" | "55P03" | "57014" | "57P01" | "57P02" | "57P03" | "40001" | "40P01" => {
                Some(StoreError::Unavailable(text))
            }
            _ => None,
        };
    }
    let number: i32 = code.parse().ok()?;
    match (number, number & 0xff) {
        // SQLITE_FULL
        (IOERR_WRITE, _) | (_, 13) => Some(StoreError::Full(text)),
        // SQLITE_READONLY
        (_, 8) => Some(StoreError::ReadOnly(text)),
        // SQLITE_BUSY, SQLITE_LOCKED, SQLITE_INTERRUPT, SQLITE_IOERR
        (_, 5 | 6 | 9 | 10) => Some(StoreError::Unavailable(text)),
        _ => None,
    }
}
