//! `peerless feedback ID …`: tells a server whether something that a record advises helped, or suggests a correction.

use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::bail;
use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use super::match_files::{Remote, RemoteArgs, parse_pair};
use super::say;

const HELP: &str = "\
Exit code: 0 the server has taken it, 1 it has not, 64 the call makes no sense.

Examples:
  peerless feedback --server https://kb.example xid/79-gpu-has-fallen-off-the-bus /workarounds/0 worked --env driver=550.54.14
  peerless feedback --server https://kb.example xid/79-gpu-has-fallen-off-the-bus /workarounds/0 came-back
  peerless feedback --server https://kb.example xid/79-gpu-has-fallen-off-the-bus --suggest 'The cause is the riser.'";

/// What to say of which record.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct FeedbackArgs {
    /// Id of the record
    #[arg(value_name = "ID")]
    id: String,
    #[arg(
        help = "What was tried: /workarounds/0 is the first of what works, /dead_ends/0 the first of what wastes time",
        value_name = "TRIED",
        requires = "outcome",
        required_unless_present = "suggest"
    )]
    tried: Option<String>,
    /// What came of it
    #[arg(value_name = "OUTCOME", value_enum)]
    outcome: Option<Outcome>,
    /// Version or model where it was tried, once for each: driver=550.54.14
    #[arg(long = "env", value_name = "COMPONENT=VERSION", value_parser = parse_pair)]
    environment: Vec<(String, String)>,
    /// A correction: what is wrong, and what is right
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["tried", "outcome", "environment"])]
    suggest: Option<String>,
    /// Where one can read the correction
    #[arg(long, value_name = "TEXT", requires = "suggest")]
    source: Option<String>,
    #[command(flatten)]
    remote: RemoteArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Outcome {
    /// The error was gone
    Worked,
    /// The error was still there
    DidNotHelp,
    /// The error was gone, and there again within a week
    CameBack,
}

pub(super) async fn run(arguments: FeedbackArgs) -> anyhow::Result<ExitCode> {
    if arguments.remote.server.is_none() {
        bail!("votes and suggestions are kept by a server: name it with --server");
    }
    let told = tokio::task::spawn_blocking(move || tell(arguments)).await??;
    say(told)?;
    Ok(ExitCode::SUCCESS)
}

/// What the server made of it.
fn tell(arguments: FeedbackArgs) -> anyhow::Result<&'static str> {
    let server = Remote::new(&arguments.remote, &BTreeMap::new())?;
    if let Some(text) = arguments.suggest {
        let body = json!({ "text": text, "source": arguments.source.unwrap_or_default() });
        server.tell(&arguments.id, "suggestions", &body)?;
        return Ok("The suggestion waits for an editor.");
    }
    let environment: BTreeMap<String, String> = arguments.environment.into_iter().collect();
    let mut body = json!({
        "tried": arguments.tried,
        "worked": arguments.outcome != Some(Outcome::DidNotHelp),
        "environment": environment,
    });
    if arguments.outcome == Some(Outcome::CameBack)
        && let Some(vote) = body.as_object_mut()
    {
        vote.insert("came_back".to_owned(), Value::Bool(true));
    }
    let answer = server.tell(&arguments.id, "outcomes", &body)?;
    Ok(match answer.get("outcome").and_then(Value::as_str) {
        Some("queued") => "The vote waits for an editor.",
        Some("changed") => "The vote takes the place of the one before.",
        Some("unchanged") => "The vote was known.",
        _ => "The vote is taken.",
    })
}
