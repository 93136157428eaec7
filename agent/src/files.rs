//! Files that are written while somebody reads them.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt as _, FileExt as _, OpenOptionsExt as _};
use std::path::Path;

use kb_core::text::Sha256;

/// For all: nothing in it tells of the node's users.
pub(crate) const FOR_ALL: u32 = 0o644;
/// For the owner alone: reports hold lines of the kernel log.
pub(crate) const FOR_OWNER: u32 = 0o600;

/// So many bytes before a place tell whether a file is the one that was read up to there: several lines, with their times.
const LAST_BYTES: u64 = 1024;

/// Digest of the bytes before a place. A file emptied and filled again has others there, or ends before it: an error.
pub(crate) fn last_bytes(file: &File, place: u64) -> io::Result<Sha256> {
    let start = place.saturating_sub(LAST_BYTES);
    let mut bytes = vec![0; usize::try_from(place - start).unwrap_or_default()];
    file.read_exact_at(&mut bytes, start)?;
    Ok(Sha256::of(bytes))
}

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
