//! Bundles of records that were taken in.

use std::fmt::Debug;

use async_trait::async_trait;
use time::OffsetDateTime;

use super::StoreError;

/// Actor of revisions that have the texts of a bundle, as they stood in it.
pub const BUNDLE_ACTOR: &str = "bundle";
/// Actor of revisions in which the texts of a bundle and those of the database were put together.
pub const MERGE_ACTOR: &str = "merge";

#[async_trait]
pub trait BundleStore: Send + Sync + Debug {
    async fn note_bundle(&self, taken: &BundleTaken) -> Result<(), StoreError>;

    /// The bundle that was taken in last, whenever it was made.
    async fn last_bundle(&self) -> Result<Option<BundleTaken>, StoreError>;
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleTaken {
    pub made_at: OffsetDateTime,
    pub records: u32,
    /// Id of the key that signed it, as `minisign` prints it.
    pub key_id: String,
    /// Of the whole file, hex.
    pub sha256: String,
    pub taken_at: OffsetDateTime,
}
