//! The file of the ledger: what is open on this node, kept in the state folder from look to look.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use kb_core::health::{
    Health, Ledger, LogPlace, Look, Missed, Occurrence, Place, Scope, Unread, read_message,
};
use kb_core::report::{Report, When};
use time::OffsetDateTime;

use crate::clock::timestamp;
use crate::files::{FOR_OWNER, write_whole};
use crate::host::{self, HostRoot, LogEvents};

const NAME: &str = "ledger.json";
/// A file that was there and could not be read as one, for a person to look at.
const DAMAGED: &str = "ledger.damaged.json";
/// The result of the last look, which the daemon keeps beside it.
pub(crate) const LAST_LOOK: &str = "last-passive.json";
/// Kept apart from the file, which is replaced.
const LOCK: &str = "ledger.lock";

#[derive(Debug, Clone)]
pub(crate) struct LedgerFile {
    folder: PathBuf,
}

impl LedgerFile {
    pub(crate) fn of(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// True where a daemon has kept one, or where that cannot be told: reading it then says why.
    pub(crate) fn is_there(&self) -> bool {
        self.folder.join(NAME).try_exists().unwrap_or(true)
    }

    /// What is kept; `None` where nothing was yet.
    pub(crate) fn read(&self) -> Result<Option<Ledger>, String> {
        match fs::read(self.folder.join(NAME)) {
            Ok(bytes) => Ledger::from_json(&bytes).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Changes it while no other process does. A file that is no ledger is put aside, and what takes its place says so.
    pub(crate) fn update<T>(
        &self,
        now: OffsetDateTime,
        boot_id: Option<&str>,
        change: impl FnOnce(&mut Ledger) -> T,
    ) -> anyhow::Result<T> {
        let lock = self.folder.join(LOCK);
        let held = self
            .open_lock(&lock)
            .with_context(|| format!("open {}", lock.display()))?;
        held.lock().with_context(|| format!("lock {}", lock.display()))?;
        let path = self.folder.join(NAME);
        let mut ledger = match fs::read(&path) {
            Ok(bytes) => match Ledger::from_json(&bytes) {
                Ok(ledger) => ledger,
                Err(why) => {
                    let aside = self.folder.join(DAMAGED);
                    fs::rename(&path, &aside)
                        .with_context(|| format!("move {} to {}", path.display(), aside.display()))?;
                    Ledger::in_place_of_damaged(&why, &timestamp(now), boot_id)
                }
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => self.first(now, boot_id),
            Err(error) => return Err(error).with_context(|| format!("read {}", path.display())),
        };
        let changed = change(&mut ledger);
        let json = ledger.to_json()?;
        write_whole(&path, &json, FOR_OWNER).with_context(|| format!("write {}", path.display()))?;
        Ok(changed)
    }

    /// A result that tells of a ledger was kept with one: where that is gone, so is what was open.
    fn first(&self, now: OffsetDateTime, boot_id: Option<&str>) -> Ledger {
        let result = fs::read(self.folder.join(LAST_LOOK)).ok();
        let result = result.and_then(|bytes| serde_json::from_slice::<Report>(&bytes).ok());
        if result.is_some_and(|report| report.health.is_some()) {
            let why = format!("{NAME} is gone, and {LAST_LOOK} is there");
            Ledger::in_place_of_damaged(&why, &timestamp(now), boot_id)
        } else {
            Ledger::default()
        }
    }

    fn open_lock(&self, path: &Path) -> io::Result<File> {
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o755)
            .create(&self.folder)?;
        fs::OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(FOR_OWNER)
            .open(path)
    }

    /// Takes in a run that was not the daemon's: what it read of the GPUs' states, and what it proved. What the kernel log
    /// has told since the daemon's last look counts for the answer; the daemon takes it in by itself.
    pub(crate) fn note_run(
        &self,
        root: &HostRoot,
        report: &Report,
        scope: Scope,
        now: OffsetDateTime,
    ) -> anyhow::Result<Health> {
        self.update(now, report.node.boot_id.as_deref(), |ledger| {
            let log = since_the_daemon(root, report, ledger.log.as_ref(), now);
            take_in_run(ledger, (report, scope), log)
        })
    }

    /// Takes in what a report and the kernel log say, and tells what is known then. A ledger that cannot be kept is
    /// told in the answer: what was open before is then not known.
    pub(crate) fn observe(
        &self,
        root: &HostRoot,
        report: &Report,
        scope: Scope,
        now: OffsetDateTime,
    ) -> Health {
        let boot_id = report.node.boot_id.as_deref();
        let kept = self.update(now, boot_id, |ledger| take_in(ledger, root, (report, scope), now));
        kept.unwrap_or_else(|error| {
            let health = take_in(&mut Ledger::default(), root, (report, scope), now);
            without_ledger(health, &format!("{error:#}"))
        })
    }
}

pub(crate) fn of_run_alone(report: &Report, scope: Scope) -> Health {
    take_in_run(&mut Ledger::default(), (report, scope), None)
}

/// `log`: what was told since the daemon's last look. Where that is not wholly known, what the report itself has counts.
fn take_in_run(ledger: &mut Ledger, (report, scope): (&Report, Scope), log: Option<LogEvents>) -> Health {
    let mut look = look_at(report, scope);
    let mut known = ledger.clone();
    ledger.look(&look);
    ledger.proof(report);
    look.events = during(report);
    if let Some(log) = log {
        if log.unread.is_none() && log.missed == Missed::Nothing {
            look.events = log.occurrences;
        }
        look.missed = log.missed;
        if let Some(why) = log.unread {
            look.unread("kernel_log", &why);
        }
    }
    known.look(&look);
    known.proof(report);
    known.health(look.unread).about(scope == Scope::All)
}

/// What the kernel log tells behind the place to which the daemon has read; nothing where this process sees another log.
fn since_the_daemon(
    root: &HostRoot,
    report: &Report,
    from: Option<&LogPlace>,
    now: OffsetDateTime,
) -> Option<LogEvents> {
    let from = from?;
    let log = host::events(root, report.node.boot_id.as_deref(), Some(from), now);
    let is_same = match (&log.place.as_ref()?.place, &from.place) {
        (Place::Kmsg { .. }, Place::Kmsg { .. }) => true,
        (Place::File { inode, .. }, Place::File { inode: then, .. }) => inode == then,
        _ => false,
    };
    is_same.then_some(log)
}

fn during(report: &Report) -> Vec<Occurrence> {
    let logs = report.logs.iter().filter(|log| log.when == When::During);
    let events = logs.flat_map(|log| log.text.lines()).filter_map(read_message);
    events
        .map(|event| Occurrence {
            event,
            at: report.finished_at.clone(),
            boot_id: report.node.boot_id.clone(),
        })
        .collect()
}

fn take_in(
    ledger: &mut Ledger,
    root: &HostRoot,
    (report, scope): (&Report, Scope),
    now: OffsetDateTime,
) -> Health {
    let mut look = look_at(report, scope);
    let boot_id = report.node.boot_id.as_deref();
    let LogEvents {
        occurrences,
        place,
        missed,
        unread,
    } = host::events(root, boot_id, ledger.log.as_ref(), now);
    look.events = occurrences;
    look.missed = missed;
    if let Some(why) = unread {
        look.unread("kernel_log", &why);
    }
    ledger.log = place;
    ledger.look(&look);
    ledger.proof(report);
    ledger.health(look.unread).about(scope == Scope::All)
}

fn look_at(report: &Report, scope: Scope) -> Look {
    match scope {
        Scope::All => Look::of_all(report),
        Scope::Part => Look::of(report),
    }
}

pub(crate) fn without_ledger(health: Health, why: &str) -> Health {
    let unread = Unread {
        what: "ledger".to_owned(),
        why: why.to_owned(),
    };
    health.with_unread(unread)
}
