//! The store by SQL: `SqlStore`, generic over the engine. A file that is named after an entity implements the trait of
//! the file of that name in `store`.
//!
//! ```text
//! connect, migrate                  from a URL to a store whose tables are those of this program
//! records, feed, seeds, moves, reports,
//! nodes, outcomes, tokens, reviews,
//! persons, sessions, audit,
//! anonymous, feedback, baseline,
//! bundles, advice, deliveries,
//! alerts                            one trait each
//! proofs, standing                  a node's proofs beside each other; which report stands for it
//! judged                            what a stored report tells by other rules than before
//! fleet, fleet_list                 all nodes counted; those of a list
//! fleet_handling, fleet_life        what people do about findings of a node; whether a finding is still what they saw
//! fleet_summary, fleet_findings     what is kept of each node as its reports come
//! silence                           who is silent, for alerts
//! session, batch                    transactions and statements
//! engine, dialect, stamp, convert   what differs between engines; values in and out
//! ```

mod advice;
mod alerts;
mod anonymous;
mod audit;
mod baseline;
mod batch;
mod bundles;
mod connect;
mod convert;
mod deliveries;
mod derive;
mod derived_rows;
mod dialect;
mod engine;
mod facets;
mod feed;
mod feedback;
mod finding_words;
mod fleet;
mod fleet_findings;
mod fleet_handling;
mod fleet_life;
mod fleet_list;
mod fleet_summary;
mod judged;
mod migrate;
mod moves;
mod node_events;
mod nodes;
mod open_faults;
mod outcomes;
mod persons;
mod proofs;
mod record_rows;
mod records;
mod report_findings;
mod report_rows;
mod reports;
mod review_rows;
mod reviews;
mod seed_plan;
mod seeds;
mod session;
mod sessions;
mod silence;
mod stamp;
mod standing;
mod tokens;
mod unmatched;

pub use connect::{Backup, BackupError, ConnectOptions, backup, connect, sqlite_file};
pub use migrate::{Migrated, migrate};
pub use proofs::{AFTER as REPORTS_AFTER, BEFORE as REPORT_BEFORE, LATEST_GOOD, PROOFS};
