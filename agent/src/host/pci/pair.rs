//! What lies between two GPUs: where their paths meet, and which bridges on the way redirect.

use std::collections::BTreeMap;

use kb_core::report::{Fact, GapKind, fact_name};
use serde_json::Value;

use super::super::{HostRoot, place};
use super::device::Device;
use super::{absent, guest};

const TREE: &str = "sys/bus/pci/devices";
/// Where paths meet that share no bridge.
const ROOT_COMPLEX: &str = "root complex";

/// Facts of a pair of GPUs by their PCI addresses. Without an address nothing is known.
pub(in crate::host) fn facts(root: &HostRoot, a: &str, b: &str) -> BTreeMap<String, Fact> {
    let (a, b) = (Device::new(root, a), Device::new(root, b));
    let meeting = Meeting::find(root, &a, &b);
    BTreeMap::from([
        (
            fact_name::PCIE_COMMON_BRIDGE.to_owned(),
            known(&meeting, |meeting| {
                Fact::read(meeting.bridge().to_owned().into(), format!("/{TREE}"))
            }),
        ),
        (
            fact_name::PCIE_SAME_SWITCH.to_owned(),
            known(&meeting, |meeting| {
                Fact::read(meeting.is_in_a_switch().into(), format!("/{TREE}"))
            }),
        ),
        (
            fact_name::ACS_REDIRECTING_BRIDGES.to_owned(),
            known(&meeting, |meeting| redirecting(root, &meeting.below)),
        ),
        (
            "iommu.same_group".to_owned(),
            same(&a.link_name("iommu_group"), &b.link_name("iommu_group")),
        ),
        (
            "pcie.same_numa_node".to_owned(),
            same(
                &a.find("numa_node", super::NO_NODE, super::node),
                &b.find("numa_node", super::NO_NODE, super::node),
            ),
        ),
    ])
}

struct Meeting {
    /// The shared bridges, from the root port down.
    shared: Vec<String>,
    /// The bridges on either side below that.
    below: Vec<String>,
}

impl Meeting {
    /// A gap where the tree is not the machine's own.
    fn find(root: &HostRoot, a: &Device<'_>, b: &Device<'_>) -> Fact<Self> {
        let (from, to) = (a.ancestry(), b.ancestry());
        let (Some(from), Some(to)) = (&from.value, &to.value) else {
            let gap = from.gap.or(to.gap);
            return Fact {
                value: None,
                source: format!("/{TREE}"),
                gap,
            };
        };
        // On a machine of its own a GPU sits below a root port at least.
        let is_flat = from.len() < 2 || to.len() < 2;
        if is_flat || place::is_virtual_machine(root) {
            return guest(TREE);
        }
        let depth = from.iter().zip(to).take_while(|(a, b)| a == b).count();
        let side = |path: &[String]| -> Vec<String> {
            let bridges = path.len().saturating_sub(1);
            path.iter().take(bridges).skip(depth).cloned().collect()
        };
        let meeting = Self {
            shared: from.iter().take(depth).cloned().collect(),
            below: [side(from), side(to)].concat(),
        };
        Fact::read(meeting, format!("/{TREE}"))
    }

    fn bridge(&self) -> &str {
        self.shared.last().map_or(ROOT_COMPLEX, String::as_str)
    }

    /// A root port leads to one link: paths that part below it are of one device, or share the switch's upstream port too.
    fn is_in_a_switch(&self) -> bool {
        self.shared.len() >= 2
    }
}

/// The bridges that redirect, or the gap of one that might. One that is seen to redirect is worth more than a gap.
fn redirecting(root: &HostRoot, bridges: &[String]) -> Fact {
    let mut found = Vec::new();
    let mut unseen = None;
    for address in bridges {
        let acs = Device::new(root, address).acs();
        match acs.value {
            Some(acs) if acs.redirects() => found.push(Value::from(address.clone())),
            Some(_) => {}
            None => unseen = unseen.or(acs.gap),
        }
    }
    match unseen {
        Some(gap) if found.is_empty() => Fact::without(gap, format!("/{TREE}")),
        _ => Fact::read(found.into(), format!("/{TREE}")),
    }
}

fn known(meeting: &Fact<Meeting>, say: impl FnOnce(&Meeting) -> Fact) -> Fact {
    match &meeting.value {
        Some(meeting) => say(meeting),
        None => Fact {
            value: None,
            source: meeting.source.clone(),
            gap: meeting.gap.clone(),
        },
    }
}

/// Whether both have the same; a gap where one has none.
fn same<T: PartialEq>(a: &Fact<T>, b: &Fact<T>) -> Fact {
    match (&a.value, &b.value) {
        (Some(first), Some(second)) => Fact::read((first == second).into(), a.source.clone()),
        _ => match a.gap.clone().or_else(|| b.gap.clone()) {
            Some(gap) => Fact::without(gap, a.source.clone()),
            None => absent(GapKind::Failed, TREE, "it could not be compared"),
        },
    }
}
