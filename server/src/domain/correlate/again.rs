//! Records and policies change, reports stay: what tells of every node is judged again by them, verdict and findings, a few at a time.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use kb_core::ids::NodeId;

use super::apart::{as_published, is_apart};
use super::rules::Correlator;
use crate::domain::ingest::{IngestError, Parsed, hardware, judge_alone, keep_anew, parse_stored};
use crate::feed::{Generation, Knowledge};
use crate::store::{ReportStore, StoreError, StoredReport};

const REPORTS_PER_TICK: u32 = 8;
/// Pause between ticks while there is more, so that readers keep the processor.
const PAUSE: Duration = Duration::from_millis(50);
/// How often reports are looked for without a change: one that came while a generation was swapped has older findings.
const LOOK_AGAIN: Duration = Duration::from_secs(30);
const PAUSE_AFTER_FAULT: Duration = Duration::from_secs(5);

#[derive(Debug, thiserror::Error)]
pub enum CorrelateError {
    #[error("reports cannot be correlated again: {0}")]
    Store(#[from] StoreError),
    #[error("the server is stopping")]
    Stopping,
}

/// Has what tells of nodes judged again that another rule set decided. Which nodes a candidate was tried on before is not known: where there
/// is one, all are gone through, and those that their own rules decided keep their verdicts. Gives how many reports there are.
pub async fn judge_again(
    store: &dyn ReportStore,
    correlator: &Correlator,
    generation: &Generation,
) -> Result<u64, StoreError> {
    let [current, candidate] = correlator.rule_sets(generation);
    let of_all = (current == candidate).then_some(current.as_str());
    store.judge_again(of_all).await
}

/// Judges again up to `limit` reports whose findings are older than the generation. Gives how many there were.
pub async fn recorrelate(
    store: &dyn ReportStore,
    generation: &Arc<Generation>,
    correlator: &Arc<Correlator>,
    limit: u32,
) -> Result<usize, CorrelateError> {
    let waiting = store.reports_to_correlate(generation.seq, limit).await?;
    let count = waiting.len();
    for stored in waiting {
        one(store, generation, correlator, stored).await?;
    }
    Ok(count)
}

/// Judges again what tells of a node and was judged by other rules than those of today: a report that comes is held against what these
/// rules say of the earlier ones.
pub(in crate::domain) async fn judge_node_again(
    store: &dyn ReportStore,
    generation: &Arc<Generation>,
    correlator: &Arc<Correlator>,
    (node, rule_set): (&NodeId, &str),
) -> Result<(), IngestError> {
    for stored in store.reports_judged_otherwise(node, rule_set).await? {
        match one(store, generation, correlator, stored).await {
            Ok(()) => {}
            Err(CorrelateError::Store(error)) => return Err(error.into()),
            Err(error @ CorrelateError::Stopping) => {
                return Err(StoreError::Unavailable(error.to_string()).into());
            }
        }
    }
    Ok(())
}

async fn one(
    store: &dyn ReportStore,
    generation: &Arc<Generation>,
    correlator: &Arc<Correlator>,
    stored: StoredReport,
) -> Result<(), CorrelateError> {
    let (node, id) = (stored.listing.node.clone(), stored.listing.id.clone());
    let site = correlator.site(store, generation, &node).await?;
    let (knowledge, engine) = (Arc::clone(generation), Arc::clone(correlator));
    let of_node = site.clone();
    // What it was beside other nodes when it came is not asked again.
    let kept = store.findings(&node, &id).await?;
    let kept = kept.into_iter().map(|stored| stored.finding);
    let mut apart: Vec<_> = kept.filter(|finding| is_apart(&finding.rule)).collect();
    let listing = stored.listing.clone();
    let work = tokio::task::spawn_blocking(move || {
        let Parsed { mut report, body } = parse_stored(&stored)?;
        let by = (&of_node.policy, stored.listing.received_at);
        let mut alone = judge_alone(&knowledge, &engine, (&mut report, &body), by);
        as_published(&knowledge, (&report, &of_node.policy), &mut apart);
        alone.findings.extend(apart);
        Ok::<_, IngestError>((Arc::new(report), alone))
    });
    let read = match work.await {
        Ok(read) => read,
        Err(error) if error.is_panic() => Err(IngestError::Panicked),
        Err(_) => return Err(CorrelateError::Stopping),
    };
    let outcome = match read {
        Ok((report, alone)) => {
            // Of a node whose summary was made before summaries had it.
            store.note_hardware(&node, &id, &hardware(&report)).await?;
            keep_anew(store, (generation.seq, &site), &listing, (&report, alone)).await
        }
        Err(error) => Err(error),
    };
    match outcome {
        Ok(()) => Ok(()),
        Err(IngestError::Store(error)) => Err(error.into()),
        Err(error) => {
            // Kept as it was, with the rule set that it was judged by, and marked as seen, or it would come again for ever, before all
            // others.
            tracing::error!(%node, report = %id, %error, "a stored report cannot be judged again, it stays as it was");
            let kept = store.findings(&node, &id).await?;
            let findings = kept.into_iter().map(|stored| stored.finding).collect();
            store
                .replace_findings(&node, &id, generation.seq, findings)
                .await?;
            Ok(())
        }
    }
}

/// Does so whenever the knowledge changes, until `shutdown` ends. Runs beside the follower.
pub async fn recorrelate_while_it_changes(
    store: Arc<dyn ReportStore>,
    knowledge: Arc<Knowledge>,
    correlator: Arc<Correlator>,
    shutdown: impl Future<Output = ()>,
) {
    let mut shutdown = std::pin::pin!(shutdown);
    let mut changed = knowledge.subscribe();
    loop {
        let generation = knowledge.current();
        let step = recorrelate(store.as_ref(), &generation, &correlator, REPORTS_PER_TICK).await;
        let (pause, ends_with_a_change) = match step {
            Ok(0) => (LOOK_AGAIN, true),
            Ok(_) => (PAUSE, false),
            Err(error) => {
                tracing::error!(%error, "correlating again failed");
                (PAUSE_AFTER_FAULT, false)
            }
        };
        tokio::select! {
            () = &mut shutdown => return,
            () = tokio::time::sleep(pause) => {}
            _ = changed.changed(), if ends_with_a_change => {}
        }
    }
}
