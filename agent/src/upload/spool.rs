//! The folder of reports that no server has yet. A file is written whole or not at all.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use kb_core::ids::ReportId;

use super::{Body, Next, Uploader};

const SUFFIX: &str = ".json.zst";
/// Given to a report that the server will never take, so that it is not sent again.
const REJECTED_SUFFIX: &str = ".json.zst.rejected";
/// Reports that are sent after a successful upload, at most: the rest go with the next one.
const MOST_AT_ONCE: usize = 32;

/// The folder; it is made when it is first needed.
pub(crate) struct Spool(PathBuf);

impl Spool {
    /// The folder named, else the default: the system's for root, else one of the user's own.
    pub(crate) fn at(folder: Option<PathBuf>) -> Self {
        Self(folder.unwrap_or_else(default_folder))
    }

    /// Keeps a report and says where; under its id, so that keeping it again changes nothing.
    pub(crate) fn keep(&self, id: &ReportId, body: &Body) -> io::Result<PathBuf> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.0)?;
        let path = self.0.join(format!("{id}{SUFFIX}"));
        let unfinished = self.0.join(format!(".{id}.{}", std::process::id()));
        let written = write_new(&unfinished, &body.0).and_then(|()| fs::rename(&unfinished, &path));
        if let Err(error) = written {
            // Nothing half-written stays; if even that fails, the first error says more.
            let _ = fs::remove_file(&unfinished);
            return Err(error);
        }
        File::open(&self.0)?.sync_all()?;
        // The folder may be new itself. Where its parent cannot be opened, somebody else made it before.
        if let Some(parent) = self.0.parent()
            && let Ok(parent) = File::open(parent)
        {
            parent.sync_all()?;
        }
        Ok(path)
    }

    /// Sends what was kept, oldest first, until the server takes no more. One line for each.
    pub(crate) fn drain(&self, uploader: &Uploader) -> Vec<String> {
        let mut said = Vec::new();
        for path in self.kept().into_iter().take(MOST_AT_ONCE) {
            let Ok(bytes) = fs::read(&path) else {
                said.push(format!("{} was kept and cannot be read", path.display()));
                continue;
            };
            let settled = match uploader.send(&Body(bytes)) {
                Ok(_) => {
                    said.push(format!("{} was kept and is now uploaded", path.display()));
                    fs::remove_file(&path)
                }
                Err(error) => match error.next() {
                    Next::PutAside => {
                        said.push(format!(
                            "{} was kept and is refused for good: {error}",
                            path.display()
                        ));
                        fs::rename(&path, rejected(&path))
                    }
                    next => {
                        said.push(format!("{} is still kept: {error}", path.display()));
                        if next == Next::KeepAndStop {
                            break;
                        }
                        Ok(())
                    }
                },
            };
            if let Err(error) = settled {
                said.push(format!("{} cannot be put away: {error}", path.display()));
            }
        }
        said
    }

    /// What is kept, oldest first; the names, random ids, say nothing about age.
    fn kept(&self) -> Vec<PathBuf> {
        let Ok(entries) = fs::read_dir(&self.0) else {
            return Vec::new();
        };
        let aged = entries.filter_map(|entry| {
            let entry = entry.ok()?;
            let is_report = entry.file_name().to_string_lossy().ends_with(SUFFIX);
            let written = entry.metadata().ok()?.modified().ok()?;
            is_report.then(|| (written, entry.path()))
        });
        let mut aged: Vec<_> = aged.collect();
        aged.sort();
        aged.into_iter().map(|(_, path)| path).collect()
    }
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
