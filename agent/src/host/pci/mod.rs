//! The PCI tree above each GPU, and what lies between two of them.
//!
//! Files: Linux ABI `sysfs-bus-pci` and `sysfs-bus-pci-devices-aer_stats`.

mod acs;
mod device;
mod errors;
mod pair;

pub(super) use errors::ErrorCounts;
pub(super) use pair::facts as pair_facts;

use std::collections::{BTreeMap, BTreeSet};

use kb_core::report::{Fact, GapKind, Gpu, fact_name};
use serde_json::Value;

use super::{HostRoot, absent};
use device::Device;

pub(super) const NVIDIA: &str = "0x10de";
/// Display controllers: VGA (0x0300) and 3D (0x0302).
const DISPLAY_CLASS: &str = "0x03";
/// Bridges between PCI buses, ports of PCIe among them.
const BRIDGE_CLASS: &str = "0x0604";
/// Flag in `resource` of a BAR with a 64-bit address, which takes two lines (`IORESOURCE_MEM_64`).
const WIDE: u64 = 0x0010_0000;

pub(super) fn gpu_facts(root: &HostRoot, address: &str) -> BTreeMap<String, Fact> {
    let gpu = Device::new(root, address);
    let group = gpu.link_name("iommu_group");
    let mut facts = BTreeMap::from([
        (fact_name::PCI_PATH.to_owned(), path(root, &gpu)),
        (
            "pci.numa_node".to_owned(),
            numa_node(root, address).map(Into::into),
        ),
        (
            fact_name::PCI_BAR1_BYTES.to_owned(),
            gpu.find("resource", NO_BAR1, bar1_bytes).map(Into::into),
        ),
        (
            fact_name::IOMMU_GROUP_TYPE.to_owned(),
            group_type(root, &group).map(Into::into),
        ),
        ("iommu.group".to_owned(), group.map(number_or_text)),
    ]);
    facts.extend(ErrorCounts::read(root, address).facts());
    facts
}

/// True where one of the GPUs has another number since the one at `lost` is gone: NVML counts them by PCI address.
pub(crate) fn shifts_numbers(lost: &str, gpus: &[Gpu]) -> bool {
    let mut addresses = gpus.iter().filter_map(|gpu| gpu.pci_address.value.as_deref());
    addresses.any(|address| lost < address)
}

pub(super) fn numa_node(root: &HostRoot, address: &str) -> Fact<u64> {
    Device::new(root, address).find("numa_node", NO_NODE, node)
}

/// Addresses of the GPUs in this machine, whether or not a driver knows them.
pub(super) fn gpu_addresses(root: &HostRoot) -> Vec<String> {
    let devices = root.names("sys/bus/pci/devices").value.unwrap_or_default();
    let is_gpu = |address: &String| {
        let device = Device::new(root, address);
        device.attribute("vendor").value.as_deref() == Some(NVIDIA)
            && device
                .attribute("class")
                .value
                .is_some_and(|class| class.starts_with(DISPLAY_CLASS))
    };
    devices.into_iter().filter(is_gpu).collect()
}

/// The same, each with the bridges above it, where these can be seen.
pub(super) fn gpus_with_bridges(root: &HostRoot) -> Vec<(String, Vec<String>)> {
    let with_bridges = |address: String| {
        let above = Device::new(root, &address).ancestry().value.unwrap_or_default();
        (address, above)
    };
    gpu_addresses(root).into_iter().map(with_bridges).collect()
}

/// Devices that are no GPU, without bridges below which nothing is.
pub(super) fn others(root: &HostRoot) -> Vec<String> {
    let devices = root.names("sys/bus/pci/devices").value.unwrap_or_default();
    let gpus = gpu_addresses(root);
    let mut used = BTreeSet::new();
    for address in &devices {
        let path = Device::new(root, address).ancestry().value.unwrap_or_default();
        used.extend(path.into_iter().filter(|bridge| bridge != address));
    }
    // Where the class cannot be read, it may be a bridge.
    let is_bridge = |address: &String| {
        let class = Device::new(root, address).attribute("class").value;
        class.is_none_or(|class| class.starts_with(BRIDGE_CLASS))
    };
    let is_other =
        |address: &String| !gpus.contains(address) && (used.contains(address) || !is_bridge(address));
    devices
        .iter()
        .filter(|address| is_other(address))
        .cloned()
        .collect()
}

/// The kernel driver that has the device at an address; nothing where none has.
pub(super) fn driver_of(root: &HostRoot, address: &str) -> Option<String> {
    Device::new(root, address).link_name("driver").value
}

/// True for a function that SR-IOV made of another one.
pub(super) fn is_virtual_function(root: &HostRoot, address: &str) -> bool {
    Device::new(root, address).link_name("physfn").value.is_some()
}

pub(super) fn gpu_groups(root: &HostRoot) -> Vec<String> {
    let addresses = gpu_addresses(root);
    let groups = addresses
        .iter()
        .map(|address| Device::new(root, address).link_name("iommu_group"));
    groups.filter_map(|group| group.value).collect()
}

fn path(root: &HostRoot, gpu: &Device<'_>) -> Fact {
    gpu.ancestry().map(|addresses| {
        let steps = addresses
            .iter()
            .rev()
            .map(|address| Device::new(root, address).describe());
        Value::Array(steps.collect())
    })
}

const NO_NODE: &str = "the firmware names no NUMA node for it";

/// -1 where the firmware is silent.
fn node(text: &str) -> Option<u64> {
    text.trim().parse().ok()
}

const NO_BAR1: &str = "BAR1 has no address: the firmware found no room for it, or the device has none";

/// Lines of `start end flags`, in hexadecimal. BAR1 is the second line, or the third where BAR0 is a 64-bit one (H200).
fn bar1_bytes(resource: &str) -> Option<u64> {
    let hex = |word: Option<&str>| u64::from_str_radix(word?.strip_prefix("0x")?, 16).ok();
    let bar0 = resource.lines().next()?.split_whitespace().nth(2);
    let bar1 = if hex(bar0)? & WIDE == 0 { 1 } else { 2 };
    let mut words = resource.lines().nth(bar1)?.split_whitespace();
    let (start, end) = (hex(words.next())?, hex(words.next())?);
    end.checked_sub(start).filter(|size| *size > 0)?.checked_add(1)
}

/// `identity`, `DMA`, `DMA-FQ`; Linux ABI `sysfs-kernel-iommu_groups`.
fn group_type(root: &HostRoot, group: &Fact<String>) -> Fact<String> {
    match &group.value {
        Some(group) => root.line(&format!("sys/kernel/iommu_groups/{group}/type")),
        None => Fact {
            value: None,
            source: group.source.clone(),
            gap: group.gap.clone(),
        },
    }
}

fn number_or_text(text: String) -> Value {
    text.parse::<u64>().map_or(Value::String(text), Value::from)
}

fn guest<T>(source: &str) -> Fact<T> {
    let reason = "not visible from here: a virtual machine shows a PCI tree of its own, not the machine's";
    absent(GapKind::NotVisible, source, reason)
}

#[cfg(test)]
mod tests;
