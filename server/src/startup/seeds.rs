//! The records that a server brings into its database.

use time::OffsetDateTime;

use super::StartupError;
use crate::bundle;
use crate::store::{SeedOutcome, SeedRecord, SeedSet, SeedSource, Store, StoreError};

/// Records that a server brings.
#[derive(Debug)]
pub enum Seeds {
    /// Those that ship with the program.
    Shipped,
    These(Vec<SeedRecord>),
}

/// Imports them; does not read those that ship where the database has had all of them.
pub(super) async fn import(
    store: &dyn Store,
    seeds: Seeds,
    at: OffsetDateTime,
    refused: impl FnOnce(StoreError) -> StartupError + Copy,
) -> Result<SeedOutcome, StartupError> {
    let set = match seeds {
        Seeds::These(records) => SeedSet::from(records),
        Seeds::Shipped => {
            let sha256 = bundle::embedded_sha256();
            let brought = store.seeded_set(SeedSource::Program).await.map_err(refused)?;
            if brought.as_ref() == Some(&sha256) {
                return Ok(SeedOutcome {
                    unchanged: bundle::embedded_ids().count(),
                    ..SeedOutcome::default()
                });
            }
            SeedSet {
                records: bundle::embedded().map_err(|error| StartupError::Seeds(error.to_string()))?,
                sha256: Some(sha256),
            }
        }
    };
    store.seed(SeedSource::Program, set, at).await.map_err(refused)
}
