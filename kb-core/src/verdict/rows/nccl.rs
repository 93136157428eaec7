//! Broken: what only NCCL shows, with a control arm without peer access that passes.

use super::super::cause;
use super::super::evidence::{Finding, Seen};
use super::super::scene::failing;
use super::unknown::used_by_others;
use super::{Named, Row};
use crate::report::{Check, Engine};
use crate::verdict::Verdict;

/// NCCL's rung: its checks fail only where the same passes with `NCCL_P2P_DISABLE=1`.
const RUNG: u8 = 7;

pub(super) const ROWS: &[Row] = &[Row::alone(
    Named {
        cause: cause::NCCL_PEER_ACCESS_FAILS,
        verdict: Verdict::Broken,
        record: Some("nccl/fails-only-with-peer-access"),
        means: "NCCL with one process a GPU fails or hangs with peer access and works without, though the checks below it pass.",
        fix: "Run programs with `NCCL_P2P_DISABLE=1` meanwhile. Read NCCL's warnings in this report, compare the container's \
              IPC and PID namespaces, /dev/shm and limits with the host's, and try another NCCL (`--nccl-library`).",
    },
    peer_access_fails,
)];

/// A check of NCCL's. It has no code of the driver's, and its processes die and hang by what other rungs show too.
pub(super) fn of_nccl(check: &Check) -> bool {
    check.rung == RUNG && check.engine == Engine::Nccl
}

fn peer_access_fails(pair: &Seen<'_>) -> Option<Finding> {
    // What the ladder itself has found explains more.
    let below = pair
        .checks()
        .any(|(direction, check, _)| !of_nccl(check) && failing(direction, check));
    if below || !used_by_others(pair).is_empty() {
        return None;
    }
    pair.find(|direction, check| of_nccl(check) && failing(direction, check))
}
