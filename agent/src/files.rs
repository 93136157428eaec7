//! Files that are written while somebody reads them.

use std::fs::{self, File};
use std::io::{self, Read as _, Write};
use std::os::unix::fs::{DirBuilderExt as _, FileExt as _, OpenOptionsExt as _};
use std::path::Path;

use kb_core::text::Sha256;
use rustix::fs::{AtFlags, CWD, OFlags, StatVfsMountFlags, StatxFlags, statvfs, statx};

/// For all: nothing in it tells of the node's users.
pub(crate) const FOR_ALL: u32 = 0o644;
/// For the owner alone: reports hold lines of the kernel log.
pub(crate) const FOR_OWNER: u32 = 0o600;

/// Opens a pipe without waiting for whoever has its other end.
pub(crate) const NO_WAIT: i32 = OFlags::NONBLOCK.bits().cast_signed();
/// Most that is read of a file of the state folder, in bytes.
const MOST: u64 = 64 << 20;

/// A whole file of the state folder. A pipe, a device or a folder in its place, and a file without end, are errors.
pub(crate) fn read_plain(path: &Path) -> io::Result<Vec<u8>> {
    let file = fs::OpenOptions::new()
        .read(true)
        .custom_flags(NO_WAIT)
        .open(path)?;
    let about = file.metadata()?;
    if !about.is_file() {
        return Err(io::Error::other("it is no plain file"));
    }
    let mut bytes = Vec::new();
    file.take(MOST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST {
        return Err(io::Error::other(format!("it is larger than {} MiB", MOST >> 20)));
    }
    Ok(bytes)
}

/// Whether a folder's files can be replaced, as far as its file system says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Room {
    /// Nothing speaks against it.
    Some,
    Full,
    /// The folder is mounted read-only for this process; another may write to it.
    ReadOnlyHere,
    /// The file system is read-only for all, as after an error of its disk.
    ReadOnly,
}

/// Of a folder that is not there nothing is said.
pub(crate) fn room(folder: &Path) -> Room {
    let Ok(about) = statvfs(folder) else {
        return Room::Some;
    };
    if about.f_flag.contains(StatVfsMountFlags::RDONLY) {
        return match mounts_of_all(folder) {
            Some(options) if !has_read_only(&options) => Room::ReadOnlyHere,
            _ => Room::ReadOnly,
        };
    }
    if about.f_blocks > 0 && about.f_bavail == 0 {
        return Room::Full;
    }
    Room::Some
}

/// Options of the folder's file system that hold for all mounts of it (`proc_pid_mountinfo(5)`, field 11).
fn mounts_of_all(folder: &Path) -> Option<String> {
    let about = statx(CWD, folder, AtFlags::empty(), StatxFlags::MNT_ID).ok()?;
    let is_told = about.stx_mask & StatxFlags::MNT_ID.bits() != 0;
    let id = is_told.then(|| about.stx_mnt_id.to_string())?;
    let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
    let of_folder = |line: &&str| line.split(' ').next() == Some(id.as_str());
    let (_, of_all) = mounts.lines().find(of_folder)?.split_once(" - ")?;
    of_all.split(' ').nth(2).map(str::to_owned)
}

fn has_read_only(options: &str) -> bool {
    options.split(',').any(|option| option == "ro")
}

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
