//! Broken by the hardware: the GPU, its memory, its links. It explains whatever else fails on the pair.

use super::super::cause;
use super::super::evidence::{Finding, Seen};
use super::super::hardware::{ECC_CODES, NVLINK_CODES};
use super::super::kernel_log::Event;
use super::super::scene::{failing, fails};
use super::{Named, Row};
use crate::report::{Check, Outcome, ReasonCode, fact_name};
use crate::verdict::Verdict;

/// Of a pair, and of a GPU that is on the bus and that the driver no longer lists.
pub(super) const GPU_LOST: Named = Named {
    cause: cause::GPU_LOST,
    verdict: Verdict::Broken,
    record: Some("xid/79-gpu-has-fallen-off-the-bus"),
    means: "A GPU stopped answering on the bus (Xid 79, errors of a GPU that NVML calls lost, or one that the driver has \
            and NVML does not list).",
    fix: "Take the node out of use and power-cycle it; a warm reboot is often not enough. If it comes back, \
          check power, temperature and seating of the GPU, then have it replaced.",
};

pub(super) const ROWS: &[Row] = &[
    Row {
        named: GPU_LOST,
        beside: true,
        applies: gpu_lost,
    },
    Row {
        named: Named {
            cause: cause::ECC_ERROR,
            verdict: Verdict::Broken,
            record: Some("cuda/uncorrectable-ecc-error"),
            means: "A GPU's memory had an error that ECC could not correct (code 214, Xid 48, 94, 95 or 140, or the counter rose).",
            fix: "Stop what runs on the GPU and reset it (`nvidia-smi --gpu-reset -i INDEX`), then read \
                  `nvidia-smi -q -d ECC,ROW_REMAPPER`: a failed row remapping means that the GPU has to be replaced.",
        },
        beside: true,
        applies: ecc_error,
    },
    Row {
        named: Named {
            cause: cause::NVLINK_ERROR,
            verdict: Verdict::Broken,
            record: Some("cuda/uncorrectable-nvlink-error"),
            means: "An NVLink failed during the run (code 220 or 226, Xid 74, a fatal Xid of 144 to 150, a fatal SXid, or a failing check beside error counters that rose).",
            fix: "Read `nvidia-smi nvlink -e` and the kernel log, reset the GPUs and restart the fabric manager \
                  (`systemctl restart nvidia-fabricmanager`). Errors that come back mean service for bridge, baseboard or GPU.",
        },
        beside: true,
        applies: nvlink_error,
    },
];

/// What CUDA returns of a GPU that is gone: busy or unavailable (46), launch failure (719), unknown error (999).
const CODES_OF_LOST: [i32; 3] = [46, 719, 999];

fn gpu_lost(pair: &Seen<'_>) -> Option<Finding> {
    if let Some(found) = logged(pair, |event| event == Event::Xid(79)) {
        return Some(found);
    }
    let lost = pair.gpus().find_map(|(index, gpu)| {
        let (name, _) = gpu.facts.iter().find(|(_, fact)| {
            let gap = fact.gap.as_ref();
            gap.is_some_and(|gap| gap.reason_code == Some(ReasonCode::GpuLost))
        })?;
        Some(format!("/gpus/{index}/facts/{name}"))
    })?;
    let failed = pair.find(|_, check| returned(check, &CODES_OF_LOST))?;
    Some(failed.and([lost]))
}

fn ecc_error(pair: &Seen<'_>) -> Option<Finding> {
    came_back(pair, ECC_CODES)
        .or_else(|| logged(pair, |event| matches!(event, Event::Xid(48 | 94 | 95 | 140))))
        .or_else(|| risen(pair, fact_name::ECC_VOLATILE_UNCORRECTED, 0))
}

