//! Degraded, by the figures of the bench: below what the links carry, or apart from what the same links do otherwise.

use super::super::cause;
use super::super::evidence::{Finding, Seen};
use super::super::speed::{
    BESIDE_SHARE, KERNEL_SHARE, NOMINAL_SHARE_NVLINK, NOMINAL_SHARE_PCIE, PUSH_PULL_SHARE, Timing, copies,
    figure, percent,
};
use super::degraded_slow::ends;
use super::unknown::used_by_others;
use super::{Named, Row};
use crate::report::{Engine, Operation};
use crate::verdict::Verdict;

pub(super) const ROWS: &[Row] = &[
    Row::beside(
        Named {
            cause: cause::BELOW_NOMINAL,
            verdict: Verdict::Degraded,
            record: None,
            means: "Copies reach far less than the links that should join the two carry by their data sheet.",
            fix: "Compare `nvidia-smi nvlink -s` (or `lspci -vv` of the PCIe path) with the data sheet, and look for \
                  registry keys that lower the links (RmNvlinkBandwidth) and for clocks that are held down.",
        },
        below_nominal,
    ),
    Row::beside(
        Named {
            cause: cause::PUSH_AND_PULL_APART,
            verdict: Verdict::Degraded,
            record: None,
            means: "Over the same NVLinks in the same direction, copies that one end issues are clearly slower than those that the other issues.",
            fix: "The link carries the data, so look at the GPU that issues the slow ones: its clocks, its page \
                  retirement and another user of its copy engines; then measure again.",
        },
        push_and_pull_apart,
    ),
    Row::beside(
        Named {
            cause: cause::KERNELS_SLOW,
            verdict: Verdict::Degraded,
            record: None,
            means: "Kernels that copy over NVLink are clearly slower than the copy engine.",
            fix: "Look at the clocks and throttle reasons in the cell's conditions: NCCL uses kernels, so this is what \
                  its collectives get.",
        },
        kernels_slow,
    ),
    Row::beside(
        Named {
            cause: cause::SLOWED_BY_OTHERS,
            verdict: Verdict::Degraded,
            record: None,
            means: "A pair is clearly slower while pairs run that share no GPU with it.",
            fix: "The pairs share a part of the way: a PCIe switch, a socket, or an NVSwitch with links down. Compare \
                  with the node's drawing.",
        },
        slowed_by_others,
    ),
];

fn words(engine: Engine, operation: Operation) -> &'static str {
    match (engine, operation) {
        (Engine::Sm, Operation::Pull) => "loads of a kernel",
        (Engine::Sm, _) => "stores of a kernel",
        (_, Operation::Pull) => "copies read by the destination",
        _ => "copies written by the source",
    }
}

fn below_nominal(pair: &Seen<'_>) -> Option<Finding> {
    if !used_by_others(pair).is_empty() {
        return None;
    }
    let share = if pair.with_nvlink() {
        NOMINAL_SHARE_NVLINK
    } else {
        NOMINAL_SHARE_PCIE
    };
    let report = pair.scene.report;
    let kinds = [Operation::Push, Operation::Pull];
    let figures = ends(pair).into_iter().flat_map(|(from, to)| {
        kinds.into_iter().filter_map(move |operation| {
            let found = copies(report, Engine::Ce, operation, from, to)?;
            let nominal = found.nominal.filter(|nominal| found.median < share * nominal)?;
            Some((from, to, operation, found, nominal))
        })
    });
    let (from, to, operation, found, nominal) =
        figures.min_by(|a, b| (a.3.median / a.4).total_cmp(&(b.3.median / b.4)))?;
    let reason = format!(
        "GPU {from} to GPU {to}: {} reach {:.1} GB/s, {} of the {nominal:.0} GB/s that the links carry",
        words(Engine::Ce, operation),
        found.median,
        percent(found.median, nominal),
    );
    let pointer = format!("{}/nominal", found.pointer);
    Some(Finding::new(reason, vec![found.pointer, pointer]))
}

/// The two figures and the sentence, where the first is below a share of the second.
fn apart(
    pair: &Seen<'_>,
    share: f64,
    figures: impl Fn(u32, u32) -> Option<[(Timing, &'static str); 2]>,
) -> Option<Finding> {
    if !pair.with_nvlink() || !used_by_others(pair).is_empty() {
        return None;
    }
    let mut found = ends(pair).into_iter().filter_map(|(from, to)| {
        let [slow, other] = figures(from, to)?;
        (slow.0.median < share * other.0.median).then_some((from, to, slow, other))
    });
    let (from, to, (slow, what), (other, than)) = found.next()?;
    let reason = format!(
        "GPU {from} to GPU {to}: {what} reach {} of {than}",
        percent(slow.median, other.median)
    );
    Some(Finding::new(reason, vec![slow.pointer, other.pointer]))
}

fn push_and_pull_apart(pair: &Seen<'_>) -> Option<Finding> {
    let report = pair.scene.report;
    apart(pair, PUSH_PULL_SHARE, |from, to| {
        let figure = |operation| {
            let found = copies(report, Engine::Ce, operation, from, to)?;
            Some((found, words(Engine::Ce, operation)))
        };
        let (push, pull) = (figure(Operation::Push)?, figure(Operation::Pull)?);
        Some(if push.0.median < pull.0.median {
            [push, pull]
        } else {
            [pull, push]
        })
    })
}

fn kernels_slow(pair: &Seen<'_>) -> Option<Finding> {
    let report = pair.scene.report;
    let of = |operation| {
        apart(pair, KERNEL_SHARE, |from, to| {
            let figure = |engine| {
                let found = copies(report, engine, operation, from, to)?;
                Some((found, words(engine, operation)))
            };
            Some([figure(Engine::Sm)?, figure(Engine::Ce)?])
        })
    };
    of(Operation::Push).or_else(|| of(Operation::Pull))
}

fn slowed_by_others(pair: &Seen<'_>) -> Option<Finding> {
    if !used_by_others(pair).is_empty() {
        return None;
    }
    let report = pair.scene.report;
    let kind = (Engine::Ce, Operation::Push, true);
    ends(pair).into_iter().find_map(|(from, to)| {
        let alone = figure(report, "d2d_bandwidth_alone", kind, from, to)?;
        let beside = figure(report, "d2d_bandwidth_beside_others", kind, from, to)?;
        if beside.median >= BESIDE_SHARE * alone.median {
            return None;
        }
        let share = percent(beside.median, alone.median);
        let reason = format!("GPU {from} to GPU {to} reaches {share} of its rate while other pairs run");
        Some(Finding::new(reason, vec![beside.pointer, alone.pointer]))
    })
}
