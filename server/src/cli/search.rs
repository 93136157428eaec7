//! `peerless search WORDS`: records by words or a code, from the records at hand or a server.

use std::collections::BTreeMap;
use std::process::ExitCode;

use clap::Args;

use super::at_hand::KnowledgeArgs;
use super::language::EnglishArgs;
use super::match_files::{Remote, RemoteArgs};
use super::say;
use crate::domain::search;
use crate::feed::Generation;
use crate::render::search_text;
use peerless_search::{Filters, SearchRequest};

/// Exit code where no record has the words, as of grep.
const NOTHING: u8 = 1;
/// Hits printed unless said: a terminal's page.
const HITS: usize = 10;

const HELP: &str = "\
Exit code: 0 records were found, 1 none, 2 trouble (a database that cannot be read, a server that does not answer), 64 \
the call makes no sense. For whole messages and logs use `peerless match`.

Examples:
  peerless search nccl timeout
  peerless search Xid 79
  peerless search --domain container --json fabric manager
  peerless search --server https://kb.example peer access";

/// What to search.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct SearchArgs {
    /// Words or a code
    #[arg(value_name = "WORDS", required = true)]
    words: Vec<String>,
    /// Only records of this domain: cuda, nccl, xid
    #[arg(long)]
    domain: Option<String>,
    /// Most records to print, 1 to 100
    #[arg(long, default_value_t = HITS)]
    limit: usize,
    /// Go on after an answer, with the cursor that its last line names
    #[arg(long)]
    cursor: Option<String>,
    /// The answer of GET /api/v1/search as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    language: EnglishArgs,
    #[command(flatten)]
    remote: RemoteArgs,
    #[command(flatten)]
    knowledge: KnowledgeArgs,
}

pub(super) async fn run(arguments: SearchArgs) -> anyhow::Result<ExitCode> {
    let (text, found) = if arguments.remote.server.is_some() {
        tokio::task::spawn_blocking(move || of_server(&arguments)).await??
    } else {
        let generation = arguments.knowledge.current().await?;
        tokio::task::spawn_blocking(move || at_hand(&generation, arguments)).await??
    };
    say(text.trim_end())?;
    Ok(if found {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(NOTHING)
    })
}

/// What is printed, and whether a record was found.
fn at_hand(generation: &Generation, arguments: SearchArgs) -> anyhow::Result<(String, bool)> {
    let json = arguments.json;
    let request = SearchRequest {
        text: arguments.words.join(" "),
        filters: Filters {
            domain: arguments.domain,
            ..Filters::default()
        },
        limit: Some(arguments.limit),
        cursor: arguments.cursor,
        ..SearchRequest::default()
    };
    let answer = search::search(generation, &request)?;
    let text = if json {
        serde_json::to_string(&answer)?
    } else {
        search_text::render(&answer, generation)
    };
    Ok((text, !answer.hits.is_empty()))
}

fn of_server(arguments: &SearchArgs) -> anyhow::Result<(String, bool)> {
    let server = Remote::new(&arguments.remote, &BTreeMap::new())?;
    let words = arguments.words.join(" ");
    server.search(
        &words,
        arguments.domain.as_deref(),
        (arguments.limit, arguments.cursor.as_deref()),
        arguments.json,
    )
}
