//! A run: host facts, the GPUs, rung 1 of every pair, the ladder of every direction, the verdicts.

mod again;
mod attempt;
mod chance;
mod failure;
mod ladder;
pub(crate) mod pattern;
mod progress;
mod session;
mod surroundings;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use kb_core::ids::IdError;
use kb_core::report::{
    Conclusion, Fact, Failure, GapKind, Gpu, MAJOR, MINOR, NvmlP2p, Pair, PairVerdict, Report, SchemaVersion,
};
use kb_core::verdict::{Expect, judge};

use crate::clock::{Clock, timestamp};
use crate::host::{self, HostRoot, Watch};
use crate::worker::handle::Fault;
use crate::worker::lock;
use crate::worker::protocol::{DirectionFacts, Loaded, Opened, PairFacts};

pub(crate) use chance::{Chance, RANDOM_BYTES};
pub(crate) use progress::{PairStep, Progress, Silent, Step};

use failure::{failure_from, failure_of, stuck_failure};
use ladder::Climb;
use session::{SPENT, Session, Setup, Trouble};

/// What the operator chose.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    /// Where /proc, /sys and /etc are read.
    pub(crate) host_root: HostRoot,
    /// Longest the whole run may take.
    pub(crate) timeout: Duration,
    /// Longest a step of a check may take.
    pub(crate) step_timeout: Duration,
    /// Bytes of each check's data.
    pub(crate) bytes: u64,
    /// The lock file.
    pub(crate) lock_file: PathBuf,
    /// The agent's own binary, which workers are started from.
    pub(crate) program: PathBuf,
    /// Which pairs must have peer access.
    pub(crate) expect: Expect,
}

/// Runs the probe. Whatever goes wrong is in the report; only a node that cannot be named is an error.
pub(crate) fn run(
    options: &Options,
    clock: &dyn Clock,
    chance: Chance,
    progress: &dyn Progress,
) -> Result<Report, IdError> {
    let started_at = clock.now();
    let start = Instant::now();
    let watch = Watch::start(&options.host_root);
    let host = host::read(&options.host_root, &watch)?;
    let mut found = match lock::acquire(&options.lock_file) {
        Ok(_lock) => look(options, chance.nonce, progress),
        Err(error) => Found::nothing(failure_of("lock the node", error.to_string())),
    };
    surroundings::add(&mut found, &options.host_root, &watch);
    let (logs, log_facts) = watch.finish();
    let mut facts = host.facts;
    facts.extend(log_facts);
    facts.extend(found.driver);
    let mut report = Report {
        schema: SchemaVersion {
            major: MAJOR,
            minor: MINOR,
        },
        report_id: chance.report_id,
        node: host.node,
        agent_version: env!("CARGO_PKG_VERSION").to_owned(),
        started_at: timestamp(started_at),
        // By the monotonic clock: the other one may be set in the middle of a run, even back.
        finished_at: timestamp(started_at + start.elapsed()),
        simulated: found.simulated,
        host: facts,
        gpus: found.gpus,
        pairs: found.pairs,
        measurements: Vec::new(),
        logs,
        failures: found.failures,
        notes: Vec::new(),
        conclusion: Conclusion::undecided(),
    };
    judge(&mut report, options.expect);
    Ok(report)
}

/// What the workers found.
struct Found {
    simulated: bool,
    driver: BTreeMap<String, Fact>,
    gpus: Vec<Gpu>,
    pairs: Vec<Pair>,
    failures: Vec<Failure>,
}

impl Found {
    fn nothing(failure: Failure) -> Self {
        Self {
            simulated: false,
            driver: BTreeMap::new(),
            gpus: Vec::new(),
            pairs: Vec::new(),
            failures: vec![failure],
        }
    }

    /// Adds what is known of the library, which holds even where the driver then refused to work.
    fn learn(&mut self, loaded: Option<&Loaded>) {
        let Some(loaded) = loaded else { return };
        self.simulated = loaded.simulated;
        self.driver
            .insert("cuda.library".to_owned(), any(&loaded.library));
    }
}

