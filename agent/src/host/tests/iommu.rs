//! How DMA is translated on machines of several kinds.

use std::path::Path;

use kb_core::report::{Fact, GapKind};
use serde_json::json;

use super::tree::{device, group, tree, write};
use super::*;

const GPU: &str = "0000:3b:00.0";
const NETWORK: &str = "0000:0d:00.0";

fn mode(root: &Path) -> Fact {
    let mut host = read_at(root);
    host.facts.remove("iommu.mode").unwrap()
}

/// A GPU and a network card in groups of these types.
fn machine(gpu: &str, network: &str) -> tempfile::TempDir {
    let root = tree(&[("proc/cpuinfo", "flags\t\t: fpu sse2\n")]);
    device(root.path(), &["0000:3a:01.0", GPU]);
    device(root.path(), &["0000:0c:01.0", NETWORK]);
    tree::attribute(root.path(), NETWORK, "vendor", "0x15b3\n");
    group(root.path(), GPU, 1, gpu);
    group(root.path(), NETWORK, 2, network);
    write(root.path(), "sys/class/iommu/ivhd0/name", "");
    root
}

#[test]
fn the_groups_of_gpus_decide() {
    for (gpu, network, expected) in [
        ("DMA-FQ", "DMA-FQ", "translating"),
        ("DMA", "identity", "translating"),
        ("identity", "DMA", "passthrough"),
    ] {
        let root = machine(gpu, network);
        assert_eq!(mode(root.path()).value, Some(json!(expected)), "{gpu} {network}");
        let host = read_at(root.path());
        assert_eq!(host.facts["iommu.groups"].value, Some(json!(2)));
        assert_eq!(host.facts["iommu.units"].value, Some(json!(["ivhd0"])));
    }
}

#[test]
fn without_types_the_kernel_log_decides() {
    let root = machine("", "");
    let silent = mode(root.path());
    assert_eq!(silent.gap.unwrap().kind, GapKind::NotVisible);
    write(
        root.path(),
        "dev/kmsg",
        "6,1,500000,-;iommu: Default domain type: Passthrough (set via kernel command line)\n",
    );
    assert_eq!(mode(root.path()).value, Some(json!("passthrough")));
}

#[test]
fn no_iommu_is_off_on_a_machine_and_not_visible_in_a_guest() {
    let root = tree(&[("proc/cpuinfo", "flags\t\t: fpu sse2\n")]);
    for folder in ["sys/kernel/iommu_groups", "sys/class/iommu"] {
        fs::create_dir_all(root.path().join(folder)).unwrap();
    }
    write(
        root.path(),
        "proc/cmdline",
        "quiet amd_iommu=off root=UUID=secret\n",
    );
    assert_eq!(mode(root.path()).value, Some(json!("off")));
    let options = &read_at(root.path()).facts["iommu.kernel_options"];
    assert_eq!(options.value, Some(json!("amd_iommu=off")));

    write(root.path(), "proc/cpuinfo", "flags\t\t: fpu hypervisor\n");
    let guest = mode(root.path()).gap.unwrap();
    assert_eq!(guest.kind, GapKind::NotVisible);
    assert!(guest.reason.contains("virtual machine"), "{guest:?}");
    let units = &read_at(root.path()).facts["iommu.units"];
    assert!(units.gap.is_some(), "{units:?}");
}

#[test]
fn a_masked_sysfs_is_not_a_machine_without_iommu() {
    let root = tree(&[("proc/cpuinfo", "flags\t\t: fpu sse2\n")]);
    assert_eq!(mode(root.path()).gap.unwrap().kind, GapKind::NotVisible);
    // An empty folder where the groups were, and nothing of the class: masked, not off.
    fs::create_dir_all(root.path().join("sys/kernel/iommu_groups")).unwrap();
    assert_eq!(mode(root.path()).gap.unwrap().kind, GapKind::NotVisible);
}
