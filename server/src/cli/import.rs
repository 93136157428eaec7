//! `peerless import PATH`: records from a folder, a file, or an export.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use clap::{Args, ValueEnum};
use kb_core::ids::{RecordId, Seq};

use super::check::print_violations;
use super::import_folder::{self, RoundTripArgs};
use super::{import_deadends, import_gate, open_existing, say};
use crate::bundle::{self, Manifest};
use crate::clock::{Clock as _, SystemClock};
use crate::config::DataArgs;
use crate::domain::curate::check_texts;
use crate::feed;
use crate::startup::open_store;
use crate::store::{By, SeedRecord, SeedSource, Store};

const HELP: &str = "\
A folder that `peerless export DIR` wrote holds peerless.manifest, which says what folder and database had in common last. Of such a \
folder only what was changed since is imported. Where both changed a record, the changes are put together field by field; what \
contradicts is a conflict, which is printed with both texts and changes nothing.

Exit code: 0 all is imported, 1 nothing is, or of such a folder a conflict, a refused record or a failure is left, 64 the call makes \
no sense.

Examples:
  peerless import records.ndjson
  peerless import our-records --dry-run
  peerless import our-records --prune
  peerless import our-records --take-folder local/a --take-database local/b";

/// What to import, and where to.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct ImportArgs {
    /// A folder like kb-seed, a document (its annex beside it), or the lines that `export` writes
    path: PathBuf,
    /// PATH is a folder of another system's files
    #[arg(long, value_enum, value_name = "SYSTEM")]
    from: Option<System>,
    /// With --from deadends: also records about countries (law, visas, hospitals)
    #[arg(long, requires = "from")]
    countries: bool,
    /// Into a new database import PATH alone, without the records that ship with this program
    #[arg(long, env = "PEERLESS_WITHOUT_SHIPPED")]
    without_shipped: bool,
    #[command(flatten)]
    round_trip: RoundTripArgs,
    #[command(flatten)]
    data: DataArgs,
}

/// Another system whose files are read and written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum System {
    /// deadends.dev: a folder of canons, `domain/slug/environment.json`
    Deadends,
}

pub(super) async fn run(arguments: &ImportArgs) -> anyhow::Result<ExitCode> {
    let manifest = match arguments.from {
        Some(_) => None,
        None => Manifest::read(&arguments.path)?,
    };
    let Some(manifest) = manifest else {
        if arguments.round_trip.is_asked() {
            bail!(
                "{} was not written by `peerless export DIR`: it has no peerless.manifest to compare with",
                arguments.path.display()
            );
        }
        bring(arguments).await?;
        return Ok(ExitCode::SUCCESS);
    };
    let store = if arguments.round_trip.is_dry() {
        open_existing(&arguments.data).await?
    } else {
        open_store(&arguments.data).await?
    };
    let is_new = store.head_seq().await? == Seq::default();
    if is_new && !arguments.round_trip.is_dry() {
        arguments.round_trip.refuse_of_new()?;
        let (store, open) = bring(arguments).await?;
        import_folder::note_all(store.as_ref(), &arguments.path, manifest).await?;
        return Ok(if open == 0 {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        });
    }
    let how = (&arguments.round_trip, &arguments.data);
    import_folder::run(&store, &arguments.path, manifest, how).await
}

