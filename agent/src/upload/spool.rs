//! The folder of reports that no server has yet. A file is written whole or not at all.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use kb_core::ids::ReportId;

use crate::files::{UNFINISHED, make_folders};

use super::{Body, Next, UploadError, Uploader, body};

const SUFFIX: &str = ".json.zst";
/// Given to a report that the server will never take, so that it is not sent again.
const REJECTED_SUFFIX: &str = ".json.zst.rejected";
/// Reports that leave the spool at once, at most: the rest go with the next upload.
const MOST_AT_ONCE: usize = 32;

/// 2026-01-01: nothing was kept by this program before. A clock without a battery stands at 1970.
const BEFORE_THIS_PROGRAM: Duration = Duration::from_hours(24 * 20_454);

#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// All files together, in bytes.
    pub(crate) bytes: u64,
    pub(crate) age: Duration,
}

/// The folder; it is made when it is first needed.
pub(crate) struct Spool {
    folder: PathBuf,
    limits: Limits,
}

pub(crate) struct Drained {
    pub(crate) said: Vec<String>,
    pub(crate) refusal: Option<UploadError>,
}

pub(crate) struct Kept {
    pub(crate) path: PathBuf,
    /// What had to go for it, one line each.
    pub(crate) removed: Vec<String>,
}

impl Spool {
    /// The folder named, else the default: the system's for root, else one of the user's own.
    pub(crate) fn at(folder: Option<PathBuf>, limits: Limits) -> Self {
        Self {
            folder: folder.unwrap_or_else(default_folder),
            limits,
        }
    }

    /// Keeps a report and says where; under its id, so that keeping it again changes nothing.
    pub(crate) fn keep(&self, id: &ReportId, body: &Body) -> io::Result<Kept> {
        // The spool lies in the state folder, where all users read what the daemon tells them.
        if let Some(above) = self.folder.parent() {
            make_folders(above)?;
        }
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&self.folder)?;
        let path = self.folder.join(format!("{id}{SUFFIX}"));
        let unfinished = self.folder.join(format!(".{id}.{}", std::process::id()));
        let written = write_new(&unfinished, &body.0).and_then(|()| fs::rename(&unfinished, &path));
        if let Err(error) = written {
            // Nothing half-written stays; if even that fails, the first error says more.
            let _ = fs::remove_file(&unfinished);
            return Err(error);
        }
        File::open(&self.folder)?.sync_all()?;
        // The folder may be new itself. Where its parent cannot be opened, somebody else made it before.
        if let Some(parent) = self.folder.parent()
            && let Ok(parent) = File::open(parent)
        {
            parent.sync_all()?;
        }
        let removed = self.make_room(&path);
        Ok(Kept { path, removed })
    }

    /// Removes what is too old, and of the rest the oldest until all fit, never the newest. Each is told.
    fn make_room(&self, newest: &Path) -> Vec<String> {
        self.remove_unfinished();
        let mut waiting = self.waiting(|name| name.ends_with(SUFFIX) || name.ends_with(REJECTED_SUFFIX));
        waiting.retain(|file| file.path != newest);
        let newest = fs::metadata(newest).map_or(0, |metadata| metadata.len());
        let mut bytes = waiting.iter().map(|file| file.bytes).sum::<u64>() + newest;
        let mut said = Vec::new();
        for file in waiting {
            let age = file.age();
            let why = if age > self.limits.age {
                format!(
                    "it waited {} days, the limit is {}",
                    days(age),
                    days(self.limits.age)
                )
            } else if bytes > self.limits.bytes {
                format!(
                    "the spool holds {bytes} bytes, the limit is {}",
                    self.limits.bytes
                )
            } else {
                continue;
            };
            bytes = bytes.saturating_sub(file.bytes);
            let path = file.path.display();
            said.push(match remove(&file.path) {
                Ok(()) => format!("LOST: {path} was removed without being uploaded: {why}"),
                Err(error) => format!("{path} cannot be removed ({error}): {why}"),
            });
        }
        said
    }

    /// Files of processes that were killed while they wrote.
    fn remove_unfinished(&self) {
        for file in self.waiting(|name| name.starts_with('.')) {
            if file.written.elapsed().is_ok_and(|age| age > UNFINISHED) {
                // It is in nobody's way; the next run tries again.
                let _ = fs::remove_file(&file.path);
            }
        }
    }

    /// Sends what was kept, oldest first, until the server takes no more, or `limit` of the uploader has passed. Reports that
    /// the server leaves for later use that time, too, and do not count otherwise: those behind them go.
    pub(crate) fn drain(&self, uploader: &Uploader) -> Drained {
        let mut said = Vec::new();
        let mut settled = 0;
        let mut refusal = None;
        let began = Instant::now();
        for path in self.kept() {
            if settled >= MOST_AT_ONCE || began.elapsed() >= uploader.limit() {
                break;
            }
            let body = match read_kept(&path) {
                Ok(Some(body)) => body,
                Ok(None) => continue,
                Err(error) => {
                    said.push(format!("{} was kept and cannot be read: {error}", path.display()));
                    continue;
                }
            };
            let put_away = match uploader.send(&body) {
                Ok(_) => {
                    said.push(format!("{} was kept and is now uploaded", path.display()));
                    remove(&path)
                }
                Err(error) if error.next() == Next::PutAside => {
                    said.push(format!(
                        "{} was kept and is refused for good: {error}",
                        path.display()
                    ));
                    unless_gone(fs::rename(&path, rejected(&path)))
                }
                Err(error) => {
                    said.push(format!("{} is still kept: {error}", path.display()));
                    if error.next() == Next::KeepAndStop || error.retry_after().is_some() {
                        refusal = Some(error);
                        break;
                    }
                    continue;
                }
            };
            settled += 1;
            if let Err(error) = put_away {
                said.push(format!("{} cannot be put away: {error}", path.display()));
            }
        }
        Drained { said, refusal }
    }

    /// What is kept, oldest first; the names, random ids, say nothing about age.
    pub(crate) fn kept(&self) -> Vec<PathBuf> {
        let waiting = self.waiting(|name| name.ends_with(SUFFIX) && !name.starts_with('.'));
        waiting.into_iter().map(|file| file.path).collect()
    }

    /// What a server refused for good, oldest first: a person has to look at it.
    pub(crate) fn rejected(&self) -> Vec<PathBuf> {
        let refused = self.waiting(|name| name.ends_with(REJECTED_SUFFIX) && !name.starts_with('.'));
        refused.into_iter().map(|file| file.path).collect()
    }

    fn waiting(&self, wanted: impl Fn(&str) -> bool) -> Vec<Waiting> {
        let Ok(entries) = fs::read_dir(&self.folder) else {
            return Vec::new();
        };
        let found = entries.filter_map(|entry| {
            let entry = entry.ok()?;
            let metadata = entry.metadata().ok()?;
            let is_wanted = metadata.is_file() && wanted(&entry.file_name().to_string_lossy());
            is_wanted.then_some(Waiting {
                written: metadata.modified().ok()?,
                path: entry.path(),
                bytes: metadata.len(),
            })
        });
        let mut found: Vec<Waiting> = found.collect();
        found.sort_unstable();
        found
    }
}

