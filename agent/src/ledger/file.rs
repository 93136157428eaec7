//! The file itself: read, locked and replaced, each within bounds.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use kb_core::health::{Ledger, NotOurs};
use kb_core::policy::Policy;
use kb_core::report::{Node, Order};
use time::OffsetDateTime;

use crate::clock::timestamp;
use crate::files::{FOR_ALL, FOR_OWNER, NO_WAIT, make_folders, read_plain, write_whole};

use super::LAST_LOOK;

const NAME: &str = "ledger.json";
/// The faults that are open, for users who may not read the ledger: without what the kernel log says of them.
pub(super) const FOR_OTHERS: &str = "open.json";
/// What the daemon tells of itself.
pub(crate) const ABOUT: &str = "daemon.json";
/// A file that was there and could not be read as one, for a person to look at.
const DAMAGED: &str = "ledger.damaged.json";
/// Beginning of the name of a file that is another node's, with the time at which it was found.
const OF_ANOTHER: &str = "ledger.of-another-node.";
/// How many of these are kept: where a node has a new id in each boot, there is one for each boot.
const MOST_ASIDE: usize = 8;
/// Kept apart from the file, which is replaced.
pub(super) const LOCK: &str = "ledger.lock";
const TEXT_FOR_OTHERS: &str = "the daemon's ledger has it (`peerless-agent status --passive` as root)";
/// Longest wait for another process, which holds the lock for as long as it takes to write a small file. The epilog's look
/// and the prolog's run have 30 s beside their own limit.
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(50);

#[derive(Debug, Clone)]
pub(crate) struct LedgerFile {
    pub(super) folder: PathBuf,
}

pub(crate) struct Changed<T> {
    pub(crate) value: T,
    /// The last place in the ledger's order that the file had before.
    pub(crate) order: Option<Order>,
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
    /// Name under which the file is put aside, since the ledger is not what it holds.
    aside: Option<String>,
}

impl LedgerFile {
    pub(crate) fn of(folder: PathBuf) -> Self {
        Self { folder }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.join(NAME)
    }

