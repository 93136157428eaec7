//! Broken: calls and kernels that do not end, processes that die, errors after a grant.

use super::super::cause;
use super::super::evidence::{Finding, Seen, passed};
use super::super::scene::failing;
use super::nccl::of_nccl;
use super::unknown::used_by_others;
use super::{Named, Row};
use crate::report::{Check, Direction, Outcome, fact_name};
use crate::verdict::Verdict;

pub(super) const ROWS: &[Row] = &[
    Row {
        named: Named {
            cause: cause::VISIBLE_ONLY_AT_KERNEL_END,
            verdict: Verdict::Broken,
            record: Some("p2p/stores-not-visible-while-kernel-runs"),
            means: "Stores of a kernel arrive, but only when it ends: two kernels that wait for each other hang.",
            fix: "NCCL and whatever else waits inside kernels hangs on this pair: set `NCCL_P2P_DISABLE=1`. Copies are \
                  no proof here; remove unlocked or forced peer access and update driver and firmware.",
        },
        beside: false,
        applies: visible_only_at_kernel_end,
    },
    Row {
        named: Named {
            cause: cause::HANDSHAKE_HANG,
            verdict: Verdict::Broken,
            record: Some("p2p/resident-kernels-cannot-exchange"),
            means: "Two kernels that run at the same time cannot exchange flags before their deadline.",
            fix: "NCCL and whatever else waits inside kernels hangs on this pair: set `NCCL_P2P_DISABLE=1`, and look \
                  at IOMMU and ACS of the host, which most often explain it.",
        },
        beside: false,
        applies: handshake_hang,
    },
    Row {
        named: Named {
            cause: cause::HANG,
            verdict: Verdict::Broken,
            record: Some("driver/call-does-not-return"),
            means: "A driver call, or the work that it started, does not end, also alone in a fresh process.",
            fix: "Read the kernel log for Xid and NVRM messages and reset the GPUs (`nvidia-smi --gpu-reset`) or reboot. \
                  A call that keeps hanging is for the vendor, with `nvidia-bug-report.sh`.",
        },
        beside: false,
        applies: hang,
    },
    Row {
        named: Named {
            cause: cause::PROCESS_DIES,
            verdict: Verdict::Broken,
            record: Some("driver/process-dies-in-call"),
            means: "The process that makes the check is killed or crashes, also alone and fresh.",
            fix: "See which libcuda is loaded (`--json`, cuda.library) and whether it is the kernel driver's own \
                  version; then reinstall the driver. Out-of-memory kills stand in the kernel log.",
        },
        beside: false,
        applies: |pair| {
            pair.find(|_, check| check.outcome == Outcome::Fail && check.code.is_none() && !of_nccl(check))
        },
    },
    Row {
        named: Named {
            cause: cause::TOO_MANY_PEERS,
            verdict: Verdict::Broken,
            record: Some("cuda/too-many-peers"),
            means: "Enabling returns 711: the GPU has no room for another peer mapping.",
            fix: "Without NVSwitch a GPU takes eight peers in all, counted over all processes of the machine: use groups \
                  of at most eight GPUs (`CUDA_VISIBLE_DEVICES`), and end or move other programs that hold mappings.",
        },
        beside: false,
        applies: |pair| pair.find(|direction, check| code(direction, check, 711)),
    },
    Row {
        named: Named {
            cause: cause::ENABLE_CONTRADICTS_QUERY,
            verdict: Verdict::Broken,
            record: Some("cuda/peer-access-refused-after-grant"),
            means: "The driver says that access is possible and then refuses to enable it (217).",
            fix: "Compare `nvidia-smi topo -p2p rw` with this report, and look for MIG, a fabric manager that was \
                  restarted, or another user of the GPU; restart the program or the node so that both answers are of one time.",
        },
        beside: false,
        applies: |pair| pair.find(|direction, check| check.rung == 2 && code(direction, check, 217)),
    },
    Row {
        named: Named {
            cause: cause::MAP_FAILED,
            verdict: Verdict::Broken,
            record: Some("cuda/map-buffer-object-failed"),
            means: "Mapping the peer's memory returns 205, as unlocked drivers do where BAR1 is too small.",
            fix: "Switch on Above 4G Decoding and Resizable BAR in the firmware so that BAR1 is as large as the memory \
                  (`nvidia-smi -q -d MEMORY`), and boot with `iommu=pt`; without that leave peer access off.",
        },
        beside: false,
        applies: map_failed,
    },
    Row {
        named: Named {
            cause: cause::ENABLE_FAILS,
            verdict: Verdict::Broken,
            record: Some("cuda/enable-peer-access-fails"),
            means: "The driver says that access is possible, and enabling it returns an error.",
            fix: "Look the code up by its name in this report; read the kernel log, and try once more after a reset of \
                  the GPUs (`nvidia-smi --gpu-reset`) or a reboot.",
        },
        beside: false,
        applies: |pair| pair.find(|direction, check| check.rung == 2 && failing(direction, check)),
    },
    Row {
        named: Named {
            cause: cause::ACCESS_FAILS,
            verdict: Verdict::Broken,
            record: Some("p2p/peer-access-returns-error"),
            means: "Access is enabled, and using it returns an error.",
            fix: "Look the code up by its name in this report and read the kernel log for an Xid of the same time; \
                  until it is found have programs stage through host memory (`NCCL_P2P_DISABLE=1`).",
        },
        beside: false,
        applies: |pair| {
            pair.find(|_, check| check.outcome == Outcome::Fail && check.rung > 2 && !of_nccl(check))
        },
    },
];

/// The kernels of rung 5 ran to their own deadline; another call that hangs there is a hang like any other.
fn no_handshake(_: &Direction, check: &Check) -> bool {
    let in_kernels = check.call.as_deref().is_none_or(|call| call == "cuLaunchKernel");
    check.rung == 5 && check.outcome == Outcome::Hang && in_kernels
}

/// NCCL's hang beside another failure is that failure's effect; alone it has its own row.
fn hang(pair: &Seen<'_>) -> Option<Finding> {
    pair.find(|_, check| check.outcome == Outcome::Hang && !of_nccl(check))
        .filter(|_| used_by_others(pair).is_empty())
}

fn handshake_hang(pair: &Seen<'_>) -> Option<Finding> {
    pair.find(no_handshake)
        .filter(|_| used_by_others(pair).is_empty())
}

fn visible_only_at_kernel_end(pair: &Seen<'_>) -> Option<Finding> {
    if !used_by_others(pair).is_empty() {
        return None;
    }
    pair.find(|direction, check| no_handshake(direction, check) && passed(direction, 4))
}

fn code(direction: &Direction, check: &Check, code: i32) -> bool {
    failing(direction, check) && check.code == Some(code)
}

fn map_failed(pair: &Seen<'_>) -> Option<Finding> {
    let found = pair.find(|direction, check| code(direction, check, 205))?;
    Some(found.and(small_bar1(pair)))
}

pub(super) fn small_bar1(pair: &Seen<'_>) -> Vec<String> {
    let smaller = pair.gpus().filter_map(|(index, gpu)| {
        let memory = gpu.memory_bytes.value?;
        let names = [fact_name::BAR1_TOTAL_BYTES, fact_name::PCI_BAR1_BYTES];
        names.into_iter().find_map(|name| {
            let bytes = gpu.facts.get(name)?.value.as_ref()?.as_u64()?;
            (bytes < memory).then(|| format!("/gpus/{index}/facts/{name}"))
        })
    });
    smaller.collect()
}
