//! What is different on a node since a report of it was good: said as difference, never as cause.

use std::collections::BTreeMap;

use kb_core::ids::NodeId;
use kb_core::report::{Fact, Gpu, Report};
use kb_core::verdict::Verdict;
use serde_json::Value;

use super::ingest::{IngestError, stored_report};
use crate::store::{NodeListing, ReportListing, Store};

/// Compared facts of the host, and beginnings of names: what runs there and how it is set, nothing that varies by itself.
const HOST: [&str; 18] = [
    "acs.",
    "bios.",
    "board.",
    "cuda.version",
    "dmi.",
    "driver.",
    "fabric_manager.",
    "image.",
    "iommu.kernel_options",
    "iommu.mode",
    "kernel.command_line",
    "kernel.release",
    "libraries.nccl",
    "nccl.conf.",
    "nccl.version",
    "nvml.driver_version",
    "os.name",
    "environment.nccl_",
];
/// The same of a GPU.
const GPU: [&str; 17] = [
    "acs.",
    "compute.mode",
    "confidential_compute.mode",
    "ecc.mode",
    "firmware.",
    "gsp.version",
    "inforom.",
    "iommu.group_type",
    "mig.mode",
    "nvlink.links",
    "nvlink.speed_mb_s",
    "pci.path",
    "pcie.link_generation",
    "pcie.link_width",
    "persistence.mode",
    "serial",
    "vbios.",
];
/// Differences that are told at most.
const MOST: usize = 100;
/// Proofs of a node among which the last good one is looked for, the latest first.
const PROOFS: u32 = 144;

/// A fact that both reports tell, and tell otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The GPU by its index in the newer report; `None`: the host.
    pub gpu: Option<usize>,
    pub fact: String,
    pub before: Shown,
    pub now: Shown,
}

/// What a report says of a fact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shown {
    Value(String),
    /// It could not be read.
    Unread,
    /// There is none: the GPU is not listed.
    Absent,
}

/// The latest report of a node beside the last good one.
#[derive(Debug, Clone, Default)]
pub struct Compared {
    /// The latest report; `None` where it cannot be read.
    pub latest: Option<Report>,
    /// The last report that proved health, other than the latest.
    pub good: Option<ReportListing>,
    /// `None` where there is none, or one of the two cannot be read.
    pub changes: Option<Vec<Change>>,
}

/// Reads both reports and compares them.
pub async fn compare(store: &dyn Store, node: &NodeListing) -> Result<Compared, IngestError> {
    let latest = body(store, &node.last_seen).await?;
    let proofs = store
        .proofs(&node.id, node.last_seen.simulated, PROOFS)
        .await?
        .proofs;
    let mut proofs = proofs.into_iter();
    let good = proofs.find(|proof| proof.verdict == Verdict::Healthy && proof.id != node.last_seen.id);
    let changes = match (&latest, &good) {
        (Some(latest), Some(good)) => body(store, good).await?.map(|good| changes(&good, latest)),
        _ => None,
    };
    Ok(Compared {
        latest,
        good,
        changes,
    })
}

/// A report's content; `None` where it cannot be read, which is told where the report itself is asked for.
async fn body(store: &dyn Store, listing: &ReportListing) -> Result<Option<Report>, IngestError> {
    let node: &NodeId = &listing.node;
    let Some(stored) = store.report(Some(node), &listing.id).await? else {
        return Ok(None);
    };
    let work = tokio::task::spawn_blocking(move || stored_report(&stored).ok());
    work.await.map_err(|_| IngestError::Panicked)
}

fn changes(before: &Report, now: &Report) -> Vec<Change> {
    let mut changes = of_facts(None, &HOST, &before.host, &now.host);
    let mut left: Vec<&Gpu> = before.gpus.iter().collect();
    for (index, gpu) in now.gpus.iter().enumerate() {
        let place = left.iter().position(|old| is_same(old, gpu));
        let Some(old) = place.map(|place| left.remove(place)) else {
            changes.push(Change {
                gpu: Some(index),
                fact: "uuid".to_owned(),
                before: Shown::Absent,
                now: shown(gpu.uuid.value.as_deref()),
            });
            continue;
        };
        let names = [
            ("name", &old.name, &gpu.name),
            ("pci_address", &old.pci_address, &gpu.pci_address),
        ];
        for (fact, old, new) in names {
            if old.value.is_some() && new.value.is_some() && old.value != new.value {
                changes.push(Change {
                    gpu: Some(index),
                    fact: fact.to_owned(),
                    before: shown(old.value.as_deref()),
                    now: shown(new.value.as_deref()),
                });
            }
        }
        changes.extend(of_facts(Some(index), &GPU, &old.facts, &gpu.facts));
    }
    for gone in left {
        changes.push(Change {
            gpu: None,
            fact: format!("gpu {}", gone.pci_address.value.as_deref().unwrap_or("?")),
            before: shown(gone.uuid.value.as_deref()),
            now: Shown::Absent,
        });
    }
    changes.truncate(MOST);
    changes
}

