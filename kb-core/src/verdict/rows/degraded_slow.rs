//! Slow, by the probe's own quick timings: peer access against staging, a pair against the pairs joined alike.

use super::super::evidence::{Finding, Seen};
use super::super::speed::{SLOW_SHARE_NVLINK, SLOW_SHARE_PCIE, SLOWER_THAN_STAGED, Timing, percent, timing};
use super::unknown::used_by_others;
use crate::report::GpuIndex;

/// The timing of each direction; `None` where one is missing, or where somebody else's work makes them worthless.
fn timings(pair: &Seen<'_>, peer_access: bool) -> Option<[Timing; 2]> {
    if !used_by_others(pair).is_empty() {
        return None;
    }
    let report = pair.scene.report;
    let (a, b) = (pair.pair.a, pair.pair.b);
    Some([
        timing(report, a, b, peer_access)?,
        timing(report, b, a, peer_access)?,
    ])
}

pub(super) fn slower_with_peer_access(pair: &Seen<'_>) -> Option<Finding> {
    let with = timings(pair, true)?;
    let without = timings(pair, false)?;
    let ends = ends(pair);
    let mut slower = with
        .into_iter()
        .zip(without)
        .zip(ends)
        .filter(|((with, without), _)| with.median < SLOWER_THAN_STAGED * without.median);
    let ((with, without), (from, to)) = slower.next()?;
    let share = percent(with.median, without.median);
    let more = slower.flat_map(|((with, without), _)| [with.pointer, without.pointer]);
    Some(
        Finding::new(
            format!("GPU {from} to GPU {to} reaches with peer access {share} of what staging through the host does"),
            vec![with.pointer, without.pointer],
        )
        .and(more),
    )
}

/// What programs get between two GPUs without peer access, where measured: the driver copies by host memory, no error.
pub(in crate::verdict) fn staged_instead(pair: &Seen<'_>) -> Option<(String, [String; 2])> {
    let [there, back] = timings(pair, false)?;
    let told = format!(
        "copies between the two go through host memory, at {:.1} and {:.1} GB/s",
        there.median, back.median
    );
    Some((told, [there.pointer, back.pointer]))
}

pub(super) fn slow_pair(pair: &Seen<'_>) -> Option<Finding> {
    let timings = timings(pair, true)?;
    let (usual, peers) = pair.scene.peers.usual(pair.pair)?;
    let fastest = timings.iter().map(|timing| timing.median).fold(0.0, f64::max);
    if fastest >= slow_share(pair) * usual {
        return None;
    }
    let share = percent(fastest, usual);
    let reason =
        format!("both directions reach at most {share} of the median of {peers} directions joined alike");
    Some(Finding::new(
        reason,
        timings.map(|timing| timing.pointer).to_vec(),
    ))
}

pub(super) fn slow_direction(pair: &Seen<'_>) -> Option<Finding> {
    let [forward, backward] = timings(pair, true)?;
    let [there, back] = ends(pair);
    let (slow, other, (from, to)) = if forward.median < backward.median {
        (forward, backward, there)
    } else {
        (backward, forward, back)
    };
    if slow.median < slow_share(pair) * other.median {
        let share = percent(slow.median, other.median);
        let reason = format!("GPU {from} to GPU {to} reaches {share} of what the other direction does");
        return Some(Finding::new(reason, vec![slow.pointer, other.pointer]));
    }
    let (usual, peers) = pair.scene.peers.usual(pair.pair)?;
    if slow.median >= slow_share(pair) * usual {
        return None;
    }
    let share = percent(slow.median, usual);
    let reason =
        format!("GPU {from} to GPU {to} reaches {share} of the median of {peers} directions joined alike");
    Some(Finding::new(reason, vec![slow.pointer]))
}

fn slow_share(pair: &Seen<'_>) -> f64 {
    if pair.with_nvlink() {
        SLOW_SHARE_NVLINK
    } else {
        SLOW_SHARE_PCIE
    }
}

pub(super) fn ends(pair: &Seen<'_>) -> [(GpuIndex, GpuIndex); 2] {
    let (a, b) = (pair.pair.a, pair.pair.b);
    [(a, b), (b, a)]
}
