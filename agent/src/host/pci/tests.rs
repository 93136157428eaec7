//! Trees of machines that are not at hand.

use std::path::Path;

use kb_core::report::{Fact, GapKind};
use serde_json::{Value, json};

use super::super::{HostRoot, gpu_facts, pair_facts};
use super::bar1_bytes;
use crate::host::tests::tree::{
    ACS_REDIRECT, ACS_VALIDATE, PEX_PORTS, PEX_ROOT_PORT, PEX_UPSTREAM, attribute, device, group, pex_switch,
    tree, write,
};

const GPUS: [&str; 2] = ["0000:3b:00.0", "0000:5e:00.0"];

fn pair(root: &Path) -> std::collections::BTreeMap<String, Fact> {
    pair_facts(&HostRoot::new(root), GPUS[0], GPUS[1])
}

fn gpu(root: &Path) -> std::collections::BTreeMap<String, Fact> {
    gpu_facts(&HostRoot::new(root), GPUS[0])
}

fn gap(fact: &Fact) -> GapKind {
    assert_eq!(fact.value, None);
    fact.gap.as_ref().unwrap().kind
}

#[test]
fn a_switch_that_redirects_is_told_from_one_that_does_not() {
    for (control, bridges) in [(ACS_REDIRECT, json!(PEX_PORTS)), (ACS_VALIDATE, json!([]))] {
        let root = tree(&[]);
        pex_switch(root.path(), GPUS, control);
        let facts = pair(root.path());
        assert_eq!(facts["pcie.common_bridge"].value, Some(json!(PEX_UPSTREAM)));
        assert_eq!(facts["pcie.same_switch"].value, Some(json!(true)));
        assert_eq!(facts["acs.redirecting_bridges"].value, Some(bridges));
        assert_eq!(facts["pcie.same_numa_node"].value, Some(json!(true)));
        assert_eq!(gap(&facts["iommu.same_group"]), GapKind::NotVisible);
    }
}

#[test]
fn every_step_up_to_the_root_port_is_described() {
    let root = tree(&[]);
    pex_switch(root.path(), GPUS, ACS_REDIRECT);
    attribute(root.path(), PEX_UPSTREAM, "current_link_width", "8\n");
    attribute(
        root.path(),
        PEX_UPSTREAM,
        "current_link_speed",
        "16.0 GT/s PCIe\n",
    );
    attribute(root.path(), PEX_ROOT_PORT, "max_link_width", "255\n");
    let path = gpu(root.path())["pci.path"].value.clone().unwrap();
    let addresses: Vec<&Value> = path
        .as_array()
        .unwrap()
        .iter()
        .map(|step| &step["address"])
        .collect();
    assert_eq!(addresses, [GPUS[0], PEX_PORTS[0], PEX_UPSTREAM, PEX_ROOT_PORT]);
    assert_eq!(path[0]["vendor"], "0x10de");
    assert_eq!(path[0]["acs"]["present"], false);
    assert_eq!(path[1]["acs"]["request_redirect"], true);
    assert_eq!(path[2]["link_width"], 8);
    assert_eq!(path[2]["link_width_max"], 16);
    assert_eq!(path[2]["link_generation"], 4);
    assert_eq!(path[2]["link_generation_max"], 5);
    assert_eq!(path[3]["link_width_max"]["gap"]["kind"], "failed");
}

#[test]
fn gpus_of_different_root_ports_meet_in_the_root_complex() {
    let root = tree(&[]);
    for (gpu, port) in GPUS.into_iter().zip(["0000:3a:01.0", "0000:5d:01.0"]) {
        device(root.path(), &[port, gpu]);
    }
    attribute(root.path(), GPUS[1], "numa_node", "1\n");
    let facts = pair(root.path());
    assert_eq!(facts["pcie.common_bridge"].value, Some(json!("root complex")));
    assert_eq!(facts["pcie.same_switch"].value, Some(json!(false)));
    assert_eq!(facts["pcie.same_numa_node"].value, Some(json!(false)));
    attribute(root.path(), GPUS[1], "numa_node", "-1\n");
    assert_eq!(gap(&pair(root.path())["pcie.same_numa_node"]), GapKind::Failed);
}

#[test]
fn functions_behind_one_root_port_share_no_switch() {
    let root = tree(&[]);
    for gpu in GPUS {
        device(root.path(), &["0000:3a:01.0", gpu]);
    }
    let facts = pair(root.path());
    assert_eq!(facts["pcie.common_bridge"].value, Some(json!("0000:3a:01.0")));
    assert_eq!(facts["pcie.same_switch"].value, Some(json!(false)));
}

