//! `peerless kb export|update`: records in one signed, dated file, for servers without a network.

mod export;
mod taking;
mod update;

use std::process::ExitCode;

use clap::Subcommand;

/// What to do with a bundle of records.
#[derive(Debug, Subcommand)]
pub enum KbCommand {
    /// Write all published records into one signed, dated file
    Export(export::KbExportArgs),
    /// Take the records of such a file into the database, beside what was edited there
    Update(update::KbUpdateArgs),
}

pub(super) async fn run(command: KbCommand) -> anyhow::Result<ExitCode> {
    match command {
        KbCommand::Export(arguments) => export::run(&arguments).await,
        KbCommand::Update(arguments) => update::run(&arguments).await,
    }
}
