//! The command line: one file for each command. Answers go to standard output, everything else to standard error.

mod at_hand;
mod backup;
mod case;
mod check;
mod check_published;
mod conflict_text;
mod conflicts;
mod coverage;
mod edit;
mod export;
mod export_folder;
mod feedback;
mod help;
mod import;
mod import_deadends;
mod import_dry_run;
mod import_folder;
mod import_gate;
mod kb;
mod language;
mod match_files;
mod mcp;
mod migrate;
mod policy;
mod record;
mod search;
mod serve;
mod site;
mod token;
mod try_pattern;
mod unmatched;
mod user;
mod variables;

use std::ffi::OsString;
use std::fmt::Display;
use std::io::{self, Write as _};
use std::process::ExitCode;
use std::sync::{Arc, LazyLock};

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use kb_core::terminal::harmless_lines;

use crate::bundle::{self, Edition};
use crate::config::{DataArgs, ServeArgs};
use crate::startup::open_store;
use crate::store::{Store, sqlite_file};

pub use variables::strange_variables;

/// Exit code of a call that makes no sense (`EX_USAGE` of sysexits.h).
const USAGE: u8 = 64;

/// Exit code of `match` and `record` when something could not be read, as of grep: 1 says that nothing was found.
const TROUBLE: u8 = 2;

#[derive(Debug, Parser)]
#[command(
    name = "peerless",
    version,
    about = "Explains GPU errors from a knowledge base: server and tool in one",
    after_help = "Without a command it serves; `peerless serve --help` lists the settings with their defaults."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve pages and the REST interface (the default)
    Serve(Box<ServeArgs>),
    /// Check record files; lists every violation with file, place and reason
    Check(check::CheckArgs),
    /// Explain errors and logs; exit code 0 a known error was found, 1 none, 2 trouble
    Match(match_files::MatchArgs),
    /// Print all that is known of one error, by its id; exit code 0 it is there, 1 it is not, 2 trouble
    Record(record::RecordArgs),
    /// Find records by words or a code; exit code 0 records were found, 1 none, 2 trouble
    Search(search::SearchArgs),
    /// Tell a server whether something that a record advises helped, or suggest a correction
    Feedback(feedback::FeedbackArgs),
    /// Make a pattern from lines, or try one: what it takes of records, healthy runs and kept logs
    Try(try_pattern::TryArgs),
    /// List log lines of reports that look like errors and that no record knows
    Unmatched(unmatched::UnmatchedArgs),
    /// Write the case file of a node: all that a vendor's form asks, and what is not known
    Case(case::CaseArgs),
    /// Check a policy of the site, and say what it makes of codes
    #[command(subcommand)]
    Policy(policy::PolicyCommand),
    /// Begin a record in $EDITOR, in the database of this machine
    New(edit::EditArgs),
    /// Change a record in $EDITOR; a change that came meanwhile is merged
    Edit(edit::EditArgs),
    /// Publish the newest revision of a record, or another one, through the gate
    Publish(edit::PublishArgs),
    /// Offer the tools of the Model Context Protocol on standard input and output, for a coding assistant
    Mcp(mcp::McpArgs),
    /// Import records from a folder or an export; what was edited here is kept, or put together with what the folder changed
    Import(import::ImportArgs),
    /// Write published records as files into a folder, as lines of JSON, or those of another system as its files
    Export(export::ExportArgs),
    /// Write the records as a site of files, with search and log reading in the reader's browser
    Site(site::SiteArgs),
    /// Carry records to where there is no network: one signed, dated file
    #[command(subcommand)]
    Kb(kb::KbCommand),
    /// Copy the SQLite database to a new file, also while servers use it
    Backup(backup::BackupArgs),
    /// Bring the database up to date and end
    Migrate(DataArgs),
    /// Make, list and revoke API tokens
    #[command(subcommand)]
    Token(token::TokenCommand),
    /// Make, list and change accounts of people
    #[command(subcommand)]
    User(user::UserCommand),
    /// Print a script that completes the command line of a shell
    Completions(help::CompletionsArgs),
    /// Print the manual page (roff)
    Man,
    /// List records that were edited here and changed in the files imported
    Conflicts(DataArgs),
}

impl Command {
    /// Exit code when the command fails: `match` keeps 1 for "no match", `record` for "no such record".
    pub fn failure_code(&self) -> u8 {
        if matches!(
            self,
            Self::Match(_) | Self::Record(_) | Self::Search(_) | Self::Try(_)
        ) {
            TROUBLE
        } else {
            1
        }
    }

    pub fn is_server(&self) -> bool {
        matches!(self, Self::Serve(_))
    }
}

/// Reads the arguments. Without a command, or with options alone, it is `serve`.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Command, clap::Error> {
    let mut arguments: Vec<OsString> = arguments.into_iter().collect();
    let serve_is_meant = match arguments.get(1).map(|argument| argument.to_string_lossy()) {
        None => true,
        Some(first) => first.starts_with('-') && !matches!(&*first, "-h" | "--help" | "-V" | "--version"),
    };
    if serve_is_meant {
        arguments.insert(1.min(arguments.len()), OsString::from("serve"));
    }
    let mut command = Cli::command();
    // Reads all records that ship, so it is told only where it is asked for.
    if arguments.get(1).is_some_and(|first| first == "--version") {
        command = command.long_version(LONG_VERSION.as_str());
    }
    let matches = command.try_get_matches_from_mut(arguments)?;
    Cli::from_arg_matches(&matches)
        .map(|cli| cli.command)
        .map_err(|error| error.format(&mut command))
}

