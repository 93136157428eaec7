//! Log lines of kept reports, newest first. A report never changes, so that its lines are unpacked once and kept in memory.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use kb_core::ids::{NodeId, ReportId};
use kb_core::report::LogExcerpt;
use serde::Deserialize;

use super::source::{Gathered, LineSource, SourceText};
use crate::domain::ingest::body_of;
use crate::store::{ReportListing, ReportQuery, Store, StoreError, StoredReport};

const MOST_REPORTS: usize = 2_000;
/// Their lines together, in bytes.
const MOST_BYTES: usize = 32 << 20;
const PAGE: u32 = 200;

type Key = (NodeId, ReportId);
/// `None` of a report that cannot be read.
type Logs = Option<Arc<[Arc<SourceText>]>>;

#[derive(Debug)]
pub struct ReportLines {
    store: Arc<dyn Store>,
    kept: Mutex<HashMap<Key, Logs>>,
}

/// Of a report only its logs are read.
#[derive(Deserialize)]
struct Body {
    #[serde(default)]
    logs: Vec<LogExcerpt>,
}

impl ReportLines {
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self {
            store,
            kept: Mutex::default(),
        }
    }

    /// `None` where the report went away since it was listed.
    async fn logs(&self, key: &Key) -> Result<Option<Logs>, StoreError> {
        let known = self.kept().get(key).cloned();
        if known.is_some() {
            return Ok(known);
        }
        let Some(stored) = self.store.report(Some(&key.0), &key.1).await? else {
            return Ok(None);
        };
        let unpacked = tokio::task::spawn_blocking(move || unpacked(&stored)).await;
        let logs: Logs = unpacked.ok().flatten().map(Into::into);
        self.kept().insert(key.clone(), logs.clone());
        Ok(Some(logs))
    }

    fn kept(&self) -> std::sync::MutexGuard<'_, HashMap<Key, Logs>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// `None` of a report that cannot be read.
fn unpacked(stored: &StoredReport) -> Option<Vec<Arc<SourceText>>> {
    let body = body_of(stored).ok()?;
    let body: Body = serde_json::from_slice(&body).ok()?;
    let texts = body.logs.into_iter().enumerate().map(|(at, log)| {
        Arc::new(SourceText {
            node: stored.listing.node.clone(),
            report: stored.listing.id.clone(),
            pointer: format!("/logs/{at}/text"),
            text: log.text,
        })
    });
    Some(texts.collect())
}

#[async_trait]
impl LineSource for ReportLines {
    async fn gather(&self, patience: Duration) -> Result<Gathered, StoreError> {
        let began = Instant::now();
        let mut texts: Vec<Arc<SourceText>> = Vec::new();
        let mut used: HashMap<Key, Logs> = HashMap::new();
        let mut bytes = 0;
        let mut before = None;
        let mut is_complete = false;
        let mut is_all_read = true;
        'pages: while used.len() < MOST_REPORTS {
            let page = listed(self.store.as_ref(), before.take()).await?;
            let is_last = page.len() < PAGE as usize;
            for listing in page {
                before = Some((listing.received_at, listing.id.clone()));
                let key = (listing.node, listing.id);
                let is_known = self.kept().contains_key(&key);
                if bytes >= MOST_BYTES || (!is_known && began.elapsed() > patience) {
                    break 'pages;
                }
                let Some(logs) = self.logs(&key).await? else {
                    continue;
                };
                is_all_read &= logs.is_some();
                for log in logs.iter().flat_map(|logs| logs.iter()) {
                    bytes += log.text.len();
                    texts.push(Arc::clone(log));
                }
                used.insert(key, logs);
            }
            if is_last {
                is_complete = true;
                break;
            }
        }
        // What is older than all that fits is not kept.
        if is_complete || bytes >= MOST_BYTES || used.len() >= MOST_REPORTS {
            *self.kept() = used;
        }
        Ok(Gathered {
            source: "reports",
            texts,
            is_complete: is_complete && is_all_read,
        })
    }
}

pub(super) async fn listed(
    store: &dyn Store,
    before: Option<(time::OffsetDateTime, ReportId)>,
) -> Result<Vec<ReportListing>, StoreError> {
    let query = ReportQuery {
        node: None,
        before,
        limit: PAGE,
    };
    store.reports(query).await
}