/// A file of the spool; ordered by age.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Waiting {
    written: SystemTime,
    path: PathBuf,
    bytes: u64,
}

impl Waiting {
    /// Nothing where the clock stood wrong when it was written, so that nobody knows how long it has waited.
    fn age(&self) -> Duration {
        let was_wrong = self.written < SystemTime::UNIX_EPOCH + BEFORE_THIS_PROGRAM;
        let age = if was_wrong {
            None
        } else {
            self.written.elapsed().ok()
        };
        age.unwrap_or_default()
    }
}

/// A report of the spool; `None` where another process has sent it meanwhile.
pub(crate) fn read_kept(path: &Path) -> io::Result<Option<Body>> {
    match File::open(path).and_then(body::read_limited) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        read => read.map(|bytes| Some(Body(bytes))),
    }
}

/// That somebody else was faster is as good.
pub(crate) fn remove(path: &Path) -> io::Result<()> {
    unless_gone(fs::remove_file(path))
}

fn unless_gone(done: io::Result<()>) -> io::Result<()> {
    match done {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

fn days(age: Duration) -> u64 {
    age.as_secs() / 86_400
}

fn rejected(path: &Path) -> PathBuf {
    let name = path.to_string_lossy();
    let stem = name.strip_suffix(SUFFIX).unwrap_or(&name);
    PathBuf::from(format!("{stem}{REJECTED_SUFFIX}"))
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

fn default_folder() -> PathBuf {
    if rustix::process::geteuid().is_root() {
        return PathBuf::from("/var/lib/peerless-agent/spool");
    }
    let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from);
    let home = std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".local/state"));
    let folder = state.filter(|path| path.is_absolute()).or(home);
    folder
        .unwrap_or_else(std::env::temp_dir)
        .join("peerless-agent/spool")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_another_process_has_sent_is_no_error() {
        let folder = tempfile::tempdir().unwrap();
        let gone = folder.path().join("gone.json.zst");
        assert!(read_kept(&gone).unwrap().is_none());
        remove(&gone).unwrap();
        unless_gone(fs::rename(&gone, rejected(&gone))).unwrap();
        assert!(read_kept(folder.path()).is_err(), "a folder is no report");
    }
}