fn look(options: &Options, nonce: u64, progress: &dyn Progress) -> Found {
    progress.step(Step::Opening);
    let setup = Setup {
        program: options.program.clone(),
        step_limit: options.step_timeout,
        deadline: Instant::now() + options.timeout,
        bytes: options.bytes,
    };
    let mut session = Session::new(&setup, None);
    let opened = match open(&mut session) {
        Ok(opened) => opened,
        Err(trouble) => {
            let mut found = Found::nothing(failure_from(&trouble));
            found.failures.extend(session.stuck.iter().map(stuck_failure));
            found.learn(session.loaded.as_ref());
            return found;
        }
    };
    let climb = Climb {
        setup: &setup,
        opened: &opened,
        run: nonce,
        progress,
    };
    let mut pairs = Vec::new();
    let all = pairs_of(opened.gpus.len());
    for (number, &(a, b)) in (1..).zip(&all) {
        let pair = PairStep {
            number,
            of: all.len(),
            a,
            b,
        };
        progress.step(Step::Asking { pair });
        let facts = pair_facts(&setup, &mut session, a, b);
        let forward = climb.direction(&mut session, pair, (a, b), facts.forward);
        let backward = climb.direction(&mut session, pair, (b, a), facts.backward);
        pairs.push(Pair {
            a,
            b,
            nvlinks: facts.nvlinks,
            nvswitch: facts.nvswitch,
            common_ancestor: facts.common_ancestor,
            facts: BTreeMap::new(),
            directions: vec![forward, backward],
            verdict: PairVerdict::undecided(),
        });
    }
    progress.step(Step::Closing);
    let mut gpus = opened.gpus.clone();
    again::read(&mut session, &mut gpus, &pairs);
    session.end();
    let mut found = Found {
        simulated: false,
        driver: driver_facts(&opened),
        failures: session.stuck.iter().map(stuck_failure).collect(),
        gpus,
        pairs,
    };
    found.learn(session.loaded.as_ref());
    found
}

/// A worker that hangs or dies while opening is tried once more; a library that is missing stays missing.
fn open(session: &mut Session<'_>) -> Result<Opened, Trouble> {
    match session.open() {
        Err(Trouble::Worker(Fault::Hang { .. } | Fault::Died { .. })) => session.open(),
        result => result,
    }
}

fn pair_facts(setup: &Setup, session: &mut Session<'_>, a: u32, b: u32) -> PairFacts {
    if setup.is_spent() {
        return unanswered(GapKind::Skipped, SPENT);
    }
    let result = match session.pair_facts(a, b) {
        Err(Trouble::Worker(_)) if !setup.is_spent() => session.pair_facts(a, b),
        result => result,
    };
    result.unwrap_or_else(|trouble| {
        let reason = failure_from(&trouble).message;
        unanswered(GapKind::Failed, &reason)
    })
}

/// Rung 1 of a pair about which the worker could not answer.
fn unanswered(kind: GapKind, reason: &str) -> PairFacts {
    let status = || Fact::missing(kind, reason, "nvmlDeviceGetP2PStatus");
    let direction = || DirectionFacts {
        can_access_peer: Fact::missing(kind, reason, "cuDeviceCanAccessPeer"),
        nvml: NvmlP2p {
            read: status(),
            write: status(),
            nvlink: status(),
            atomics: status(),
            pci: status(),
        },
        cuda_attributes: BTreeMap::new(),
    };
    PairFacts {
        nvlinks: Fact::missing(kind, reason, "nvmlDeviceGetNvLinkState"),
        nvswitch: Fact::missing(kind, reason, "nvmlDeviceGetNvLinkState"),
        common_ancestor: Fact::missing(kind, reason, "nvmlDeviceGetTopologyCommonAncestor"),
        forward: direction(),
        backward: direction(),
    }
}

/// Every unordered pair, `a < b`.
fn pairs_of(gpus: usize) -> Vec<(u32, u32)> {
    let count = u32::try_from(gpus).unwrap_or(u32::MAX);
    (0..count)
        .flat_map(|a| (a + 1..count).map(move |b| (a, b)))
        .collect()
}

/// A fact of any type, as the host's facts are kept.
fn any<T: Clone + Into<serde_json::Value>>(fact: &Fact<T>) -> Fact {
    fact.clone().map(Into::into)
}

fn driver_facts(opened: &Opened) -> BTreeMap<String, Fact> {
    BTreeMap::from([
        ("cuda.version".to_owned(), any(&opened.cuda_version)),
        ("nvml.driver_version".to_owned(), any(&opened.nvml_driver_version)),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unordered_pair_comes_once() {
        assert_eq!(pairs_of(0), []);
        assert_eq!(pairs_of(1), []);
        assert_eq!(pairs_of(3), [(0, 1), (0, 2), (1, 2)]);
        assert_eq!(pairs_of(8).len(), 28);
    }
}
