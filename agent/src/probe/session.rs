//! The processes of a run: opened, GPUs prepared and access enabled as checks need it, replaced when they fail.

mod nvml;
mod processes;

use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::OwnedFd;

use kb_core::report::{Fact, Gap, GapKind, Outcome};

use crate::host::Near;
use crate::worker::handle::Stuck;
use crate::worker::protocol::{Answer, CheckKind, Checked, Command, Loaded, Opened, PairFacts};

use super::attempt::Attempt;
use super::live::Live;
use super::setup::{OPEN_FACTOR, Setup};
use super::trouble::Trouble;
use super::unmeasured::Unmeasured;
use super::unresponsive::NoAnswer;

#[derive(Debug, Clone, Default)]
pub(super) struct Known {
    /// UUIDs in CUDA's order; a process that sees others is not asked.
    uuids: Vec<Option<String>>,
    /// GPUs that nobody else uses: windows are spread over their memory.
    idle: BTreeSet<u32>,
    /// The CPUs next to each GPU, where the bench takes host memory.
    near: Vec<Fact<Near>>,
}

impl Known {
    pub(super) fn of(opened: &Opened, idle: BTreeSet<u32>) -> Self {
        let uuids = uuids_of(opened);
        let near = Vec::new();
        Self { uuids, idle, near }
    }

    pub(super) fn with_near(self, near: Vec<Fact<Near>>) -> Self {
        Self { near, ..self }
    }
}

fn uuids_of(opened: &Opened) -> Vec<Option<String>> {
    opened.gpus.iter().map(|gpu| gpu.uuid.value.clone()).collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Worker,
    /// Owns the memory of rung 6.
    Partner,
}

/// A worker and a partner, each one after another; at most one of each lives.
pub(super) struct Session<'a> {
    pub(super) setup: &'a Setup,
    worker: Option<Live>,
    partner: Option<Live>,
    /// True when the last question had less time than it is due, because the run's time comes to its end.
    pub(super) cut_short: bool,
    known: Option<Known>,
    pub(super) loaded: Option<Loaded>,
    /// Why the bench's memory and kernels cannot be had: that ended a worker, and is not tried again for every cell.
    pub(super) no_bench: Option<Gap>,
    pub(super) unmeasured: Unmeasured,
    /// GPUs for which the bench took host memory, and why it was not taken next to them.
    pub(super) host_memory: BTreeMap<u32, Option<String>>,
    pub(super) stuck: Vec<Stuck>,
    /// A driver that did not answer twice: it is not asked for more.
    silent: Option<NoAnswer>,
}

impl<'a> Session<'a> {
    pub(super) fn new(setup: &'a Setup, known: Option<Known>) -> Self {
        Self {
            setup,
            worker: None,
            partner: None,
            cut_short: false,
            known,
            loaded: None,
            no_bench: None,
            unmeasured: Unmeasured::default(),
            host_memory: BTreeMap::new(),
            stuck: Vec::new(),
            silent: None,
        }
    }

    pub(super) fn alone(&self) -> Self {
        Self::new(self.setup, self.known.clone())
    }

    /// Starts a worker, opens the driver, lists the GPUs. The partner starts meanwhile: the driver lets one in after another.
    pub(super) fn open(&mut self) -> Result<Opened, Trouble> {
        self.start(Role::Worker)?;
        match self.ask(Role::Worker, &Command::Load, 1)? {
            Answer::Loaded(loaded) => self.loaded = Some(loaded),
            other => return Err(self.useless(Role::Worker, other)),
        }
        self.tell(Role::Worker, &Command::Open, None)?;
        // What is wrong with the partner is told when it is needed.
        if self.partner.is_none() {
            let _ = self.start(Role::Partner).and_then(|()| self.begin(Role::Partner));
        }
        match self.answer(Role::Worker, OPEN_FACTOR)? {
            Answer::Opened(opened) => {
                self.compare(Role::Worker, &uuids_of(&opened))?;
                Ok(*opened)
            }
            other => Err(self.useless(Role::Worker, other)),
        }
    }

    /// From now on every process must list these GPUs.
    pub(super) fn learn(&mut self, known: Known) {
        self.known = Some(known);
    }

    /// The CPUs next to a GPU; none where they are not known.
    pub(super) fn cpus_near(&self, gpu: u32) -> Vec<u32> {
        let near = self.near(gpu).and_then(|near| near.value.as_ref());
        near.map(|near| near.cpus.clone()).unwrap_or_default()
    }

    fn near(&self, gpu: u32) -> Option<&Fact<Near>> {
        let near = &self.known.as_ref()?.near;
        near.get(usize::try_from(gpu).ok()?)
    }

    /// The NUMA node of the host memory that the bench has taken for a GPU; nothing where it has taken none.
    pub(super) fn host_memory_node(&self, gpu: u32) -> Option<Fact> {
        let elsewhere = self.host_memory.get(&gpu)?;
        let near = self.near(gpu)?;
        Some(match (&near.value, elsewhere) {
            (Some(near), None) => Fact::read(near.node.into(), "taken by a thread on the node's CPUs"),
            (_, Some(why)) => Fact::missing(
                GapKind::Failed,
                format!("taken where the thread ran; it could not be kept next to the GPU: {why}"),
                near.source.clone(),
            ),
            (None, None) => near.clone().map(|near| near.node.into()),
        })
    }

