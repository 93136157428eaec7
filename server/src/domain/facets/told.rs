//! What of a report may set its node apart: versions and settings, each as a text.

use std::collections::{BTreeMap, BTreeSet};

use kb_core::report::{Fact, Report, fact_name};
use serde_json::Value;
use time::OffsetDateTime;

use crate::domain::ingest::hardware;
use crate::store::ToldFacets;

/// Facts of the host: what runs there and how it is set.
const HOST: [&str; 11] = [
    fact_name::BIOS_VERSION,
    fact_name::CUDA_VERSION,
    fact_name::DRIVER_VERSION,
    fact_name::IOMMU_MODE,
    "driver.flavour",
    "host.container",
    "host.virtual_machine",
    "kernel.command_line",
    "kernel.release",
    "os.name",
    fact_name::FABRIC_MANAGER_SERVICE,
];
/// Facts that all GPUs of a node have alike.
const GPU: [&str; 10] = [
    "ecc.mode",
    "inforom.version",
    "mig.mode",
    fact_name::NVLINK_LINKS_ACTIVE,
    fact_name::NVLINK_SPEED_MB_S,
    fact_name::PCIE_LINK_WIDTH,
    fact_name::PCIE_LINK_GENERATION_MAX,
    "persistence.mode",
    "power.limit_w",
    "vbios.version",
];
/// The driver's branch: `580` of `580.159.04`.
pub(super) const DRIVER_BRANCH: &str = "driver.branch";
/// Whether a bridge between two GPUs redirects.
const ACS: &str = "acs.redirects";
const NCCL: &str = "nccl.version";
/// Longest value that is kept, in characters.
const LONGEST: usize = 200;

/// Nothing of a report that names no model, and of one that another tool's output was made into.
pub fn told(report: &Report, ended: OffsetDateTime) -> Option<ToldFacets> {
    if report.host.contains_key(fact_name::CONVERT_TOOLS) {
        return None;
    }
    let mut facets = BTreeMap::new();
    for name in HOST {
        keep(&mut facets, name, report.host.get(name).and_then(text));
    }
    for name in GPU {
        let values: BTreeSet<Option<String>> = report
            .gpus
            .iter()
            .map(|gpu| gpu.facts.get(name).and_then(text))
            .collect();
        let is_same = values.len() == 1;
        let only = values.into_iter().next().flatten();
        keep(&mut facets, name, only.filter(|_| is_same));
    }
    let branch = facets
        .get(fact_name::DRIVER_VERSION)
        .and_then(|version| version.split('.').next());
    let branch = branch.map(str::to_owned);
    keep(&mut facets, DRIVER_BRANCH, branch);
    let acs = redirects(report);
    // A look without pairs reads no bridges.
    let untold = if acs.is_none() {
        vec![ACS.to_owned()]
    } else {
        Vec::new()
    };
    keep(&mut facets, ACS, acs);
    keep(&mut facets, NCCL, nccl(report));
    Some(ToldFacets {
        simulated: report.simulated,
        model: hardware(report).model?,
        told_at: ended,
        facets,
        untold,
    })
}

fn keep(facets: &mut BTreeMap<String, String>, name: &str, value: Option<String>) {
    if let Some(value) = value {
        let value: String = value
            .chars()
            .filter(|letter| *letter != '\0')
            .take(LONGEST)
            .collect();
        facets.insert(name.to_owned(), value);
    }
}

fn text(fact: &Fact) -> Option<String> {
    match fact.value.as_ref()? {
        Value::String(text) => Some(text.clone()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

fn redirects(report: &Report) -> Option<String> {
    let told = report.pairs.iter().filter_map(|pair| {
        let bridges = pair.facts.get(fact_name::ACS_REDIRECTING_BRIDGES)?;
        Some(!bridges.value.as_ref()?.as_array()?.is_empty())
    });
    told.reduce(|one, other| one || other).map(|any| any.to_string())
}

/// The version of the library that programs of the node get.
fn nccl(report: &Report) -> Option<String> {
    let found = report
        .host
        .get(fact_name::LIBRARIES_NCCL)?
        .value
        .as_ref()?
        .as_array()?;
    let taken = found
        .iter()
        .find(|one| one.get("taken") == Some(&Value::Bool(true)))?;
    taken.get("version")?.as_str().map(str::to_owned)
}
