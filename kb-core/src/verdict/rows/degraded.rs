//! Degraded: all data arrives, with less than there should be.

use super::super::cause;
use super::super::evidence::{Finding, Seen};
use super::super::kernel_log::Event;
use super::broken::{logged, nvlink_corrected_errors};
use super::broken_data::io_page_fault_seen;
use super::degraded_slow::{slow_direction, slow_pair, slower_with_peer_access};
use super::{Named, Row};
use crate::report::{Outcome, fact_name};
use crate::verdict::Verdict;

pub(super) const ROWS: &[Row] = &[
    Row::beside(
        Named {
            cause: cause::FAILS_ONLY_TOGETHER,
            verdict: Verdict::Degraded,
            record: Some("p2p/fails-only-under-concurrent-pairs"),
            means: "A check fails in the run over all pairs, and passes alone in a fresh process.",
            fix: "Run the probe again: what stays is a limit that pairs share (peer mappings, memory, another user of \
                  the GPUs), and the reason names the call.",
        },
        |pair| pair.find(|_, check| check.outcome == Outcome::PassAlone),
    ),
    Row::beside(
        Named {
            cause: cause::SLOWER_WITH_PEER_ACCESS,
            verdict: Verdict::Degraded,
            record: Some("p2p/slower-with-peer-access"),
            means: "Copies with peer access are slower than copies that are staged through host memory.",
            fix: "Have NCCL stage on this pair (`NCCL_P2P_LEVEL`, or `NCCL_P2P_DISABLE=1`), and look for ACS redirect, \
                  an old chipset or a narrow link between the two.",
        },
        slower_with_peer_access,
    ),
    Row::beside(
        Named {
            cause: cause::LINKS_DOWN,
            verdict: Verdict::Degraded,
            record: Some("nvlink/links-down"),
            means: "A GPU has fewer active NVLinks than it should.",
            fix: "See which with `nvidia-smi nvlink -s`, read the kernel log for Xid 74 and link training, reset the \
                  GPUs and restart the fabric manager; a link that stays down is for service.",
        },
        links_down,
    ),
    Row::beside(
        Named {
            cause: cause::NVLINK_CORRECTED_ERRORS,
            verdict: Verdict::Degraded,
            record: None,
            means: "Links between the two sent again or recovered during the run, and all data arrived.",
            fix: "See which link with `nvidia-smi nvlink -e`, and run the probe again: counters that go on rising mean \
                  that the link costs time and may fail, so plan a reset of the GPUs and service for bridge, cable or baseboard.",
        },
        nvlink_corrected_errors,
    ),
    Row::beside(
        Named {
            cause: cause::SLOW_PAIR,
            verdict: Verdict::Degraded,
            record: Some("nvlink/pair-slower-than-its-peers"),
            means: "Copies of the pair are clearly slower, in both directions, than those of pairs joined alike.",
            fix: "Compare `nvidia-smi nvlink -s` and `-e` of the two with another pair, and the PCIe path where no \
                  NVLink joins them; `peerless-agent bench` gives the figures.",
        },
        slow_pair,
    ),
    Row::beside(
        Named {
            cause: cause::SLOW_DIRECTION,
            verdict: Verdict::Degraded,
            record: Some("nvlink/pair-slower-than-its-peers"),
            means: "Copies in one direction are clearly slower than those in the other, or than those of pairs joined alike.",
            fix: "A lane or link that is bad one way looks like this: compare `nvidia-smi nvlink -e` of the two, reset \
                  the GPUs, and measure again.",
        },
        slow_direction,
    ),
    Row::beside(
        Named {
            cause: cause::IO_PAGE_FAULT_SEEN,
            verdict: Verdict::Degraded,
            record: Some("iommu/io-page-fault-on-peer-traffic"),
            means: "The kernel log says during the run that the IOMMU stopped an access of one of the two GPUs, and every check of the pair passed.",
            fix: "Read who faulted in the kernel log: another program of the GPU, or accesses that no check made. Run \
                  the probe again on the idle node; where it stays, boot with `iommu=pt`.",
        },
        io_page_fault_seen,
    ),
    Row::beside(
        Named {
            cause: cause::PCIE_LINK_DEGRADED,
            verdict: Verdict::Degraded,
            record: Some("pcie/link-below-its-width"),
            means: "A PCIe link on the way runs with fewer lanes, or a lower generation, than both of its ends can.",
            fix: "Reseat card and riser, look at the slot's wiring and the firmware's bifurcation setting, and see \
                  `lspci -vv` (LnkCap against LnkSta) of the link named.",
        },
        pcie_link_degraded,
    ),
];

