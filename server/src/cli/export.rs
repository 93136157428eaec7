//! `peerless export`.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use kb_core::ids::{RecordId, Seq};

use super::export_folder::{self, FolderArgs};
use super::import::System;
use super::open_existing;
use crate::bundle::Line;
use crate::bundle::deadends::to_canon;
use crate::config::DataArgs;
use crate::store::{FeedStore, RecordStore, RevisionTexts, Store};

const PAGE: u32 = 200;

const HELP: &str = "\
Into a folder that was exported before, only what nobody changed there is written over; what was changed is named and kept. \
`peerless import DIR` takes such changes into the database.

Examples:
  peerless export > records.ndjson
  peerless export our-records --namespace local
  peerless export everything";

/// What to write, and where.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct ExportArgs {
    /// Write records that came from another system as its files, into DIR
    #[arg(long, value_enum, value_name = "SYSTEM", requires = "folder", conflicts_with_all = ["namespace", "domain", "overwrite"])]
    to: Option<System>,
    /// Folder for the records as files, in the layout of kb-seed; made when it is missing. Without it they are written as lines
    /// to standard output
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
    #[command(flatten)]
    files: FolderArgs,
    #[command(flatten)]
    data: DataArgs,
}

pub(super) async fn run(arguments: &ExportArgs) -> anyhow::Result<ExitCode> {
    let store = open_existing(&arguments.data).await?;
    match (arguments.to, &arguments.folder) {
        (Some(System::Deadends), Some(folder)) => canons(store.as_ref(), folder).await,
        (None, Some(folder)) => export_folder::run(store.as_ref(), folder, &arguments.files).await,
        _ => lines(store.as_ref()).await,
    }
}

/// Records that came from deadends.dev, as its files.
async fn canons(store: &dyn FeedStore, folder: &Path) -> anyhow::Result<ExitCode> {
    let (mut written, mut others) = (0, 0);
    let mut after = Seq::default();
    loop {
        let page = store.feed(after, PAGE).await?;
        for texts in page.changes.into_iter().filter_map(|change| change.published) {
            let Some(canon) = to_canon(&texts.document, &texts.annex) else {
                others += 1;
                continue;
            };
            let path = folder.join(&canon.file);
            let shown = || path.display().to_string();
            std::fs::create_dir_all(path.parent().unwrap_or(folder)).with_context(shown)?;
            std::fs::write(&path, canon.text).with_context(shown)?;
            written += 1;
        }
        if !page.more {
            break;
        }
        after = page.reaches;
    }
    eprintln!(
        "{written} canons written to {}, {others} records came from elsewhere",
        folder.display()
    );
    Ok(ExitCode::SUCCESS)
}

/// The texts that readers saw last of a record that was withdrawn.
async fn withdrawn_texts(store: &dyn RecordStore, id: &RecordId) -> anyhow::Result<Option<RevisionTexts>> {
    let status = store.status(id).await?;
    let Some(revision) = status.and_then(|status| status.published) else {
        return Ok(None);
    };
    Ok(store.revision(id, revision).await?)
}

async fn lines(store: &dyn Store) -> anyhow::Result<ExitCode> {
    let mut output = std::io::stdout().lock();
    published_lines(store, |line| {
        serde_json::to_writer(&mut output, &line)?;
        Ok(output.write_all(b"\n")?)
    })
    .await?;
    Ok(ExitCode::SUCCESS)
}

/// Every record that readers see, and those that they saw once, in the order of their changes.
pub(super) async fn published_lines(
    store: &dyn Store,
    mut take: impl FnMut(Line) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut after = Seq::default();
    loop {
        let page = store.feed(after, PAGE).await?;
        for change in page.changes {
            let withdrawn = change.published.is_none();
            let texts = match change.published {
                Some(published) => Some(published),
                None => withdrawn_texts(store, &change.id).await?,
            };
            let Some(texts) = texts else {
                continue;
            };
            take(Line {
                id: change.id,
                revision: texts.meta.revision,
                document: texts.document,
                annex: texts.annex,
                withdrawn,
            })?;
        }
        if !page.more {
            return Ok(());
        }
        after = page.reaches;
    }
}
