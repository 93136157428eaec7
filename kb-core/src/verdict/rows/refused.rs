//! Refused: the driver says that the two cannot reach each other, in one direction or in both.

use serde_json::Value;

use super::super::cause;
use super::super::evidence::{Finding, Seen, gap_reason};
use super::broken_calls::small_bar1;
use super::{Named, Row};
use crate::report::{P2pStatus, fact_name};
use crate::verdict::Verdict;

pub(super) const ROWS: &[Row] = &[
    Row::alone(
        Named {
            cause: cause::ONE_DIRECTION_ONLY,
            verdict: Verdict::Refused,
            record: Some("p2p/granted-in-one-direction-only"),
            means: "The driver grants one GPU access to the other, and refuses the other way.",
            fix: "Compare the two GPUs (MIG, model, firmware, `nvidia-smi topo -p2p rw`); programs need both ways, so \
                  set `NCCL_P2P_DISABLE=1` until they agree.",
        },
        one_direction_only,
    ),
    Row::alone(
        Named {
            cause: cause::MIG_ENABLED,
            verdict: Verdict::Refused,
            record: Some("mig/no-peer-access-with-mig"),
            means: "MIG is on, and instances have no peer access.",
            fix: "Switch MIG off where GPUs have to work together: `nvidia-smi -i INDEX -mig 0`, then reset the GPU.",
        },
        mig_enabled,
    ),
    Row::alone(
        Named {
            cause: cause::CONFIDENTIAL_COMPUTING,
            verdict: Verdict::Refused,
            record: Some("p2p/confidential-computing-single-gpu"),
            means: "Confidential computing is on, whose single-GPU mode has no peer access.",
            fix: "Use one GPU a machine, or a mode made for several (protected PCIe over all eight GPUs), or switch \
                  confidential computing off.",
        },
        confidential_computing,
    ),
    Row::alone(
        Named {
            cause: cause::FABRIC_NOT_READY,
            verdict: Verdict::Refused,
            record: Some("fabric-manager/fabric-not-initialized"),
            means: "The GPUs hang on NVSwitch and its fabric is not up; the driver does not fall back to PCIe.",
            fix: "Start the fabric manager of the driver's own version (`systemctl enable --now nvidia-fabricmanager`) \
                  and wait until `nvidia-smi -q` says Fabric State: Completed. In a machine that shares the switch, the host does this.",
        },
        fabric_not_ready,
    ),
    Row::alone(
        Named {
            cause: cause::REFUSED_BY_REGISTRY,
            verdict: Verdict::Refused,
            record: Some("p2p/disabled-by-registry-key"),
            means: "A registry key of the driver switches peer access off (NVML says DR).",
            fix: "Take ForceP2P and the like out of NVreg_RegistryDwords (`/etc/modprobe.d`, \
                  `/proc/driver/nvidia/params`), rebuild the initramfs and load the driver again.",
        },
        refused_by_registry,
    ),
    Row::alone(
        Named {
            cause: cause::REFUSED_BY_POLICY,
            verdict: Verdict::Refused,
            record: Some("p2p/gpu-model-without-peer-access"),
            means: "This GPU model has peer access off, as product policy (NVML says GNS).",
            fix: "Nothing to mend: programs stage through host memory by themselves. Where peer access is a must, take \
                  another model, or an NVLink bridge where the model has one.",
        },
        refused_by_policy,
    ),
    Row::alone(
        Named {
            cause: cause::REFUSED_BY_CHIPSET,
            verdict: Verdict::Refused,
            record: Some("p2p/chipset-does-not-forward-peer-traffic"),
            means: "The chipset or host bridge does not forward peer traffic (NVML says CNS).",
            fix: "Put both GPUs under one PCIe switch, or use a platform that forwards between its root ports; for BAR1 \
                  peer access switch Above 4G Decoding and Resizable BAR on.",
        },
        |pair| {
            let found = explained(pair, P2pStatus::Cns, "CNS, the chipset does not support it")?;
            Some(found.and(small_bar1(pair)))
        },
    ),
    Row::alone(
        Named {
            cause: cause::REFUSED_BY_TOPOLOGY,
            verdict: Verdict::Refused,
            record: Some("p2p/gpus-behind-different-io-hubs"),
            means: "The two sit behind different I/O hubs (NVML says TNS).",
            fix: "Move both cards to slots of the same CPU or I/O hub (`nvidia-smi topo -m` shows which).",
        },
        |pair| explained(pair, P2pStatus::Tns, "TNS, the topology does not support it"),
    ),
    Row::alone(
        Named {
            cause: cause::MIXED_MODELS,
            verdict: Verdict::Refused,
            record: Some("p2p/mixed-gpu-models"),
            means: "The two are different models, between which the driver does not do it (NVML says NS).",
            fix: "Pair GPUs of one model; let programs that need peer access see those only (`CUDA_VISIBLE_DEVICES`).",
        },
        mixed_models,
    ),
    Row::alone(
        Named {
            cause: cause::REFUSED_NOT_SUPPORTED,
            verdict: Verdict::Refused,
            record: Some("p2p/not-supported-no-path"),
            means: "The driver knows no path between the two (NVML says NS).",
            fix: "Compare `nvidia-smi topo -p2p rw` inside and outside of the container or virtual machine; on NVSwitch \
                  boards look at the fabric manager first.",
        },
        |pair| explained(pair, P2pStatus::Ns, "NS, not supported"),
    ),
    Row::alone(
        Named {
            cause: cause::REFUSED_CAUSE_UNKNOWN,
            verdict: Verdict::Refused,
            record: Some("p2p/refused-without-reason"),
            means: "The driver refuses, and nothing seen from here says why.",
            fix: "Run the agent where NVML is visible and as root on the host itself; `nvidia-smi topo -p2p rw` shows \
                  the driver's own reason.",
        },
        refused_cause_unknown,
    ),
];

