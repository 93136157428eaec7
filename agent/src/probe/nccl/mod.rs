//! NCCL behind the ladder and the bench: does it work with peer access and without, and how fast is it.
//!
//! ```text
//! arms: a process a GPU, with and without peer access -> verdict, rung 7 of the pairs     figures: one process, all GPUs
//!     ranks: driver, library, communicator      crowd: processes that do the same step at the same time
//! ```

mod after;
mod arms;
mod crowd;
mod figures;
mod ranks;
mod restriction;

use std::collections::BTreeMap;

use kb_core::report::{
    Check, Engine, Fact, Failure, Gap, GapKind, GpuIndex, LogExcerpt, Nccl, NcclArm, NcclVerdict, Outcome,
    Pair, When,
};

use super::Found;
use super::failure::{failure_of, stuck_failure};
use super::progress::{Progress, Step};
use super::setup::{SPENT, Setup};
use crate::host::HostRoot;

use arms::{Ended, functional, weigh};
use ranks::{Library, Stage};
use restriction::Limit;

/// What the operator chose.
#[derive(Debug, Clone, Default)]
pub(crate) struct NcclOptions {
    /// The library's file, in place of what the loader finds.
    pub(crate) library: Option<String>,
    /// Leave NVLink SHARP and multicast to NCCL.
    pub(crate) nvls: bool,
    /// As many samples as the full bench.
    pub(crate) full: bool,
    /// Bytes of the largest collective.
    pub(crate) bytes: Option<u64>,
}

impl NcclOptions {
    /// Bytes of the largest collective, where the GPUs have room for it.
    pub(crate) fn largest(&self) -> u64 {
        self.bytes.unwrap_or(figures::LARGEST)
    }
}

/// Rung of the ladder.
const RUNG: u8 = 7;
/// How NCCL marks a warning.
const WARNS: &str = "NCCL WARN";
/// Lines of NCCL's warnings that are kept of an arm.
const MOST_LINES: usize = 100;

/// What the arms have shown so far.
struct Shown {
    arms: Vec<NcclArm>,
    library: Option<Library>,
}

/// Runs it and adds it to what was found.
pub(super) fn add(
    found: &mut Found,
    chosen: &NcclOptions,
    setup: &Setup,
    (host, root): (&BTreeMap<String, Fact>, &HostRoot),
    progress: &dyn Progress,
) {
    let idle = |(index, gpu): (u32, &kb_core::report::Gpu)| {
        let shared = gpu
            .facts
            .get("shared")
            .and_then(|fact| fact.value.as_ref()?.as_bool());
        (shared == Some(false)).then_some(index)
    };
    let gpus: Vec<GpuIndex> = (0..).zip(&found.gpus).filter_map(idle).collect();
    let mut shown = Shown {
        arms: Vec::new(),
        library: None,
    };
    if gpus.len() < 2 {
        let why = "there are fewer than two GPUs that nobody else uses";
        found.nccl = Some(shown.report(chosen.nvls, NcclVerdict::NotRun, why.to_owned()));
        return;
    }
    let stage = Stage {
        setup,
        chosen,
        // Paths below another root are not those of the processes that would open them.
        copies: if root.is_own() { copies(host) } else { Vec::new() },
        uuids: found.gpus.iter().map(|gpu| gpu.uuid.value.clone()).collect(),
    };
    let limit = restriction::of(host, root.is_own());
    let left_out = left_out(found, limit.as_ref(), &gpus);
    let pairs = gpus.len() * (gpus.len() - 1) / 2;
    let restricted = limit.as_ref().filter(|_| left_out.len() == pairs);
    let mut arm = |peer_access| {
        progress.step(Step::Collectives {
            gpus: gpus.len(),
            peer_access,
        });
        shown.take(found, functional(&stage, &gpus, peer_access))
    };
    let (with, verdict, mut reason) = if let Some(limit) = restricted {
        // As the environment has it there is no peer access, so that the control would be the same once more.
        let only = arm(false);
        let reason = restriction::reason(&limit.setting, &only);
        (only, NcclVerdict::Inconclusive, reason)
    } else {
        let (with, without) = (arm(true), arm(false));
        let verdict = weigh(with.outcome, without.outcome);
        let reason = reason_of(verdict, &with, &without);
        (with, verdict, reason)
    };
    if let Some(limit) = &limit
        && restricted.is_none()
        && !left_out.is_empty()
    {
        reason = format!("{reason}; {}", restriction::left_out(&limit.setting, &left_out));
    }
    let over = Over {
        gpus: &gpus,
        limit: limit.as_ref(),
    };
    if verdict == NcclVerdict::PeerAccessFails && gpus.len() > 2 {
        one_by_one(found, &mut shown, &stage, over, progress);
    } else {
        conclude(found, &shown.arms, (verdict, &reason), over);
    }
    let memory = gpus.iter().filter_map(|gpu| {
        let gpu = found.gpus.get(usize::try_from(*gpu).ok()?)?;
        gpu.memory_bytes.value
    });
    let closed = (with.outcome != Outcome::Pass).then(|| Gap {
        kind: GapKind::Skipped,
        reason: match (with.outcome, &with.reason) {
            (Outcome::Fail | Outcome::Hang, _) => {
                format!("NCCL does not work here as the environment has it: {reason}")
            }
            (_, Some(own)) => own.clone(),
            (_, None) => reason.clone(),
        },
    });
    let figures = figures::measure(&stage, &gpus, memory.min(), closed, progress);
    found.measurements.extend(figures.measurements);
    let wrong = figures.wrong.into_iter().map(|wrong| failure_of("NCCL", wrong));
    found.failures.extend(wrong);
    found.failures.extend(figures.stuck.iter().map(stuck_failure));
    found.logs.extend(warnings(&figures.said));
    if let Some(others) = after::look(found, setup, &gpus) {
        reason = format!("{reason}; {others}");
    }
    found.nccl = Some(shown.report(chosen.nvls, verdict, reason));
}

