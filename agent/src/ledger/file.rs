//! The file itself: read, locked and replaced, each within bounds.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use kb_core::health::{Bearing, Ledger};
use kb_core::report::Report;
use time::OffsetDateTime;

use crate::clock::timestamp;
use crate::files::{FOR_ALL, FOR_OWNER, NO_WAIT, make_folders, read_plain, write_whole};

use super::LAST_LOOK;

const NAME: &str = "ledger.json";
/// The faults that are open, for users who may not read the ledger: without what the kernel log says of them.
const FOR_OTHERS: &str = "open.json";
/// A file that was there and could not be read as one, for a person to look at.
const DAMAGED: &str = "ledger.damaged.json";
/// Kept apart from the file, which is replaced.
const LOCK: &str = "ledger.lock";
const TEXT_FOR_OTHERS: &str = "the daemon's ledger has it (`peerless-agent status --passive` as root)";
/// Longest wait for another process, which holds the lock for as long as it takes to write a small file. The epilog's look
/// and the prolog's run have 30 s beside their own limit.
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(50);

#[derive(Debug, Clone)]
pub(crate) struct LedgerFile {
    pub(super) folder: PathBuf,
}

/// What came of a change.
pub(crate) struct Changed<T> {
    pub(crate) value: T,
    /// Why the file does not have it.
    pub(crate) unkept: Option<String>,
}

/// What could not be kept, and what it was made of.
pub(crate) struct Unkept {
    base: Ledger,
    ledger: Ledger,
}

/// What the file holds.
struct Held {
    ledger: Ledger,
    is_damaged: bool,
}

impl LedgerFile {
    pub(crate) fn of(folder: PathBuf) -> Self {
        Self { folder }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.join(NAME)
    }

    /// True where a daemon has kept one: there is a file, or a result that was kept with one.
    pub(crate) fn is_expected(&self) -> bool {
        fs::symlink_metadata(self.path())
            .map_or_else(|error| error.kind() != io::ErrorKind::NotFound, |_| true)
            || self.has_result_of_one()
    }

    /// What is kept; `None` where nothing was yet.
    pub(crate) fn read(&self) -> Result<Option<Ledger>, String> {
        match read_plain(&self.path()) {
            Ok(bytes) => Ledger::from_json(&bytes).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Changes it while no other process does. Where it can be read and not kept, the change is made to what was read, and
    /// the answer says why it is not kept. One that is no ledger is put aside, and what takes its place says so. An error
    /// says why it cannot be read; then nothing was changed.
    pub(crate) fn update<T>(
        &self,
        now: OffsetDateTime,
        boot_id: Option<&str>,
        change: impl FnOnce(&mut Ledger) -> T,
    ) -> Result<Changed<T>, String> {
        let lock = self.lock();
        let Held {
            mut ledger,
            is_damaged,
        } = self.held(now, boot_id)?;
        let value = change(&mut ledger);
        let kept = lock.and_then(|_lock| self.replace(&ledger, is_damaged));
        Ok(Changed {
            value,
            unkept: kept.err(),
        })
    }

    /// The same of a process that goes on: what it could not keep counts from one change to the next, also where the file
    /// cannot be read, and is kept as soon as it can be.
    pub(crate) fn update_with<T>(
        &self,
        now: OffsetDateTime,
        boot_id: Option<&str>,
        unkept: &mut Option<Unkept>,
        change: impl FnOnce(&mut Ledger) -> T,
    ) -> Changed<T> {
        let lock = self.lock();
        let (base, writable) = match self.held(now, boot_id) {
            Ok(Held { ledger, is_damaged }) => (ledger, lock.map(|lock| (lock, is_damaged))),
            Err(why) => {
                let base = unkept
                    .as_ref()
                    .map_or_else(Ledger::default, |last| last.base.clone());
                (base, Err(why))
            }
        };
        let mut ledger = match unkept.take() {
            Some(last) if last.base == base => last.ledger,
            Some(last) => {
                let mut ledger = base.clone();
                ledger.add_unkept(&last.ledger, &last.base);
                ledger
            }
            None => base.clone(),
        };
        let value = change(&mut ledger);
        let kept = writable.and_then(|(_lock, is_damaged)| self.replace(&ledger, is_damaged));
        let why = kept.err();
        *unkept = why.is_some().then_some(Unkept { base, ledger });
        Changed { value, unkept: why }
    }

    fn held(&self, now: OffsetDateTime, boot_id: Option<&str>) -> Result<Held, String> {
        let path = self.path();
        let damaged = |why: &str| Ledger::in_place_of_damaged(why, &timestamp(now), boot_id);
        match read_plain(&path) {
            Ok(bytes) => Ok(match Ledger::from_json(&bytes) {
                Ok(ledger) => Held {
                    ledger,
                    is_damaged: false,
                },
                Err(why) => Held {
                    ledger: damaged(&why),
                    is_damaged: true,
                },
            }),
            // A result that tells of a ledger was kept with one: where that is gone, so is what was open.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Held {
                ledger: if self.has_result_of_one() {
                    damaged(&format!("{NAME} is gone, and {LAST_LOOK} is there"))
                } else {
                    Ledger::default()
                },
                is_damaged: false,
            }),
            Err(error) => Err(told("read", &path, &error)),
        }
    }

