//! `peerless conflicts`.

use std::process::ExitCode;

use crate::config::DataArgs;
use crate::startup::open_store;

pub(super) async fn run(data: &DataArgs) -> anyhow::Result<ExitCode> {
    let conflicts = open_store(data).await?.seed_conflicts().await?;
    if conflicts.is_empty() {
        println!("no conflicts");
    }
    for conflict in conflicts {
        println!(
            "{}  {} was edited here; another version waits since {} (sha256 {})",
            conflict.id, conflict.head, conflict.since, conflict.seed_sha256
        );
    }
    Ok(ExitCode::SUCCESS)
}