#[test]
fn without_root_acs_is_a_gap_unless_a_bridge_is_seen_to_redirect() {
    let root = tree(&[]);
    pex_switch(root.path(), GPUS, ACS_REDIRECT);
    for port in PEX_PORTS {
        attribute(root.path(), port, "config", [1; 64]);
    }
    assert_eq!(
        gap(&pair(root.path())["acs.redirecting_bridges"]),
        GapKind::NoPermission
    );
    let path = gpu(root.path())["pci.path"].value.clone().unwrap();
    assert_eq!(path[1]["acs"]["gap"]["kind"], "no_permission");

    let one = crate::host::tests::tree::config_with_acs(0x7f, ACS_REDIRECT);
    attribute(root.path(), PEX_PORTS[1], "config", one);
    let facts = pair(root.path());
    assert_eq!(
        facts["acs.redirecting_bridges"].value,
        Some(json!([PEX_PORTS[1]]))
    );
}

#[test]
fn a_guest_says_that_the_machine_is_not_visible() {
    // Flattened: GPUs on the root bus. Emulated: a root port of the hypervisor's above each.
    let flat = tree(&[]);
    let emulated = tree(&[("proc/cpuinfo", "flags\t\t: fpu hypervisor\n")]);
    for address in GPUS {
        device(flat.path(), &[address]);
        device(emulated.path(), &["0000:00:01.0", address]);
    }
    for root in [flat, emulated] {
        let facts = pair(root.path());
        for name in [
            "pcie.common_bridge",
            "pcie.same_switch",
            "acs.redirecting_bridges",
            "iommu.same_group",
        ] {
            assert_eq!(gap(&facts[name]), GapKind::NotVisible, "{name}");
        }
        let reason = &facts["acs.redirecting_bridges"].gap.as_ref().unwrap().reason;
        assert!(reason.starts_with("not visible from here"), "{reason}");
    }
}

#[test]
fn groups_counters_and_bar1_are_read() {
    let root = tree(&[]);
    pex_switch(root.path(), GPUS, ACS_VALIDATE);
    group(root.path(), GPUS[0], 17, "identity");
    group(root.path(), GPUS[1], 18, "identity");
    attribute(
        root.path(),
        GPUS[0],
        "resource",
        "0x1 0x2 0x0\n0x38000000000 0x3800fffffff 0x14220c\n",
    );
    attribute(
        root.path(),
        GPUS[0],
        "aer_dev_correctable",
        "RxErr 1\nTOTAL_ERR_COR 12\n",
    );
    let facts = gpu(root.path());
    assert_eq!(facts["pci.bar1_bytes"].value, Some(json!(256 << 20)));
    assert_eq!(facts["iommu.group"].value, Some(json!(17)));
    assert_eq!(facts["iommu.group_type"].value, Some(json!("identity")));
    assert_eq!(facts["pci.aer_correctable"].value, Some(json!(12)));
    assert_eq!(gap(&facts["pci.aer_fatal"]), GapKind::NotVisible);
    assert_eq!(pair(root.path())["iommu.same_group"].value, Some(json!(false)));
}

#[test]
fn a_device_that_is_not_there_leaves_gaps_only() {
    let root = tree(&[]);
    write(root.path(), "sys/bus/pci/devices/README", "");
    for address in [GPUS[0], "../../etc", ""] {
        let facts = gpu_facts(&HostRoot::new(root.path()), address);
        for (name, fact) in &facts {
            assert!(fact.value.is_none() && fact.gap.is_some(), "{name}: {fact:?}");
        }
        assert_eq!(facts.len(), 8);
    }
    for (name, fact) in pair(root.path()) {
        assert!(fact.gap.is_some(), "{name}: {fact:?}");
    }
}

#[test]
fn bar1_is_the_second_resource() {
    let resource = "0x00000000fa000000 0x00000000faffffff 0x0000000000040200\n\
                    0x0000380000000000 0x000039ffffffffff 0x000000000014220c\n\
                    0x0000000000000000 0x0000000000000000 0x0000000000000000\n";
    assert_eq!(bar1_bytes(resource), Some(2 << 40));
    // An H200 in a virtual machine: its BAR0 is a 64-bit one.
    let wide = "0x0000104002000000 0x0000104002ffffff 0x000000000014220c\n\
                0x0000000000000000 0x0000000000000000 0x0000000000000000\n\
                0x0000100000000000 0x0000103fffffffff 0x000000000014220c\n";
    assert_eq!(bar1_bytes(wide), Some(256 << 30));
    assert_eq!(bar1_bytes("0x0 0x0 0x0\n0x0 0x0 0x0\n"), None);
    assert_eq!(bar1_bytes("0x0 0x0 0x0\nnonsense\n"), None);
    assert_eq!(bar1_bytes("0x0 0x0 0x0\n0x0 0xffffffffffffffff 0x0\n"), None);
}
