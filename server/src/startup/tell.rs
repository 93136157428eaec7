//! Tells other programs what happens, beside the requests.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use time::OffsetDateTime;
use tokio::task::JoinHandle;

use crate::config::TellArgs;
use crate::domain::tell::{
    Collected, Outcome, WINDOW, alertmanager, collect, collect_fleet, look_for_silence, send_next,
};
use crate::store::{Store, StoreError};
use crate::web::state::AppState;
use crate::web::webhook::{Alertmanagers, Webhook, WebhookError};

/// Time between two looks at the queue.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How often it is asked whether a look at silent nodes is due.
const ASK_FOR_SILENCE: time::Duration = time::Duration::minutes(1);

/// Programs that are told.
#[derive(Debug)]
pub(super) struct Tell {
    webhook: Option<Webhook>,
    alertmanagers: Option<Alertmanagers>,
    labels: Vec<String>,
}

impl Tell {
    pub(super) fn of(settings: &TellArgs) -> Result<Self, WebhookError> {
        Ok(Self {
            webhook: Webhook::of(settings)?,
            alertmanagers: Alertmanagers::of(settings)?,
            labels: settings.alert_labels.clone(),
        })
    }

    /// Starts a task for each kind of program, until `stopped` ends. An attempt that is under way then is made again later.
    pub(super) fn start<S: Future<Output = ()> + Send + 'static>(
        self,
        state: &Arc<AppState>,
        stopped: &dyn Fn() -> S,
    ) -> Vec<(&'static str, JoinHandle<()>)> {
        let mut running = Vec::new();
        if let Some(webhook) = self.webhook {
            let task = Task::new(state, self.labels.clone(), "webhook_errors_total");
            let told = tokio::spawn(tell_webhook(task, webhook, stopped()));
            running.push(("telling the webhook", told));
        }
        if let Some(alertmanagers) = self.alertmanagers {
            let task = Task::new(state, self.labels, "alertmanager_errors_total");
            let told = tokio::spawn(tell_alertmanagers(task, alertmanagers, stopped()));
            running.push(("telling Alertmanager", told));
        }
        running
    }
}

/// What a task knows from look to look.
struct Task {
    state: Arc<AppState>,
    labels: Vec<String>,
    next_silence: Option<OffsetDateTime>,
    /// When the next look at the fleet is due, or the next message to Alertmanager.
    next: Option<OffsetDateTime>,
    /// The counter of what failed.
    errors: &'static str,
    /// Why a part of the work failed last: the same is logged once, and not each second.
    failed: HashMap<&'static str, String>,
}

impl Task {
    fn new(state: &Arc<AppState>, labels: Vec<String>, errors: &'static str) -> Self {
        Self {
            state: Arc::clone(state),
            labels,
            next_silence: None,
            next: None,
            errors,
            failed: HashMap::new(),
        }
    }

    fn public_url(&self) -> Option<&str> {
        self.state.settings.public_url.as_deref()
    }

    /// What came of a part of the work. A failure is counted, and the other parts go on.
    fn note<T>(&mut self, part: &'static str, done: Result<T, StoreError>) -> Option<T> {
        match done {
            Ok(done) => {
                self.failed.remove(part);
                Some(done)
            }
            Err(error) => {
                self.state.metrics.count(self.errors, 1);
                let why = error.to_string();
                if self.failed.get(part) != Some(&why) {
                    tracing::warn!(
                        part,
                        why,
                        "a part of telling other programs failed; it is tried again within a minute"
                    );
                    self.failed.insert(part, why);
                }
                None
            }
        }
    }

    async fn see_silence(&mut self, now: OffsetDateTime) {
        if is_due(&mut self.next_silence, now, ASK_FOR_SILENCE) {
            let looked = look_for_silence(self.state.store.as_ref(), now).await;
            self.note("silent nodes", looked);
        }
    }
}

/// Whether something is due; then the next time is set.
fn is_due(next: &mut Option<OffsetDateTime>, now: OffsetDateTime, every: time::Duration) -> bool {
    // A time that is farther away than a turn is from a clock that was ahead.
    let due = next.is_none_or(|next| now >= next || next - now > every);
    if due {
        *next = Some(now + every);
    }
    due
}

async fn tell_webhook(mut task: Task, webhook: Webhook, stopped: impl Future<Output = ()>) {
    let mut stopped = std::pin::pin!(stopped);
    for name in [
        "webhook_delivered_total",
        "webhook_failed_total",
        "webhook_given_up_total",
        task.errors,
    ] {
        task.state.metrics.count(name, 0);
    }
    loop {
        tokio::select! {
            () = &mut stopped => return,
            () = look(&mut task, &webhook) => {}
        }
        if tokio::time::timeout(LOOK_EVERY, &mut stopped).await.is_ok() {
            return;
        }
    }
}

