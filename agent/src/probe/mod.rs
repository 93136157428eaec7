//! A run: host facts, the GPUs, rung 1 of every pair, the ladder of every direction, the verdicts.

mod absent;
mod across;
mod again;
mod attempt;
mod bench;
mod broken;
mod chance;
mod failure;
mod idle;
mod ladder;
mod live;
mod load;
mod nccl;
mod own_memory;
mod parts;
mod progress;
mod selection;
mod session;
mod setup;
mod stages;
mod surroundings;
mod timing;
mod trouble;
mod unmeasured;
mod unresponsive;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use kb_core::health::ListedEarlier;
use kb_core::ids::IdError;
use kb_core::report::{
    AbsentGpu, Conclusion, Fact, Failure, Gpu, Load, LogExcerpt, MAJOR, MINOR, Measurement, Nccl, Pair,
    Report, SchemaVersion, fact_name,
};
use kb_core::verdict::{Expect, add_nominal, judge};

use crate::clock::{Clock, timestamp};
use crate::host::{self, HostRoot, Watch};
use crate::worker::lock::{self, Lock, LockError};
use crate::worker::protocol::{Loaded, Opened};

pub(crate) use absent::{Before, GpusBefore};
pub(crate) use bench::{BenchOptions, estimate as estimate_bench};
pub(crate) use chance::{Chance, RANDOM_BYTES};
pub(crate) use load::LoadOptions;
pub(crate) use nccl::NcclOptions;
pub(crate) use progress::{PairStep, Progress, Step};
pub(crate) use selection::names_gpus;

use failure::failure_of;
use parts::Parts;
use setup::Setup;

#[derive(Debug, Clone)]
pub(crate) struct Options {
    pub(crate) host_root: HostRoot,
    pub(crate) timeout: Duration,
    pub(crate) step_timeout: Duration,
    pub(crate) bytes: u64,
    pub(crate) lock_file: PathBuf,
    /// The agent's own binary, which workers are started from.
    pub(crate) program: PathBuf,
    pub(crate) expect: Expect,
    pub(crate) expected_gpus: Option<u32>,
    /// The GPUs that the run is confined to, as `--devices` names them.
    pub(crate) devices: Option<String>,
    pub(crate) depth: Depth,
    /// GPUs that were listed earlier in this boot, as the ledger has it.
    pub(crate) earlier: ListedEarlier,
    /// The GPUs that the node had before it was repaired, as each source has them; fewer of them now are a fault.
    pub(crate) before: Vec<GpusBefore>,
    pub(crate) bench: Option<BenchOptions>,
    pub(crate) nccl: Option<NcclOptions>,
    pub(crate) load: Option<LoadOptions>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// Facts, counters and the driver's answers: no context is made, no memory of a GPU taken.
    Passive,
    Full,
}

/// The step at which a run meets another agent.
const LOCKING: &str = "lock the node";

/// True when nothing was looked at because the lock could not be had.
pub(crate) fn was_locked_out(report: &Report) -> bool {
    report.failures.iter().any(|failure| failure.step == LOCKING)
}

/// True when nobody else used the GPU, by NVML's word.
pub(crate) fn is_gpu_idle(gpu: &Gpu) -> bool {
    !idle::idle_gpus(std::slice::from_ref(gpu)).is_empty()
}

/// True when all GPUs of a report were idle, by NVML's word; without any it is not told.
pub(crate) fn is_idle(report: &Report) -> bool {
    !report.gpus.is_empty() && idle::idle_gpus(&report.gpus).len() == report.gpus.len()
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
    let mut parts = Parts::begin();
    let watch = Watch::start(&options.host_root);
    let host = host::read(&options.host_root, &watch)?;
    parts.end("host_facts");
    let mut found = match lock_of(options) {
        Ok(_lock) => {
            parts.end("lock");
            let setup = Setup::of(options);
            let mut found = stages::run(options, &setup, chance.nonce, (progress, &mut parts));
            broken::tell_contexts(&mut found, &setup);
            if let Some(chosen) = &options.nccl {
                let surroundings = (&host.facts, &options.host_root);
                nccl::add(&mut found, chosen, &setup, surroundings, progress);
                parts.end("nccl");
            }
            broken::tell(&mut found, &setup);
            found
        }
        Err(error) => Found::nothing(failure_of(LOCKING, error.to_string())),
    };
    surroundings::add(&mut found, &options.host_root, &watch);
    let (mut logs, log_facts) = watch.finish();
    parts.end("surroundings");
    logs.extend(found.logs);
    let mut facts = host.facts;
    facts.extend(log_facts);
    if let Some(load) = &options.load {
        surroundings::doubt_log(&mut facts, (&options.host_root, &host.node), load, clock.now());
    }
    facts.extend(absent::view(&options.host_root).map(|view| {
        let fact = Fact::read(view.into(), "user, control group and NVIDIA_VISIBLE_DEVICES");
        (fact_name::GPUS_VIEW.to_owned(), fact)
    }));
    facts.extend(found.driver);
    facts.extend(options.expected_gpus.map(|gpus| {
        let said = Fact::read(gpus.into(), "--expect");
        (fact_name::EXPECTED_GPUS.to_owned(), said)
    }));
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
        absent: found.absent,
        pairs: found.pairs,
        measurements: found.measurements,
        nccl: found.nccl,
        load: found.load,
        parts: parts.into_list(),
        logs,
        failures: found.failures,
        notes: Vec::new(),
        health: None,
        conclusion: Conclusion::undecided(),
    };
    if options.bench.is_some() {
        add_nominal(&mut report);
    }
    judge(&mut report, options.expect);
    Ok(report)
}

/// The node's lock for a run that works with GPUs: two at once would see each other's work as faults. A look that takes
/// nothing disturbs no other, and needs none. The run's own time begins when it has the lock.
fn lock_of(options: &Options) -> Result<Option<Lock>, LockError> {
    match options.depth {
        Depth::Passive => Ok(None),
        Depth::Full => lock::acquire(&options.lock_file, options.timeout).map(Some),
    }
}

struct Found {
    simulated: bool,
    driver: BTreeMap<String, Fact>,
    gpus: Vec<Gpu>,
    absent: Vec<AbsentGpu>,
    pairs: Vec<Pair>,
    measurements: Vec<Measurement>,
    nccl: Option<Nccl>,
    load: Option<Load>,
    logs: Vec<LogExcerpt>,
    failures: Vec<Failure>,
}

impl Found {
    fn nothing(failure: Failure) -> Self {
        Self {
            simulated: false,
            driver: BTreeMap::new(),
            gpus: Vec::new(),
            absent: Vec::new(),
            pairs: Vec::new(),
            measurements: Vec::new(),
            nccl: None,
            load: None,
            logs: Vec::new(),
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

fn any<T: Clone + Into<serde_json::Value>>(fact: &Fact<T>) -> Fact {
    fact.clone().map(Into::into)
}

fn driver_facts(opened: &Opened) -> BTreeMap<String, Fact> {
    BTreeMap::from([
        (fact_name::CUDA_VERSION.to_owned(), any(&opened.cuda_version)),
        (
            fact_name::NVML_DRIVER_VERSION.to_owned(),
            any(&opened.nvml_driver_version),
        ),
    ])
}
