//! Broken: the driver grants access, the calls succeed, and the data is not where it should be.

use super::super::cause;
use super::super::evidence::{Finding, Seen, passed};
use super::super::kernel_log::Event;
use super::super::scene::{failing, fails};
use super::broken::logged;
use super::degraded_slow::ends;
use super::{Named, Row};
use crate::report::{Check, Direction, GapKind, Outcome, fact_name};
use crate::verdict::Verdict;

/// The way round a mapping that does not work, for the libraries that most programs use.
macro_rules! stage {
    () => {
        "until then have programs stage through host memory (`NCCL_P2P_DISABLE=1`)"
    };
}

pub(super) const ROWS: &[Row] = &[
    Row {
        named: Named {
            cause: cause::IPC_FAILS,
            verdict: Verdict::Broken,
            record: Some("p2p/cuda-ipc-between-processes-fails"),
            means: "Everything works within one process, and through an inter-process handle it does not.",
            fix: "In a container run with `--ipc=host` (or a larger `--shm-size`) and with all processes in one PID \
                  namespace. Programs with one process a GPU can use NCCL with `NCCL_P2P_DISABLE=1` meanwhile.",
        },
        beside: false,
        applies: ipc_fails,
    },
    Row {
        named: Named {
            cause: cause::PRIVATE_MIRROR,
            verdict: Verdict::Broken,
            record: Some("p2p/private-mirror-mapping"),
            means: "The writer reads its own data back through the mapping and the owner never sees it.",
            fix: concat!(
                "Take the forced peer access away (patched modules, `ForceP2P` in NVreg_RegistryDwords, a hypervisor's \
                 P2P clique); ",
                stage!(),
                "."
            ),
        },
        beside: false,
        applies: |pair| {
            pair.find(|_, check| {
                let wrong = check.mismatch;
                wrong.is_some_and(|wrong| wrong.writer_sees_it == Some(true) && !wrong.in_guard)
            })
        },
    },
    Row {
        named: Named {
            cause: cause::ACS_REDIRECT,
            verdict: Verdict::Broken,
            record: Some("pcie/acs-redirect-breaks-p2p"),
            means: "Data is lost or waited for in vain, the switch that both sit below redirects peer traffic to the root (ACS) and the IOMMU translates.",
            fix: concat!(
                "On bare metal clear the redirect bits of those bridges (`setpci -s BRIDGE ECAP_ACS+6.w=0000`, after each \
                 boot) or switch ACS off in the firmware; ",
                stage!(),
                "."
            ),
        },
        beside: false,
        applies: acs_redirect,
    },
    Row {
        named: Named {
            cause: cause::IO_PAGE_FAULT,
            verdict: Verdict::Broken,
            record: Some("iommu/io-page-fault-on-peer-traffic"),
            means: "A check fails, and the kernel log says during the run that the IOMMU stopped an access of one of the two GPUs.",
            fix: concat!(
                "Boot with `iommu=pt` so that peer addresses are passed through, or switch the IOMMU off in the firmware; ",
                stage!(),
                "."
            ),
        },
        beside: false,
        applies: io_page_fault,
    },
    Row {
        named: Named {
            cause: cause::IOMMU_TRANSLATION,
            verdict: Verdict::Broken,
            record: Some("iommu/translation-breaks-p2p"),
            means: "Data is lost or waited for in vain between GPUs that no NVLink is known to join, and the IOMMU translates.",
            fix: concat!(
                "Boot with `iommu=pt` (Intel: `intel_iommu=on iommu=pt`) or switch the IOMMU off in the firmware; ",
                stage!(),
                "."
            ),
        },
        beside: false,
        applies: iommu_translation,
    },
    Row {
        named: Named {
            cause: cause::WRITES_DROPPED,
            verdict: Verdict::Broken,
            record: Some("p2p/peer-writes-dropped"),
            means: "Every call succeeds and nothing arrives: the owner finds what it had put there.",
            fix: "Have programs stage through host memory (`NCCL_P2P_DISABLE=1`). Run the agent as root on the host \
                  itself: IOMMU, ACS and kernel log, which most often explain this, are not visible from elsewhere.",
        },
        beside: false,
        applies: |pair| pair.find(|_, check| check.mismatch.is_some_and(|wrong| wrong.untouched)),
    },
    Row {
        named: Named {
            cause: cause::DATA_MISMATCH,
            verdict: Verdict::Broken,
            record: Some("p2p/peer-data-corrupted"),
            means: "Something arrives and it is not what was sent, or memory beside it was overwritten.",
            fix: "Take the pair out of use (`NCCL_P2P_DISABLE=1`, or other GPUs), run the probe again, and update \
                  driver and firmware. If it stays, test each GPU alone and have the path between them (bridge, riser, switch) checked.",
        },
        beside: false,
        applies: |pair| {
            pair.find(|_, check| check.mismatch.is_some())
                .or_else(|| wrong_copies(pair))
        },
    },
];

