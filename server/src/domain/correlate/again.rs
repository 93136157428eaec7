//! Records change, reports stay: the latest report of every node is correlated again, a few at a time.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use super::apart::{as_published, is_apart};
use super::rules::Correlator;
use super::verdict::of_verdict;
use crate::domain::ingest::{Parsed, hardware, parse_stored};
use crate::feed::{Generation, Knowledge};
use crate::store::{Found, ReportStore, StoreError, StoredReport};

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

/// Correlates up to `limit` reports whose findings are older than the generation. Gives how many there were.
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
    let work = tokio::task::spawn_blocking(move || {
        let Parsed { mut report, body } = parse_stored(&stored)?;
        of_node.judge(&mut report, stored.listing.received_at);
        let mut findings = engine.correlate(&knowledge, (&report, &body), &of_node.policy);
        as_published(&knowledge, (&report, &of_node.policy), &mut apart);
        findings.extend(apart);
        let listing = &stored.listing;
        findings.extend(of_verdict(
            (listing.weight, listing.verdict),
            &listing.reason,
            &findings,
        ));
        Ok::<_, crate::domain::ingest::IngestError>((findings, hardware(&report)))
    });
    let outcome = match work.await {
        Ok(outcome) => outcome.map_err(|error| error.to_string()),
        Err(error) if error.is_panic() => Err("correlating it panicked, which is a fault of ours".to_owned()),
        Err(_) => return Err(CorrelateError::Stopping),
    };
    let findings = match outcome {
        Ok((findings, hardware)) => {
            // Of a node whose summary was made before summaries had it.
            store.note_hardware(&node, &id, &hardware).await?;
            findings
        }
        Err(reason) => {
            // Kept as it was and marked as seen, or it would come again for ever, before all others.
            tracing::error!(%node, report = %id, reason, "a stored report cannot be correlated, its findings stay");
            let kept = store.findings(&node, &id).await?;
            kept.into_iter().map(|stored| stored.finding).collect()
        }
    };
    store
        .replace_found(
            &node,
            &id,
            Found {
                seq: generation.seq,
                rule_set: site.rule_set,
                findings,
            },
        )
        .await?;
    Ok(())
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
