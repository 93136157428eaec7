//! Whether a result that lies in the state folder tells anything of this node as it is now. What counts is what the result
//! says of itself: the file's time is that of whoever copied or touched it last.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use kb_core::health::{Bearing, CLOCK_SKEW, Entry, Nature, health_by, told};
use kb_core::ids::NodeId;
use kb_core::report::{self, Node, Report};
use kb_core::verdict::Verdict;
use serde::Deserialize;
use time::OffsetDateTime;

use super::daemon::finished;
use crate::cli::HereArgs;
use crate::clock::seconds_since_boot;
use crate::files::{Room, read_plain, room};
use crate::gate::{INTERVAL, oldest_look};
use crate::host::{self, HostRoot};
use crate::ledger::{ABOUT, LedgerFile};

pub(super) struct Here {
    /// `None`: it cannot be named, and no result is held against it.
    node: Option<NodeId>,
    boot: Option<String>,
    interval: Duration,
    booted: Option<SystemTime>,
    /// Why the folder that stands for `/` tells nothing of this node.
    rootless: Option<String>,
    allows_simulated: bool,
}

#[derive(Default, Deserialize)]
struct About {
    interval_seconds: Option<f64>,
    node_id: Option<NodeId>,
    boot_id: Option<String>,
}

impl Here {
    /// By what was set, else by what a daemon of this very boot calls itself, else by the machine. The daemon goes before
    /// the machine: a container shows others another machine id, and every one the same boot.
    pub(super) fn of(arguments: &HereArgs, state: &Path) -> Self {
        let about = read_plain(&state.join(ABOUT)).ok();
        let about: About = about
            .and_then(|text| serde_json::from_slice(&text).ok())
            .unwrap_or_default();
        let root = HostRoot::new(&arguments.host_root);
        let own = host::node(&root).ok();
        let boot = own.as_ref().and_then(|own| own.boot_id.clone());
        let of_daemon = about.node_id.filter(|_| boot.is_some() && about.boot_id == boot);
        Self {
            node: arguments
                .node_id
                .clone()
                .or(of_daemon)
                .or_else(|| own.map(|own| own.id)),
            boot,
            interval: about
                .interval_seconds
                .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
                .unwrap_or(INTERVAL),
            booted: booted(),
            rootless: root.check().err(),
            allows_simulated: arguments.allow_simulated,
        }
    }

    /// As a ledger knows it.
    pub(super) fn as_node(&self) -> Option<Node> {
        Some(Node {
            id: self.node.clone()?,
            hostname: None,
            boot_id: self.boot.clone(),
        })
    }
}

/// Why a result tells nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Untold {
    pub(super) why: String,
    doubt: Doubt,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Doubt {
    /// No result is there: it may not have been kept.
    Missing,
    /// It is this node's, and of another time, another boot or another version of the agent.
    Old,
    /// It is not this node's, or cannot be believed; then neither can the ledger beside it.
    Foreign,
}

impl Untold {
    fn foreign(why: String) -> Self {
        Self {
            why,
            doubt: Doubt::Foreign,
        }
    }

    pub(super) fn old(why: String) -> Self {
        Self {
            why,
            doubt: Doubt::Old,
        }
    }

    /// A fault that the ledger holds open all the same. A state of long ago may have ended unseen, an event has not.
    pub(super) fn open_fault(&self, ledger: &LedgerFile, here: &Here) -> Option<String> {
        let counts = |entry: &&Entry| {
            let is_fault = entry.bearing == Bearing::Fault;
            match self.doubt {
                Doubt::Missing => is_fault,
                Doubt::Old => is_fault && entry.nature == Nature::Event,
                Doubt::Foreign => false,
            }
        };
        let node = here.as_node();
        let known = ledger.read(node.as_ref()).ok()??.health(Vec::new());
        // Without a result no model is known: of the rules that may be about it the worst counts.
        let health = health_by(&ledger.policy(node.as_ref()), known, &[]);
        let fault = health.open.iter().find(counts)?;
        Some(format!("{}; {}", told(fault), self.why))
    }
}

pub(super) struct Made {
    file: PathBuf,
    pub(super) report: Report,
    pub(super) finished: SystemTime,
    /// When it was kept. `None` of an older agent.
    seconds_since_boot: Option<i64>,
}

/// What stands beside the report in its file.
#[derive(Default, Deserialize)]
struct Beside {
    seconds_since_boot: Option<i64>,
}

impl Made {
    pub(super) fn read(file: &Path) -> Result<Self, Untold> {
        let missing = |error: &dyn std::fmt::Display| {
            let full = match file.parent().map(room) {
                Some(Room::Full) => ", and its file system is full",
                _ => "",
            };
            Untold {
                why: format!("{}: no result: {error}{full}", file.display()),
                doubt: Doubt::Missing,
            }
        };
        let bytes = read_plain(file).map_err(|error| missing(&error))?;
        let report: Report = serde_json::from_slice(&bytes).map_err(|error| missing(&error))?;
        let finished = finished(&report).map_err(|why| {
            let file = file.display();
            Untold::foreign(format!(
                "{file}: it does not say when it was made (finished_at: {why})"
            ))
        })?;
        let beside: Beside = serde_json::from_slice(&bytes).unwrap_or_default();
        Ok(Self {
            file: file.to_owned(),
            report,
            finished: finished.into(),
            seconds_since_boot: beside.seconds_since_boot,
        })
    }

