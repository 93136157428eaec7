//! Settings of the operator's that keep NCCL from peer access, wholly or beyond a distance: arm A shows nothing of what they leave out.

use std::collections::BTreeMap;

use kb_core::report::{Fact, NcclArm, Pair, fact_name};
use serde_json::Value;

/// How far two GPUs are from each other, as NCCL's levels tell it (its guide, `NCCL_P2P_LEVEL`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Distance {
    /// `LOC`: no other GPU is so near.
    Own,
    NvLink,
    Switch,
    Switches,
    /// `PHB`: the host bridge of one NUMA node.
    HostBridge,
    System,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Limit {
    /// `NCCL_P2P_LEVEL=PIX in the environment`.
    pub(super) setting: String,
    furthest: Distance,
}

impl Limit {
    /// Whether NCCL uses peer access between these two; `None` where their distance is not known.
    pub(super) fn allows(&self, pair: &Pair) -> Option<bool> {
        if self.furthest == Distance::Own {
            return Some(false);
        }
        if self.furthest == Distance::System {
            return Some(true);
        }
        let by_pcie = pair
            .common_ancestor
            .value
            .as_deref()
            .and_then(by_pcie)
            .map(|distance| distance <= self.furthest);
        match pair.nvlinks.value {
            Some(links) if links > 0 => Some(true),
            Some(_) => by_pcie,
            // Perhaps they are nearer than that.
            None => by_pcie.filter(|within| *within),
        }
    }
}

/// NVML's word for the nearest common ancestor. NCCL does not tell `NODE` from `PHB`: both stay in one NUMA node.
fn by_pcie(ancestor: &str) -> Option<Distance> {
    Some(match ancestor {
        "PIX" => Distance::Switch,
        "PXB" => Distance::Switches,
        "PHB" | "NODE" => Distance::HostBridge,
        "SYS" => Distance::System,
        _ => return None,
    })
}

/// The setting that limits peer access. NCCL takes a variable of the environment before its own files, and the user's file
/// before the system's; the files count where they are those that the processes read.
pub(super) fn of(host: &BTreeMap<String, Fact>, own_files: bool) -> Option<Limit> {
    ["P2P_DISABLE", "P2P_LEVEL"].into_iter().find_map(|name| {
        let (value, place) = setting(host, name, own_files)?;
        let furthest = match name {
            "P2P_DISABLE" => (leading_number(value) == Some(1)).then_some(Distance::Own),
            _ => level(value),
        }?;
        Some(Limit {
            setting: format!("NCCL_{name}={value} in {place}"),
            furthest,
        })
    })
}

/// What NCCL makes of a level (`ncclGetLevel` in its `graph/paths.cc`): names as they are written there, else a number as
/// before the levels had names; anything else counts as not set.
fn level(value: &str) -> Option<Distance> {
    Some(match value {
        "LOC" => Distance::Own,
        // NVB goes by way of a third GPU, C2C between chips of one package.
        "NVL" | "NVB" | "C2C" => Distance::NvLink,
        "PIX" => Distance::Switch,
        "PXB" | "P2C" | "PXN" => Distance::Switches,
        "PHB" => Distance::HostBridge,
        "SYS" => Distance::System,
        number if number.starts_with(|first: char| first.is_ascii_digit()) => {
            match leading_number(number).unwrap_or(i64::MAX) {
                0 => Distance::Own,
                1 => Distance::Switch,
                2 => Distance::Switches,
                3 => Distance::HostBridge,
                _ => Distance::System,
            }
        }
        _ => return None,
    })
}

/// As C's `strtol` reads it: what stands behind the digits does not count.
fn leading_number(text: &str) -> Option<i64> {
    let text = text.trim_start();
    let end = text.find(|digit: char| !digit.is_ascii_digit());
    text.get(..end.unwrap_or(text.len()))?.parse().ok()
}

fn setting<'a>(
    host: &'a BTreeMap<String, Fact>,
    name: &str,
    own_files: bool,
) -> Option<(&'a str, &'static str)> {
    let variable = host.get(&format!("environment.nccl_{}", name.to_ascii_lowercase()));
    if let Some(value) = variable.and_then(|fact| fact.value.as_ref()?.as_str()) {
        return Some((value, "the environment"));
    }
    let files = [
        (fact_name::NCCL_CONF_USER, "~/.nccl.conf"),
        (fact_name::NCCL_CONF_SYSTEM, "/etc/nccl.conf"),
    ];
    files.into_iter().filter(|_| own_files).find_map(|(fact, place)| {
        let settings = host.get(fact)?.value.as_ref()?;
        let value = settings.get(format!("NCCL_{name}")).and_then(Value::as_str)?;
        Some((value, place))
    })
}

pub(super) fn reason(setting: &str, only: &NcclArm) -> String {
    let came_to = only
        .reason
        .as_deref()
        .unwrap_or("collectives gave the right data");
    format!(
        "{setting} keeps NCCL from using peer access, so nothing is shown about it; without it: {came_to}"
    )
}

pub(super) fn left_out(setting: &str, pairs: &[(u32, u32)]) -> String {
    let pairs: Vec<String> = pairs.iter().map(|(a, b)| format!("{a}-{b}")).collect();
    format!(
        "{setting} keeps NCCL from peer access between GPUs {}, about which nothing is shown",
        pairs.join(", ")
    )
}

#[cfg(test)]
#[path = "restriction_tests.rs"]
mod tests;