/// By UUID where both tell one, else by address.
fn is_same(old: &Gpu, new: &Gpu) -> bool {
    match (&old.uuid.value, &new.uuid.value) {
        (Some(old), Some(new)) => old == new,
        _ => old.pci_address.value.is_some() && old.pci_address.value == new.pci_address.value,
    }
}

fn shown(value: Option<&str>) -> Shown {
    value.map_or(Shown::Unread, |value| Shown::Value(value.to_owned()))
}

/// Facts told otherwise than before. What no report asked for, or only the newer agent knows, is no difference.
fn of_facts(
    gpu: Option<usize>,
    compared: &[&str],
    before: &BTreeMap<String, Fact>,
    now: &BTreeMap<String, Fact>,
) -> Vec<Change> {
    let is_compared = |name: &String| compared.iter().any(|start| name.starts_with(start));
    let told = before
        .iter()
        .filter(|(name, fact)| is_compared(name) && fact.value.is_some());
    let changed = told.filter_map(|(name, old)| {
        let new = now.get(name)?;
        (old.value != new.value).then(|| Change {
            gpu,
            fact: name.clone(),
            before: value(old.value.as_ref()),
            now: value(new.value.as_ref()),
        })
    });
    changed.collect()
}

fn value(value: Option<&Value>) -> Shown {
    match value {
        None => Shown::Unread,
        Some(Value::String(text)) => Shown::Value(text.clone()),
        Some(other) => Shown::Value(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::domain::correlate::samples::{proven, report};

    fn of(change: impl Fn(&mut Value)) -> Report {
        let mut whole = report(2, &[proven(0, 1)]);
        let read = |value: Value| json!({ "value": value, "source": "test" });
        whole["host"] = json!({
            "driver.version": read(json!("570.1")),
            "kernel.command_line": read(json!("quiet")),
            "node.time": read(json!("10:00")),
        });
        whole["gpus"][0]["facts"]["pcie.link_width"] = read(json!(16));
        change(&mut whole);
        serde_json::from_value(whole).unwrap()
    }

    fn texts(changes: &[Change]) -> Vec<(Option<usize>, &str, &Shown, &Shown)> {
        changes
            .iter()
            .map(|change| (change.gpu, change.fact.as_str(), &change.before, &change.now))
            .collect()
    }

    #[test]
    fn what_is_set_otherwise_is_told_and_what_varies_is_not() {
        let before = of(|_| {});
        assert_eq!(changes(&before, &before), []);
        let now = of(|report| {
            report["host"]["driver.version"]["value"] = "580.1".into();
            report["host"]["node.time"]["value"] = "11:00".into();
            report["host"]["kernel.command_line"] =
                json!({ "source": "test", "gap": { "kind": "no_permission", "reason": "not root" } });
            report["gpus"][0]["facts"]["pcie.link_width"]["value"] = 8.into();
            report["gpus"][0]["facts"]["vbios.version"] = json!({ "value": "96.00", "source": "test" });
        });
        let value = |text: &str| Shown::Value(text.to_owned());
        let told = changes(&before, &now);
        assert_eq!(
            texts(&told),
            [
                (None, "driver.version", &value("570.1"), &value("580.1")),
                (None, "kernel.command_line", &value("quiet"), &Shown::Unread),
                (Some(0), "pcie.link_width", &value("16"), &value("8")),
            ]
        );
    }

    #[test]
    fn a_gpu_is_known_by_its_uuid_and_one_that_is_gone_is_told() {
        let before = of(|_| {});
        let now = of(|report| {
            let gpus = report["gpus"].as_array_mut().unwrap();
            gpus.remove(0);
        });
        let told = changes(&before, &now);
        assert_eq!(told.len(), 1, "{told:?}");
        assert_eq!(told[0].now, Shown::Absent);
        let exchanged = of(|report| report["gpus"][1]["uuid"]["value"] = "GPU-new".into());
        let told = changes(&before, &exchanged);
        let absent = told
            .iter()
            .filter(|change| change.before == Shown::Absent || change.now == Shown::Absent);
        assert_eq!(absent.count(), 2, "{told:?}");
    }
}
