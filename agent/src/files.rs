//! Files that others read while they are written.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;

/// For all: nothing in it tells of the node's users.
pub(crate) const FOR_ALL: u32 = 0o644;
/// For the owner alone: reports hold lines of the kernel log.
pub(crate) const FOR_OWNER: u32 = 0o600;

/// Writes a file whole or not at all, readable as `mode` says, with the folders that it needs.
pub(crate) fn write_whole(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let name = path
        .file_name()
        .ok_or_else(|| io::Error::other("this names no file"))?;
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::DirBuilder::new().recursive(true).mode(0o755).create(folder)?;
    }
    let unfinished = path.with_file_name(format!(".{}.{}", name.to_string_lossy(), std::process::id()));
    // Left by a process of the same number that was killed.
    let _ = fs::remove_file(&unfinished);
    let written = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(&unfinished)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&unfinished, path));
    if written.is_err() {
        // The first error says more.
        let _ = fs::remove_file(&unfinished);
    }
    written
}