/// What the arms went over.
#[derive(Clone, Copy)]
struct Over<'a> {
    gpus: &'a [GpuIndex],
    /// How far NCCL uses peer access, where somebody has said.
    limit: Option<&'a Limit>,
}

/// The pairs between which NCCL is kept from peer access.
fn left_out(found: &Found, limit: Option<&Limit>, gpus: &[GpuIndex]) -> Vec<(GpuIndex, GpuIndex)> {
    let Some(limit) = limit else {
        return Vec::new();
    };
    let among = |pair: &&Pair| gpus.contains(&pair.a) && gpus.contains(&pair.b);
    let pairs = found.pairs.iter().filter(among);
    let out = pairs.filter(|pair| limit.allows(pair) == Some(false));
    out.map(|pair| (pair.a, pair.b)).collect()
}

/// What the arms over all GPUs say of each pair and of the run.
fn conclude(found: &mut Found, arms: &[NcclArm], (verdict, reason): (NcclVerdict, &str), over: Over<'_>) {
    let gpus = over.gpus;
    let with = arms.iter().find(|arm| arm.peer_access);
    let mut noted = false;
    if let Some(with) = with
        && (with.outcome == Outcome::Pass || verdict == NcclVerdict::PeerAccessFails)
    {
        for (at, a) in gpus.iter().enumerate() {
            for b in gpus.iter().skip(at + 1) {
                noted |= note(found, (*a, *b), with, (over.limit, false));
            }
        }
    }
    let blame = match verdict {
        // No pair has peer access by the driver's word, or it would have been blamed.
        NcclVerdict::PeerAccessFails if !noted => with,
        NcclVerdict::Inconclusive => arms.iter().find(|arm| arm.outcome != Outcome::Pass),
        _ => None,
    };
    // The run's time came to its end: that is no failure of NCCL's.
    let out_of_time = arms.iter().any(|arm| {
        arm.outcome == Outcome::Skipped || arm.reason.as_ref().is_some_and(|why| why.starts_with(SPENT))
    });
    if let Some(arm) = blame.filter(|_| !out_of_time) {
        found.failures.push(of_arm(arm, reason));
    }
}