fn one_direction_only(pair: &Seen<'_>) -> Option<Finding> {
    let granted = pair.directions_with_access(Some(true));
    let refused = pair.directions_with_access(Some(false));
    if granted.is_empty() || refused.is_empty() {
        return None;
    }
    let direction = pair
        .pair
        .directions
        .iter()
        .find(|direction| direction.can_access_peer.value == Some(false))?;
    let reason = format!(
        "the driver refuses GPU {} access to GPU {} and grants the other way",
        direction.initiator, direction.owner
    );
    Some(Finding::new(reason, refused).and(granted))
}

fn refusal(pair: &Seen<'_>, why: &str, evidence: impl IntoIterator<Item = String>) -> Option<Finding> {
    if !pair.refused_both_ways() {
        return None;
    }
    let reason = format!("the driver refuses peer access; {why}");
    Some(Finding::new(reason, pair.directions_with_access(Some(false))).and(evidence))
}

/// NVML's own explanation, where no NVLink joins the two: a link that is down has causes of its own.
fn explained(pair: &Seen<'_>, status: P2pStatus, words: &str) -> Option<Finding> {
    let statuses = pair.nvml_status(status);
    if !pair.without_nvlink() || statuses.is_empty() {
        return None;
    }
    let links = [pair.pointer("nvlinks"), pair.pointer("nvswitch")];
    let why = format!("NVML status {words}; no NVLink or NVSwitch joins the two");
    refusal(pair, &why, statuses.into_iter().chain(links))
}

/// The model decides this one, so it is told also where NVML does not say whether NVLink joins the two.
fn refused_by_policy(pair: &Seen<'_>) -> Option<Finding> {
    const WORDS: &str = "GNS, this GPU model does not support it";
    let statuses = pair.nvml_status(P2pStatus::Gns);
    if pair.with_nvlink() || pair.without_nvlink() || statuses.is_empty() {
        return explained(pair, P2pStatus::Gns, WORDS);
    }
    let gap = gap_reason(&pair.pair.nvlinks);
    let why = format!("NVML status {WORDS}; whether NVLink joins the two is not told ({gap})");
    let links = [pair.pointer("nvlinks"), pair.pointer("nvswitch")];
    refusal(pair, &why, statuses.into_iter().chain(links))
}