fn links_down(pair: &Seen<'_>) -> Option<Finding> {
    let mut short = pair
        .gpu_facts(fact_name::NVLINK_LINKS_EXPECTED)
        .filter_map(|(gpu, expected, at)| {
            let expected = expected.as_u64()?;
            let (_, active, active_at) = pair
                .gpu_facts(fact_name::NVLINK_LINKS_ACTIVE)
                .find(|(other, _, _)| *other == gpu)?;
            let active = active.as_u64()?;
            // Boards that can be bridged count the links of a bridge that nobody put there.
            let is_joined = active > 0 || pair.anybody_at_a_switch();
            (is_joined && active < expected).then(|| {
                (
                    format!("GPU {gpu} has {active} of {expected} NVLinks"),
                    [active_at, at],
                )
            })
        });
    let (reason, evidence) = short.next()?;
    let more: Vec<(String, [String; 2])> = short.collect();
    let reason = more
        .iter()
        .fold(reason, |reason, (more, _)| format!("{reason}, {more}"));
    let more = more.into_iter().flat_map(|(_, evidence)| evidence);
    Some(Finding::new(reason, evidence.to_vec()).and(more))
}

/// A link of a GPU's path to the root: what it runs with, and what its two ends can.
struct Link {
    runs: u64,
    could: u64,
}

fn pcie_link_degraded(pair: &Seen<'_>) -> Option<Finding> {
    narrow_by_nvml(pair).or_else(|| narrow_on_path(pair))
}

/// NVML's maximum is that of GPU and slot together. Of the generation it says what an idle GPU lowered it to.
fn narrow_by_nvml(pair: &Seen<'_>) -> Option<Finding> {
    pair.gpu_facts(fact_name::PCIE_LINK_WIDTH)
        .find_map(|(gpu, width, at)| {
            let (_, most, most_at) = pair
                .gpu_facts(fact_name::PCIE_LINK_WIDTH_MAX)
                .find(|(other, _, _)| *other == gpu)?;
            let (width, most) = (width.as_u64()?, most.as_u64()?);
            let reason = format!("GPU {gpu} runs with {width} of {most} PCIe lanes");
            (0 < width && width < most).then(|| Finding::new(reason, vec![at, most_at]))
        })
}

/// Compares the two ends of each link of the path: an endpoint or a switch's upper port with the port above it, so
/// the path is taken two by two (between the ports of one switch there is no link). Idle GPUs save power by lowering
/// the *generation* of their own link, so that is looked at above the GPU's link only; lanes are not given up so.
fn narrow_on_path(pair: &Seen<'_>) -> Option<Finding> {
    let found = pair
        .gpu_facts(fact_name::PCI_PATH)
        .find_map(|(gpu, path, pointer)| {
            let path = path.as_array()?;
            let link = |lower: &serde_json::Value, upper: &serde_json::Value, name: &str| {
                let runs = lower.get(name)?.as_u64()?;
                let most = |end: &serde_json::Value| end.get(format!("{name}_max"))?.as_u64();
                let could = most(lower)?.min(most(upper)?);
                (runs < could).then_some(Link { runs, could })
            };
            let mut bad = path.chunks_exact(2).enumerate().filter_map(|(place, ends)| {
                let [lower, upper] = ends else { return None };
                let address = lower.get("address")?.as_str()?;
                if let Some(Link { runs, could }) = link(lower, upper, "link_width") {
                    return Some(format!("{address} runs with {runs} of {could} lanes"));
                }
                let Link { runs, could } = link(lower, upper, "link_generation").filter(|_| place > 0)?;
                Some(format!("{address} runs at PCIe generation {runs} of {could}"))
            });
            Some((gpu, bad.next()?, pointer))
        });
    let (gpu, what, pointer) = found?;
    let errors = logged(pair, |event| event == Event::Aer).map_or_else(Vec::new, |found| found.evidence);
    let reason = format!("on the path of GPU {gpu}: {what}");
    Some(Finding::new(reason, vec![pointer]).and(errors))
}
