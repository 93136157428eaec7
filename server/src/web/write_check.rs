//! Whether the database can be written, for `/readyz`: found out by a write, at most once a second however many ask.

use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

use crate::store::{Store, StoreError};

const GOOD_FOR: Duration = Duration::from_secs(1);
/// How long a balancer waits for an answer, about.
const PATIENCE: Duration = Duration::from_secs(3);

#[derive(Debug, Default)]
pub struct WriteCheck(Mutex<Option<Checked>>);

#[derive(Debug)]
struct Checked {
    at: Instant,
    refusal: Option<String>,
}

impl WriteCheck {
    /// Why the database cannot be written; `None` where it can.
    pub async fn refusal(&self, store: &dyn Store) -> Option<String> {
        let mut last = self.0.lock().await;
        if let Some(checked) = last.as_ref().filter(|checked| checked.at.elapsed() < GOOD_FOR) {
            return checked.refusal.clone();
        }
        let refusal = match timeout(PATIENCE, store.check_write()).await {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(told(&error)),
            Err(_) => Some(format!(
                "the database does not answer within {} s",
                PATIENCE.as_secs()
            )),
        };
        *last = Some(Checked {
            at: Instant::now(),
            refusal: refusal.clone(),
        });
        refusal
    }
}

/// The kind of trouble, without what the database says of itself: anybody may ask.
fn told(error: &StoreError) -> String {
    tracing::error!(%error, "the database cannot be written");
    match error {
        StoreError::Full(_) => "the database cannot grow: its disk is full",
        StoreError::ReadOnly(_) => "the database is read-only",
        StoreError::Moved(_) => "the database file was moved or replaced while the server had it open",
        StoreError::Unavailable(_) => "the database does not answer",
        _ => "the database refuses to write",
    }
    .to_owned()
}