/// Bench copies between the two that arrived wrong: larger than the ladder's windows, they reach further memory.
fn wrong_copies(pair: &Seen<'_>) -> Option<Finding> {
    let ends = ends(pair);
    let measurements = pair.scene.report.measurements.iter().enumerate();
    let mut found = measurements.flat_map(|(m, measurement)| {
        let cells = measurement.cells.iter().enumerate();
        cells.filter_map(move |(c, cell)| {
            let of_pair = cell
                .source
                .zip(cell.destination)
                .is_some_and(|way| ends.contains(&way));
            let gap = cell.gap.as_ref().filter(|gap| gap.kind == GapKind::WrongData)?;
            of_pair.then(|| (measurement, gap, format!("/measurements/{m}/cells/{c}/gap")))
        })
    });
    let (measurement, gap, pointer) = found.next()?;
    let how = match measurement.peer_access {
        Some(false) => ", staged through the host",
        _ => "",
    };
    let reason = format!(
        "{} of {} bytes{how}: {}",
        measurement.metric, measurement.bytes, gap.reason
    );
    let rest = found.map(|(_, _, pointer)| pointer);
    Some(Finding::new(reason, vec![pointer]).and(rest))
}

/// Only rung 6 fails, by a code or by wrong data, and the rungs below passed in that direction: then it is a matter of
/// the handle, since the same access works in one process. A partner that died or hung says nothing of handles.
fn ipc_fails(pair: &Seen<'_>) -> Option<Finding> {
    let below = pair.find(|direction, check| check.rung < 6 && failing(direction, check));
    if below.is_some() {
        return None;
    }
    pair.find(|direction, check| {
        let told = check.code.is_some() || check.mismatch.is_some();
        let fails = check.rung == 6 && check.outcome == Outcome::Fail && told;
        fails && (3..=5).all(|rung| passed(direction, rung))
    })
}

/// Data that is wrong, or work within one process that waits for data without end.
fn loses_data(_: &Direction, check: &Check) -> bool {
    check.mismatch.is_some() || (check.outcome == Outcome::Hang && matches!(check.rung, 3..=5))
}

fn translating(pair: &Seen<'_>) -> Option<Vec<String>> {
    let (mode, pointer) = pair.host(fact_name::IOMMU_MODE)?;
    let mut evidence = vec![pointer];
    match mode.as_str() {
        Some("translating") => {}
        Some("mixed") => {
            let translated = |(_, group, pointer): (_, &serde_json::Value, _)| {
                group
                    .as_str()
                    .is_some_and(|group| group != "identity")
                    .then_some(pointer)
            };
            let groups: Vec<String> = pair
                .gpu_facts(fact_name::IOMMU_GROUP_TYPE)
                .filter_map(translated)
                .collect();
            if groups.is_empty() {
                return None;
            }
            evidence.extend(groups);
        }
        _ => return None,
    }
    Some(evidence)
}

