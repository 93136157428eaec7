//! What ranks leave each other: files in one folder, each there whole or not at all.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

/// Pause between two looks for a file of another rank.
const PAUSE: Duration = Duration::from_micros(50);

/// The folder of one communicator, as one rank sees it.
pub(crate) struct Messages {
    folder: PathBuf,
    rank: usize,
    aborted: AtomicBool,
}

impl Messages {
    pub(super) fn new(folder: PathBuf, rank: usize) -> Self {
        Self {
            folder,
            rank,
            aborted: AtomicBool::new(false),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    pub(super) fn leave(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        let unfinished = self.path(&format!("unfinished-{}", self.rank));
        fs::write(&unfinished, bytes)?;
        fs::rename(unfinished, self.path(name))
    }

    /// Waits for a message; `None` once the communicator was aborted.
    pub(super) fn find(&self, name: &str) -> Option<Vec<u8>> {
        let path: &Path = &self.path(name);
        loop {
            if let Ok(bytes) = fs::read(path) {
                return Some(bytes);
            }
            if self.aborted.load(Ordering::Acquire) {
                return None;
            }
            thread::sleep(PAUSE);
        }
    }

    /// Takes a message away that everybody has read.
    pub(super) fn forget(&self, name: &str) {
        // One that is gone has been taken away before.
        let _ = fs::remove_file(self.path(name));
    }

    pub(super) fn abort(&self) {
        self.aborted.store(true, Ordering::Release);
    }
}
