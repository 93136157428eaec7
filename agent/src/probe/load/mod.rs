//! Minutes of load, behind ladder and bench: one step after the other, each of which all GPUs begin and end together.
//!
//! ```text
//! stage: counters -> calibrate -> steps until the time is over -> counters      tally: what each GPU did, in summary
//! plan: how much of each kind a step has      earlier: the last good run beside which rates are laid
//! ```

mod earlier;
mod options;
mod plan;
mod tally;

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use kb_core::report::{Fact, Failure, Gpu, Load, Pair};
use kb_core::verdict::cause;

use crate::worker::handle::Fault;
use crate::worker::inventory::during;
use crate::worker::protocol::{Answer, Command, LoadStep, LoadedGpu};

use super::bench::{Mode, is_proven};
use super::failure::{failure_from, failure_of};
use super::progress::{Progress, Step};
use super::session::{Role, Session};
use super::setup::SPENT;
use super::trouble::Trouble;

pub(crate) use options::LoadOptions;
use plan::Plan;
use tally::Tally;

/// Pause between two questions to NVML about clocks and temperatures.
const SAMPLE_EVERY: Duration = Duration::from_secs(1);
const STEP: &str = "load the GPUs";

pub(super) fn run(
    chosen: &LoadOptions,
    session: &mut Session<'_>,
    (mode, gpus, idle): (Mode, &[Gpu], &BTreeSet<u32>),
    pairs: &[Pair],
    progress: &dyn Progress,
) -> Load {
    let loaded: Vec<u32> = (0..)
        .zip(gpus)
        .map(|(gpu, _)| gpu)
        .filter(|gpu| idle.contains(gpu))
        .collect();
    let mut stage = Stage {
        chosen,
        session,
        progress,
        mode,
        plan: Plan::new(&loaded, &proven(pairs), mode.bytes, chosen.steps.is_some()),
        tally: Tally::of(&loaded),
        steps: 0,
        seconds: 0.0,
    };
    let addresses: Vec<Option<String>> = gpus.iter().map(|gpu| gpu.pci_address.value.clone()).collect();
    let before = stage.counters(&addresses);
    let ended = if loaded.is_empty() {
        Some(failure_of(STEP, "no GPU is idle".to_owned()))
    } else {
        stage.steps().err().map(|failure| *failure)
    };
    let after = stage.counters(&addresses);
    for gpu in &loaded {
        let place = usize::try_from(*gpu).unwrap_or(usize::MAX);
        let none = BTreeMap::new();
        let before = before.as_ref().map_err(String::as_str);
        let after = after.as_ref().map_err(String::as_str);
        let [before, after] = [before, after].map(|read| read.map(|gpus| gpus.get(place).unwrap_or(&none)));
        stage.tally.count(*gpu, during::rises(before, after));
    }
    let asked = if chosen.steps.is_some() {
        Duration::ZERO
    } else {
        chosen.seconds
    };
    Load {
        asked_seconds: asked.as_secs_f64(),
        seconds: stage.seconds,
        steps: stage.steps,
        gpus: stage.tally.into_gpus(),
        ended,
        earlier: earlier::of(&chosen.earlier, gpus),
        findings: Vec::new(),
    }
}

/// Directed pairs that the ladder has proven.
fn proven(pairs: &[Pair]) -> BTreeSet<(u32, u32)> {
    let proven = pairs.iter().filter(|pair| is_proven(pair));
    proven
        .flat_map(|pair| [(pair.a, pair.b), (pair.b, pair.a)])
        .collect()
}

struct Stage<'a, 'b> {
    chosen: &'a LoadOptions,
    session: &'a mut Session<'b>,
    progress: &'a dyn Progress,
    mode: Mode,
    plan: Plan,
    tally: Tally,
    steps: u64,
    seconds: f64,
}

impl Stage<'_, '_> {
    fn counters(&mut self, addresses: &[Option<String>]) -> Result<Vec<BTreeMap<String, Fact>>, String> {
        let read = self.session.read_again(addresses.to_vec());
        read.map_err(|trouble| failure_from(&trouble).message)
    }

