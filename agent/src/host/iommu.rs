//! Whether DMA addresses are translated on this machine, and so whether traffic between GPUs can go astray.

use std::collections::{BTreeMap, BTreeSet};

use kb_core::report::{Fact, GapKind, fact_name};

use super::{HostRoot, absent, pci, place};

/// One folder a group; Linux ABI `sysfs-kernel-iommu_groups`.
const GROUPS: &str = "sys/kernel/iommu_groups";
/// One link an IOMMU (`dmar0`, `ivhd0`, `smmu3.0x…`); Linux ABI `sysfs-class-iommu`.
const UNITS: &str = "sys/class/iommu";

/// The facts under `iommu.`. `log` is what the kernel log of this boot says about IOMMUs.
pub(super) fn facts(root: &HostRoot, log: &str) -> BTreeMap<String, Fact> {
    BTreeMap::from([
        (fact_name::IOMMU_MODE.to_owned(), mode(root, log).map(Into::into)),
        (
            "iommu.groups".to_owned(),
            listed(root, GROUPS).map(|groups| groups.len().into()),
        ),
        ("iommu.units".to_owned(), listed(root, UNITS).map(Into::into)),
        (
            "iommu.kernel_options".to_owned(),
            super::text(super::kernel_options(root, |name| name.contains("iommu"))),
        ),
    ])
}

/// A guest that has no IOMMU of its own sees neither groups nor units, which says nothing about the machine it runs on.
fn listed(root: &HostRoot, folder: &str) -> Fact<Vec<String>> {
    let names = root.names(folder);
    match &names.value {
        Some(found) if found.is_empty() && place::is_virtual_machine(root) => guest(folder),
        _ => names,
    }
}

fn guest<T>(source: &str) -> Fact<T> {
    let reason = "not visible from here: a virtual machine does not see the IOMMU of the machine it runs on";
    absent(GapKind::NotVisible, source, reason)
}

/// `off`, `translating`, `passthrough` or `mixed`: by the types of the groups that GPUs are in (of all groups where
/// no GPU is seen), else by what the kernel wrote at boot, else by there being no IOMMU at all.
fn mode(root: &HostRoot, log: &str) -> Fact<String> {
    let groups = listed(root, GROUPS);
    let Some(names) = &groups.value else {
        return groups.map(|_| String::new());
    };
    let gpu_groups: BTreeSet<String> = pci::gpu_groups(root).into_iter().collect();
    let asked: Vec<&String> = if gpu_groups.is_empty() {
        names.iter().collect()
    } else {
        gpu_groups.iter().collect()
    };
    let types = asked
        .iter()
        .map(|group| root.line(&format!("{GROUPS}/{group}/type")).value);
    if let Some(mode) = mode_of_types(types) {
        return Fact::read(mode.to_owned(), format!("/{GROUPS}/*/type"));
    }
    if let Some(mode) = mode_of_log(log) {
        return Fact::read(mode.to_owned(), "kernel log");
    }
    if !names.is_empty() {
        let reason =
            "there are IOMMU groups, but neither their type nor the kernel log says how they are used";
        return absent(GapKind::NotVisible, GROUPS, reason);
    }
    let units = listed(root, UNITS);
    match &units.value {
        Some(units) if units.is_empty() => Fact::read("off".to_owned(), format!("/{UNITS}")),
        Some(_) => absent(
            GapKind::NotVisible,
            GROUPS,
            "there is an IOMMU, and no group is shown",
        ),
        None => units.map(|_| String::new()),
    }
}

/// `None` where there is no type at all.
fn mode_of_types(types: impl Iterator<Item = Option<String>>) -> Option<&'static str> {
    let (mut translating, mut passthrough) = (false, false);
    for kind in types.flatten() {
        match kind.as_str() {
            "identity" => passthrough = true,
            "DMA" | "DMA-FQ" => translating = true,
            _ => {}
        }
    }
    match (translating, passthrough) {
        (true, true) => Some("mixed"),
        (true, false) => Some("translating"),
        (false, true) => Some("passthrough"),
        (false, false) => None,
    }
}

/// `iommu: Default domain type: Translated`, which Linux writes since 5.8.
fn mode_of_log(log: &str) -> Option<&'static str> {
    let line = log
        .lines()
        .find(|line| line.contains("iommu: Default domain type:"))?;
    let (_, kind) = line.rsplit_once("type:")?;
    match kind.split_whitespace().next()? {
        "Translated" => Some("translating"),
        "Passthrough" => Some("passthrough"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_groups_make_the_mode() {
        let mode = |types: &[&str]| mode_of_types(types.iter().map(|kind| Some((*kind).to_owned())));
        assert_eq!(mode(&["identity", "identity"]), Some("passthrough"));
        assert_eq!(mode(&["DMA", "DMA-FQ"]), Some("translating"));
        assert_eq!(mode(&["DMA", "identity"]), Some("mixed"));
        assert_eq!(mode(&["auto"]), None);
        assert_eq!(mode_of_types([None].into_iter()), None);
    }

    #[test]
    fn the_kernel_log_names_the_mode_at_boot() {
        let log = "[    0.5] DMAR: IOMMU enabled\n[    0.7] iommu: Default domain type: Passthrough (set via kernel command line)\n";
        assert_eq!(mode_of_log(log), Some("passthrough"));
        assert_eq!(
            mode_of_log("[    0.5] iommu: Default domain type: Translated"),
            Some("translating")
        );
        assert_eq!(mode_of_log("[    0.5] DMAR: IOMMU enabled"), None);
    }
}
