//! NCCL behind the ladder and the bench: does it work with peer access and without, and how fast is it.
//!
//! ```text
//! arms: a process a GPU, with and without peer access -> verdict, rung 7 of the pairs     figures: one process, all GPUs
//!     ranks: driver, library, communicator      crowd: processes that do the same step at the same time
//! ```

mod after;
mod arms;
mod blame;
mod crowd;
mod figures;
mod ranks;
mod restriction;

use std::collections::BTreeMap;

use kb_core::report::{
    Fact, Gap, GapKind, GpuIndex, LogExcerpt, Nccl, NcclArm, NcclVerdict, Outcome, When, fact_name,
};

use super::Found;
use super::failure::{failure_of, stuck_failure};
use super::progress::{Progress, Step};
use super::setup::Setup;
use crate::host::HostRoot;

use arms::{Ended, functional, weigh};
use blame::{Over, conclude, left_out, one_by_one};
use ranks::{Library, Stage};

#[derive(Debug, Clone, Default)]
pub(crate) struct NcclOptions {
    /// The library's file, in place of what the loader finds.
    pub(crate) library: Option<String>,
    /// Leave NVLink SHARP and multicast to NCCL.
    pub(crate) nvls: bool,
    /// As many samples as the full bench.
    pub(crate) full: bool,
    pub(crate) bytes: Option<u64>,
}

impl NcclOptions {
    pub(crate) fn largest(&self) -> u64 {
        self.bytes.unwrap_or(figures::LARGEST)
    }
}

const WARNS: &str = "NCCL WARN";
/// Lines of NCCL's warnings that are kept of an arm.
const MOST_LINES: usize = 100;

struct Shown {
    arms: Vec<NcclArm>,
    library: Option<Library>,
}

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
            .get(fact_name::SHARED)
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
    let closed = (with.outcome != Outcome::Pass).then(|| {
        let why = match (with.outcome, &with.reason) {
            (Outcome::Fail | Outcome::Hang, _) => {
                format!("NCCL does not work here as the environment has it: {reason}")
            }
            (_, Some(own)) => own.clone(),
            (_, None) => reason.clone(),
        };
        Gap::new(GapKind::Skipped, why)
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

impl Shown {
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

fn copies(host: &BTreeMap<String, Fact>) -> Vec<String> {
    let listed = host
        .get(fact_name::LIBRARIES_NCCL)
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
