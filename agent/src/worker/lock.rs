//! One agent of a user at a time probes a node: an exclusive lock on a file, which ends with the process that holds it.
//! Another user's agent has another file, and is seen as somebody else's work on the GPUs.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;

/// A held lock. The file stays; what locks is the open descriptor, which std closes on exec.
#[derive(Debug)]
pub(crate) struct Lock {
    _file: File,
}

/// Why the lock is not held.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LockError {
    /// Another agent holds it.
    #[error("another agent (process {holder}) is probing this node; it holds {}", .path.display())]
    Held {
        /// What the other wrote into the file.
        holder: String,
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be used.
    #[error("cannot lock {}: {source}; name another file with --lock-file", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// Where the lock lies unless the operator says otherwise: `/run/lock` for root, else a file of this user's own in
/// the folder for temporary files.
pub(crate) fn default_path() -> PathBuf {
    let user = rustix::process::geteuid();
    let system = Path::new("/run/lock");
    if user.is_root() && system.is_dir() {
        return system.join("peerless-agent.lock");
    }
    std::env::temp_dir().join(format!("peerless-agent-{}.lock", user.as_raw()))
}

/// Takes the lock, or says who has it.
pub(crate) fn acquire(path: &Path) -> Result<Lock, LockError> {
    let refused = |source: io::Error| LockError::File {
        path: path.to_owned(),
        source,
    };
    // Not through a link: in a folder that all can write to, another user could have laid one.
    let no_follow = i32::try_from(OFlags::NOFOLLOW.bits()).unwrap_or(0);
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .custom_flags(no_follow)
        .open(path)
        .map_err(refused)?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {}
        Err(Errno::WOULDBLOCK) => {
            return Err(LockError::Held {
                holder: holder(&file),
                path: path.to_owned(),
            });
        }
        Err(error) => return Err(refused(error.into())),
    }
    let write_holder = |mut file: &File| -> io::Result<()> {
        file.set_len(0)?;
        file.rewind()?;
        writeln!(file, "{}", std::process::id())
    };
    write_holder(&file).map_err(refused)?;
    Ok(Lock { _file: file })
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
        let first = acquire(&path).unwrap();
        let second = acquire(&path).unwrap_err().to_string();
        assert!(second.contains(&std::process::id().to_string()), "{second}");
        drop(first);
        acquire(&path).unwrap();
    }

    #[test]
    fn what_others_wrote_into_the_file_is_not_repeated() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let held = acquire(&path).unwrap();
        std::fs::write(&path, "\x1b[2J 4711").unwrap();
        let refused = acquire(&path).unwrap_err().to_string();
        assert!(refused.contains("process of unknown number"), "{refused}");
        drop(held);
    }

    #[test]
    fn a_link_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        std::os::unix::fs::symlink(folder.path().join("elsewhere"), &path).unwrap();
        assert!(matches!(acquire(&path), Err(LockError::File { .. })));
    }
}