    /// What is kept of this node; `None` where nothing was yet. Where the node is not known, nothing is held against a ledger.
    pub(crate) fn read(&self, node: Option<&Node>) -> Result<Option<Ledger>, String> {
        let bytes = match read_plain(&self.path()) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.to_string()),
        };
        let ledger = Ledger::from_json(&bytes)?;
        node.map_or(Ok(()), |node| ledger.check_node(node))
            .map_err(|why| why.to_string())?;
        Ok(Some(ledger))
    }

    /// Changes it while no other process does. Where it can be read and not kept, the change is made to what was read, and
    /// the answer says why it is not kept. One that is no ledger, or one of another node, is put aside, and what takes its place says so.
    /// An error says why it cannot be read; then nothing was changed.
    pub(crate) fn update<T>(
        &self,
        now: OffsetDateTime,
        node: Option<&Node>,
        change: impl FnOnce(&mut Ledger) -> T,
    ) -> Result<Changed<T>, String> {
        self.update_by(now, node, &self.policy(node), change)
    }

    /// The same where the policy was read already.
    pub(super) fn update_by<T>(
        &self,
        now: OffsetDateTime,
        node: Option<&Node>,
        policy: &Policy,
        change: impl FnOnce(&mut Ledger) -> T,
    ) -> Result<Changed<T>, String> {
        let lock = self.lock();
        let Held { mut ledger, aside } = self.held(now, node)?;
        let order = ledger.order().cloned();
        name(&mut ledger);
        let value = change(&mut ledger);
        if let Some(node) = node {
            ledger.set_node(node);
        }
        let kept = lock.and_then(|_lock| self.replace(&ledger, aside.as_deref(), policy));
        Ok(Changed {
            value,
            order,
            unkept: kept.err(),
        })
    }

    /// The same of a process that goes on: what it could not keep counts from one change to the next, also where the file
    /// cannot be read, and is kept as soon as it can be.
    pub(crate) fn update_with<T>(
        &self,
        now: OffsetDateTime,
        (node, policy): (Option<&Node>, &Policy),
        unkept: &mut Option<Unkept>,
        change: impl FnOnce(&mut Ledger) -> T,
    ) -> Changed<T> {
        let lock = self.lock();
        let (base, writable) = match self.held(now, node) {
            Ok(Held { ledger, aside }) => (ledger, lock.map(|lock| (lock, aside))),
            Err(why) => {
                let base = unkept
                    .as_ref()
                    .map_or_else(Ledger::default, |last| last.base.clone());
                (base, Err(why))
            }
        };
        let order = base.order().cloned();
        let mut ledger = match unkept.take() {
            Some(last) if last.base == base => last.ledger,
            Some(last) => {
                let mut ledger = base.clone();
                ledger.add_unkept(&last.ledger, &last.base);
                ledger
            }
            None => base.clone(),
        };
        name(&mut ledger);
        let value = change(&mut ledger);
        if let Some(node) = node {
            ledger.set_node(node);
        }
        let kept = writable.and_then(|(_lock, aside)| self.replace(&ledger, aside.as_deref(), policy));
        let why = kept.err();
        *unkept = why.is_some().then_some(Unkept { base, ledger });
        Changed {
            value,
            order,
            unkept: why,
        }
    }

    fn held(&self, now: OffsetDateTime, node: Option<&Node>) -> Result<Held, String> {
        let path = self.path();
        let boot_id = node.and_then(|node| node.boot_id.as_deref());
        let unread = |why: &str, aside: Option<String>| Held {
            ledger: Ledger::in_place_of_damaged(why, &timestamp(now), boot_id),
            aside,
        };
        let bytes = match read_plain(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(self.begun(unread)),
            Err(error) => return Err(told("read", &path, &error)),
        };
        Ok(match Ledger::from_json(&bytes) {
            Err(why) => unread(&why, Some(DAMAGED.to_owned())),
            Ok(ledger) => match node.map_or(Ok(()), |node| ledger.check_node(node)) {
                Ok(()) => Held { ledger, aside: None },
                Err(why @ NotOurs::Unknown { .. }) => return Err(format!("{}: {why}", path.display())),
                Err(why @ NotOurs::Another { .. }) => {
                    let name = format!("{OF_ANOTHER}{}.json", now.unix_timestamp_nanos());
                    unread(&format!("{why}; it is kept as {name}"), Some(name))
                }
            },
        })
    }

    /// What there is where the file is not. A result that tells of a ledger was kept with one: where that is gone, so is what was
    /// open. Others are told before the file is written, which may have failed.
    fn begun(&self, unread: impl Fn(&str, Option<String>) -> Held) -> Held {
        if self.has_result_of_one() {
            return unread(&format!("{NAME} is gone, and {LAST_LOOK} is there"), None);
        }
        let ledger = match read_plain(&self.folder.join(FOR_OTHERS)) {
            Ok(bytes) => Ledger::from_json(&bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Ledger::default()),
            Err(error) => Err(error.to_string()),
        };
        match ledger {
            Ok(ledger) => Held { ledger, aside: None },
            Err(why) => unread(
                &format!("{NAME} is gone, and {FOR_OTHERS} tells nothing: {why}"),
                None,
            ),
        }
    }

    fn replace(&self, ledger: &Ledger, aside: Option<&str>, policy: &Policy) -> Result<(), String> {
        let path = self.path();
        if let Some(aside) = aside {
            let aside = self.folder.join(aside);
            fs::rename(&path, &aside).map_err(|error| told("put aside", &path, &error))?;
            self.remove_oldest_aside();
        }
        let json = ledger.to_json().map_err(|error| error.to_string())?;
        self.tell_others(ledger, policy)?;
        write_whole(&path, &json, FOR_OWNER).map_err(|error| told("write", &path, &error))
    }

    /// Keeps the newest of the files of other nodes. One that stays is no reason not to go on.
    fn remove_oldest_aside(&self) {
        let Ok(files) = fs::read_dir(&self.folder) else {
            return;
        };
        let names = files.filter_map(|file| file.ok()?.file_name().into_string().ok());
        let mut names: Vec<String> = names.filter(|name| name.starts_with(OF_ANOTHER)).collect();
        // By their times, which are numbers of the same length.
        names.sort_unstable();
        let surplus = names.len().saturating_sub(MOST_ASIDE);
        for name in names.iter().take(surplus) {
            let _ = fs::remove_file(self.folder.join(name));
        }
    }

    fn tell_others(&self, ledger: &Ledger, policy: &Policy) -> Result<(), String> {
        let json = ledger
            .for_others(TEXT_FOR_OTHERS, policy)
            .to_json()
            .map_err(|error| error.to_string())?;
        let path = self.folder.join(FOR_OTHERS);
        write_whole(&path, &json, FOR_ALL).map_err(|error| told("write", &path, &error))
    }

    /// What the daemon of this folder tells all users of what is open; nothing where there is no daemon.
    pub(crate) fn told_to_others(&self) -> Result<Option<Ledger>, String> {
        let path = self.folder.join(FOR_OTHERS);
        let why = match read_plain(&path) {
            Ok(bytes) => return Ledger::from_json(&bytes).map(Some),
            Err(error) if error.kind() != io::ErrorKind::NotFound => told("read", &path, &error),
            Err(_) if !self.was_kept() => return self.unwritable().map_or(Ok(None), Err),
            Err(_) => format!(
                "{} is not there: an older daemon keeps the ledger",
                path.display()
            ),
        };
        Err(why)
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

/// Without random numbers the ledger goes by the clock alone.
fn name(ledger: &mut Ledger) {
    if let Ok(random) = getrandom::u64() {
        ledger.name(&format!("{random:016x}"));
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
