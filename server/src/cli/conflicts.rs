//! `peerless conflicts`.

use std::process::ExitCode;

use super::{open_existing, say};
use crate::config::DataArgs;

pub(super) async fn run(data: &DataArgs) -> anyhow::Result<ExitCode> {
    let conflicts = open_existing(data).await?.seed_conflicts().await?;
    if conflicts.is_empty() {
        say(format_args!("no conflicts"))?;
    }
    for conflict in conflicts {
        say(format_args!(
            "{}  {} was edited here; another version waits since {} (sha256 {})",
            conflict.id, conflict.head, conflict.since, conflict.seed_sha256
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}
