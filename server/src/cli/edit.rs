//! `peerless new`, `edit` and `publish`: what the form of a record does, on a terminal with the database of this machine.

mod folder;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;

use anyhow::{Context as _, bail};
use clap::Args;
use kb_core::compare::Conflict;
use kb_core::ids::{RecordId, Revision};
use kb_core::terminal::harmless_lines;
use kb_core::text::{Part, Severity, Violation};

use folder::Folder;

use super::{conflict_text, explain, open_existing, say};
use crate::clock::{Clock as _, SystemClock};
use crate::config::DataArgs;
use crate::domain::curate::{self, Approver, CurateError, Draft, Gate, Pair};
use crate::domain::records::near;
use crate::feed;
use crate::store::{By, Expected, Store};

const HELP: &str = "\
The document and the annex are opened in $VISUAL or $EDITOR as two files. What the check refuses is not saved: the files stay, \
their folder is named, and --from opens them again. Where somebody else saved meanwhile, both changes are put together field by field. Where both changed \
the same fields, these are named and nothing is saved: the files then have all other changes of both, and of these fields what you wrote.

Exit code: 0 saved or unchanged, 1 refused, 64 the call makes no sense.";

/// Which record to change.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct EditArgs {
    /// Its id
    #[arg(value_name = "ID")]
    id: RecordId,
    /// Why, for the list of revisions
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
    /// Go on with what was refused before: the folder that was named then
    #[arg(long, value_name = "DIR")]
    from: Option<PathBuf>,
    #[command(flatten)]
    data: DataArgs,
}

/// Which record to publish.
#[derive(Debug, Args)]
pub struct PublishArgs {
    /// Its id
    #[arg(value_name = "ID")]
    id: RecordId,
    /// The revision [default: the newest]; an older one brings back what it said
    #[arg(long, value_name = "N")]
    revision: Option<u32>,
    /// Publish although the gate refuses it, and why; shown with the record
    #[arg(long, value_name = "REASON")]
    force: Option<String>,
    #[command(flatten)]
    data: DataArgs,
}

/// Begins a record that there is not.
pub(super) async fn new(arguments: EditArgs) -> anyhow::Result<ExitCode> {
    let store = open_existing(&arguments.data).await?;
    if store.status(&arguments.id).await?.is_some() {
        let from = arguments.from.as_deref();
        let edit = again("edit", &arguments, from);
        bail!("there is a record {}: {edit}", arguments.id);
    }
    edit_texts(store.as_ref(), &arguments, None).await
}

/// Changes the newest revision of a record.
pub(super) async fn edit(arguments: EditArgs) -> anyhow::Result<ExitCode> {
    let store = open_existing(&arguments.data).await?;
    let Some(status) = store.status(&arguments.id).await? else {
        bail!("{}", not_there(&store, &arguments).await?);
    };
    edit_texts(store.as_ref(), &arguments, Some(status.head)).await
}

/// Says which records are near an id that none has.
async fn not_there(store: &Arc<dyn Store>, arguments: &EditArgs) -> anyhow::Result<String> {
    let id = &arguments.id;
    let generation = feed::load(store.clone()).await?.knowledge().current();
    let asked = id.to_string();
    let near = tokio::task::spawn_blocking(move || near(&generation, &asked)).await?;
    let near: Vec<String> = near.iter().map(ToString::to_string).collect();
    let near = if near.is_empty() {
        String::new()
    } else {
        format!("; near it: {}", near.join(", "))
    };
    let new = call("new", id, &arguments.data);
    Ok(format!("there is no record {id}{near}; to begin it: {new}"))
}

