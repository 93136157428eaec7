//! `peerless record ID`: all that is known of one error, for whoever sits before a terminal with nothing else.

use std::collections::BTreeMap;
use std::process::ExitCode;

use clap::Args;
use serde::Serialize;
use serde_json::value::RawValue;

use super::at_hand::KnowledgeArgs;
use super::language::Lang;
use super::match_files::{Remote, RemoteArgs};
use super::say;
use crate::domain::records::{Found, find, missing};
use crate::feed::{Generation, PublishedRecord};
use crate::render::i18n::Language;
use crate::render::record::{Source, text};
use peerless_search::KnowledgeStamp;

/// Exit code of an id that no record has, as `match` has it for no match.
const MISSING: u8 = 1;

const HELP: &str = "\
Exit code: 0 the record is there, 1 no record has this id (near ones are named), 2 trouble (a database that cannot be \
read, a server that does not answer), 64 the call makes no sense.

Examples:
  peerless record xid/79-gpu-has-fallen-off-the-bus
  peerless record --lang zh nccl/remote-error
  peerless record --json xid/79-gpu-has-fallen-off-the-bus
  peerless record --server https://kb.example xid/79-gpu-has-fallen-off-the-bus";

/// Which record, and how to print it.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct RecordArgs {
    /// Its id, as `peerless match` and the pages give it; a former one will do
    #[arg(value_name = "ID")]
    id: String,
    /// The record as JSON: its document, and as `ext` what Peerless adds
    #[arg(long)]
    json: bool,
    /// Language of the text; what has no translation stays English
    #[arg(
        long,
        value_enum,
        value_name = "LANGUAGE",
        default_value = "en",
        conflicts_with = "json"
    )]
    lang: Lang,
    #[command(flatten)]
    remote: RemoteArgs,
    #[command(flatten)]
    knowledge: KnowledgeArgs,
}

/// The record as JSON; a server's `view=full` has these and more.
#[derive(Serialize)]
struct Texts<'a> {
    id: &'a str,
    revision: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    forced: Option<&'a str>,
    document: &'a RawValue,
    ext: &'a RawValue,
    kb: KnowledgeStamp,
}

pub(super) async fn run(arguments: RecordArgs) -> anyhow::Result<ExitCode> {
    let found = if arguments.remote.server.is_some() {
        tokio::task::spawn_blocking(move || of_server(&arguments)).await??
    } else {
        let generation = arguments.knowledge.current().await?;
        tokio::task::spawn_blocking(move || at_hand(&generation, &arguments)).await??
    };
    match found {
        Ok(text) => {
            say(text.trim_end())?;
            Ok(ExitCode::SUCCESS)
        }
        Err(missing) => {
            eprintln!("peerless: {missing}");
            Ok(ExitCode::from(MISSING))
        }
    }
}

/// What is printed; the inner error says that there is no such record.
fn at_hand(generation: &Generation, arguments: &RecordArgs) -> anyhow::Result<Result<String, String>> {
    let published = match find(generation, &arguments.id) {
        Ok(Found::Published(published)) => Some(published),
        Ok(Found::Moved(now)) => generation.record(&now).cloned(),
        Ok(Found::Unpublished(_)) | Err(_) => None,
    };
    let Some(published) = published else {
        return Ok(Err(missing(generation, &arguments.id)));
    };
    if arguments.json {
        return json(generation, &published).map(Ok);
    }
    let neighbours = generation.graph.neighbours(published.record.id());
    let source = Source::published(&published, &neighbours);
    Ok(Ok(text::render(source, arguments.lang.into(), None)))
}

fn json(generation: &Generation, published: &PublishedRecord) -> anyhow::Result<String> {
    let record = &published.record;
    let texts = Texts {
        id: record.id().as_str(),
        revision: published.revision.0,
        forced: published.forced.as_deref(),
        document: serde_json::from_str(&record.document_text)?,
        ext: serde_json::from_str(&record.annex_text)?,
        kb: KnowledgeStamp { seq: generation.seq },
    };
    Ok(serde_json::to_string(&texts)?)
}

fn of_server(arguments: &RecordArgs) -> anyhow::Result<Result<String, String>> {
    let server = Remote::new(&arguments.remote, &BTreeMap::new())?;
    let text_in = (!arguments.json).then(|| Language::from(arguments.lang).word());
    server.record(&arguments.id, text_in)
}