/// `true`, `on`, `enabled`: modes are words, or yes and no.
fn is_on(value: &Value) -> bool {
    value
        .as_bool()
        .or_else(|| value.as_str().map(|word| matches!(word, "on" | "enabled")))
        .unwrap_or(false)
}

fn mig_enabled(pair: &Seen<'_>) -> Option<Finding> {
    let (gpu, _, pointer) = pair
        .gpu_facts(fact_name::MIG_MODE)
        .find(|(_, value, _)| is_on(value))?;
    refusal(pair, &format!("MIG is on on GPU {gpu}"), [pointer])
}

fn confidential_computing(pair: &Seen<'_>) -> Option<Finding> {
    let (gpu, _, pointer) = pair
        .gpu_facts(fact_name::CONFIDENTIAL_COMPUTE_MODE)
        .find(|(_, value, _)| is_on(value))?;
    let why = format!("confidential computing is on on GPU {gpu}");
    refusal(pair, &why, [pointer])
}

/// The state says so, or it cannot be read and the GPUs end at switches that nothing came through.
fn fabric_not_ready(pair: &Seen<'_>) -> Option<Finding> {
    let unready = pair
        .gpu_facts(fact_name::FABRIC_STATE)
        .find(|(_, value, _)| matches!(value.as_str(), Some("not_started" | "in_progress")));
    let failed = || {
        let mut statuses = pair.gpu_facts(fact_name::FABRIC_STATUS);
        statuses.find(|(_, value, _)| value.as_str().is_some_and(|status| status != "success"))
    };
    let service = pair
        .host(fact_name::FABRIC_MANAGER_SERVICE)
        .filter(|(value, _)| value.as_str() != Some("active"))
        .map(|(_, pointer)| pointer);
    if let Some((gpu, state, pointer)) = unready.or_else(failed) {
        let state = state.as_str().unwrap_or_default().replace('_', " ");
        let why = format!("the NVSwitch fabric of GPU {gpu} is not up ({state})");
        return refusal(pair, &why, [pointer].into_iter().chain(service));
    }
    let statuses = pair.nvml_status(P2pStatus::Ns);
    let no_word = pair.gpu_facts(fact_name::FABRIC_STATE).next().is_none();
    if pair.pair.nvswitch.value == Some(true) && no_word && !statuses.is_empty() {
        let why = "NVML status NS between GPUs that NVSwitch joins, as with a fabric that is not up";
        let evidence = statuses.into_iter().chain([pair.pointer("nvswitch")]);
        return refusal(pair, why, evidence.chain(service));
    }
    None
}

fn refused_by_registry(pair: &Seen<'_>) -> Option<Finding> {
    let statuses = pair.nvml_status(P2pStatus::Dr);
    if statuses.is_empty() {
        return None;
    }
    let key = pair
        .host(fact_name::DRIVER_REGISTRY_DWORDS)
        .map(|(_, pointer)| pointer);
    let why = "NVML status DR, disabled by registry key";
    refusal(pair, why, statuses.into_iter().chain(key))
}

fn mixed_models(pair: &Seen<'_>) -> Option<Finding> {
    let statuses = pair.nvml_status(P2pStatus::Ns);
    let names: Vec<(&str, String)> = pair
        .gpus()
        .filter_map(|(index, gpu)| Some((gpu.name.value.as_deref()?, format!("/gpus/{index}/name"))))
        .collect();
    let [(a, at_a), (b, at_b)] = names.as_slice() else {
        return None;
    };
    if a == b || statuses.is_empty() {
        return None;
    }
    let why = format!("NVML status NS between two models, {a} and {b}");
    let names = [at_a.clone(), at_b.clone()];
    refusal(pair, &why, statuses.into_iter().chain(names))
}

fn refused_cause_unknown(pair: &Seen<'_>) -> Option<Finding> {
    refusal(pair, "nothing seen from here says why", [])
}