/// Of the program and of the records that ship with it.
static LONG_VERSION: LazyLock<String> = LazyLock::new(|| {
    let program = env!("CARGO_PKG_VERSION");
    match bundle::edition() {
        Some(Edition { records, date }) => format!("{program}\nrecords: {records}, of {date}"),
        None => format!("{program}\nrecords: none ship with this program"),
    }
});

/// Prints help, version, or what is wrong with the arguments.
pub fn refuse(refusal: &clap::Error) -> ExitCode {
    // Nowhere to complain when the terminal is gone.
    let _ = refusal.print();
    if refusal.use_stderr() {
        ExitCode::from(USAGE)
    } else {
        ExitCode::SUCCESS
    }
}

/// What went wrong and why, each reason once: many errors say their cause themselves.
pub fn explain(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if text.is_empty() {
            text = cause;
        } else if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

/// Writes one line of an answer, in which texts of records, logs and servers do not act on the terminal. A reader who has seen enough (`| head`) is no reason to panic, as `println!` does.
fn say(line: impl Display) -> io::Result<()> {
    writeln!(io::stdout().lock(), "{}", harmless_lines(&line.to_string()))
}

async fn open_existing(data: &DataArgs) -> anyhow::Result<Arc<dyn Store>> {
    refuse_missing(data)?;
    Ok(open_store(data).await?)
}

/// What only reads or takes back shall not make an empty database where somebody mistook the folder or the name.
fn refuse_missing(data: &DataArgs) -> anyhow::Result<()> {
    let Some(file) = sqlite_file(&data.url())? else {
        return Ok(());
    };
    if !file.try_exists()? {
        anyhow::bail!(
            "there is no database {}: name its folder with --data-dir, or its address with --database",
            file.display()
        );
    }
    Ok(())
}

/// Does what was asked. It has ended well, too, when the reader of the answer went away.
pub async fn run(command: Command) -> anyhow::Result<ExitCode> {
    let outcome = dispatch(command).await;
    match &outcome {
        Err(error) if is_broken_pipe(error) => Ok(ExitCode::SUCCESS),
        _ => outcome,
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let of = |cause: &(dyn std::error::Error + 'static)| {
        let io = cause.downcast_ref::<io::Error>().map(io::Error::kind);
        let json = cause
            .downcast_ref::<serde_json::Error>()
            .and_then(serde_json::Error::io_error_kind);
        io.or(json)
    };
    error
        .chain()
        .any(|cause| of(cause) == Some(io::ErrorKind::BrokenPipe))
}

async fn dispatch(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Serve(settings) => serve::run(&settings).await,
        Command::Check(arguments) => check::run(&arguments).await,
        Command::Match(arguments) => match_files::run(arguments).await,
        Command::Record(arguments) => record::run(arguments).await,
        Command::Search(arguments) => search::run(arguments).await,
        Command::Feedback(arguments) => feedback::run(arguments).await,
        Command::Try(arguments) => try_pattern::run(arguments).await,
        Command::Unmatched(arguments) => unmatched::run(arguments).await,
        Command::Case(arguments) => case::run(arguments).await,
        Command::Policy(command) => policy::run(command).await,
        Command::New(arguments) => edit::new(arguments).await,
        Command::Edit(arguments) => edit::edit(arguments).await,
        Command::Publish(arguments) => edit::publish(arguments).await,
        Command::Mcp(arguments) => mcp::run(&arguments).await,
        Command::Import(arguments) => import::run(&arguments).await,
        Command::Export(arguments) => export::run(&arguments).await,
        Command::Site(arguments) => site::run(arguments).await,
        Command::Kb(command) => kb::run(command).await,
        Command::Backup(arguments) => backup::run(&arguments).await,
        Command::Migrate(data) => migrate::run(&data).await,
        Command::Token(command) => token::run(command).await,
        Command::User(command) => user::run(command).await,
        Command::Completions(arguments) => help::completions(&arguments),
        Command::Man => help::man(),
        Command::Conflicts(data) => conflicts::run(&data).await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(arguments: &[&str]) -> Result<Command, clap::Error> {
        parse(
            std::iter::once("peerless")
                .chain(arguments.iter().copied())
                .map(OsString::from),
        )
    }

    #[test]
    fn serving_is_what_happens_without_a_command() {
        assert!(matches!(parsed(&[]), Ok(Command::Serve(_))));
        let Ok(Command::Serve(settings)) = parsed(&["--listen", "127.0.0.1:0"]) else {
            panic!("options alone must mean serve");
        };
        assert_eq!(settings.listen, "127.0.0.1:0");
        assert!(matches!(parsed(&["migrate"]), Ok(Command::Migrate(_))));
        assert!(parsed(&["nonsense"]).is_err());
    }

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn each_reason_is_said_once() {
        let error = anyhow::Error::from(io::Error::other("inner")).context("outer: inner");
        assert_eq!(explain(&error), "outer: inner");
        assert_eq!(explain(&error.context("file")), "file: outer: inner");
    }
}
