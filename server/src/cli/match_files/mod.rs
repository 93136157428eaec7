//! `peerless match [FILE…]`: explains texts with the database at hand or the records that ship with the program.
//! Nothing of them leaves this machine unless `--server` says so.

mod archive;
mod explain;
mod follow;
mod input;
mod local;
mod output;
mod pad;
mod remote;
mod sarif;
mod unpack;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueEnum};
use kb_core::scanner::EnvironmentError;

use super::at_hand::KnowledgeArgs;
use super::language::EnglishArgs;
use explain::Explainer;
use input::Input;
use local::Local;
use output::{Form, Output};
pub(super) use remote::{Remote, RemoteArgs};

/// What the exit code and the options mean to whoever scripts this.
pub(super) const HELP: &str = "\
Exit code, as of grep: 0 a known error was found, 1 no known error was found (a harmless message is none; lines that look like errors \
and that no record explains are printed and do not change the code without --fail-on), 2 trouble (a file that cannot be read, a server that \
does not answer), 3 with --fail-on unexplained: a text has lines that look like errors and that no record explains, whatever else was found, 64 the \
call makes no sense. A file in trouble does not keep the others from being read.

Examples:
  peerless match train.log
  peerless match --text 'NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.'
  journalctl -k -b | peerless match -
  peerless match --fail-on unexplained train.log
  peerless match --follow /var/log/syslog
  peerless match --sarif rank*.log.zst > peerless.sarif
  peerless match --server https://kb.example --env driver=550.54.14 train.log";

/// What to explain, and how to answer.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct MatchArgs {
    /// Texts of any length, UTF-8 or UTF-16, plain or packed with gzip, zstd or xz, and zip archives of them; - or none reads
    /// standard input
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// This text in place of a file
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["files", "follow"], allow_hyphen_values = true)]
    text: Option<String>,
    #[command(flatten)]
    form: FormArgs,
    /// Go on reading as files grow or are replaced, and show hits at once, until interrupted
    #[arg(long, short, conflicts_with_all = ["json", "sarif", "server"])]
    follow: bool,
    /// Version or model where the texts were written, once for each: driver=550.54.14
    #[arg(long = "env", value_name = "COMPONENT=VERSION", value_parser = parse_pair)]
    environment: Vec<(String, String)>,
    /// Exit with 3 where a text has lines that look like errors and that no record explains
    #[arg(long, value_name = "WHAT")]
    fail_on: Option<FailOn>,
    #[command(flatten)]
    language: EnglishArgs,
    #[command(flatten)]
    remote: RemoteArgs,
    #[command(flatten)]
    knowledge: KnowledgeArgs,
}

/// What a call fails of beside what it always fails of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum FailOn {
    /// Lines that look like errors and that no record explains
    Unexplained,
}

/// The exit code of [`FailOn::Unexplained`]: it could not be told what the text means, as the agent's 3.
const UNEXPLAINED: u8 = 3;

/// How to answer; as text for people unless said.
#[derive(Debug, Args)]
struct FormArgs {
    /// One JSON object for each file: the answer of POST /api/v1/match, and `file`
    #[arg(long, group = "form")]
    json: bool,
    /// Lines of JSON: each hit as it is found, at last each file's answer
    #[arg(long, group = "form")]
    ndjson: bool,
    /// A SARIF 2.1.0 log with all files, for annotations in CI
    #[arg(long, group = "form")]
    sarif: bool,
}

impl FormArgs {
    fn form(&self) -> Form {
        match (self.json, self.ndjson, self.sarif) {
            (true, ..) => Form::Json,
            (_, true, _) => Form::Lines,
            (.., true) => Form::Sarif,
            _ => Form::Text,
        }
    }
}

pub(super) async fn run(arguments: MatchArgs) -> anyhow::Result<ExitCode> {
    let inputs = Input::all(arguments.text.as_deref(), &arguments.files);
    let output = Output::new(arguments.form.form(), inputs.len() > 1, arguments.fail_on);
    let mut environment = BTreeMap::new();
    for (component, version) in arguments.environment {
        if environment.insert(component.clone(), version).is_some() {
            eprintln!("peerless: --env: {}", EnvironmentError::Twice(component));
            return Ok(ExitCode::from(super::USAGE));
        }
    }
    // Reading and computing block; on the threads that are there for it they hold nobody up.
    let work = if arguments.remote.server.is_some() {
        tokio::task::spawn_blocking(move || {
            let server = Remote::new(&arguments.remote, &environment)?;
            explain_all(&server, &inputs, output)
        })
    } else {
        let local = match Local::load(&arguments.knowledge, environment).await {
            Err(error) if error.is::<EnvironmentError>() => {
                eprintln!("peerless: --env: {error}");
                return Ok(ExitCode::from(super::USAGE));
            }
            local => local?,
        };
        if arguments.follow {
            return follow::run(&local, &inputs, output).await;
        }
        tokio::task::spawn_blocking(move || explain_all(&local, &inputs, output))
    };
    work.await?
}

/// One file after the other; what is wrong with one is said, and the next is read.
fn explain_all(explainer: &dyn Explainer, inputs: &[Input], mut output: Output) -> anyhow::Result<ExitCode> {
    for input in inputs {
        let texts = match input.texts() {
            Ok(texts) => texts,
            Err(error) => {
                output.fail(input, &anyhow::Error::from(error).context(input.shown()));
                continue;
            }
        };
        if texts.len() > 1 {
            output.expect_several();
        }
        for text in &texts {
            if let Err(error) = output.explain(explainer, text) {
                if super::is_broken_pipe(&error) {
                    return Err(error);
                }
                output.fail(text, &error);
            }
        }
    }
    output.finish()
}

pub(super) fn parse_pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((component, version)) if !component.is_empty() && !version.is_empty() && !text.contains(',') => {
            Ok((component.to_owned(), version.to_owned()))
        }
        _ => Err("write COMPONENT=VERSION without a comma, for example driver=550.54.14".to_owned()),
    }
}
