//! `peerless migrate`.

use std::process::ExitCode;

use super::say;
use crate::config::DataArgs;
use crate::store::migrate;

pub(super) async fn run(data: &DataArgs) -> anyhow::Result<ExitCode> {
    let migrated = migrate(&data.url()).await?;
    say(format_args!(
        "{}: migration {} -> {}",
        data.shown(),
        migrated.from,
        migrated.to
    ))?;
    Ok(ExitCode::SUCCESS)
}
