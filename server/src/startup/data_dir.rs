//! The data folder: made when missing, and tried before the database is, for SQLite's own words for a folder that
//! cannot be written help nobody.

use std::fs::{self, OpenOptions};
use std::path::Path;

use super::StartupError;

/// Name of the file that is made and removed to see whether the folder can be written; this process's id ends it,
/// for another server may start in the same folder at the same time.
const TRIAL_FILE: &str = ".peerless-writable";

/// Makes sure that `path` is a folder that can be written.
pub(super) fn prepare(path: &Path) -> Result<(), StartupError> {
    fs::create_dir_all(path).map_err(|source| StartupError::DataDir {
        path: path.to_owned(),
        source,
    })?;
    let trial = path.join(format!("{TRIAL_FILE}-{}", std::process::id()));
    let read_only = |source| StartupError::ReadOnlyDataDir {
        path: path.to_owned(),
        source,
    };
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .open(&trial)
        .map_err(read_only)?;
    fs::remove_file(&trial).map_err(read_only)
}
