//! What happens here, told to another program: which rows of the audit are events, and when one that was not taken is sent again.
//! Each event is sent at least once; its id lets the receiver drop what comes twice.
//!
//! ```text
//! curation   rows of the audit -> events        send    one event that is due -> the other program
//! ```

mod curation;
mod send;

pub use curation::collect;
pub use send::{Carrier, LONGEST_PAUSE, OLDEST, Outcome, pause, send_next};

use serde_json::{Value, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::store::NewDelivery;

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
