//! What happens here, told to another program: which rows of the audit are events, and when one that was not taken is sent again.
//! Each event is sent at least once; its id lets the receiver drop what comes twice.
//!
//! ```text
//! curation       rows of the audit -> events        send     one event that is due -> the other program
//! fleet          what nodes show -> events          group    nodes with one cause that share labels
//! alertmanager   what is open, as alerts
//! ```

pub mod alertmanager;
mod curation;
mod fleet;
mod group;
mod send;

pub use curation::{Collected, collect};
pub use fleet::{REPEAT, SILENCE_EVERY, WINDOW, collect_fleet, look_for_silence};
pub use group::{Group, NODE};
pub use send::{Carrier, LONGEST_PAUSE, OLDEST, Outcome, pause, send_next};

use kb_core::ids::RecordId;
use serde_json::{Value, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::feed::Generation;
use crate::store::NewDelivery;

/// Most rows that are read at once, of each: what is open on nodes, what has ended, silent nodes.
const MOST: u32 = 20_000;

/// The title of a record that this server knows as published.
fn title_of(generation: &Generation, record: &RecordId) -> Option<String> {
    let published = generation.record(record)?;
    Some(published.record.title().to_owned())
}

/// An event as it is sent.
fn delivery(id: String, kind: &'static str, at: OffsetDateTime, data: &Value) -> NewDelivery {
    let body = json!({
        "type": kind,
        "timestamp": at.format(&Rfc3339).unwrap_or_default(),
        "data": data,
    });
    NewDelivery {
        id,
        kind,
        body: body.to_string(),
        made_at: at,
    }
}
