//! `serve --demo`: a database of its own with reports, some recorded on real GPUs, most of machines that are made up.

mod fleet;

use std::sync::Arc;

use kb_core::terminal::harmless_lines;
use kb_core::wire::is_this_machine;
use time::{Duration, OffsetDateTime};

use super::{Application, StartupError};
use crate::config::ServeArgs;
use crate::domain::enrol::Writer;
use crate::domain::ingest::{Arrival, accept};

/// What an agent's report takes on its way.
const ON_THE_WAY: Duration = Duration::seconds(1);

/// The settings of a demo: a database in `folder`, which everybody on this machine may read and nobody may write.
pub fn settings(settings: &ServeArgs, folder: &std::path::Path) -> Result<ServeArgs, StartupError> {
    let host = settings.listen.rsplit_once(':').map_or("", |(host, _)| host);
    if !is_this_machine(host) {
        return Err(StartupError::Demo(format!(
            "--demo shows its nodes to everybody, and so serves this machine alone: --listen {} is another address",
            harmless_lines(&settings.listen)
        )));
    }
    let mut settings = settings.clone();
    folder.clone_into(&mut settings.data.data_dir);
    settings.public_fleet = true;
    settings.anonymous_writing = false;
    Ok(settings)
}

/// Brings the reports of the demo into the database. Returns how many there are.
pub async fn fill(application: &Application, now: OffsetDateTime) -> Result<usize, StartupError> {
    let state = application.state();
    let failed = |why: String| StartupError::Demo(format!("the demo's reports could not be kept: {why}"));
    let mut kept = 0;
    for made in fleet::reports(now) {
        let made = made.map_err(|error| failed(error.to_string()))?;
        let arrival = Arrival {
            received_at: made.at + ON_THE_WAY,
            sent_at: Some(made.at + ON_THE_WAY),
        };
        let writer = Writer {
            node: None,
            enrol_only: false,
        };
        let generation = state.knowledge.current();
        accept(
            state.store.as_ref(),
            &generation,
            &Arc::clone(&state.correlator),
            (made.body, writer),
            arrival,
        )
        .await
        .map_err(|error| failed(error.to_string()))?;
        kept += 1;
    }
    Ok(kept)
}
