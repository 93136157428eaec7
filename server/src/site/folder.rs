//! The folder of a site. Its manifest names every file in it that is the site's, so that only these are ever replaced or removed.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Name of the manifest.
pub const MANIFEST: &str = "peerless-site.json";

/// Why the folder cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    #[error(
        "{} is not empty and `peerless site` did not write it (it has no {MANIFEST}): name another folder, or empty this one",
        .0.display()
    )]
    Foreign(PathBuf),
    #[error("{} is no folder: name one, or a path where one can be made", .0.display())]
    NoFolder(PathBuf),
    #[error("{} cannot be read as the manifest of a site ({reason}): name another folder, or empty this one", .file.display())]
    Manifest { file: PathBuf, reason: String },
    #[error("{}: {source}", .file.display())]
    Io { file: PathBuf, source: io::Error },
}

/// What a site says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Manifest {
    /// False while it is being written, and where that was broken off.
    pub(super) complete: bool,
    pub(super) program: String,
    /// Which state of the records it shows.
    pub(super) seq: i64,
    pub(super) files: BTreeSet<String>,
}

/// A folder that is being written.
#[derive(Debug)]
pub(super) struct Folder {
    root: PathBuf,
    before: BTreeSet<String>,
    manifest: Manifest,
    pub(super) bytes: u64,
}

impl Folder {
    /// Takes the folder, which says from now on that it is not complete. `files` are all that will be written.
    pub(super) fn begin(root: &Path, files: BTreeSet<String>, seq: i64) -> Result<Self, FolderError> {
        let before = own_files(root)?;
        let mut manifest = Manifest {
            complete: false,
            program: env!("CARGO_PKG_VERSION").to_owned(),
            seq,
            files: files.union(&before).cloned().collect(),
        };
        fs::create_dir_all(root).map_err(|source| io_error(root, source))?;
        write_manifest(root, &manifest)?;
        manifest.files = files;
        Ok(Self {
            root: root.to_owned(),
            before,
            manifest,
            bytes: 0,
        })
    }

    pub(super) fn put(&mut self, name: &str, bytes: &[u8]) -> Result<(), FolderError> {
        let file = self.root.join(name);
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder).map_err(|source| io_error(folder, source))?;
        }
        fs::write(&file, bytes).map_err(|source| io_error(&file, source))?;
        self.bytes += bytes.len() as u64;
        Ok(())
    }

    /// Removes what the site had before and has no more, and says that it is complete. Gives the size of the manifest.
    pub(super) fn end(mut self) -> Result<(usize, u64), FolderError> {
        for gone in self.before.difference(&self.manifest.files) {
            let file = self.root.join(gone);
            match fs::remove_file(&file) {
                Err(source) if source.kind() != io::ErrorKind::NotFound => {
                    return Err(io_error(&file, source));
                }
                _ => {}
            }
            // Only where nothing is in it.
            if let Some(folder) = file.parent().filter(|folder| *folder != self.root) {
                let _ = fs::remove_dir(folder);
            }
        }
        self.manifest.complete = true;
        let manifest = write_manifest(&self.root, &self.manifest)?;
        Ok((self.manifest.files.len() + 1, self.bytes + manifest))
    }
}

/// The files of the site that is there already; none where there is nothing.
fn own_files(root: &Path) -> Result<BTreeSet<String>, FolderError> {
    let entries = match fs::read_dir(root) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeSet::new()),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            return Err(FolderError::NoFolder(root.to_owned()));
        }
        Err(source) => return Err(io_error(root, source)),
    };
    let file = root.join(MANIFEST);
    let text = match fs::read(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return if entries.count() == 0 {
                Ok(BTreeSet::new())
            } else {
                Err(FolderError::Foreign(root.to_owned()))
            };
        }
        Err(source) => return Err(io_error(&file, source)),
    };
    let malformed = |reason: String| FolderError::Manifest {
        file: file.clone(),
        reason,
    };
    let manifest: Manifest = serde_json::from_slice(&text).map_err(|error| malformed(error.to_string()))?;
    let leads_out = |name: &&String| {
        !Path::new(name)
            .components()
            .all(|part| matches!(part, Component::Normal(_)))
    };
    match manifest.files.iter().find(leads_out) {
        Some(name) => Err(malformed(format!("{name:?} is not below the folder"))),
        None => Ok(manifest.files),
    }
}

/// Replaces the manifest at once: there is never half of one.
fn write_manifest(root: &Path, manifest: &Manifest) -> Result<u64, FolderError> {
    let file = root.join(MANIFEST);
    let text = serde_json::to_vec(manifest).map_err(|error| io_error(&file, error.into()))?;
    let new = root.join(format!("{MANIFEST}.new"));
    fs::write(&new, &text).map_err(|source| io_error(&new, source))?;
    fs::rename(&new, &file).map_err(|source| io_error(&file, source))?;
    Ok(text.len() as u64)
}

fn io_error(file: &Path, source: io::Error) -> FolderError {
    FolderError::Io {
        file: file.to_owned(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    fn names(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn is_complete(root: &Path) -> bool {
        let text = fs::read(root.join(MANIFEST)).unwrap();
        serde_json::from_slice::<Manifest>(&text).unwrap().complete
    }

    #[test]
    fn only_the_files_of_the_site_are_removed() {
        let root = TempDir::new().unwrap();
        let mut folder = Folder::begin(root.path(), names(&["a/one", "two"]), 1).unwrap();
        folder.put("a/one", b"1").unwrap();
        assert!(!is_complete(root.path()), "a break leaves it so");
        folder.put("two", b"2").unwrap();
        folder.end().unwrap();
        assert!(is_complete(root.path()));
        fs::write(root.path().join("CNAME"), "kb.example").unwrap();
        let mut folder = Folder::begin(root.path(), names(&["two"]), 2).unwrap();
        folder.put("two", b"22").unwrap();
        let (files, _) = folder.end().unwrap();
        assert_eq!(files, 2);
        assert!(fs::metadata(root.path().join("a")).is_err());
        assert!(fs::metadata(root.path().join("CNAME")).is_ok());
    }

    #[test]
    fn a_folder_of_others_is_refused() {
        let root = TempDir::new().unwrap();
        fs::write(root.path().join("thesis.tex"), "").unwrap();
        let refused = Folder::begin(root.path(), names(&["two"]), 1).unwrap_err();
        assert!(matches!(refused, FolderError::Foreign(_)), "{refused}");
        let file = root.path().join("thesis.tex");
        let refused = Folder::begin(&file, names(&["two"]), 1).unwrap_err();
        assert!(matches!(refused, FolderError::NoFolder(_)), "{refused}");
    }

    #[test]
    fn a_manifest_never_names_files_elsewhere() {
        let root = TempDir::new().unwrap();
        let manifest = r#"{"complete": true, "program": "1", "seq": 1, "files": ["../precious"]}"#;
        fs::write(root.path().join(MANIFEST), manifest).unwrap();
        let refused = Folder::begin(root.path(), names(&["two"]), 1).unwrap_err();
        assert!(refused.to_string().contains("not below the folder"), "{refused}");
    }
}
