//! `peerless case NODE`: the case file of a node, for a vendor's form.

use std::process::ExitCode;

use clap::Args;
use kb_core::ids::NodeId;

use super::{open_existing, say};
use crate::clock::{Clock as _, SystemClock};
use crate::config::DataArgs;
use crate::domain::case;
use crate::render::case_text;

const HELP: &str = "\
Names of machines and people, addresses and secrets are taken out; serial numbers stay. What no report has is said as not \
known, with the command that tells it. Exit code: 0 the case was written, 1 no report of such a node came or the database \
cannot be read.

Examples:
  peerless case gpu-17 > case.md
  peerless case gpu-17 --json --database postgres://kb@db.example/peerless";

/// Whose case, and how it is written.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct CaseArgs {
    /// The node's id
    #[arg(value_name = "NODE")]
    node: NodeId,
    /// As JSON instead of Markdown
    #[arg(long)]
    json: bool,
    /// Leave in names of machines and people, addresses and secrets
    #[arg(long)]
    with_names: bool,
    #[command(flatten)]
    data: DataArgs,
}

pub(super) async fn run(arguments: CaseArgs) -> anyhow::Result<ExitCode> {
    let store = open_existing(&arguments.data).await?;
    let Some(case) = case::collect(store.as_ref(), &arguments.node, SystemClock.now()).await? else {
        anyhow::bail!("no report of a node {} has come", arguments.node);
    };
    let case = if arguments.with_names {
        case
    } else {
        case.without_names()?
    };
    let text = if arguments.json {
        serde_json::to_string_pretty(&case)?
    } else {
        case_text::markdown(&case)
    };
    say(text.trim_end())?;
    Ok(ExitCode::SUCCESS)
}
