//! What runs beside the requests: following the feed, correlating again when knowledge changed, summing up metrics, removing
//! anonymous writing that is over, taking in votes of other servers, working out what sets nodes apart, telling other programs.

use std::sync::Arc;
use std::time::Duration;

use actix_web::web;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::tell::Tell;
use crate::domain::anonymous;
use crate::domain::correlate::recorrelate_while_it_changes;
use crate::feed::{DEFAULT_INTERVAL, Follower};
use crate::web::state::AppState;

/// How often metrics are summed up: between, each request takes a few bytes.
const SUM_UP_EVERY: Duration = Duration::from_secs(5);

/// How often votes are asked for that came to other servers.
const VOTES_EVERY: Duration = Duration::from_secs(5);
/// How often anonymous writing is looked through.
const TEND_EVERY: Duration = Duration::from_mins(1);
/// How often it is looked whether what sets nodes apart is due.
const LOOK_EVERY: Duration = Duration::from_mins(1);

pub(super) struct Tasks {
    stop: watch::Sender<bool>,
    running: Vec<(&'static str, JoinHandle<()>)>,
}

impl Tasks {
    pub(super) fn start(follower: Follower, state: &web::Data<AppState>, tell: Tell) -> Self {
        let (stop, stopped) = watch::channel(false);
        let follower = tokio::spawn(follower.run(DEFAULT_INTERVAL, until(stopped.clone())));
        let correlation = tokio::spawn(recorrelate_while_it_changes(
            state.store.clone(),
            Arc::clone(&state.knowledge),
            Arc::clone(&state.correlator),
            until(stopped.clone()),
        ));
        let metrics = tokio::spawn(sum_up(state.clone(), until(stopped.clone())));
        let tending = tokio::spawn(tend(state.clone(), until(stopped.clone())));
        let votes = tokio::spawn(follow_votes(state.clone(), until(stopped.clone())));
        let mut running = vec![
            ("following the feed", follower),
            ("correlating again", correlation),
            ("summing up metrics", metrics),
            ("looking through anonymous writing", tending),
            ("taking in votes", votes),
        ];
        running.extend(tell.start(&state.clone().into_inner(), &|| until(stopped.clone())));
        Self { stop, running }
    }

    /// Begins what reads all nodes. Not before the server serves: the nodes of a demo come between.
    pub(super) fn begin_to_serve(&mut self, state: &web::Data<AppState>) {
        let facets = tokio::spawn(keep_facets(state.clone(), until(self.stop.subscribe())));
        self.running.push(("working out what sets nodes apart", facets));
    }

    /// Stops them and waits until they have.
    pub(super) async fn stop(self) {
        // No receiver: all of them ended before.
        let _ = self.stop.send(true);
        for (task, handle) in self.running {
            if handle.await.is_err() {
                tracing::error!(task, "a background task had panicked");
            }
        }
    }
}

async fn sum_up(state: web::Data<AppState>, stopped: impl Future<Output = ()>) {
    let mut stopped = std::pin::pin!(stopped);
    while tokio::time::timeout(SUM_UP_EVERY, &mut stopped).await.is_err() {
        state.metrics.sum_up();
    }
}

/// Removes anonymous writing that is over, and counts the rest and what the queue of unknown lines lost, until the server stops.
async fn tend(state: web::Data<AppState>, stopped: impl Future<Output = ()>) {
    let mut stopped = std::pin::pin!(stopped);
    loop {
        match anonymous::tend(state.store.as_ref(), state.clock.now()).await {
            Ok((expired, left)) => {
                state.metrics.count("anonymous_expired_total", expired);
                #[expect(
                    clippy::cast_precision_loss,
                    reason = "the room is far smaller than 2^53 bytes"
                )]
                for (name, value) in [
                    ("anonymous_entries", left.entries as f64),
                    ("anonymous_bytes", left.bytes as f64),
                ] {
                    state.metrics.gauge(name, value);
                }
            }
            Err(error) => tracing::warn!(%error, "anonymous writing was not looked through"),
        }
        let lost = state.unmatched.take_lost();
        state.metrics.count("unmatched_lost_total", lost);
        if tokio::time::timeout(TEND_EVERY, &mut stopped).await.is_ok() {
            return;
        }
    }
}

/// Keeps the shares of votes up to date until the server stops.
async fn follow_votes(state: web::Data<AppState>, stopped: impl Future<Output = ()>) {
    let mut stopped = std::pin::pin!(stopped);
    while tokio::time::timeout(VOTES_EVERY, &mut stopped).await.is_err() {
        if let Err(error) = state.shares.refresh(state.store.as_ref()).await {
            tracing::debug!(%error, "the shares of votes are behind");
        }
    }
}

/// Keeps what sets nodes apart up to date until the server stops, so that no page waits for it.
async fn keep_facets(state: web::Data<AppState>, stopped: impl Future<Output = ()>) {
    let mut stopped = std::pin::pin!(stopped);
    loop {
        tokio::select! {
            () = &mut stopped => return,
            () = state.facets.renew(&state.queue, state.store.as_ref(), state.clock.as_ref()) => {}
        }
        tokio::select! {
            () = &mut stopped => return,
            () = state.facets.is_due() => {}
            () = tokio::time::sleep(LOOK_EVERY) => {}
        }
    }
}

/// Ends when the server stops.
async fn until(mut stopped: watch::Receiver<bool>) {
    // An error means that the sender is gone, and with it the server.
    let _ = stopped.wait_for(|stop| *stop).await;
}
