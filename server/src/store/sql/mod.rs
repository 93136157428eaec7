//! The store by SQL: `SqlStore`, generic over the engine.

mod batch;
mod connect;
mod derive;
mod dialect;
mod engine;
mod face;
mod feed;
mod findings;
mod fleet;
mod lookup;
mod migrate;
mod node_events;
mod nodes;
mod outcomes;
mod publish;
mod reports;
mod revisions;
mod seed;
mod seed_plan;
mod session;
mod sql_store;
mod stamp;
mod tokens;

pub use connect::{Backup, BackupError, ConnectOptions, backup, connect, sqlite_file};
pub use migrate::{Migrated, migrate};
