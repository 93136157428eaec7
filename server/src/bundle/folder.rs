//! Records in a folder, or one record in its file.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use kb_core::annex;

use super::{ANNEX_END, BundleError, DOCUMENT_END, ManifestError, pair};
use crate::store::SeedRecord;

#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    #[error("{}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Bundle(#[from] BundleError),
    #[error("{}: {source}", path.display())]
    Manifest { path: PathBuf, source: ManifestError },
    #[error("{}: the document has no \"id\" that could be read", .0.display())]
    NoId(PathBuf),
}

/// Reads all records below a folder, or the one in a file (the annex is looked for beside it).
pub fn read_path(path: &Path) -> Result<Vec<SeedRecord>, FolderError> {
    let unreadable = |source| FolderError::Read {
        path: path.to_owned(),
        source,
    };
    if fs::metadata(path).map_err(unreadable)?.is_dir() {
        Ok(pair(read_files(path)?)?)
    } else {
        Ok(vec![read_one(path)?])
    }
}

/// All JSON files below a folder, by their paths from there, with `/`. Names with a dot first are no records (`.git`).
pub fn read_files(folder: &Path) -> Result<BTreeMap<String, Vec<u8>>, FolderError> {
    let mut files = BTreeMap::new();
    collect(folder, folder, &mut files)?;
    Ok(files)
}

fn collect(root: &Path, folder: &Path, files: &mut BTreeMap<String, Vec<u8>>) -> Result<(), FolderError> {
    let unreadable = |path: &Path| {
        let path = path.to_owned();
        move |source| FolderError::Read { path, source }
    };
    for entry in fs::read_dir(folder).map_err(unreadable(folder))? {
        let entry = entry.map_err(unreadable(folder))?;
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        let path = entry.path();
        let is_folder = fs::metadata(&path).map_err(unreadable(&path))?.is_dir();
        if is_folder {
            collect(root, &path, files)?;
        } else if path.extension().is_some_and(|end| end == "json") {
            let relative = path.strip_prefix(root).unwrap_or(&path);
            let name = relative.to_string_lossy().replace('\\', "/");
            files.insert(name, fs::read(&path).map_err(unreadable(&path))?);
        }
    }
    Ok(())
}

/// One file. Its own `id` names it, for the folders above may be anything.
fn read_one(path: &Path) -> Result<SeedRecord, FolderError> {
    let text = |path: &Path| {
        let bytes = fs::read(path).map_err(|source| FolderError::Read {
            path: path.to_owned(),
            source,
        })?;
        String::from_utf8(bytes).map_err(|_| BundleError::NotUtf8(path.display().to_string()).into())
    };
    let document: String = text(path)?;
    let id = kb_core::text::parse(&document)
        .ok()
        .and_then(|root| root.child("id").and_then(|node| node.as_str().map(str::to_owned)))
        .and_then(|id| id.parse().ok())
        .ok_or_else(|| FolderError::NoId(path.to_owned()))?;
    let stem = path.to_string_lossy();
    let stem = stem.strip_suffix(DOCUMENT_END).unwrap_or(&stem);
    let annex_path = PathBuf::from(format!("{stem}{ANNEX_END}"));
    let annex = match text(&annex_path) {
        Ok(annex) => annex,
        Err(FolderError::Read { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            annex::EMPTY.to_owned()
        }
        Err(error) => return Err(error),
    };
    Ok(SeedRecord { id, document, annex })
}
