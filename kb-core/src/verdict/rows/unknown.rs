//! Unknown: not enough was seen for a verdict, with the reason where there is a known one.

use super::super::cause;
use super::super::evidence::{Finding, Seen, check_passed, does_not_exist_here, gap_reason};
use super::broken::returned;
use super::{Named, Row};
use crate::report::{Check, Outcome, fact_name};
use crate::verdict::{Verdict, rung};

const fn row(
    cause: &'static str,
    record: Option<&'static str>,
    means: &'static str,
    fix: &'static str,
    applies: fn(&Seen<'_>) -> Option<Finding>,
) -> Row {
    Row {
        named: Named {
            cause,
            verdict: Verdict::Unknown,
            record,
            means,
            fix,
        },
        beside: false,
        applies,
    }
}

pub(super) const ROWS: &[Row] = &[
    row(
        cause::EXCLUSIVE_MODE,
        Some("cuda/device-unavailable-compute-mode"),
        "A GPU's compute mode keeps a second process off (46), so not every check could be made.",
        "Set the default mode for the time of the probe (`nvidia-smi -i INDEX -c DEFAULT`), or run it while nothing \
         else uses the GPU.",
        exclusive_mode,
    ),
    row(
        cause::MEMORY_FULL,
        Some("cuda/out-of-memory-at-context-creation"),
        "A GPU has no memory left for the probe (2).",
        "Run the probe when the GPU is free (`nvidia-smi` lists who holds memory), or with a smaller `--buffer-kib`.",
        |pair| stopped_by(pair, &[2]),
    ),
    row(
        cause::GPU_BUSY,
        Some("driver/gpu-is-busy"),
        "Somebody else uses a GPU, or it is unavailable (46): not every check could be made over all of its memory.",
        "Run the probe when nothing else uses the GPU; `nvidia-smi` lists the processes.",
        gpu_busy,
    ),
    row(
        cause::SYSTEM_NOT_READY,
        Some("cuda/system-not-yet-initialized"),
        "Using a GPU returns 802: the NVSwitch fabric is not up.",
        "Start the fabric manager of the driver's own version (`systemctl enable --now nvidia-fabricmanager`) and try again.",
        |pair| stopped_by(pair, &[802]),
    ),
    row(
        cause::JIT_MISSING,
        Some("cuda/ptx-jit-compiler-not-found"),
        "The driver's compiler is missing (221) or switched off (223), so kernels could not be run: only copies were \
         checked.",
        "Install libnvidia-ptxjitcompiler.so.1 of the driver's version; in a container give the image the `compute` \
         and `utility` capabilities (`NVIDIA_DRIVER_CAPABILITIES=compute,utility`). With 223 take \
         `CUDA_DISABLE_PTX_JIT` out of the environment.",
        |pair| stopped_by(pair, &[221, 223]),
    ),
    row(
        cause::PTX_TOO_NEW,
        Some("cuda/unsupported-ptx-version"),
        "The driver does not take the agent's kernels (218 or 222), so only copies were checked.",
        "Update the driver: the agent's kernels need one that knows their PTX version.",
        |pair| stopped_by(pair, &[218, 222]),
    ),
    row(
        cause::INCONCLUSIVE,
        None,
        "A check could not be prepared or seen, so it shows nothing.",
        "The reason names the step; run the probe again once it is mended.",
        |pair| pair.find(|_, check| matches!(check.outcome, Outcome::Inconclusive | Outcome::NotVisible)),
    ),
    row(
        cause::NOT_ASKED,
        None,
        "The driver did not say whether the two can reach each other.",
        "The reason names the call; run the probe again, with a longer `--timeout` where the time was spent.",
        not_asked,
    ),
    row(
        cause::NOT_PROVEN,
        None,
        "Nothing failed, and something that a healthy pair has to show was left out.",
        "The reason names the rung; run the probe again where that can be made.",
        not_proven,
    ),
];

/// The rungs that must have passed both ways: copies, what kernels store and load, two kernels that wait for each
/// other, and handles of another process. Each passes on mappings on which the next one fails.
pub(in crate::verdict) const REQUIRED_RUNGS: [u8; 4] = [3, 4, 5, 6];

fn stopped_by(pair: &Seen<'_>, codes: &[i32]) -> Option<Finding> {
    pair.find(|_, check| shows_nothing(check) && (returned(check, codes) || stopped_before(check, codes)))
}

/// A check that was left out made no call: it tells the code of the one that failed before.
fn stopped_before(check: &Check, codes: &[i32]) -> bool {
    let code = check.earlier_code;
    check.outcome == Outcome::Skipped && code.is_some_and(|code| codes.contains(&code))
}

fn shows_nothing(check: &Check) -> bool {
    let nothing = matches!(
        check.outcome,
        Outcome::Inconclusive | Outcome::Skipped | Outcome::NotVisible
    );
    nothing && !does_not_exist_here(check)
}

const DEVICE_UNAVAILABLE: i32 = 46;

fn exclusive_mode(pair: &Seen<'_>) -> Option<Finding> {
    let stopped = stopped_by(pair, &[DEVICE_UNAVAILABLE])?;
    let mut modes = pair.gpu_facts(fact_name::COMPUTE_MODE);
    let (gpu, mode, pointer) = modes.find(|(_, value, _)| value.as_str() != Some("default"))?;
    let mode = mode.as_str().unwrap_or_default().replace('_', " ");
    let reason = format!("{}; GPU {gpu} is in compute mode {mode}", stopped.reason);
    Some(Finding { reason, ..stopped }.and([pointer]))
}

fn gpu_busy(pair: &Seen<'_>) -> Option<Finding> {
    let used = used_by_others(pair);
    if let Some(stopped) = stopped_by(pair, &[DEVICE_UNAVAILABLE]) {
        return Some(stopped.and(used));
    }
    if !used.is_empty()
        && let Some(hung) = hung(pair)
    {
        let reason = format!(
            "{}; somebody else uses one of the two, which may be why",
            hung.reason
        );
        return Some(Finding { reason, ..hung }.and(used));
    }
    let reason = "somebody else uses one of the two: windows over all of its memory were not checked";
    (!used.is_empty()).then(|| Finding::new(reason, used))
}

pub(super) fn used_by_others(pair: &Seen<'_>) -> Vec<String> {
    pair.gpu_facts(fact_name::SHARED)
        .filter(|(_, shared, _)| shared.as_bool() == Some(true))
        .map(|(_, _, pointer)| pointer)
        .collect()
}

/// A check that did not end: on a GPU in use no evidence by itself, as the other's work goes first and kernels take turns.
pub(super) fn hung(pair: &Seen<'_>) -> Option<Finding> {
    pair.find(|_, check| check.outcome == Outcome::Hang)
}

fn not_asked(pair: &Seen<'_>) -> Option<Finding> {
    let evidence = pair.directions_with_access(None);
    let directions = &pair.pair.directions;
    if evidence.is_empty() && directions.len() == 2 {
        return None;
    }
    let silent = directions
        .iter()
        .find(|direction| direction.can_access_peer.value.is_none());
    let why = silent.map_or("a direction is missing", |direction| {
        gap_reason(&direction.can_access_peer)
    });
    Some(Finding::new(
        format!("the driver did not say whether the two can reach each other: {why}"),
        evidence,
    ))
}

/// A check that was left out, or whose outcome this build does not know, is no proof; nor is a rung without checks.
fn not_proven(pair: &Seen<'_>) -> Option<Finding> {
    not_proven_by(pair, &REQUIRED_RUNGS)
}

pub(in crate::verdict) fn not_proven_by(pair: &Seen<'_>, required: &[u8]) -> Option<Finding> {
    let unproven = pair.find(|_, check| !check_passed(check) && !does_not_exist_here(check));
    if unproven.is_some() {
        return unproven;
    }
    let proven = pair.proven_rungs();
    let missing = required.iter().find(|rung| !proven.contains(rung))?;
    Some(Finding::new(
        format!("not checked in both directions: {}", rung(*missing)),
        vec![pair.pointer("directions")],
    ))
}
