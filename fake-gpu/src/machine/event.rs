//! Events: a ticket of the stream they were last recorded in, and the time when it was reached.

use super::{context::Context, stream::Ticket};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

pub(crate) struct Event {
    pub(crate) context: Arc<Context>,
    pub(crate) timing: bool,
    last: Mutex<Option<Record>>,
}

#[derive(Clone)]
pub(crate) struct Record {
    pub(crate) ticket: Ticket,
    /// When the stream reached it, in the model of time.
    pub(crate) reached: Arc<OnceLock<u64>>,
}

impl Event {
    pub(crate) fn new(context: Arc<Context>, timing: bool) -> Self {
        Self {
            context,
            timing,
            last: Mutex::default(),
        }
    }

    /// The latest recording, `None` before the first.
    pub(crate) fn last(&self) -> Option<Record> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set(&self, record: Record) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(record);
    }
}
