//! `peerless policy check|explain|replay|version`: what a policy makes of codes, and of what was.

mod check;
mod explain;
mod replay;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use kb_core::policy::Policy;

use super::at_hand::KnowledgeArgs;
use super::say;
use crate::domain::policy::names::Names;
use crate::domain::policy::{file, version};
use crate::feed::Generation;

/// What to do with policies.
#[derive(Debug, Subcommand)]
pub enum PolicyCommand {
    /// Check a policy: everything that is refused, each with its line; exit code 0 it is good, 1 it is not
    Check(check::CheckArgs),
    /// Say what a code means here: by its record, by the policy, and what a node does then; without a code every Xid
    Explain(explain::ExplainArgs),
    /// Say what a policy would have said of the reports of the last days, what it would have drained, and what came of that
    Replay(replay::ReplayArgs),
    /// Print the version of what decides: records and policy together, and each of them
    Version(VersionArgs),
}

/// What decides.
#[derive(Debug, Args)]
pub struct VersionArgs {
    #[command(flatten)]
    file: PolicyFileArgs,
    #[command(flatten)]
    knowledge: KnowledgeArgs,
}

/// The policy.
#[derive(Debug, Args)]
struct PolicyFileArgs {
    /// The policy [default: none, so that the records alone decide]
    #[arg(long, env = "PEERLESS_POLICY", value_name = "FILE")]
    policy: Option<PathBuf>,
}

impl PolicyFileArgs {
    fn read(&self, generation: &Generation) -> anyhow::Result<Policy> {
        let read = |path: &PathBuf| read(path, generation);
        Ok(self.policy.as_ref().map(read).transpose()?.unwrap_or_default())
    }
}

pub(super) async fn run(command: PolicyCommand) -> anyhow::Result<ExitCode> {
    match command {
        PolicyCommand::Check(arguments) => check::run(arguments).await,
        PolicyCommand::Explain(arguments) => explain::run(arguments).await,
        PolicyCommand::Replay(arguments) => replay::run(arguments).await,
        PolicyCommand::Version(arguments) => print_version(&arguments).await,
    }
}

async fn print_version(arguments: &VersionArgs) -> anyhow::Result<ExitCode> {
    let generation = arguments.knowledge.current().await?;
    let policy = arguments.file.read(&generation)?;
    let records = version::of_records(generation.records().map(|published| &published.record));
    say(format!("rule set {}", version::of(&records, &policy)))?;
    say(format!("records  {records}"))?;
    say(format!("policy   {}", policy.version))?;
    Ok(ExitCode::SUCCESS)
}

/// Reads a file; the error has everything that is wrong with it, a line each.
fn read(path: &Path, generation: &Generation) -> anyhow::Result<Policy> {
    let text =
        std::fs::read_to_string(path).map_err(|error| anyhow::anyhow!("{}: {error}", path.display()))?;
    file::read_by(&text, &Names::of(generation)).map_err(|error| {
        let faults = error
            .0
            .iter()
            .map(|fault| format!("{}:{}: {}", path.display(), fault.line, fault.told));
        anyhow::anyhow!("{}", faults.collect::<Vec<String>>().join("\n"))
    })
}
