//! `peerless backup FILE`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::{refuse_missing, say};
use crate::config::DataArgs;
use crate::store::backup;

/// Where to copy the database to.
#[derive(Debug, Args)]
pub struct BackupArgs {
    /// The file to make, readable to its owner alone; one that is there is never written over
    file: PathBuf,
    #[command(flatten)]
    data: DataArgs,
}

pub(super) async fn run(arguments: &BackupArgs) -> anyhow::Result<ExitCode> {
    refuse_missing(&arguments.data)?;
    let made = backup(&arguments.data.url(), &arguments.file).await?;
    say(format_args!(
        "{}: {} bytes, records as of change {}, migration {}",
        arguments.file.display(),
        made.bytes,
        made.seq.0,
        made.migration
    ))?;
    Ok(ExitCode::SUCCESS)
}
