//! Where further lines come from: the logs of reports, and whatever else will keep lines.

use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use kb_core::ids::{NodeId, ReportId};

use crate::store::StoreError;

#[async_trait]
pub trait LineSource: Send + Sync + Debug {
    /// Its lines, newest first, as many as could be read in that time.
    async fn gather(&self, patience: Duration) -> Result<Gathered, StoreError>;
}

#[derive(Debug, Clone)]
pub struct Gathered {
    /// Name of the source: `reports`.
    pub source: &'static str,
    pub texts: Vec<Arc<SourceText>>,
    /// Whether these are all that it has.
    pub is_complete: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceText {
    pub node: NodeId,
    pub report: ReportId,
    pub pointer: String,
    pub text: String,
}