    pub(super) fn pair_facts(&mut self, a: u32, b: u32) -> Result<PairFacts, Trouble> {
        let answer = self.ask_twice(|session| {
            if session.worker.is_none() {
                session.open()?;
            }
            session.ask(Role::Worker, &Command::PairFacts { a, b }, OPEN_FACTOR)
        })?;
        match answer {
            Answer::PairFacts(facts) => Ok(*facts),
            other => Err(self.unexpected(Role::Worker, other)),
        }
    }

    /// Has the worker prepare a GPU ahead of its checks, which tell what is wrong with that.
    pub(super) fn prepare(&mut self, gpu: u32) {
        let _ = self.make_ready(Role::Worker, gpu);
    }

    pub(super) fn prepare_partner(&mut self, gpus: usize) {
        for gpu in (0..).take(gpus) {
            let command = self.prepare_command(Role::Partner, gpu);
            if self.tell(Role::Partner, &command, None).is_err() {
                return;
            }
            if let Some(live) = &mut self.partner {
                live.prepared.insert(gpu);
            }
        }
    }

    pub(super) fn check(&mut self, initiator: u32, owner: u32, kind: CheckKind, seed: u64) -> Attempt {
        let attempt = self.prepared_check(initiator, owner, kind, seed);
        self.within_time(attempt)
    }

    pub(super) fn check_own(&mut self, gpu: u32, seed: u64) -> Attempt {
        let attempt = match self.make_ready(Role::Worker, gpu) {
            Ok(()) => self.ask_check(gpu, gpu, CheckKind::OwnMemory, seed),
            Err(trouble) => Attempt::not_ready(&trouble),
        };
        self.within_time(attempt)
    }

    /// A hang in less than a step's time is none.
    pub(super) fn within_time(&self, attempt: Attempt) -> Attempt {
        if attempt.outcome == Outcome::Hang && self.cut_short {
            attempt.out_of_time()
        } else {
            attempt
        }
    }

    fn prepared_check(&mut self, initiator: u32, owner: u32, kind: CheckKind, seed: u64) -> Attempt {
        for gpu in [initiator, owner] {
            if let Err(trouble) = self.make_ready(Role::Worker, gpu) {
                return Attempt::not_ready(&trouble);
            }
        }
        let mut needed = Vec::new();
        if kind.rung() > CheckKind::EnablePeerAccess.rung() {
            needed.push((initiator, owner));
        }
        if kind == CheckKind::ResidentExchange {
            needed.push((owner, initiator));
        }
        for (from, to) in needed {
            if self.has_access(from, to) {
                continue;
            }
            let enabling = self.ask_check(from, to, CheckKind::EnablePeerAccess, 0);
            if enabling.outcome != Outcome::Pass {
                return enabling;
            }
        }
        self.ask_check(initiator, owner, kind, seed)
    }

    pub(super) fn has_access(&self, initiator: u32, owner: u32) -> bool {
        let live = self.worker.as_ref();
        live.is_some_and(|live| live.enabled.contains(&(initiator, owner)))
    }

    pub(super) fn live(&mut self) -> Option<&mut Live> {
        self.worker.as_mut()
    }

    fn ask_check(&mut self, initiator: u32, owner: u32, kind: CheckKind, seed: u64) -> Attempt {
        let command = Command::Check {
            initiator,
            owner,
            kind,
            seed,
            limit_ms: self.setup.limit_ms(),
        };
        let attempt = self.checked(Role::Worker, &command, None);
        let enabled = kind == CheckKind::EnablePeerAccess && attempt.outcome == Outcome::Pass;
        if enabled && let Some(live) = &mut self.worker {
            live.enabled.insert((initiator, owner));
        }
        attempt
    }

    /// A command that is answered by what a check came to. A process that must not be used again goes.
    pub(super) fn checked(&mut self, role: Role, command: &Command, descriptor: Option<&OwnedFd>) -> Attempt {
        let answer = self
            .tell(role, command, descriptor)
            .and_then(|()| self.answer(role, 1));
        match answer {
            Ok(Answer::Checked(checked)) => self.came_to(role, checked),
            Ok(other) => Attempt::not_ready(&self.unexpected(role, other)),
            Err(trouble) => Attempt::interrupted(&trouble),
        }
    }

    pub(super) fn came_to(&mut self, role: Role, checked: Checked) -> Attempt {
        let (attempt, poisoned) = Attempt::from_checked(checked);
        if poisoned {
            self.abandon(role);
        }
        attempt
    }

    pub(super) fn make_ready(&mut self, role: Role, gpu: u32) -> Result<(), Trouble> {
        if self.seat(role).is_none() {
            self.start(role)?;
            self.begin(role)?;
        }
        let ahead = self.seat(role).as_ref().is_some_and(Live::is_preparing);
        match self.settle(role) {
            // What it was told ahead of any check is no fault of the check that waits for it.
            Err(_) if ahead => {
                self.start(role)?;
                self.begin(role)?;
                self.settle(role)?;
            }
            result => result?,
        }
        let live = self.seat(role).as_ref();
        if live.is_some_and(|live| live.prepared.contains(&gpu)) {
            return Ok(());
        }
        let command = self.prepare_command(role, gpu);
        match self.ask(role, &command, OPEN_FACTOR)? {
            Answer::Prepared => {}
            other => return Err(self.unexpected(role, other)),
        }
        if let Some(live) = self.seat(role) {
            live.prepared.insert(gpu);
        }
        Ok(())
    }

    fn prepare_command(&self, role: Role, gpu: u32) -> Command {
        let known = self.known.as_ref();
        Command::Prepare {
            gpu,
            bytes: self.setup.bytes,
            spread: role == Role::Worker && known.is_some_and(|known| known.idle.contains(&gpu)),
            limit_ms: self.setup.limit_ms(),
        }
    }
}
