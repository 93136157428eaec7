//! The two questions that the follower asks of a store.

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;
use kb_core::ids::Seq;

use crate::store::{FeedPage, Store, StoreError};

/// Where changes come from.
#[async_trait]
pub(super) trait Source: Send + Sync + Debug {
    /// The newest seq.
    async fn head_seq(&self) -> Result<Seq, StoreError>;

    /// Changes after a seq, see [`Store::feed`].
    async fn feed(&self, after: Seq, limit: u32) -> Result<FeedPage, StoreError>;
}

#[async_trait]
impl Source for Arc<dyn Store> {
    async fn head_seq(&self) -> Result<Seq, StoreError> {
        self.as_ref().head_seq().await
    }

    async fn feed(&self, after: Seq, limit: u32) -> Result<FeedPage, StoreError> {
        self.as_ref().feed(after, limit).await
    }
}