    /// Refuses a result of another node, of a time to come, of another version of the agent, or of a stand-in.
    pub(super) fn check(&self, here: &Here, now: OffsetDateTime) -> Result<(), Untold> {
        if let Some(why) = &here.rootless {
            return Err(Untold::foreign(format!("--host-root: {why}")));
        }
        let node = &self.report.node.id;
        if let Some(own) = here.node.as_ref().filter(|own| *own != node) {
            return Err(self.told(&format!(
                "it is of the node {node}, and this one is {own}: remove it, or give --node-id (PEERLESS_NODE_ID) to \
                 the daemon and to this call alike"
            )));
        }
        if self.report.simulated_machine().is_some() {
            return Err(self.told("it is simulated: the machine is made up"));
        }
        if self.report.simulated && !here.allows_simulated {
            return Err(self.told("it is simulated: a stand-in took the place of the driver"));
        }
        let version = self.report.schema;
        // A later minor version may say in a field what this program does not know of.
        if version.major != report::MAJOR || version.minor > report::MINOR {
            return Err(self.of_another_version());
        }
        if self.finished > SystemTime::from(now + CLOCK_SKEW) {
            return Err(self.old(&format!(
                "it is of {}, which is yet to come: a clock was set back, or is wrong",
                self.report.finished_at
            )));
        }
        Ok(())
    }

    /// The same of a look, which is made anew every few minutes: it has to be one of this boot, of this version, and new.
    pub(super) fn check_look(&self, here: &Here, now: OffsetDateTime) -> Result<(), Untold> {
        self.check(here, now)?;
        if self.report.schema.minor != report::MINOR {
            return Err(self.of_another_version());
        }
        if self.is_of_another_boot(here) {
            return Err(self.old("there is no look since the node was booted"));
        }
        self.check_age(here, now)
    }

    /// Refuses a look of a daemon that has been silent since.
    pub(super) fn check_age(&self, here: &Here, now: OffsetDateTime) -> Result<(), Untold> {
        let age = self.age(here, now);
        if age > oldest_look(here.interval) {
            return Err(Untold::old(format!(
                "{}: the last look is {} s old, and the daemon looks every {} s",
                self.file.display(),
                age.as_secs(),
                here.interval.as_secs()
            )));
        }
        Ok(())
    }

    /// The same of what `status` tells. Another boot ends what was good of a node, and no fault.
    pub(super) fn check_status(&self, here: &Here, now: OffsetDateTime) -> Result<(), Untold> {
        self.check(here, now)?;
        let is_fault = self.report.conclusion.verdict > Verdict::Unknown;
        if !is_fault && self.is_of_another_boot(here) {
            return Err(self.old("the node was booted since it was made"));
        }
        Ok(())
    }

    /// How old it is, by the clock and, in the boot in which it was made, by the time since that: the clock may have been set back.
    pub(super) fn age(&self, here: &Here, now: OffsetDateTime) -> Duration {
        let by_clock = SystemTime::from(now).duration_since(self.finished);
        let is_of_this_boot = here.boot.is_some() && here.boot == self.report.node.boot_id;
        let then = self.seconds_since_boot.filter(|_| is_of_this_boot);
        let since = then.and_then(|then| u64::try_from(seconds_since_boot().saturating_sub(then)).ok());
        by_clock
            .unwrap_or_default()
            .max(Duration::from_secs(since.unwrap_or_default()))
    }

    fn is_of_another_boot(&self, here: &Here) -> bool {
        match (&here.boot, &self.report.node.boot_id) {
            (Some(here), Some(made)) => here != made,
            _ => here.booted.is_some_and(|booted| self.finished < booted),
        }
    }

    fn of_another_version(&self) -> Untold {
        let version = self.report.schema;
        self.old(&format!(
            "it is of version {}.{} of the report, written by agent {}, and this agent has {}.{}: restart the daemon, so \
             that both are the same program",
            version.major,
            version.minor,
            self.report.agent_version,
            report::MAJOR,
            report::MINOR
        ))
    }

    fn old(&self, why: &str) -> Untold {
        Untold::old(format!("{}: {why}", self.file.display()))
    }

    fn told(&self, why: &str) -> Untold {
        Untold::foreign(format!("{}: {why}", self.file.display()))
    }
}

fn booted() -> Option<SystemTime> {
    let text = fs::read_to_string("/proc/stat").ok()?;
    let seconds = text.lines().find_map(|line| line.strip_prefix("btime "))?;
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds.trim().parse().ok()?))
}
