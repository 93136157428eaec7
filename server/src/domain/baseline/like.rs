//! What the nodes of a cohort measured, read at most once in a while: a run that comes is held against it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use kb_core::baseline::Cohort;
use time::{Duration, OffsetDateTime};

use super::peers::MOST_NODES;
use crate::store::{BaselineStore, NodeBaseline, StoreError};

/// How long what was read counts: a group of many nodes does not move within it.
const COUNTS_FOR: Duration = Duration::minutes(1);
/// Cohorts that are kept; a fleet has a few models and a few branches.
const MOST_COHORTS: usize = 64;

type Read = (OffsetDateTime, Arc<Vec<NodeBaseline>>);

/// The nodes of cohorts, as they were read last.
#[derive(Debug, Default)]
pub struct Like {
    known: Mutex<BTreeMap<Cohort, Read>>,
}

impl Like {
    pub(super) async fn of(
        &self,
        store: &dyn BaselineStore,
        cohort: &Cohort,
        now: OffsetDateTime,
    ) -> Result<Arc<Vec<NodeBaseline>>, StoreError> {
        if let Some(known) = self.known(cohort, now) {
            return Ok(known);
        }
        let nodes = Arc::new(store.baselines(cohort, MOST_NODES + 1).await?);
        // Of a small cohort each node counts.
        if nodes.len() > MOST_NODES as usize / 2 {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            known.retain(|_, (read, _)| now - *read < COUNTS_FOR && *read <= now);
            if known.len() >= MOST_COHORTS {
                known.clear();
            }
            known.insert(cohort.clone(), (now, Arc::clone(&nodes)));
        }
        Ok(nodes)
    }

    fn known(&self, cohort: &Cohort, now: OffsetDateTime) -> Option<Arc<Vec<NodeBaseline>>> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let (read, nodes) = known.get(cohort)?;
        (now - *read < COUNTS_FOR && *read <= now).then(|| Arc::clone(nodes))
    }
}
