//! What the processes with the driver find: the GPUs, rung 1 of every pair, the ladder of every direction.

use std::collections::{BTreeMap, BTreeSet};

use kb_core::report::{Fact, Failure, GapKind, Gpu, NvmlP2p, Pair, PairVerdict};

use crate::host;
use crate::worker::protocol::{DirectionFacts, Opened, PairFacts};

use super::again;
use super::bench::{Bench, Mode, Way};
use super::failure::failure_from;
use super::idle;
use super::ladder::{Ascent, Climb, LOWER, UPPER};
use super::own_memory::OwnMemory;
use super::parts::Parts;
use super::progress::{PairStep, Progress, Step};
use super::session::{Known, Session};
use super::setup::{SPENT, Setup};
use super::timing::Timings;
use super::unresponsive::{NoAnswer, twice};
use super::{Depth, Found, Options, absent, driver_facts, load};

pub(super) fn run(
    options: &Options,
    setup: &Setup,
    nonce: u64,
    (progress, parts): (&dyn Progress, &mut Parts),
) -> Found {
    progress.step(Step::Opening);
    let mut session = Session::new(setup, None);
    let opened = match twice(|| session.open()) {
        Ok(opened) => opened,
        Err(trouble) => return closed(options, session, &trouble),
    };
    let absent = absent::of_run(options, &mut session, Some(&opened.gpus));
    let idle = idle::idle_gpus(&opened.gpus);
    let near = |gpu: &Gpu| match &gpu.pci_address.value {
        Some(address) => host::near(&options.host_root, address),
        None => Fact {
            value: None,
            source: gpu.pci_address.source.clone(),
            gap: gpu.pci_address.gap.clone(),
        },
    };
    let known = Known::of(&opened, idle.clone());
    session.learn(known.with_near(opened.gpus.iter().map(near).collect()));
    parts.end("opening");
    let steps = pair_steps(opened.gpus.len());
    let facts: Vec<PairFacts> = steps
        .iter()
        .map(|pair| {
            progress.step(Step::Asking { pair: *pair });
            pair_facts(setup, &mut session, pair.a, pair.b)
        })
        .collect();
    parts.end("rung_1");
    if options.depth == Depth::Passive {
        return Found {
            absent,
            ..untouched(&mut session, &opened, steps, facts)
        };
    }
    let climb = Climb {
        setup,
        run: nonce,
        progress,
    };
    let own = prepare(&climb, &mut session, opened.gpus.len(), (&steps, &facts));
    parts.end("contexts");
    let mut bench = options
        .bench
        .map(|chosen| Bench::new(chosen, &opened.gpus, &idle, progress));
    if let Some(bench) = &mut bench {
        // Before any access is enabled: afterwards no copy is staged any more.
        bench.without_access(&mut session, &ways(&steps));
        parts.end("bench_without_access");
    }
    let mut timings = bench.is_none().then(|| Timings::new(options.bytes));
    let mut pairs = Vec::new();
    for (step, facts) in steps.into_iter().zip(facts) {
        pairs.push(look_at(&climb, &mut session, timings.as_mut(), step, facts));
    }
    parts.end("ladder");
    if let Some(bench) = &mut bench {
        bench.with_access(&mut session, &pairs);
        parts.end("bench");
    }
    let (bench, wrong) = bench.map(Bench::finish).unwrap_or_default();
    let load = options.load.as_ref().map(|chosen| {
        let mode = Mode::of(options.bench.unwrap_or_default(), &opened.gpus);
        let on = (mode, opened.gpus.as_slice(), &idle);
        load::run(chosen, &mut session, on, &pairs, progress)
    });
    if load.is_some() {
        parts.end("load");
    }
    progress.step(Step::Closing);
    let mut gpus = opened.gpus.clone();
    for (number, gpu) in (0..).zip(&mut gpus) {
        let node = session.host_memory_node(number);
        gpu.facts
            .extend(node.map(|node| ("bench.host_memory_node".to_owned(), node)));
    }
    again::read(&mut session, &mut gpus, &pairs);
    idle::mark_shared(&mut gpus, &idle);
    let wrong_alone: Vec<Failure> = own.into_iter().filter_map(|own| own.tell(&mut gpus)).collect();
    parts.end("second_reading");
    session.end();
    parts.end("closing");
    let mut found = Found {
        simulated: false,
        driver: driver_facts(&opened),
        failures: session
            .failures()
            .into_iter()
            .chain(wrong)
            .chain(wrong_alone)
            .collect(),
        gpus,
        absent,
        pairs,
        measurements: timings.map_or(bench, Timings::into_measurements),
        nccl: None,
        load,
        logs: Vec::new(),
    };
    found.learn(session.loaded.as_ref());
    found
}

fn closed(options: &Options, mut session: Session<'_>, trouble: &NoAnswer) -> Found {
    // A driver that does not answer is not asked for more.
    let absent = if trouble.is_answer() {
        absent::of_run(options, &mut session, None)
    } else {
        Vec::new()
    };
    session.end();
    let mut found = Found::nothing(trouble.failure());
    found.absent = absent;
    found.failures.extend(session.failures());
    found.learn(session.loaded.as_ref());
    found
}