/// A code that means broken hardware: in a check, even if that then passed alone, or in any other call on one of the GPUs.
fn came_back(pair: &Seen<'_>, codes: &[i32]) -> Option<Finding> {
    let of_check = |check: &Check| {
        check.outcome != Outcome::Pass && check.code.is_some_and(|code| codes.contains(&code))
    };
    pair.find(|_, check| of_check(check)).or_else(|| {
        pair.gpu_facts(fact_name::CUDA_HARDWARE_ERRORS)
            .find_map(|(gpu, errors, pointer)| {
                let mut errors = errors.as_array()?.iter();
                errors.find_map(|error| {
                    let code = i32::try_from(error.get("code")?.as_i64()?).ok()?;
                    let [call, name] = ["call", "code_name"].map(|name| error.get(name)?.as_str());
                    let told = format!(
                        "GPU {gpu}: {} returned {code} ({})",
                        call.unwrap_or("a call"),
                        name.unwrap_or("unknown code")
                    );
                    codes
                        .contains(&code)
                        .then(|| Finding::new(told, vec![pointer.clone()]))
                })
            })
    })
}

/// CRC errors are corrected by sending again; DCGM's limit is 100 a second. A run takes seconds.
const CORRECTED_CRC_ERRORS: u64 = 100;

fn nvlink_error(pair: &Seen<'_>) -> Option<Finding> {
    came_back(pair, NVLINK_CODES)
        .or_else(|| {
            logged(pair, |event| {
                matches!(event, Event::Xid(74) | Event::FatalNvlinkXid)
            })
        })
        .or_else(|| switch_failed(pair))
        .or_else(|| {
            let failed = pair.find(|direction, check| check.rung > 2 && failing(direction, check))?;
            let counted = link_counters(pair)?;
            let reason = format!("{}; {}", failed.reason, counted.reason);
            Some(Finding { reason, ..failed }.and(counted.evidence))
        })
}

pub(super) fn nvlink_corrected_errors(pair: &Seen<'_>) -> Option<Finding> {
    if fails(pair.pair) {
        return None;
    }
    link_counters(pair)
}

/// Error counters of links that carry this pair's traffic. They count for a GPU, not for one of its links.
fn link_counters(pair: &Seen<'_>) -> Option<Finding> {
    if !pair.with_nvlink() {
        return None;
    }
    risen(pair, fact_name::NVLINK_RECOVERY_ERRORS, 0)
        .or_else(|| risen(pair, fact_name::NVLINK_REPLAY_ERRORS, 0))
        .or_else(|| risen(pair, fact_name::NVLINK_CRC_ERRORS, CORRECTED_CRC_ERRORS))
}

/// A switch names itself in its messages, not the GPUs behind it: all pairs that go through switches are concerned.
fn switch_failed(pair: &Seen<'_>) -> Option<Finding> {
    if pair.pair.nvswitch.value != Some(true) {
        return None;
    }
    let mut lines = pair.scene.lines.iter();
    let line = lines.find(|line| line.event == Event::FatalSxid)?;
    Some(Finding::new(
        format!("the kernel log says during the run: {}", line.text),
        vec![line.pointer.clone()],
    ))
}

/// One of these codes came back, and not only beside the other pairs.
pub(super) fn returned(check: &Check, codes: &[i32]) -> bool {
    let counts = !matches!(check.outcome, Outcome::Pass | Outcome::PassAlone);
    counts && check.code.is_some_and(|code| codes.contains(&code))
}

pub(super) fn logged(pair: &Seen<'_>, wanted: impl Fn(Event) -> bool) -> Option<Finding> {
    let lines = pair.lines(wanted);
    let first = lines.first()?;
    let mut evidence: Vec<String> = lines.iter().map(|line| line.pointer.clone()).collect();
    evidence.dedup();
    Some(Finding::new(
        format!("the kernel log says during the run: {}", first.text),
        evidence,
    ))
}

/// A counter of either GPU that rose by more than `allowed` during the run.
pub(super) fn risen(pair: &Seen<'_>, counter: &str, allowed: u64) -> Option<Finding> {
    let name = fact_name::during(counter);
    let counts = pair
        .gpu_facts(&name)
        .filter_map(|(gpu, value, pointer)| Some((gpu, value.as_u64()?, pointer)));
    let mut risen = counts.filter(|(_, count, _)| *count > allowed);
    let (gpu, count, pointer) = risen.next()?;
    Some(Finding::new(
        format!("{counter} of GPU {gpu} rose by {count} during the run"),
        [pointer]
            .into_iter()
            .chain(risen.map(|(_, _, pointer)| pointer))
            .collect(),
    ))
}
