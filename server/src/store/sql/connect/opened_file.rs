//! Which file a SQLite database was opened as: a path may lead to another one later.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::store::StoreError;

/// The file, as its device and inode number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::store) struct OpenedFile {
    path: PathBuf,
    device: u64,
    inode: u64,
}

impl OpenedFile {
    pub(super) fn at(path: &Path) -> Result<Self, StoreError> {
        let found = std::fs::metadata(path)
            .map_err(|error| StoreError::Moved(format!("{}: {error}", path.display())))?;
        Ok(Self::of(path, &found))
    }

    fn of(path: &Path, found: &Metadata) -> Self {
        Self {
            path: path.to_owned(),
            device: found.dev(),
            inode: found.ino(),
        }
    }

    /// Refuses when the path leads to another file, or to none.
    pub(in crate::store) fn check(&self) -> Result<(), StoreError> {
        let now = Self::at(&self.path)?;
        if now == *self {
            return Ok(());
        }
        Err(StoreError::Moved(format!(
            "{}: another file has its place; stop the server, put the right file there, and start it again",
            self.path.display()
        )))
    }
}