/// The GPUs and rung 1 of the pairs, and nothing that would take anything of a GPU.
fn untouched(
    session: &mut Session<'_>,
    opened: &Opened,
    steps: Vec<PairStep>,
    facts: Vec<PairFacts>,
) -> Found {
    session.end();
    let pairs = steps.into_iter().zip(facts).map(|(step, facts)| Pair {
        a: step.a,
        b: step.b,
        nvlinks: facts.nvlinks,
        nvswitch: facts.nvswitch,
        common_ancestor: facts.common_ancestor,
        facts: BTreeMap::new(),
        directions: vec![
            Ascent::new(step.a, step.b, facts.forward).into_direction(),
            Ascent::new(step.b, step.a, facts.backward).into_direction(),
        ],
        verdict: PairVerdict::undecided(),
    });
    let mut found = Found {
        simulated: false,
        driver: driver_facts(opened),
        failures: session.failures(),
        gpus: opened.gpus.clone(),
        absent: Vec::new(),
        pairs: pairs.collect(),
        measurements: Vec::new(),
        nccl: None,
        load: None,
        logs: Vec::new(),
    };
    found.learn(session.loaded.as_ref());
    found
}

/// One pair: both directions side by side, since some checks need access both ways.
fn look_at(
    climb: &Climb<'_>,
    session: &mut Session<'_>,
    mut timings: Option<&mut Timings>,
    step: PairStep,
    facts: PairFacts,
) -> Pair {
    let mut forward = Ascent::new(step.a, step.b, facts.forward);
    let mut backward = Ascent::new(step.b, step.a, facts.backward);
    let both = forward.granted() && backward.granted();
    // Before either direction is enabled: afterwards no copy is staged any more.
    for ascent in [&forward, &backward] {
        let refused = "the driver does not grant access both ways, so there is nothing to compare with";
        if let Some(timings) = timings.as_deref_mut() {
            let skip = (!both).then_some(refused);
            timings.take(session, (ascent.initiator, ascent.owner), false, skip);
        }
    }
    climb.climb(session, step, &mut forward, &LOWER, None);
    climb.climb(session, step, &mut backward, &LOWER, None);
    let stops = [&forward, &backward].map(|ascent| ascent.stopped.clone().map(|(_, reason)| reason));
    let [forward_stop, backward_stop] = &stops;
    climb.climb(session, step, &mut forward, &UPPER, backward_stop.as_deref());
    climb.climb(session, step, &mut backward, &UPPER, forward_stop.as_deref());
    for ascent in [&forward, &backward] {
        let stopped = ascent.stopped.as_ref().map(|(_, reason)| reason.as_str());
        if let Some(timings) = timings.as_deref_mut() {
            timings.take(session, (ascent.initiator, ascent.owner), true, stopped);
        }
    }
    Pair {
        a: step.a,
        b: step.b,
        nvlinks: facts.nvlinks,
        nvswitch: facts.nvswitch,
        common_ancestor: facts.common_ancestor,
        facts: BTreeMap::new(),
        directions: vec![forward.into_direction(), backward.into_direction()],
        verdict: PairVerdict::undecided(),
    }
}

/// Both directions of all pairs: copies staged through the host need no access, and serve programs where it is refused.
fn ways(steps: &[PairStep]) -> Vec<Way> {
    let both = |step: &PairStep| [Way::open(step.a, step.b), Way::open(step.b, step.a)];
    steps.iter().flat_map(both).collect()
}

/// Contexts and memory on all GPUs. Those without a peer are checked by themselves.
fn prepare(
    climb: &Climb<'_>,
    session: &mut Session<'_>,
    gpus: usize,
    (steps, facts): (&[PairStep], &[PairFacts]),
) -> Vec<OwnMemory> {
    let with_peers = with_peers(steps, facts);
    let step = |gpu| climb.progress.step(Step::Preparing { gpu, of: gpus });
    let mut own = Vec::new();
    for gpu in (0..).take(gpus).filter(|gpu| !with_peers.contains(gpu)) {
        step(gpu);
        own.push(OwnMemory::check(climb.setup, session, gpu, climb.run));
    }
    for gpu in with_peers.iter().copied() {
        step(gpu);
        // What is wrong with that is told by the checks.
        session.prepare(gpu);
    }
    if !with_peers.is_empty() {
        // After the worker's contexts: in exclusive compute mode the partner would take their place.
        session.prepare_partner(gpus);
    }
    own
}

/// The GPUs that the driver lets reach another, or be reached: the ladder uses them.
fn with_peers(steps: &[PairStep], facts: &[PairFacts]) -> BTreeSet<u32> {
    let granted = |facts: &DirectionFacts| facts.can_access_peer.value == Some(true);
    let pairs = steps.iter().zip(facts);
    let pairs = pairs.filter(|(_, pair)| granted(&pair.forward) || granted(&pair.backward));
    pairs.flat_map(|(step, _)| [step.a, step.b]).collect()
}

fn pair_facts(setup: &Setup, session: &mut Session<'_>, a: u32, b: u32) -> PairFacts {
    if setup.is_spent() {
        return unanswered(GapKind::Skipped, SPENT);
    }
    session.pair_facts(a, b).unwrap_or_else(|trouble| {
        let reason = failure_from(&trouble).message;
        unanswered(GapKind::Failed, &reason)
    })
}

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

fn pair_steps(gpus: usize) -> Vec<PairStep> {
    let count = u32::try_from(gpus).unwrap_or(u32::MAX);
    let pairs: Vec<(u32, u32)> = (0..count)
        .flat_map(|a| (a + 1..count).map(move |b| (a, b)))
        .collect();
    let of = pairs.len();
    (1..)
        .zip(pairs)
        .map(|(number, (a, b))| PairStep { number, of, a, b })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(gpus: usize) -> Vec<(u32, u32)> {
        let steps = pair_steps(gpus);
        steps.iter().map(|step| (step.a, step.b)).collect()
    }

    #[test]
    fn every_unordered_pair_comes_once() {
        assert_eq!(pairs(0), []);
        assert_eq!(pairs(1), []);
        assert_eq!(pairs(3), [(0, 1), (0, 2), (1, 2)]);
        assert_eq!(pairs(8).len(), 28);
    }
}
