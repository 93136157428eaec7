//! Whether a state folder is one in which a daemon keeps a ledger, or would if it could.

use std::path::Path;
use std::{fs, io};

use kb_core::report::Report;

use crate::files::{Room, read_plain, room};

use super::file::{FOR_OTHERS, LOCK};
use super::{LAST_LOOK, LedgerFile};

impl LedgerFile {
    /// True where a run has to ask it: a daemon kept one or nobody could, or a named folder (`is_named`) cannot be made.
    pub(crate) fn is_expected(&self, is_named: bool) -> bool {
        let unmade = || {
            let above = self.folder.ancestors().find(|folder| is_there(folder));
            above.is_some_and(|folder| unwritable(folder).is_some())
        };
        self.was_kept() || self.unwritable().is_some() || (is_named && unmade())
    }

    /// True where a daemon has kept one, or has begun to: there is a file of its own, or a result that was kept with one.
    pub(super) fn was_kept(&self) -> bool {
        let files = [self.path(), self.folder.join(FOR_OTHERS), self.folder.join(LOCK)];
        files.iter().any(|path| is_there(path)) || self.has_result_of_one()
    }

    pub(super) fn has_result_of_one(&self) -> bool {
        let result = read_plain(&self.folder.join(LAST_LOOK)).ok();
        let result = result.and_then(|bytes| serde_json::from_slice::<Report>(&bytes).ok());
        result.is_some_and(|report| report.health.is_some())
    }

    /// Why nothing can be kept in a folder that is there: a daemon that runs leaves no file in it.
    pub(super) fn unwritable(&self) -> Option<String> {
        is_there(&self.folder).then(|| unwritable(&self.folder))?
    }
}

fn unwritable(folder: &Path) -> Option<String> {
    let why = match room(folder) {
        _ if !folder.is_dir() => "it leads to no folder",
        Room::Full => "its file system is full",
        Room::ReadOnly | Room::ReadOnlyHere => "its file system is read-only",
        Room::Some => return None,
    };
    Some(format!("{} cannot be written: {why}", folder.display()))
}

/// A link that leads nowhere is there, and so is what cannot be seen.
fn is_there(path: &Path) -> bool {
    fs::symlink_metadata(path).map_or_else(|error| error.kind() != io::ErrorKind::NotFound, |_| true)
}
