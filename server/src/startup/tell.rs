//! Tells the webhook what happens, beside the requests.

use std::sync::Arc;
use std::time::Duration;

use crate::domain::tell::{Outcome, collect, send_next};
use crate::store::StoreError;
use crate::web::state::AppState;
use crate::web::webhook::Webhook;

/// How often the queue is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Sends events until the server stops. An attempt that is under way then is made again later, by whichever server.
pub(super) async fn webhook(state: Arc<AppState>, webhook: Webhook, stopped: impl Future<Output = ()>) {
    let mut stopped = std::pin::pin!(stopped);
    for name in [
        "webhook_delivered_total",
        "webhook_failed_total",
        "webhook_given_up_total",
    ] {
        state.metrics.count(name, 0);
    }
    loop {
        tokio::select! {
            () = &mut stopped => return,
            looked = look(&state, &webhook) => {
                if let Err(error) = looked {
                    tracing::warn!(%error, "what the webhook waits for is not known");
                }
            }
        }
        if tokio::time::timeout(LOOK_EVERY, &mut stopped).await.is_ok() {
            return;
        }
    }
}

/// Queues what is new and sends what is due.
async fn look(state: &AppState, webhook: &Webhook) -> Result<(), StoreError> {
    let store = state.store.as_ref();
    loop {
        let now = state.clock.now();
        let queue = store.delivery_state(now).await?;
        let public_url = state.settings.public_url.as_deref();
        let collected = collect(store, &queue, now, public_url).await?;
        state.metrics.count("webhook_given_up_total", collected.dropped);
        let queue = store.delivery_state(now).await?;
        #[expect(clippy::cast_precision_loss, reason = "the queue is bounded")]
        state.metrics.gauge("webhook_waiting", queue.waiting as f64);
        if queue.is_due {
            let counter = match send_next(store, webhook, state.clock.as_ref()).await? {
                Some(Outcome::Taken) => "webhook_delivered_total",
                Some(Outcome::Failed) => "webhook_failed_total",
                Some(Outcome::GivenUp) => "webhook_given_up_total",
                None => return Ok(()),
            };
            state.metrics.count(counter, 1);
        } else if !collected.is_behind {
            return Ok(());
        }
    }
}
