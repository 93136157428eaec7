//! `peerless policy check FILE`.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::super::at_hand::KnowledgeArgs;
use super::super::say;
use super::{read, replay};
use crate::domain::policy::names::notes;
use crate::domain::policy::replay::DAYS_MAX;

/// A policy to check.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// The file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The policy that nodes are judged by now, for what would change
    #[arg(long, env = "PEERLESS_POLICY", value_name = "FILE")]
    present: Option<PathBuf>,
    /// Days back from now for which is told what would change
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=i64::from(DAYS_MAX)))]
    days: u32,
    #[command(flatten)]
    knowledge: KnowledgeArgs,
}

pub(super) async fn run(arguments: CheckArgs) -> anyhow::Result<ExitCode> {
    let database = arguments.knowledge.database().await?;
    let generation = match &database {
        Some((_, follower)) => follower.knowledge().current(),
        None => arguments.knowledge.current().await?,
    };
    let policy = read(&arguments.file, &generation)?;
    let rules = policy.rules.len();
    let noun = if rules == 1 { "rule" } else { "rules" };
    say(format!(
        "{}: {rules} {noun}, policy {}",
        arguments.file.display(),
        policy.version
    ))?;
    for note in notes(&policy, &generation) {
        say(note)?;
    }
    let Some((store, _)) = database else {
        say("no database is here, so that nothing is told of what would change")?;
        return Ok(ExitCode::SUCCESS);
    };
    let present = arguments
        .present
        .as_ref()
        .map(|path| read(path, &generation))
        .transpose()?;
    let (counts, _) = replay::all(
        (store.as_ref(), &generation),
        present.unwrap_or_default(),
        &policy,
        arguments.days,
    )
    .await?;
    say(format!(
        "of the last {} days it {}",
        arguments.days,
        counts.sentence()
    ))?;
    Ok(ExitCode::SUCCESS)
}