/// Keeps what was edited in the database. Returns also how many records are not published and need somebody.
async fn bring(arguments: &ImportArgs) -> anyhow::Result<(Arc<dyn Store>, usize)> {
    let (records, withdrawn) = match arguments.from {
        Some(System::Deadends) => {
            let taken = import_deadends::ids_in_use(&arguments.data).await?;
            let records = import_deadends::read(&arguments.path, arguments.countries, taken)?;
            (records, Vec::new())
        }
        None => {
            let (records, withdrawn) = read(&arguments.path)?;
            (checked(records)?, withdrawn)
        }
    };
    say_slow(&records)?;
    let store = open_store(&arguments.data).await?;
    let now = SystemClock.now();
    let was_empty = store.head_seq().await? == Seq::default();
    let with_shipped = was_empty && !arguments.without_shipped;
    let beside = if with_shipped {
        Arc::new(feed::offline(bundle::embedded()?)?)
    } else {
        feed::load(store.clone()).await?.knowledge().current()
    };
    let (records, drafts) = import_gate::divide(beside, records).await?;
    let outcome = store.seed(SeedSource::Import, records.into(), now).await?;
    // What is new here and was withdrawn there stays withdrawn; what somebody has here is theirs.
    for id in withdrawn.iter().filter(|id| outcome.added.contains(id)) {
        store
            .withdraw(id, &By::system(SeedSource::Import.actor()), now)
            .await?;
        say(format_args!("withdrawn, as where it was exported: {id}"))?;
    }
    if with_shipped {
        let shipped = store
            .seed(SeedSource::Program, bundle::embedded()?.into(), now)
            .await?;
        if !shipped.added.is_empty() {
            say(format_args!(
                "the database is new: {} records that ship with this program were added, too (--without-shipped leaves them out)",
                shipped.added.len()
            ))?;
        }
    }
    say(format_args!(
        "{} added, {} updated, {} unchanged, {} kept because they were edited here",
        outcome.added.len(),
        outcome.updated.len(),
        outcome.unchanged,
        outcome.conflicts.len()
    ))?;
    for conflict in &outcome.conflicts {
        say(format_args!("kept: {} {}", conflict.id, conflict.head))?;
    }
    let refused = import_gate::keep_as_drafts(store.as_ref(), drafts, now).await?;
    for taken in &outcome.taken {
        say(format_args!(
            "left out: {}, {} has its id or a former id of it",
            taken.id, taken.holder
        ))?;
    }
    Ok((store, refused + outcome.taken.len()))
}

/// Names the patterns that cost every line something, because they have no literal to look for, and those that are not run.
pub(super) fn say_slow(records: &[SeedRecord]) -> anyhow::Result<()> {
    let generation = feed::offline(records.to_vec())?;
    for (record, pattern) in generation.matcher.slow_patterns() {
        say(format_args!(
            "asked of every line: {record}, pattern {pattern} has no literal to look for"
        ))?;
    }
    for rejected in &generation.rejected {
        say(format_args!(
            "not run: {}, pattern {}: {}",
            rejected.id, rejected.pattern, rejected.reason
        ))?;
    }
    Ok(())
}

/// The records, when they keep the rules. What another system's files come to was checked when it was made.
pub(super) fn checked(records: Vec<SeedRecord>) -> anyhow::Result<Vec<SeedRecord>> {
    let broken = records.iter().filter(|record| !is_acceptable(record)).count();
    if broken > 0 {
        bail!(
            "{broken} of {} records break rules: nothing was imported",
            records.len()
        );
    }
    Ok(records)
}

/// The records, and the ids of those that were withdrawn where they come from.
fn read(path: &Path) -> anyhow::Result<(Vec<SeedRecord>, Vec<RecordId>)> {
    if path.extension().is_some_and(|end| end == "ndjson") {
        return read_lines(path);
    }
    Ok((bundle::read_path(path)?, Vec::new()))
}

fn read_lines(path: &Path) -> anyhow::Result<(Vec<SeedRecord>, Vec<RecordId>)> {
    let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let mut records = Vec::new();
    let mut withdrawn = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = bundle::parse_line(line)
            .with_context(|| format!("{}, line {}: not a line of an export", path.display(), index + 1))?;
        if line.withdrawn {
            withdrawn.push(line.id.clone());
        }
        records.push(SeedRecord {
            id: line.id,
            document: line.document,
            annex: line.annex,
        });
    }
    Ok((records, withdrawn))
}

/// Prints what is wrong; true when nothing refuses the record.
fn is_acceptable(record: &SeedRecord) -> bool {
    match check_texts(&record.id, &record.document, &record.annex) {
        Ok(_) => true,
        Err(violations) => {
            print_violations(record.id.as_str(), violations);
            false
        }
    }
}
