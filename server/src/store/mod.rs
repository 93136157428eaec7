//! Where records, reports, tokens and people are kept: one trait for each entity, in domain words, and one generic SQL
//! implementation (`sql`) for SQLite and PostgreSQL.
//!
//! Absence is `Option`, never an error; times are passed in. Each method is one transaction. What must hold for every
//! engine is written down as the contract suite and run on each.

mod advice;
mod alerts;
mod anonymous;
mod audit;
mod baseline;
mod bundles;
mod deliveries;
mod digest;
mod error;
mod facets;
mod feed;
mod feedback;
mod fleet;
mod fleet_handling;
mod fleet_query;
mod fleet_summary;
mod judged;
mod moves;
mod nodes;
mod open_faults;
mod outcomes;
mod persons;
mod records;
mod reports;
mod reviews;
mod seeds;
mod sessions;
mod sql;
mod tokens;
mod unmatched;

pub use advice::*;
pub use alerts::*;
pub use anonymous::*;
pub use audit::*;
pub use baseline::*;
pub use bundles::*;
pub use deliveries::*;
pub use error::StoreError;
pub use facets::*;
pub use feed::*;
pub use feedback::*;
pub use fleet::*;
pub use fleet_handling::*;
pub use fleet_query::*;
pub use fleet_summary::*;
pub use judged::*;
pub use moves::*;
pub use nodes::*;
pub use open_faults::*;
pub use outcomes::*;
pub use persons::*;
pub use records::*;
pub use reports::*;
pub use reviews::*;
pub use seeds::*;
pub use sessions::*;
pub use sql::{Backup, BackupError, ConnectOptions, Migrated, backup, connect, migrate, sqlite_file};
/// Statements whose cost must not grow with the reports of a node: tests look at their plans.
#[doc(hidden)]
pub use sql::{LATEST_GOOD, PROOFS, REPORT_BEFORE, REPORTS_AFTER};
pub use tokens::*;
pub use unmatched::*;

use async_trait::async_trait;

/// The whole store. Code that needs one entity takes that entity's trait.
#[async_trait]
pub trait Store:
    RecordStore
    + FeedStore
    + MoveStore
    + SeedStore
    + ReportStore
    + NodeStore
    + OutcomeStore
    + TokenStore
    + PersonStore
    + SessionStore
    + AuditStore
    + ReviewStore
    + AnonymousStore
    + FeedbackStore
    + UnmatchedStore
    + BaselineStore
    + FacetStore
    + BundleStore
    + AdviceStore
    + DeliveryStore
    + AlertStore
{
    /// Commits a transaction that changes nothing, and says why where that cannot be done now.
    async fn check_write(&self) -> Result<(), StoreError>;
}