/// Which pairs are at fault where all of them together fail with peer access.
fn one_by_one(
    found: &mut Found,
    shown: &mut Shown,
    stage: &Stage<'_>,
    over: Over<'_>,
    progress: &dyn Progress,
) {
    let gpus = over.gpus;
    let mut blamed = false;
    let mut why =
        "NCCL fails with peer access over all GPUs together, and not between any two of them that have it";
    for (at, a) in gpus.iter().enumerate() {
        for b in gpus.iter().skip(at + 1) {
            if stage.setup.is_spent() {
                why = "NCCL fails with peer access; the time of the run was spent before it was known between which GPUs";
                continue;
            }
            let pair = [*a, *b];
            let mut arm = |peer_access| {
                progress.step(Step::Collectives { gpus: 2, peer_access });
                shown.take(found, functional(stage, &pair, peer_access))
            };
            let with = arm(true);
            let fails = with.outcome != Outcome::Pass;
            if fails && weigh(with.outcome, arm(false).outcome) != NcclVerdict::PeerAccessFails {
                continue;
            }
            let noted = note(found, (*a, *b), &with, (over.limit, true));
            blamed |= fails && noted;
        }
    }
    if !blamed && let Some(together) = shown.arms.first() {
        found.failures.push(of_arm(together, why));
    }
}

/// Rung 7 of a pair, where the driver grants access and nobody keeps NCCL from it; elsewhere NCCL does not use any, or that
/// is not known, and false is the answer.
fn note(
    found: &mut Found,
    (a, b): (GpuIndex, GpuIndex),
    arm: &NcclArm,
    (limit, rerun): (Option<&Limit>, bool),
) -> bool {
    let Some(pair) = found.pairs.iter_mut().find(|pair| (pair.a, pair.b) == (a, b)) else {
        return false;
    };
    let granted = pair
        .directions
        .iter()
        .all(|of| of.can_access_peer.value == Some(true));
    if !granted || limit.is_some_and(|limit| limit.allows(pair) != Some(true)) {
        return false;
    }
    for direction in &mut pair.directions {
        direction.checks.push(Check {
            rung: RUNG,
            name: "nccl".to_owned(),
            engine: Engine::Nccl,
            outcome: arm.outcome,
            reason: arm.reason.clone(),
            call: arm.call.clone(),
            // Another table of codes than the driver's, whose codes decide verdicts; the arm has it.
            code: None,
            code_name: arm.code_name.clone(),
            checked_by: "owner_copy".to_owned(),
            bytes: arms::BYTES,
            windows: 0,
            spread_bytes: 0,
            mismatch: None,
            seconds: arm.seconds,
            rerun,
        });
    }
    granted
}

impl Shown {
    /// Keeps an arm, and adds what it left to what was found.
    fn take(&mut self, found: &mut Found, ended: Ended) -> NcclArm {
        self.library = self.library.take().or(ended.library);
        found.logs.extend(warnings(&ended.said));
        found.failures.extend(ended.stuck.iter().map(stuck_failure));
        self.arms.push(ended.arm.clone());
        ended.arm
    }

    fn report(self, nvls: bool, verdict: NcclVerdict, reason: String) -> Nccl {
        let missing = |source| Fact::missing(GapKind::Failed, "libnccl was not loaded", source);
        let (library, version) = match self.library {
            Some(library) => (library.file, library.version),
            None => (missing("libnccl.so.2"), missing("ncclGetVersion")),
        };
        Nccl {
            library,
            version,
            nvls,
            arms: self.arms,
            verdict,
            reason,
        }
    }
}

fn reason_of(verdict: NcclVerdict, with: &NcclArm, without: &NcclArm) -> String {
    let why = |arm: &NcclArm| arm.reason.clone().unwrap_or_else(|| "it passes".to_owned());
    match verdict {
        NcclVerdict::Ok => "collectives gave the right data with peer access and without".to_owned(),
        NcclVerdict::PeerAccessFails => format!("without peer access NCCL works; with it: {}", why(with)),
        NcclVerdict::StagingFails => format!("with peer access NCCL works; without it: {}", why(without)),
        _ => format!("with peer access: {}; without: {}", why(with), why(without)),
    }
}

/// A failure of the run as a whole.
fn of_arm(arm: &NcclArm, message: &str) -> Failure {
    Failure {
        // As in [`note`]: ncclSystemError would be read as the driver's 2, memory that is full.
        code: None,
        code_name: arm.code_name.clone(),
        ..failure_of(arm.call.as_deref().unwrap_or("NCCL"), message.to_owned())
    }
}

