//! Files that are written while somebody reads them.

use std::fs::{self, File};
use std::io::{self, Read as _, Write};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use kb_core::text::Sha256;
use rustix::fs::{AtFlags, CWD, OFlags, StatVfsMountFlags, StatxFlags, statvfs, statx};

/// For all: nothing in it tells of the node's users.
pub(crate) const FOR_ALL: u32 = 0o644;
/// For the owner alone: reports hold lines of the kernel log.
pub(crate) const FOR_OWNER: u32 = 0o600;
/// Of a folder with files for all.
const SEARCHED_BY_ALL: u32 = 0o755;

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

/// What another process left unfinished longer ago than this, it will not finish.
pub(crate) const UNFINISHED: Duration = Duration::from_hours(1);

/// Where the file is written until it is whole: beside it. What killed processes left there is removed.
pub(crate) fn unfinished(path: &Path) -> io::Result<PathBuf> {
    let name = path
        .file_name()
        .ok_or_else(|| io::Error::other("this names no file"))?;
    let start = format!(".{}.", name.to_string_lossy());
    let own = path.with_file_name(format!("{start}{}", std::process::id()));
    // Of a process of the same number, which is gone: this one has it.
    let _ = fs::remove_file(&own);
    let folder = own.parent().filter(|folder| !folder.as_os_str().is_empty());
    let entries = fs::read_dir(folder.unwrap_or(Path::new(".")))
        .into_iter()
        .flatten();
    for entry in entries.filter_map(Result::ok) {
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix(&start));
        let is_unfinished = number.is_some_and(|number| number.parse::<u32>().is_ok());
        let age = || entry.metadata().ok()?.modified().ok()?.elapsed().ok();
        if is_unfinished && age().is_some_and(|age| age > UNFINISHED) {
            // It is in nobody's way; the next process tries again.
            let _ = fs::remove_file(entry.path());
        }
    }
    Ok(own)
}

/// Makes a folder that all users can search, and those above it that are not there. One that is there stays as it is.
pub(crate) fn make_folders(folder: &Path) -> io::Result<()> {
    if folder.as_os_str().is_empty() || folder.is_dir() {
        return Ok(());
    }
    if let Some(above) = folder.parent() {
        make_folders(above)?;
    }
    match fs::create_dir(folder) {
        // Another process was faster.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => Ok(()),
        Err(error) => Err(error),
        Ok(()) => {
            let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW;
            let made = fs::OpenOptions::new()
                .read(true)
                .custom_flags(flags.bits().cast_signed())
                .open(folder)?;
            add_mode(&made, SEARCHED_BY_ALL)
        }
    }
}

/// What the umask of whoever started this program has taken away. Some file systems know no modes, and refuse the change.
fn add_mode(file: &File, mode: u32) -> io::Result<()> {
    let mut permissions = file.metadata()?.permissions();
    if permissions.mode() & mode == mode {
        return Ok(());
    }
    permissions.set_mode(permissions.mode() & 0o7777 | mode);
    file.set_permissions(permissions)
}

/// Writes a file whole or not at all, readable as `mode` says, with the folders that it needs.
pub(crate) fn write_whole(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        make_folders(folder)?;
    }
    let unfinished = unfinished(path)?;
    let written = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(&unfinished)
        .and_then(|mut file| {
            add_mode(&file, mode)?;
            file.write_all(bytes)?;
            file.sync_all()
        })
        .and_then(|()| fs::rename(&unfinished, path));
    if written.is_err() {
        // The first error says more.
        let _ = fs::remove_file(&unfinished);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_killed_processes_left_is_removed_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let put = |name: &str, is_old: bool| {
            let file = File::create(folder.path().join(name)).unwrap();
            if is_old {
                let long_ago = file.metadata().unwrap().modified().unwrap() - UNFINISHED * 2;
                file.set_modified(long_ago).unwrap();
            }
        };
        put(".ledger.json.4000001", true);
        put(".ledger.json.4000002", true);
        // Perhaps still being written, and other files.
        put(".ledger.json.4000003", false);
        for other in [".other.json.4000001", ".ledger.json.swp", "ledger.json.4000001"] {
            put(other, true);
        }
        write_whole(&folder.path().join("ledger.json"), b"{}", FOR_OWNER).unwrap();
        let names = fs::read_dir(folder.path()).unwrap();
        let mut names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        assert_eq!(
            names,
            [
                ".ledger.json.4000003",
                ".ledger.json.swp",
                ".other.json.4000001",
                "ledger.json",
                "ledger.json.4000001"
            ]
        );
    }
}
