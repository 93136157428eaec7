//! One worker over its life: opened, GPUs prepared and access enabled as checks need it, replaced when it fails.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use kb_core::report::{Fact, Outcome};

use crate::worker::handle::{Fault, Stuck, Worker};
use crate::worker::protocol::{Answer, CallFailure, CheckKind, Command, Loaded, Opened, PairFacts};

use super::attempt::Attempt;

/// What is added to the worker's own limit before the parent gives up on it.
const GRACE: Duration = Duration::from_millis(500);
/// Initialising the driver and making contexts may take so many times as long as one step of a check.
const OPEN_FACTOR: u32 = 3;

/// Why something was left out.
pub(super) const SPENT: &str = "the time of the run (--timeout) was spent";

/// What all sessions of a run share.
pub(super) struct Setup {
    /// The agent's own binary.
    pub(super) program: PathBuf,
    /// Longest a step of a check may take.
    pub(super) step_limit: Duration,
    /// When the run's time is spent.
    pub(super) deadline: Instant,
    /// Bytes of a check's data.
    pub(super) bytes: u64,
}

impl Setup {
    /// True when there is no time for another check.
    pub(super) fn is_spent(&self) -> bool {
        Instant::now() >= self.deadline
    }

    /// Longest for a step, within what is left of the run.
    fn limit(&self, factor: u32) -> Duration {
        let left = self.deadline.saturating_duration_since(Instant::now());
        (self.step_limit * factor).min(left.max(GRACE))
    }
}

/// Why the driver could not be opened or asked.
#[derive(Debug, Clone)]
pub(super) enum Trouble {
    /// The worker answered: this call failed.
    Call(CallFailure),
    /// The worker did not answer.
    Worker(Fault),
}

/// A live worker and what it has done.
struct Live {
    worker: Worker,
    prepared: BTreeSet<u32>,
    enabled: BTreeSet<(u32, u32)>,
}

/// One worker after another; at most one lives.
pub(super) struct Session<'a> {
    setup: &'a Setup,
    live: Option<Live>,
    /// True when the last question had less time than it is due, because the run's time comes to its end.
    cut_short: bool,
    /// UUIDs in CUDA's order as first listed; a worker that sees others is not asked.
    expected: Option<Vec<Option<String>>>,
    /// The driver's library, once a worker has loaded it.
    pub(super) loaded: Option<Loaded>,
    /// Workers that did not end even when killed.
    pub(super) stuck: Vec<Stuck>,
}

impl<'a> Session<'a> {
    pub(super) fn new(setup: &'a Setup, expected: Option<&Opened>) -> Self {
        Self {
            setup,
            live: None,
            cut_short: false,
            expected: expected.map(identities),
            loaded: None,
            stuck: Vec::new(),
        }
    }

    /// Starts a worker, loads and opens the driver, lists the GPUs.
    pub(super) fn open(&mut self) -> Result<Opened, Trouble> {
        let worker = Worker::start(&self.setup.program).map_err(Trouble::Worker)?;
        self.live = Some(Live {
            worker,
            prepared: BTreeSet::new(),
            enabled: BTreeSet::new(),
        });
        match self.ask(&Command::Load, 1)? {
            Answer::Loaded(loaded) => self.loaded = Some(loaded),
            other => return Err(self.unexpected(other)),
        }
        let opened = match self.ask(&Command::Open, OPEN_FACTOR)? {
            Answer::Opened(opened) => *opened,
            other => return Err(self.unexpected(other)),
        };
        let found = identities(&opened);
        match &self.expected {
            Some(expected) if *expected != found => {
                self.end();
                Err(Trouble::Worker(Fault::Nonsense(
                    "a fresh worker lists other GPUs than the first one".to_owned(),
                )))
            }
            _ => {
                self.expected = Some(found);
                Ok(opened)
            }
        }
    }

    /// Rung 1 of a pair.
    pub(super) fn pair_facts(&mut self, a: u32, b: u32) -> Result<PairFacts, Trouble> {
        self.ensure_open()?;
        match self.ask(&Command::PairFacts { a, b }, 1)? {
            Answer::PairFacts(facts) => Ok(*facts),
            other => Err(self.unexpected(other)),
        }
    }

    /// What may have changed on the GPUs at these addresses. Where no worker is left, a fresh one reads it that opens
    /// no CUDA: NVML answers about a GPU that CUDA can no longer use.
    pub(super) fn read_again(
        &mut self,
        addresses: Vec<Option<String>>,
    ) -> Result<Vec<BTreeMap<String, Fact>>, Trouble> {
        let only_for_this = self.live.is_none();
        if only_for_this {
            let worker = Worker::start(&self.setup.program).map_err(Trouble::Worker)?;
            self.live = Some(Live {
                worker,
                prepared: BTreeSet::new(),
                enabled: BTreeSet::new(),
            });
        }
        let answer = match self.ask(&Command::ReadAgain { addresses }, 1)? {
            Answer::ReadAgain { gpus } => Ok(gpus),
            other => Err(self.unexpected(other)),
        };
        if only_for_this {
            self.end();
        }
        answer
    }