/// NCCL's own warnings, for the server to explain. Ranks that say the same say it once.
fn warnings(said: &[String]) -> Option<LogExcerpt> {
    let mut lines: Vec<&str> = Vec::new();
    let all = said.iter().flat_map(|said| said.lines());
    // In front of it stand host, process and GPU, which differ where the warning is the same.
    let mut told: Vec<&str> = Vec::new();
    for (line, warning) in all.filter_map(|line| Some((line, line.split_once(WARNS)?.1.trim()))) {
        if lines.len() < MOST_LINES && !told.contains(&warning) {
            told.push(warning);
            lines.push(line);
        }
    }
    (!lines.is_empty()).then(|| LogExcerpt {
        source: "nccl".to_owned(),
        when: When::During,
        text: lines.join("\n"),
    })
}

/// Copies of the library that the host's facts list and no loader takes, in their order.
fn copies(host: &BTreeMap<String, Fact>) -> Vec<String> {
    let listed = host
        .get("libraries.nccl")
        .and_then(|fact| fact.value.as_ref()?.as_array());
    let path = |copy: &serde_json::Value| copy.get("path")?.as_str().map(str::to_owned);
    listed.into_iter().flatten().filter_map(path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_of_all_ranks_are_kept_once() {
        let said = [
            "noise\nvm:1:1 [0] NCCL WARN one\n".to_owned(),
            "vm:2:2 [1] NCCL WARN one\nvm:2:2 [1] NCCL WARN two\n".to_owned(),
        ];
        let kept = warnings(&said).unwrap();
        assert_eq!(kept.text, "vm:1:1 [0] NCCL WARN one\nvm:2:2 [1] NCCL WARN two");
        assert_eq!(warnings(&["noise".to_owned()]), None);
    }

    fn arm(peer_access: bool, outcome: Outcome, reason: &str) -> NcclArm {
        NcclArm {
            gpus: vec![0, 1],
            peer_access,
            outcome,
            reason: Some(reason.to_owned()),
            call: Some("ncclAllReduce".to_owned()),
            code: Some(2),
            code_name: Some("ncclSystemError".to_owned()),
            seconds: 1.0,
        }
    }

    /// Failures of the run, where no pair can be blamed.
    fn failures(with: (Outcome, &str), without: (Outcome, &str)) -> Vec<Failure> {
        let mut found = Found::nothing(failure_of("test", String::new()));
        found.failures.clear();
        let arms = [arm(true, with.0, with.1), arm(false, without.0, without.1)];
        let verdict = weigh(with.0, without.0);
        let over = Over {
            gpus: &[0, 1],
            limit: None,
        };
        conclude(&mut found, &arms, (verdict, "why"), over);
        found.failures
    }

    #[test]
    fn a_failure_that_blames_no_pair_is_one_of_the_run() {
        let failures = failures((Outcome::Fail, "it failed"), (Outcome::Pass, ""));
        let told: Vec<_> = failures
            .iter()
            .map(|failure| (failure.step.as_str(), failure.code, failure.message.as_str()))
            .collect();
        assert_eq!(told, [("ncclAllReduce", None, "why")]);
    }

    #[test]
    fn only_an_arm_without_its_time_excuses_the_run() {
        let hang = (Outcome::Hang, "it did not end");
        assert_eq!(failures(hang, hang).len(), 1);
        let cut_short = format!("{SPENT} before this step's was: it did not end");
        for late in [
            (Outcome::Skipped, SPENT),
            (Outcome::Inconclusive, cut_short.as_str()),
        ] {
            assert!(failures(hang, late).is_empty(), "{late:?}");
        }
    }

    #[test]
    fn copies_are_those_of_the_hosts_facts() {
        let fact = Fact::read(
            serde_json::json!([{"path": "/a/libnccl.so.2", "taken": false}]),
            "test",
        );
        let host = BTreeMap::from([("libraries.nccl".to_owned(), fact)]);
        assert_eq!(copies(&host), ["/a/libnccl.so.2"]);
        assert_eq!(copies(&BTreeMap::new()), [] as [&str; 0]);
    }
}
