//! Fixture trees: a bare-metal host, a guest in a container, and a root with nothing in it.

// One builder for these tests and for whole runs.
#[path = "../../../tests/agent/tree.rs"]
pub(crate) mod tree;

mod containers;
mod iommu;

use std::fs;
use std::path::Path;

use kb_core::report::GapKind;

use super::*;
use tree::tree;

const OPEN_MODULE: &str = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build  \
                           (dvs-builder@U22-I3)\nGCC version:  gcc version 12.3.0 (Ubuntu 12.3.0-1ubuntu1~22.04)\n";

fn read_at(path: &Path) -> Host {
    let root = HostRoot::new(path);
    read(&root, &Watch::start(&root)).unwrap()
}

fn value<'a>(host: &'a Host, name: &str) -> Option<&'a str> {
    host.facts[name]
        .value
        .as_ref()
        .and_then(serde_json::Value::as_str)
}

#[test]
fn a_host_is_described_with_sources() {
    let folder = tree(&[
        ("proc/driver/nvidia/version", OPEN_MODULE),
        ("proc/sys/kernel/hostname", "gpu-17\n"),
        (
            "proc/sys/kernel/random/boot_id",
            "9f1b2c3d-0000-4000-8000-000000000001\n",
        ),
        ("proc/sys/kernel/osrelease", "6.8.0-60-generic\n"),
        (
            "proc/cmdline",
            "BOOT_IMAGE=/vmlinuz root=UUID=secret ro amd_iommu=on iommu=pt quiet\n",
        ),
        ("etc/machine-id", "0123456789abcdef0123456789abcdef\n"),
        (
            "etc/os-release",
            "NAME=Ubuntu\nPRETTY_NAME=\"Ubuntu 24.04.2 LTS\"\n",
        ),
        ("proc/1/cgroup", "0::/init.scope\n"),
        ("proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu sse2\n"),
    ]);
    let host = read_at(folder.path());
    assert_eq!(value(&host, "driver.version"), Some("580.159.04"));
    assert_eq!(value(&host, "driver.flavour"), Some("open"));
    assert_eq!(host.facts["driver.version"].source, "/proc/driver/nvidia/version");
    assert_eq!(value(&host, "kernel.command_line"), Some("amd_iommu=on iommu=pt"));
    assert_eq!(value(&host, "os.name"), Some("Ubuntu 24.04.2 LTS"));
    assert_eq!(value(&host, "host.container"), Some("none seen"));
    assert_eq!(value(&host, "host.virtual_machine"), Some("none seen"));
    assert_eq!(host.node.hostname.as_deref(), Some("gpu-17"));
    assert_eq!(
        host.node.boot_id.as_deref(),
        Some("9f1b2c3d-0000-4000-8000-000000000001")
    );
}

#[test]
fn a_guest_in_a_container_is_recognised() {
    let folder = tree(&[
        (".dockerenv", ""),
        ("proc/cpuinfo", "flags\t\t: fpu hypervisor sse2\n"),
        ("sys/class/dmi/id/sys_vendor", "QEMU\n"),
        ("sys/class/dmi/id/product_name", "Standard PC (Q35)\n"),
        ("sys/class/dmi/id/bios_version", "1.16.3-2\n"),
    ]);
    let host = read_at(folder.path());
    assert_eq!(value(&host, "bios.version"), Some("1.16.3-2"));
    assert_eq!(value(&host, "host.container"), Some("docker"));
    assert_eq!(
        value(&host, "host.virtual_machine"),
        Some("QEMU Standard PC (Q35)")
    );
}

#[test]
fn what_is_not_there_is_a_gap_with_a_reason() {
    let folder = tree(&[
        ("etc/machine-id", ""),
        ("proc/driver/nvidia/version", "something else\n"),
    ]);
    let host = read_at(folder.path());
    let boot = host.facts["boot.id"].gap.as_ref().unwrap();
    assert_eq!(boot.kind, GapKind::NotVisible);
    let driver = host.facts["driver.version"].gap.as_ref().unwrap();
    assert_eq!(
        (driver.kind, driver.reason.as_str()),
        (GapKind::Failed, "it names no version")
    );
    for (name, fact) in &host.facts {
        assert!(fact.value.is_some() != fact.gap.is_some(), "{name}: {fact:?}");
    }
    assert_eq!(host.node.id.as_str(), "unnamed");
}

#[test]
fn the_id_is_stable_and_hides_the_machine() {
    let machine = "0123456789abcdef0123456789abcdef";
    let folder = tree(&[
        ("etc/machine-id", machine),
        ("proc/sys/kernel/hostname", "gpu-17"),
    ]);
    let first = read_at(folder.path()).node.id;
    fs::write(folder.path().join("proc/sys/kernel/hostname"), "renamed").unwrap();
    assert_eq!(read_at(folder.path()).node.id, first);
    assert!(
        first.as_str().starts_with("node-") && first.as_str().len() == 25,
        "{first}"
    );
    assert!(!first.as_str().contains(&machine[..8]), "{first}");
    fs::write(folder.path().join("etc/machine-id"), "another").unwrap();
    assert_ne!(read_at(folder.path()).node.id, first);

    fs::write(folder.path().join("etc/machine-id"), "uninitialized\n").unwrap();
    assert!(read_at(folder.path()).node.id.as_str().starts_with("host-"));

    let unnamed = tree(&[("proc/sys/kernel/hostname", "gpu-17")]);
    assert!(read_at(unnamed.path()).node.id.as_str().starts_with("host-"));
}