/// Queues what is new and sends what is due. What cannot be read holds up nothing else.
async fn look(task: &mut Task, webhook: &Webhook) {
    let state = Arc::clone(&task.state);
    let (store, metrics) = (state.store.as_ref(), &state.metrics);
    // A receiver that hangs keeps this loop going for hours: all that is new is looked for between two attempts.
    loop {
        let now = state.clock.now();
        task.see_silence(now).await;
        if is_due(&mut task.next, now, WINDOW) {
            let generation = state.knowledge.current();
            let chosen = (task.labels.as_slice(), task.public_url());
            let dropped = collect_fleet(store, &generation, chosen, now).await;
            let dropped = task.note("findings of nodes", dropped);
            metrics.count("webhook_given_up_total", dropped.unwrap_or_default());
        }
        let collected = collect_audit(store, now, task.public_url()).await;
        let collected = task.note("audit", collected).unwrap_or_default();
        metrics.count("webhook_given_up_total", collected.dropped);
        let Some(queue) = task.note("queue", store.delivery_state(now).await) else {
            return;
        };
        #[expect(clippy::cast_precision_loss, reason = "the queue is bounded")]
        metrics.gauge("webhook_waiting", queue.waiting as f64);
        if queue.is_due {
            let sent = send_next(store, webhook, state.clock.as_ref()).await;
            match task.note("sending", sent).flatten() {
                Some(Outcome::Taken) => metrics.count("webhook_delivered_total", 1),
                Some(Outcome::Failed) => metrics.count("webhook_failed_total", 1),
                Some(Outcome::GivenUp) => metrics.count("webhook_given_up_total", 1),
                Some(Outcome::Overtaken) => {}
                None => return,
            }
        } else if !collected.is_behind {
            return;
        }
    }
}

async fn collect_audit(
    store: &dyn Store,
    now: OffsetDateTime,
    public_url: Option<&str>,
) -> Result<Collected, StoreError> {
    let queue = store.delivery_state(now).await?;
    collect(store, &queue, now, public_url).await
}

async fn tell_alertmanagers(mut task: Task, told: Alertmanagers, stopped: impl Future<Output = ()>) {
    let mut stopped = std::pin::pin!(stopped);
    for name in [
        "alertmanager_delivered_total",
        "alertmanager_failed_total",
        task.errors,
    ] {
        task.state.metrics.count(name, 0);
    }
    loop {
        tokio::select! {
            () = &mut stopped => return,
            () = send_alerts(&mut task, &told) => {}
        }
        if tokio::time::timeout(LOOK_EVERY, &mut stopped).await.is_ok() {
            return;
        }
    }
}

/// Sends what is open, if that is due. An empty list is sent, too: it shows that Alertmanager can be reached before there is a fault.
async fn send_alerts(task: &mut Task, told: &Alertmanagers) {
    let state = Arc::clone(&task.state);
    let now = state.clock.now();
    task.see_silence(now).await;
    if !is_due(&mut task.next, now, alertmanager::EVERY) {
        return;
    }
    let generation = state.knowledge.current();
    let chosen = (task.labels.as_slice(), task.public_url());
    let alerts = alertmanager::alerts(state.store.as_ref(), &generation, chosen, now).await;
    let Some(alerts) = task.note("findings of nodes", alerts) else {
        return;
    };
    for (place, sent) in (1..).zip(told.send(&alerts).await) {
        match sent {
            Ok(()) => state.metrics.count("alertmanager_delivered_total", 1),
            Err(why) => {
                state.metrics.count("alertmanager_failed_total", 1);
                tracing::warn!(
                    %why,
                    place,
                    "the Alertmanager at this place of --alertmanager did not take all alerts; all are sent again within a minute"
                );
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use time::Duration;

    use super::*;

    #[test]
    fn a_clock_that_was_ahead_stops_nothing() {
        let (now, every) = (OffsetDateTime::UNIX_EPOCH, Duration::minutes(1));
        let mut next = None;
        assert!(is_due(&mut next, now + Duration::days(1), every));
        assert!(is_due(&mut next, now, every));
        assert!(!is_due(&mut next, now + Duration::seconds(59), every));
        assert!(is_due(&mut next, now + every, every));
    }
}
