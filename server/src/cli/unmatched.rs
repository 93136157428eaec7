//! `peerless unmatched`: log lines of reports that look like errors and that no record knows.

use std::process::ExitCode;

use clap::Args;

use super::{open_existing, say};
use crate::config::DataArgs;
use crate::store::{Unmatched, UnmatchedOrder, UnmatchedQuery, UnmatchedState};

const HELP: &str = "\
Examples:
  peerless unmatched
  peerless unmatched --node gpu-17
  peerless unmatched 0123456789abcdef | peerless try";

/// Which lines.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct UnmatchedArgs {
    /// The examples of one message, by its id
    #[arg(value_name = "ID", conflicts_with_all = ["state", "node", "limit"])]
    id: Option<String>,
    /// open, ignored or known
    #[arg(long, value_name = "STATE", default_value = "open", value_parser = ["open", "ignored", "known"])]
    state: String,
    /// Only what was seen on this node
    #[arg(long, value_name = "NODE")]
    node: Option<String>,
    /// Messages that are listed, at most
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: u32,
    #[command(flatten)]
    data: DataArgs,
}

pub(super) async fn run(arguments: UnmatchedArgs) -> anyhow::Result<ExitCode> {
    let store = open_existing(&arguments.data).await?;
    if let Some(id) = arguments.id {
        let Some(found) = store.unmatched_one(&id).await? else {
            anyhow::bail!("there are no unknown lines with the id {id}");
        };
        for example in found.unmatched.examples {
            say(example)?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let query = UnmatchedQuery {
        state: UnmatchedState::from_word(&arguments.state),
        node: arguments.node,
        order: UnmatchedOrder::Count,
        limit: arguments.limit,
        ..UnmatchedQuery::default()
    };
    let found = store.unmatched(&query).await?;
    if found.is_empty() {
        say(format!("no {} unknown lines", arguments.state))?;
    }
    for one in found {
        say(line(&one))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn line(one: &Unmatched) -> String {
    let plural = |count: u64, word: &str| match count {
        1 => format!("1 {word}"),
        _ => format!("{count} {word}s"),
    };
    let assignee = one
        .assignee
        .as_ref()
        .map(|name| format!(", {name}"))
        .unwrap_or_default();
    let counts = format!("{}, {}", plural(one.count, "line"), plural(one.nodes, "node"));
    format!("{}  {counts}{assignee}: {}", one.id, one.template)
}
