//! The folder in which the texts of a record are written, and which is kept when they are not saved.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use kb_core::ids::{RecordId, Revision};
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use crate::domain::curate::Pair;

/// No text of a record has this name: those end in `.json`.
const BASE: &str = "written-from";

/// What the texts of a folder were written from. Without it what others saved since would be taken for what the writer changed.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Base {
    id: RecordId,
    /// Absent where there was no such record yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    revision: Option<Revision>,
}

pub(super) struct Folder {
    place: TempDir,
    base: Base,
    pub(super) document: PathBuf,
    pub(super) annex: PathBuf,
}

impl Folder {
    pub(super) fn with(id: &RecordId, revision: Option<Revision>, texts: &Pair) -> anyhow::Result<Self> {
        let place = tempfile::Builder::new().prefix("peerless-").tempdir()?;
        let (document, annex) = files(place.path(), id);
        let base = Base {
            id: id.clone(),
            revision,
        };
        let mut made = Self {
            place,
            base,
            document,
            annex,
        };
        made.put(revision, texts)?;
        Ok(made)
    }

    /// Puts texts in place of those that are there.
    pub(super) fn put(&mut self, revision: Option<Revision>, texts: &Pair) -> anyhow::Result<()> {
        replace(&self.document, &texts.0)?;
        replace(&self.annex, &texts.1)?;
        self.base.revision = revision;
        // Last: texts beside an older revision are merged again; beside a newer one they would undo what others saved.
        replace(&self.place.path().join(BASE), &serde_json::to_string(&self.base)?)
    }

    pub(super) fn texts(&self) -> anyhow::Result<Pair> {
        Ok((read(&self.document)?, read(&self.annex)?))
    }

    pub(super) fn revision(&self) -> Option<Revision> {
        self.base.revision
    }

    pub(super) fn keep(self) -> PathBuf {
        self.place.keep()
    }
}

/// What a folder holds that was kept, and the revision that its texts were written from.
pub(super) fn kept(folder: &Path, id: &RecordId) -> anyhow::Result<(Option<Revision>, Pair)> {
    let file = folder.join(BASE);
    let said = || {
        format!(
            "--from: {} must say which revision the texts were written from; without it, open the record with `peerless edit {id}` and \
             copy what you wrote into it",
            file.display()
        )
    };
    let base: Base = serde_json::from_str(&read(&file).with_context(said)?).with_context(said)?;
    ensure!(
        base.id == *id,
        "--from: the texts in {} are of {}, not of {id}",
        folder.display(),
        base.id
    );
    let (document, annex) = files(folder, id);
    let texts = || Ok((read(&document)?, read(&annex)?));
    Ok((
        base.revision,
        texts().map_err(|error: anyhow::Error| error.context("--from"))?,
    ))
}

fn files(folder: &Path, id: &RecordId) -> (PathBuf, PathBuf) {
    let name = id.as_str().rsplit('/').next().unwrap_or("record");
    (
        folder.join(format!("{name}.json")),
        folder.join(format!("{name}.ext.json")),
    )
}

fn read(file: &Path) -> anyhow::Result<String> {
    std::fs::read_to_string(file).with_context(|| format!("{} cannot be read", file.display()))
}

/// A full disk leaves the file as it was.
fn replace(file: &Path, text: &str) -> anyhow::Result<()> {
    let new = file.with_extension("new");
    std::fs::write(&new, text)
        .and_then(|()| std::fs::rename(&new, file))
        .with_context(|| format!("{} cannot be written", file.display()))
}