async fn edit_texts(
    store: &dyn Store,
    arguments: &EditArgs,
    head: Option<Revision>,
) -> anyhow::Result<ExitCode> {
    let id = &arguments.id;
    let kept = arguments.from.as_ref();
    let kept = kept.map(|folder| folder::kept(folder, id)).transpose()?;
    // Of what was kept, the base is the revision that it was written from: others may have saved since.
    let revision = kept.as_ref().map_or(head, |(revision, _)| *revision);
    let base = texts(store, id, revision).await?;
    let first = kept.as_ref().map_or(&base, |(_, written)| written);
    let mut folder = Folder::with(id, revision, first)?;
    open_editor(&folder.document, &folder.annex)?;
    match save_written(store, arguments, &mut folder, &base).await {
        Ok(Ended::Saved(revision)) => {
            let publish = call("publish", id, &arguments.data);
            say(format_args!(
                "{id} {revision} is saved as a draft; next: {publish}"
            ))?;
            Ok(ExitCode::SUCCESS)
        }
        Ok(Ended::Unchanged) => {
            say("nothing was changed")?;
            Ok(ExitCode::SUCCESS)
        }
        Ok(Ended::Refused) => Ok(keep(folder, arguments)),
        Err(error) => {
            eprintln!("peerless: {}", harmless_lines(&explain(&error)));
            Ok(keep(folder, arguments))
        }
    }
}

enum Ended {
    Saved(Revision),
    Unchanged,
    /// Why was said.
    Refused,
}

/// Saves what stands in the folder, which was written from `base`.
async fn save_written(
    store: &dyn Store,
    arguments: &EditArgs,
    folder: &mut Folder,
    base: &Pair,
) -> anyhow::Result<Ended> {
    let mine = folder.texts()?;
    let expected = folder.revision().map_or(Expected::Absent, Expected::Head);
    if mine == *base && expected != Expected::Absent {
        return Ok(Ended::Unchanged);
    }
    let mut saved = save(store, arguments, expected, mine.clone()).await;
    if let Err(CurateError::Stale(Some(head))) = saved {
        let theirs = texts(store, &arguments.id, Some(head)).await?;
        saved = match curate::together(base, &mine, &theirs) {
            Ok((merged, conflicts)) if conflicts.is_empty() => {
                folder.put(Some(head), &merged)?;
                say(format_args!(
                    "{head} was saved meanwhile: both changes are put together"
                ))?;
                save(store, arguments, Expected::Head(head), merged).await
            }
            Ok((_, conflicts)) => {
                // Where both changed the same, the merged texts have what the last of the three says.
                let (merged, _) = curate::together(base, &theirs, &mine)?;
                folder.put(Some(head), &merged)?;
                say(format_args!("{head} was saved meanwhile, and changed the same:"))?;
                for conflict in conflicts {
                    say(contradiction(&conflict))?;
                }
                say("the files have what you wrote there, and all else that both changed")?;
                return Ok(Ended::Refused);
            }
            Err(error) => Err(error),
        };
    }
    match saved {
        Ok(revision) => Ok(Ended::Saved(revision)),
        Err(CurateError::Invalid(violations)) => {
            tell(&violations)?;
            Ok(Ended::Refused)
        }
        Err(error) => Err(error.into()),
    }
}

async fn save(
    store: &dyn Store,
    arguments: &EditArgs,
    expected: Expected,
    (document, annex): (String, String),
) -> Result<Revision, CurateError> {
    let draft = Draft {
        id: arguments.id.clone(),
        document,
        annex: Some(annex),
        expected,
        by: By::command_line(),
        note: arguments.note.clone(),
    };
    let accepted = curate::save(store, draft, None, SystemClock.now()).await?;
    // Who reads them decides what to do about them; a terminal that is gone is no reason to fail after the save.
    let _ = tell(&accepted.warnings);
    Ok(accepted.revision)
}

