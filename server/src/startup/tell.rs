//! Tells other programs what happens, beside the requests.

use std::sync::Arc;
use std::time::Duration;

use time::OffsetDateTime;
use tokio::task::JoinHandle;

use crate::config::TellArgs;
use crate::domain::tell::{
    Outcome, WINDOW, alertmanager, collect, collect_fleet, look_for_silence, send_next,
};
use crate::store::StoreError;
use crate::web::state::AppState;
use crate::web::webhook::{Alertmanagers, Webhook, WebhookError};

/// How often it is asked what is due.
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
            let task = Task::new(state, self.labels.clone());
            let told = tokio::spawn(tell_webhook(task, webhook, stopped()));
            running.push(("telling the webhook", told));
        }
        if let Some(alertmanagers) = self.alertmanagers {
            let task = Task::new(state, self.labels);
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
    /// A failure of the database is logged once, and not each second.
    has_failed: bool,
}

impl Task {
    fn new(state: &Arc<AppState>, labels: Vec<String>) -> Self {
        Self {
            state: Arc::clone(state),
            labels,
            next_silence: None,
            next: None,
            has_failed: false,
        }
    }

    fn public_url(&self) -> Option<&str> {
        self.state.settings.public_url.as_deref()
    }

    fn note(&mut self, looked: Result<(), StoreError>) {
        match looked {
            Ok(()) => self.has_failed = false,
            Err(error) if !self.has_failed => {
                self.has_failed = true;
                tracing::warn!(%error, "what other programs are to be told is not known; it is tried again");
            }
            Err(_) => {}
        }
    }

    async fn see_silence(&mut self, now: OffsetDateTime) -> Result<(), StoreError> {
        if is_due(&mut self.next_silence, now, ASK_FOR_SILENCE) {
            look_for_silence(self.state.store.as_ref(), now).await?;
        }
        Ok(())
    }
}

/// Whether something is due; then the next time is set.
fn is_due(next: &mut Option<OffsetDateTime>, now: OffsetDateTime, every: time::Duration) -> bool {
    let due = next.is_none_or(|next| now >= next);
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
    ] {
        task.state.metrics.count(name, 0);
    }
    loop {
        let looked = tokio::select! {
            () = &mut stopped => return,
            looked = look(&mut task, &webhook) => looked,
        };
        task.note(looked);
        if tokio::time::timeout(LOOK_EVERY, &mut stopped).await.is_ok() {
            return;
        }
    }
}

/// Queues what is new and sends what is due.
async fn look(task: &mut Task, webhook: &Webhook) -> Result<(), StoreError> {
    let state = Arc::clone(&task.state);
    let (store, metrics) = (state.store.as_ref(), &state.metrics);
    // A receiver that hangs keeps this loop going for hours: all that is new is looked for between two attempts.
    loop {
        let now = state.clock.now();
        task.see_silence(now).await?;
        if is_due(&mut task.next, now, WINDOW) {
            let generation = state.knowledge.current();
            let chosen = (task.labels.as_slice(), task.public_url());
            let dropped = collect_fleet(store, &generation, chosen, now).await?;
            metrics.count("webhook_given_up_total", dropped);
        }
        let queue = store.delivery_state(now).await?;
        let collected = collect(store, &queue, now, task.public_url()).await?;
        metrics.count("webhook_given_up_total", collected.dropped);
        let queue = store.delivery_state(now).await?;
        #[expect(clippy::cast_precision_loss, reason = "the queue is bounded")]
        metrics.gauge("webhook_waiting", queue.waiting as f64);
        if queue.is_due {
            match send_next(store, webhook, state.clock.as_ref()).await? {
                Some(Outcome::Taken) => metrics.count("webhook_delivered_total", 1),
                Some(Outcome::Failed) => metrics.count("webhook_failed_total", 1),
                Some(Outcome::GivenUp) => metrics.count("webhook_given_up_total", 1),
                Some(Outcome::Overtaken) => {}
                None => return Ok(()),
            }
        } else if !collected.is_behind {
            return Ok(());
        }
    }
}

async fn tell_alertmanagers(mut task: Task, told: Alertmanagers, stopped: impl Future<Output = ()>) {
    let mut stopped = std::pin::pin!(stopped);
    for name in ["alertmanager_delivered_total", "alertmanager_failed_total"] {
        task.state.metrics.count(name, 0);
    }
    loop {
        let looked = tokio::select! {
            () = &mut stopped => return,
            looked = send_alerts(&mut task, &told) => looked,
        };
        task.note(looked);
        if tokio::time::timeout(LOOK_EVERY, &mut stopped).await.is_ok() {
            return;
        }
    }
}

/// Sends what is open, if that is due.
async fn send_alerts(task: &mut Task, told: &Alertmanagers) -> Result<(), StoreError> {
    let state = Arc::clone(&task.state);
    let now = state.clock.now();
    task.see_silence(now).await?;
    if !is_due(&mut task.next, now, alertmanager::EVERY) {
        return Ok(());
    }
    let generation = state.knowledge.current();
    let chosen = (task.labels.as_slice(), task.public_url());
    let alerts = alertmanager::alerts(state.store.as_ref(), &generation, chosen, now).await?;
    if alerts.is_empty() {
        return Ok(());
    }
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
    Ok(())
}
