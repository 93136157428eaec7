//! One agent of a user at a time probes a node: an exclusive lock on a file, which ends with the process that holds it.
//! Another user's agent has another file, and is seen as somebody else's work on the GPUs.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;

/// Between two tries for a lock that another agent holds.
const PAUSE: Duration = Duration::from_millis(100);

/// A held lock. The file stays; what locks is the open descriptor, which std closes on exec.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum LockError {
    #[error("another agent (process {holder}) is probing this node; it holds {}", .path.display())]
    Held {
        /// What the other wrote into the file.
        holder: String,
        path: PathBuf,
    },
    #[error("cannot lock {}: {source}; name another file with --lock-file", .path.display())]
    File { path: PathBuf, source: io::Error },
}

/// The lock's default place: for root a folder that only root can write to (in `/run/lock` anybody could make the file
/// first and keep it), else a file of this user's own in the folder for temporary files.
pub(crate) fn default_path() -> PathBuf {
    let user = rustix::process::geteuid();
    if user.is_root() {
        return PathBuf::from("/run/peerless-agent/lock");
    }
    std::env::temp_dir().join(format!("peerless-agent-{}.lock", user.as_raw()))
}

/// Takes the lock, within `patience` where another agent holds it; then says who does.
pub(crate) fn acquire(path: &Path, patience: Duration) -> Result<Lock, LockError> {
    let start = Instant::now();
    let file = open(path).map_err(|source| refused(path, source))?;
    loop {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => break,
            Err(Errno::WOULDBLOCK) => {}
            Err(error) => return Err(refused(path, error.into())),
        }
        let left = patience.saturating_sub(start.elapsed());
        if left.is_zero() {
            return Err(LockError::Held {
                holder: holder(&file),
                path: path.to_owned(),
            });
        }
        std::thread::sleep(left.min(PAUSE));
    }
    let write_holder = |mut file: &File| -> io::Result<()> {
        file.set_len(0)?;
        file.rewind()?;
        writeln!(file, "{}", std::process::id())
    };
    write_holder(&file).map_err(|source| refused(path, source))?;
    Ok(Lock { _file: file })
}

fn refused(path: &Path, source: io::Error) -> LockError {
    LockError::File {
        path: path.to_owned(),
        source,
    }
}

/// Opens the file, and makes it where it is missing; its folder too, but nothing above that.
fn open(path: &Path) -> io::Result<File> {
    // Not through a link: in a folder that all can write to, another user could have laid one.
    let no_follow = i32::try_from(OFlags::NOFOLLOW.bits()).unwrap_or(0);
    let mut options = OpenOptions::new();
    options
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(no_follow);
    match (options.open(path), path.parent()) {
        (Err(error), Some(folder)) if error.kind() == io::ErrorKind::NotFound => {
            match DirBuilder::new().mode(0o755).create(folder) {
                // Another agent that starts at the same moment made it.
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
                _ => options.open(path),
            }
        }
        (opened, _) => opened,
    }
}

/// The number in the file. Anything else in it is not repeated: the message goes to a terminal.
fn holder(file: &File) -> String {
    let mut text = String::new();
    let _ = file.take(32).read_to_string(&mut text);
    let pid: Option<u32> = text.trim().parse().ok();
    pid.map_or_else(|| "of unknown number".to_owned(), |pid| pid.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_lock_names_the_holder_and_a_dropped_one_is_free() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let first = acquire(&path, Duration::ZERO).unwrap();
        let second = acquire(&path, Duration::ZERO).unwrap_err().to_string();
        assert!(second.contains(&std::process::id().to_string()), "{second}");
        drop(first);
        acquire(&path, Duration::ZERO).unwrap();
    }

    #[test]
    fn a_lock_that_is_given_up_in_time_is_had_and_one_that_is_kept_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let first = acquire(&path, Duration::ZERO).unwrap();
        let (start, patience) = (Instant::now(), PAUSE * 2);
        assert!(matches!(acquire(&path, patience), Err(LockError::Held { .. })));
        assert!(start.elapsed() >= patience, "given up too early");
        std::thread::scope(|scope| {
            let second = scope.spawn(|| acquire(&path, Duration::from_mins(1)));
            drop(first);
            second.join().unwrap().unwrap();
        });
    }

    #[test]
    fn the_folder_of_the_file_is_made_and_none_above_it() {
        let folder = tempfile::tempdir().unwrap();
        acquire(&folder.path().join("agent/lock"), Duration::ZERO).unwrap();
        let deep = folder.path().join("a/b/lock");
        assert!(matches!(
            acquire(&deep, Duration::ZERO),
            Err(LockError::File { .. })
        ));
    }

    #[test]
    fn what_others_wrote_into_the_file_is_not_repeated() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let held = acquire(&path, Duration::ZERO).unwrap();
        std::fs::write(&path, "\x1b[2J 4711").unwrap();
        let refused = acquire(&path, Duration::ZERO).unwrap_err().to_string();
        assert!(refused.contains("process of unknown number"), "{refused}");
        drop(held);
    }

    #[test]
    fn a_link_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        std::os::unix::fs::symlink(folder.path().join("elsewhere"), &path).unwrap();
        assert!(matches!(
            acquire(&path, Duration::ZERO),
            Err(LockError::File { .. })
        ));
    }
}