    /// One check, with everything that it needs done first.
    pub(super) fn check(&mut self, initiator: u32, owner: u32, kind: CheckKind, seed: u64) -> Attempt {
        let attempt = self.prepared_check(initiator, owner, kind, seed);
        if attempt.outcome == Outcome::Hang && self.cut_short {
            attempt.out_of_time()
        } else {
            attempt
        }
    }

    fn prepared_check(&mut self, initiator: u32, owner: u32, kind: CheckKind, seed: u64) -> Attempt {
        if let Err(trouble) = self.make_ready(initiator, owner) {
            return Attempt::not_ready(&trouble);
        }
        let enabled = self
            .live
            .as_ref()
            .is_some_and(|live| live.enabled.contains(&(initiator, owner)));
        if kind.rung() > CheckKind::EnablePeerAccess.rung() && !enabled {
            let enabling = self.ask_check(initiator, owner, CheckKind::EnablePeerAccess, 0);
            if enabling.outcome != Outcome::Pass {
                return enabling;
            }
        }
        self.ask_check(initiator, owner, kind, seed)
    }

    fn ask_check(&mut self, initiator: u32, owner: u32, kind: CheckKind, seed: u64) -> Attempt {
        let command = Command::Check {
            initiator,
            owner,
            kind,
            seed,
            limit_ms: millis(self.setup.limit(1)),
        };
        let attempt = match self.ask(&command, 1) {
            Ok(Answer::Checked(checked)) => {
                let (attempt, poisoned) = Attempt::from_checked(checked);
                if poisoned {
                    self.abandon();
                }
                attempt
            }
            Ok(other) => Attempt::not_ready(&self.unexpected(other)),
            Err(trouble) => Attempt::interrupted(&trouble),
        };
        let enabled = kind == CheckKind::EnablePeerAccess && attempt.outcome == Outcome::Pass;
        if enabled && let Some(live) = &mut self.live {
            live.enabled.insert((initiator, owner));
        }
        attempt
    }

    fn ensure_open(&mut self) -> Result<(), Trouble> {
        if self.live.is_some() {
            return Ok(());
        }
        self.open().map(drop)
    }

    fn make_ready(&mut self, initiator: u32, owner: u32) -> Result<(), Trouble> {
        self.ensure_open()?;
        for gpu in [initiator, owner] {
            let live = self.live.as_ref();
            if live.is_some_and(|live| live.prepared.contains(&gpu)) {
                continue;
            }
            let command = Command::Prepare {
                gpu,
                bytes: self.setup.bytes,
                limit_ms: millis(self.setup.limit(1)),
            };
            match self.ask(&command, OPEN_FACTOR)? {
                Answer::Prepared => {}
                other => return Err(self.unexpected(other)),
            }
            if let Some(live) = &mut self.live {
                live.prepared.insert(gpu);
            }
        }
        Ok(())
    }

    /// Asks the live worker. One that does not answer is killed, one that failed is not asked again.
    fn ask(&mut self, command: &Command, factor: u32) -> Result<Answer, Trouble> {
        let limit = self.setup.limit(factor);
        self.cut_short = limit < self.setup.step_limit * factor;
        let Some(live) = &mut self.live else {
            return Err(Trouble::Worker(Fault::Start("no worker runs".to_owned())));
        };
        live.worker.ask(command, limit + GRACE).map_err(|fault| {
            self.abandon();
            Trouble::Worker(fault)
        })
    }

    fn unexpected(&mut self, answer: Answer) -> Trouble {
        self.abandon();
        match answer {
            Answer::Failed(failure) => Trouble::Call(failure),
            other => Trouble::Worker(Fault::Nonsense(format!("{other:?}"))),
        }
    }

    /// Kills the worker: its state is not known.
    fn abandon(&mut self) {
        let killed = self.live.take().map(|live| live.worker.kill());
        if let Some(Err(stuck)) = killed {
            self.stuck.push(stuck);
        }
    }

    /// Ends the worker in order.
    pub(super) fn end(&mut self) {
        let ended = self.live.take().map(|live| live.worker.finish());
        if let Some(Err(stuck)) = ended {
            self.stuck.push(stuck);
        }
    }
}

fn identities(opened: &Opened) -> Vec<Option<String>> {
    opened.gpus.iter().map(|gpu| gpu.uuid.value.clone()).collect()
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
