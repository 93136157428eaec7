//! `peerless new`, `edit` and `publish`: what the form of a record does, on a terminal with the database of this machine.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;

use anyhow::{Context as _, bail};
use clap::Args;
use kb_core::compare::Conflict;
use kb_core::ids::{RecordId, Revision};
use kb_core::text::{Part, Severity, Violation};

use super::{conflict_text, open_existing, say};
use crate::clock::{Clock as _, SystemClock};
use crate::config::DataArgs;
use crate::domain::curate::{self, Approver, CurateError, Draft, Gate};
use crate::domain::records::near;
use crate::feed;
use crate::store::{By, Expected, Store};

const HELP: &str = "\
The document and the annex are opened in $VISUAL or $EDITOR as two files. What the check refuses is not saved: the files stay, \
their folder is named, and --from opens them again. Where somebody else saved meanwhile, both changes are put together field by field; fields that both \
changed are named, and nothing is saved.

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
        let id = &arguments.id;
        bail!("there is a record {id}: {}", call("edit", id, &arguments.data));
    }
    let texts = curate::begun(&arguments.id);
    edit_texts(store.as_ref(), ("new", &arguments), (Expected::Absent, texts)).await
}

/// Changes the newest revision of a record.
pub(super) async fn edit(arguments: EditArgs) -> anyhow::Result<ExitCode> {
    let store = open_existing(&arguments.data).await?;
    let id = &arguments.id;
    let Some(status) = store.status(id).await? else {
        bail!("{}", not_there(&store, &arguments).await?);
    };
    let texts = texts(store.as_ref(), id, status.head).await?;
    edit_texts(
        store.as_ref(),
        ("edit", &arguments),
        (Expected::Head(status.head), texts),
    )
    .await
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
    (command, arguments): (&str, &EditArgs),
    (expected, base): (Expected, (String, String)),
) -> anyhow::Result<ExitCode> {
    let folder = tempfile::Builder::new().prefix("peerless-").tempdir()?;
    let again = call(command, &arguments.id, &arguments.data);
    let name = arguments.id.as_str().rsplit('/').next().unwrap_or("record");
    let (document, annex) = (
        folder.path().join(format!("{name}.json")),
        folder.path().join(format!("{name}.ext.json")),
    );
    let first = match &arguments.from {
        Some(folder) => (written(folder, &document)?, written(folder, &annex)?),
        None => base.clone(),
    };
    std::fs::write(&document, first.0)?;
    std::fs::write(&annex, first.1)?;
    open_editor(&document, &annex)?;
    let mine = (
        std::fs::read_to_string(&document)?,
        std::fs::read_to_string(&annex)?,
    );
    if mine == base && expected != Expected::Absent {
        say("nothing was changed")?;
        return Ok(ExitCode::SUCCESS);
    }
    let refused = match save(store, arguments, expected, mine.clone()).await {
        Err(CurateError::Stale(Some(head))) => {
            let theirs = texts(store, &arguments.id, head).await?;
            match curate::together(&base, &mine, &theirs) {
                Ok((merged, conflicts)) if conflicts.is_empty() => {
                    say(format_args!(
                        "{head} was saved meanwhile: both changes are put together"
                    ))?;
                    save(store, arguments, Expected::Head(head), merged).await
                }
                Ok((_, conflicts)) => {
                    say(format_args!("{head} was saved meanwhile, and changed the same:"))?;
                    for conflict in conflicts {
                        say(contradiction(&conflict))?;
                    }
                    return Ok(kept(folder, &again));
                }
                Err(error) => Err(error),
            }
        }
        saved => saved,
    };
    match refused {
        Ok(revision) => {
            let id = &arguments.id;
            let publish = call("publish", id, &arguments.data);
            say(format_args!(
                "{id} {revision} is saved as a draft; next: {publish}"
            ))?;
            Ok(ExitCode::SUCCESS)
        }
        Err(CurateError::Invalid(violations)) => {
            tell(&violations)?;
            Ok(kept(folder, &again))
        }
        Err(error) => {
            eprintln!("peerless: {error}");
            Ok(kept(folder, &again))
        }
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

async fn texts(store: &dyn Store, id: &RecordId, revision: Revision) -> anyhow::Result<(String, String)> {
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

/// A file of a folder that was kept.
fn written(folder: &Path, file: &Path) -> anyhow::Result<String> {
    let file = folder.join(file.file_name().unwrap_or_default());
    std::fs::read_to_string(&file).with_context(|| format!("--from: {}", file.display()))
}

/// What was written is not lost.
fn kept(folder: tempfile::TempDir, again: &str) -> ExitCode {
    let folder = folder.keep();
    let folder = folder.display();
    eprintln!(
        "peerless: nothing is saved; what you wrote is in {folder}; to go on with it:\n  {again} --from {folder}"
    );
    ExitCode::FAILURE
}

fn call(command: &str, id: &RecordId, data: &DataArgs) -> String {
    conflict_text::call(command, Path::new(id.as_str()), data)
}