    fn replace(&self, ledger: &Ledger, is_damaged: bool) -> Result<(), String> {
        let path = self.path();
        if is_damaged {
            let aside = self.folder.join(DAMAGED);
            fs::rename(&path, &aside).map_err(|error| told("put aside", &path, &error))?;
        }
        let json = ledger.to_json().map_err(|error| error.to_string())?;
        self.tell_others(ledger)?;
        write_whole(&path, &json, FOR_OWNER).map_err(|error| told("write", &path, &error))
    }

    fn tell_others(&self, ledger: &Ledger) -> Result<(), String> {
        let mut open = ledger.health(Vec::new()).open;
        open.retain(|entry| entry.bearing >= Bearing::Unknown);
        for entry in &mut open {
            TEXT_FOR_OTHERS.clone_into(&mut entry.text);
        }
        let mut of_others = Ledger::default();
        of_others.add_open(open);
        let json = of_others.to_json().map_err(|error| error.to_string())?;
        let path = self.folder.join(FOR_OTHERS);
        write_whole(&path, &json, FOR_ALL).map_err(|error| told("write", &path, &error))
    }

    /// What the daemon of this folder tells all users of what is open; nothing where there is no daemon.
    pub(crate) fn told_to_others(&self) -> Result<Option<Ledger>, String> {
        let path = self.folder.join(FOR_OTHERS);
        let why = match read_plain(&path) {
            Ok(bytes) => return Ledger::from_json(&bytes).map(Some),
            Err(error) if error.kind() != io::ErrorKind::NotFound => told("read", &path, &error),
            Err(_) if !self.is_expected() => return Ok(None),
            Err(_) => format!(
                "{} is not there: an older daemon keeps the ledger",
                path.display()
            ),
        };
        Err(why)
    }

    fn has_result_of_one(&self) -> bool {
        let result = read_plain(&self.folder.join(LAST_LOOK)).ok();
        let result = result.and_then(|bytes| serde_json::from_slice::<Report>(&bytes).ok());
        result.is_some_and(|report| report.health.is_some())
    }

    /// The lock, which ends with the file's descriptor.
    fn lock(&self) -> Result<File, String> {
        let path = self.folder.join(LOCK);
        let file = self
            .open_lock(&path)
            .map_err(|error| told("open", &path, &error))?;
        let start = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::Error(error)) => return Err(told("lock", &path, &error)),
                Err(TryLockError::WouldBlock) if start.elapsed() >= PATIENCE => {
                    let seconds = PATIENCE.as_secs();
                    let why = format!("another process has held {} for {seconds} s", path.display());
                    return Err(why);
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
            }
        }
    }

    fn open_lock(&self, path: &Path) -> io::Result<File> {
        make_folders(&self.folder)?;
        fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(FOR_OWNER)
            .custom_flags(NO_WAIT)
            .open(path)
    }
}

fn told(what: &str, path: &Path, error: &io::Error) -> String {
    format!("{what} {}: {error}", path.display())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use kb_core::health::Entry;
    use time::macros::datetime;

    use super::*;

    #[test]
    fn others_are_told_what_is_open_and_not_what_the_log_says() {
        let folder = tempfile::tempdir().unwrap();
        let ledger = LedgerFile::of(folder.path().to_owned());
        assert!(ledger.told_to_others().unwrap().is_none(), "no daemon");
        // Of a daemon that told nobody.
        fs::write(ledger.path(), "{}").unwrap();
        assert!(ledger.told_to_others().unwrap_err().contains("older daemon"));
        fs::remove_file(ledger.path()).unwrap();
        let fault: Entry = serde_json::from_value(serde_json::json!({
            "id": "xid-79@0000:3b:00.0", "cause": "xid", "nature": "event", "bearing": "fault",
            "device": "0000:3b:00.0", "number": 79, "count": 1,
            "first_at": "2026-11-24T10:00:00Z", "last_at": "2026-11-24T10:00:00Z",
            "text": "NVRM: Xid (PCI:0000:3b:00): 79, pid=7, name=secret",
        }))
        .unwrap();
        let now = datetime!(2026-11-24 10:00 UTC);
        let changed = ledger
            .update(now, None, |ledger| ledger.add_open(vec![fault]))
            .unwrap();
        assert_eq!(changed.unkept, None);
        let told = ledger.told_to_others().unwrap().unwrap().health(Vec::new());
        assert_eq!(told.open.len(), 1);
        assert!(!told.open[0].text.contains("secret"), "{}", told.open[0].text);
        let mode = |name: &str| {
            fs::metadata(folder.path().join(name))
                .unwrap()
                .permissions()
                .mode()
                & 0o777
        };
        assert_eq!((mode(FOR_OTHERS), mode(NAME)), (0o644, 0o600));
        fs::write(folder.path().join(FOR_OTHERS), "").unwrap();
        assert!(ledger.told_to_others().is_err());
    }
}
