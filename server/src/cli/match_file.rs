//! `peerless match FILE`: explains a text here, with the database at hand or the records that ship with the program.
//! Nothing of it leaves this machine.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;
use clap::Args;

use super::say;
use crate::bundle;
use crate::config::DataArgs;
use crate::domain::answer_text;
use crate::domain::lookup::{MatchAnswer, MatchOptions, Matching};
use crate::feed::{self, Generation};
use crate::startup::open_store;

/// What to explain, and how to answer.
#[derive(Debug, Args)]
pub struct MatchArgs {
    /// The file; - reads standard input
    file: PathBuf,
    /// Answer as JSON
    #[arg(long)]
    json: bool,
    /// Version or model where the text was written, once for each: driver=550.54.14
    #[arg(long = "env", value_name = "COMPONENT=VERSION", value_parser = parse_pair)]
    environment: Vec<(String, String)>,
    #[command(flatten)]
    data: DataArgs,
}

/// Bytes read at once.
const PIECE: usize = 256 << 10;

pub(super) async fn run(arguments: &MatchArgs) -> anyhow::Result<ExitCode> {
    let generation = generation(&arguments.data).await?;
    let environment: BTreeMap<String, String> = arguments.environment.iter().cloned().collect();
    let options = MatchOptions {
        environment,
        without_text: false,
    };
    let matching = Matching::start(Arc::clone(&generation), options);
    let answer = if arguments.file.as_os_str() == "-" {
        read_through(std::io::stdin().lock(), matching).context("standard input")?
    } else {
        let shown = || arguments.file.display().to_string();
        let file = File::open(&arguments.file).with_context(shown)?;
        read_through(file, matching).with_context(shown)?
    };
    if arguments.json {
        say(format_args!("{}", serde_json::to_string_pretty(&answer)?))?;
    } else {
        say(answer_text::render(&answer, &generation, None).trim_end())?;
    }
    Ok(if answer.matches.is_empty() {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// The database where there is one already; it is not made for this.
async fn generation(data: &DataArgs) -> anyhow::Result<Arc<Generation>> {
    if data.database.is_some() || data.sqlite_file().try_exists()? {
        let follower = feed::load(open_store(data).await?).await?;
        return Ok(follower.knowledge().current());
    }
    Ok(Arc::new(feed::offline(bundle::embedded()?)?))
}

fn read_through(mut text: impl Read, mut matching: Matching) -> std::io::Result<MatchAnswer> {
    let mut buffer = vec![0; PIECE];
    loop {
        let read = text.read(&mut buffer)?;
        match buffer.get(..read) {
            Some(piece) if !piece.is_empty() => matching.feed(piece),
            _ => return Ok(matching.finish()),
        }
    }
}

fn parse_pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((component, version)) if !component.is_empty() && !version.is_empty() => {
            Ok((component.to_owned(), version.to_owned()))
        }
        _ => Err("write COMPONENT=VERSION, for example driver=550.54.14".to_owned()),
    }
}