/// Publishes through the gate.
pub(super) async fn publish(arguments: PublishArgs) -> anyhow::Result<ExitCode> {
    let store = open_existing(&arguments.data).await?;
    let id = &arguments.id;
    let gate = match &arguments.force {
        Some(reason) if reason.trim().is_empty() => bail!("--force says why"),
        Some(reason) => Gate::Forced(reason.trim().to_owned()),
        None => Gate::Asked(feed::load(store.clone()).await?.knowledge()),
    };
    let approver = Approver::system(By::command_line());
    let which = (id, arguments.revision.map(Revision));
    let now = SystemClock.now();
    match curate::publish(store.as_ref(), (&gate, None), which, (&approver, None), now).await {
        Ok(done) => {
            say(format_args!(
                "{id} {} is published as change {}",
                done.revision, done.seq
            ))?;
            Ok(ExitCode::SUCCESS)
        }
        Err(CurateError::Invalid(findings) | CurateError::Gate(findings)) => {
            tell(&findings)?;
            eprintln!("peerless: {id} is not published");
            Ok(ExitCode::FAILURE)
        }
        Err(error) => Err(error.into()),
    }
}

/// The texts of a revision; of no revision, those that a record begins with.
async fn texts(store: &dyn Store, id: &RecordId, revision: Option<Revision>) -> anyhow::Result<Pair> {
    let Some(revision) = revision else {
        return Ok(curate::begun(id));
    };
    let texts = store.revision(id, revision).await?;
    let texts = texts.with_context(|| format!("{id} has no revision {revision}"))?;
    Ok((texts.document, texts.annex))
}

/// Opens both files in the editor of whoever calls; the variable may hold arguments, as `code --wait`.
fn open_editor(document: &Path, annex: &Path) -> anyhow::Result<()> {
    let editor = ["VISUAL", "EDITOR"]
        .into_iter()
        .filter_map(|name| std::env::var(name).ok())
        .find(|editor| !editor.trim().is_empty());
    let Some(editor) = editor else {
        bail!("neither VISUAL nor EDITOR names an editor");
    };
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or_default();
    let status = Command::new(program)
        .args(words)
        .arg(document)
        .arg(annex)
        .status();
    let status = status.with_context(|| format!("the editor {program:?} cannot be started"))?;
    if !status.success() {
        bail!("the editor {program:?} failed: nothing is saved");
    }
    Ok(())
}

fn contradiction(conflict: &Conflict) -> String {
    let told = |value: &Option<String>| value.clone().unwrap_or_else(|| "nothing".to_owned());
    format!(
        "{} {}\n  before: {}\n  theirs: {}\n  yours:  {}",
        part_name(conflict.part),
        conflict.pointer,
        told(&conflict.base),
        told(&conflict.theirs),
        told(&conflict.mine)
    )
}

fn tell(violations: &[Violation]) -> std::io::Result<()> {
    for violation in violations {
        let kind = match violation.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let place = format!("{} {}", part_name(violation.part), violation.pointer);
        say(format_args!("{kind}: {place}: {}", violation.reason))?;
        if !violation.fix.is_empty() {
            say(format_args!("  {}", violation.fix))?;
        }
    }
    Ok(())
}

pub(super) fn part_name(part: Part) -> &'static str {
    match part {
        Part::Document => "document",
        Part::Annex => "annex",
    }
}

/// What was written is not lost.
fn keep(folder: Folder, arguments: &EditArgs) -> ExitCode {
    let command = folder.revision().map_or("new", |_| "edit");
    let folder = folder.keep();
    let again = again(command, arguments, Some(&folder));
    let folder = folder.display();
    eprintln!("peerless: nothing is saved; what you wrote is in {folder}; to go on with it:\n  {again}");
    ExitCode::FAILURE
}

/// The call that edits these texts again.
fn again(command: &str, arguments: &EditArgs, from: Option<&Path>) -> String {
    let call = call(command, &arguments.id, &arguments.data);
    match from {
        Some(folder) => format!(
            "{call} --from {}",
            conflict_text::quoted(&folder.to_string_lossy())
        ),
        None => call,
    }
}

fn call(command: &str, id: &RecordId, data: &DataArgs) -> String {
    conflict_text::call(command, Path::new(id.as_str()), data)
}