fn redirecting(pair: &Seen<'_>) -> Option<(Vec<String>, String)> {
    let (value, pointer) = pair.fact(fact_name::ACS_REDIRECTING_BRIDGES)?;
    let bridges: Vec<String> = value
        .as_array()?
        .iter()
        .filter_map(|bridge| bridge.as_str().map(str::to_owned))
        .collect();
    (!bridges.is_empty()).then_some((bridges, pointer))
}

/// Says so where NVML does not tell whether NVLink joins the two: what IOMMU and ACS explain is peer traffic over PCIe.
fn over_pcie(pair: &Seen<'_>, found: Finding) -> Finding {
    if pair.without_nvlink() {
        return found;
    }
    let reason = format!("{}; whether NVLink joins the two is not told", found.reason);
    Finding { reason, ..found }.and([pair.pointer("nvlinks"), pair.pointer("nvswitch")])
}

fn complaints(pair: &Seen<'_>) -> Vec<String> {
    logged(pair, |event| event == Event::IommuFault).map_or_else(Vec::new, |found| found.evidence)
}

/// Redirect bits matter below a shared switch only. Between two root ports all traffic passes the root complex, whatever
/// they say, and Linux sets them by default where the IOMMU is on.
fn acs_redirect(pair: &Seen<'_>) -> Option<Finding> {
    let (same_switch, switch) = pair.fact(fact_name::PCIE_SAME_SWITCH)?;
    if pair.with_nvlink() || same_switch.as_bool() != Some(true) {
        return None;
    }
    let (bridges, pointer) = redirecting(pair)?;
    let translating = translating(pair)?;
    let lost = pair.find(loses_data)?;
    let commands: Vec<String> = bridges
        .iter()
        .map(|bridge| format!("`setpci -s {bridge} ECAP_ACS+6.w=0000`"))
        .collect();
    let lost = Finding {
        reason: format!(
            "{}; ACS of {} redirects peer traffic and the IOMMU translates",
            lost.reason,
            bridges.join(", ")
        ),
        fix: Some(format!(
            "On bare metal clear the redirect bits ({}, after each boot) or switch ACS off in the firmware; {}.",
            commands.join(", "),
            stage!()
        )),
        ..lost
    };
    let lost = lost.and([pointer, switch]).and(translating);
    Some(over_pcie(pair, lost.and(complaints(pair))))
}

fn io_page_fault(pair: &Seen<'_>) -> Option<Finding> {
    if pair.with_nvlink() {
        return None;
    }
    let found = logged(pair, |event| event == Event::IommuFault)?;
    let lost = pair.find(|direction, check| check.rung > 2 && failing(direction, check))?;
    let reason = format!("{}; {}", lost.reason, found.reason);
    let lost = Finding { reason, ..lost }.and(found.evidence);
    Some(over_pcie(pair, lost))
}

/// A fault beside checks that all passed. A pair that works did not cause it while another pair of the same GPU fails.
pub(super) fn io_page_fault_seen(pair: &Seen<'_>) -> Option<Finding> {
    if pair.with_nvlink() {
        return None;
    }
    let found = logged(pair, |event| event == Event::IommuFault)?;
    let shares_gpu = |other: &&crate::report::Pair| {
        let ours = [pair.pair.a, pair.pair.b];
        ours.contains(&other.a) || ours.contains(&other.b)
    };
    let one_fails = pair.scene.report.pairs.iter().filter(shares_gpu).any(fails);
    (!one_fails).then(|| over_pcie(pair, found))
}

fn iommu_translation(pair: &Seen<'_>) -> Option<Finding> {
    if pair.with_nvlink() {
        return None;
    }
    let translating = translating(pair)?;
    let lost = pair.find(loses_data)?;
    let reason = format!("{}; the IOMMU translates", lost.reason);
    let redirect = redirecting(pair).map(|(_, pointer)| pointer);
    let lost = Finding { reason, ..lost }.and(translating).and(redirect);
    Some(over_pcie(pair, lost))
}