    /// Until the time is over; what ended it before is the error.
    fn steps(&mut self) -> Result<(), Box<Failure>> {
        for (initiator, owner) in self.plan.access() {
            self.session
                .make_access(initiator, owner)
                .map_err(|why| Box::new(failure_of(STEP, why)))?;
        }
        for gpu in self.plan.gpus() {
            let ready = self.session.make_bench_ready(self.mode, gpu);
            ready.map_err(|trouble| Box::new(failure_from(&trouble)))?;
        }
        // One of each kind: it warms up, and tells how long each takes.
        self.tell();
        let first = self.plan.step(false, true, self.session.setup.limit_ms());
        let (gpus, _) = self.step(first)?;
        self.plan.learn(&gpus);
        let start = Instant::now();
        let mut sampled = start;
        loop {
            let elapsed = start.elapsed();
            self.seconds = elapsed.as_secs_f64();
            if self.is_over(elapsed) {
                return Ok(());
            }
            if self.session.setup.is_spent() {
                return Err(Box::new(failure_of(STEP, SPENT.to_owned())));
            }
            let sample = self.chosen.steps.is_some() || self.steps == 0 || sampled.elapsed() >= SAMPLE_EVERY;
            if sample {
                sampled = Instant::now();
                self.tell();
            }
            let step = self.plan.step(sample, false, self.session.setup.limit_ms());
            let (gpus, times) = self.step(step)?;
            self.plan.learn(&gpus);
            self.tally.rates(&gpus, times);
            self.steps += 1;
        }
    }

    fn is_over(&self, elapsed: Duration) -> bool {
        match self.chosen.steps {
            Some(steps) => self.steps >= steps,
            None => elapsed >= self.chosen.seconds,
        }
    }

    fn tell(&self) {
        self.progress.step(Step::Loading {
            // What is shown need not be exact.
            seconds: Duration::try_from_secs_f64(self.seconds)
                .unwrap_or_default()
                .as_secs(),
            of: self.chosen.seconds.as_secs(),
        });
    }

    /// Has a step made, and notes what it found. Gives what each GPU did, with the bytes of copies.
    fn step(&mut self, step: LoadStep) -> Result<(Vec<LoadedGpu>, [u64; 2]), Box<Failure>> {
        let bytes = [step.bytes, step.host_bytes];
        match self.session.ask(Role::Worker, &Command::LoadStep(step), 1) {
            Ok(Answer::LoadStepped {
                gpus,
                conditions,
                wrong,
            }) => {
                self.tally.work(&gpus);
                self.tally.wrong(&wrong);
                self.tally.sample(&conditions);
                Ok((gpus, bytes))
            }
            Ok(other) => Err(Box::new(self.failed(other))),
            Err(trouble) => Err(Box::new(ended_by(&trouble, self.session.cut_short))),
        }
    }

    fn failed(&mut self, answer: Answer) -> Failure {
        let cut_short = self.session.cut_short;
        ended_by(&self.session.unexpected(Role::Worker, answer), cut_short)
    }
}

/// Work that did not end in its time is a hang, unless the run's own end left it less than its time.
fn ended_by(trouble: &Trouble, cut_short: bool) -> Failure {
    let is_late = match trouble {
        Trouble::Call(failure) => failure.code.is_none() && failure.poisoned,
        Trouble::Worker(fault) => matches!(fault, Fault::Hang { .. }),
    };
    let failure = failure_from(trouble);
    match is_late {
        true if cut_short => failure_of(STEP, format!("{SPENT}: {}", failure.message)),
        true => Failure {
            cause: Some(cause::HANG.to_owned()),
            ..failure
        },
        false => failure,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worker::protocol::CallFailure;

    #[test]
    fn work_that_does_not_end_under_load_is_a_hang_unless_its_time_was_cut() {
        let mut call = CallFailure {
            call: "cuStreamQuery".to_owned(),
            code: None,
            code_name: None,
            message: "the work did not end".to_owned(),
            reason_code: None,
            poisoned: true,
        };
        let hang = Trouble::Worker(Fault::Hang {
            call: None,
            limit: Duration::from_secs(1),
        });
        for late in [Trouble::Call(call.clone()), hang] {
            assert_eq!(ended_by(&late, false).cause.as_deref(), Some(cause::HANG));
            let cut = ended_by(&late, true);
            assert!(cut.cause.is_none() && cut.message.starts_with(SPENT), "{cut:?}");
        }
        // A host that queued too slowly, and an error of the work.
        call.poisoned = false;
        assert_eq!(ended_by(&Trouble::Call(call.clone()), false).cause, None);
        (call.poisoned, call.code) = (true, Some(719));
        assert_eq!(ended_by(&Trouble::Call(call), true).code, Some(719));
    }
}
