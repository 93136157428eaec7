//! What carries memory of GPUs between nodes: InfiniBand ports, and the modules that let them reach it.

use std::collections::BTreeMap;

use kb_core::report::{Fact, Gap, GapKind};
use serde_json::{Value, json};

use super::{HostRoot, absent, driver, embedded};

/// One link an adapter; Linux ABI `sysfs-class-infiniband`.
const ADAPTERS: &str = "sys/class/infiniband";
/// One folder a loaded module (and a built-in one that has parameters).
const MODULES: &str = "sys/module";
/// First kernel whose RDMA core takes memory by dma-buf.
const DMA_BUF_KERNEL: (u32, u32) = (5, 12);

/// The facts under `infiniband.`, `peermem.`, `gdrcopy.` and `dma_buf.`.
pub(super) fn facts(root: &HostRoot) -> BTreeMap<String, Fact> {
    BTreeMap::from([
        ("infiniband.ports".to_owned(), ports(root)),
        (
            "peermem.module".to_owned(),
            module(root, &["nvidia_peermem", "nv_peer_mem"]),
        ),
        ("gdrcopy.module".to_owned(), module(root, &["gdrdrv"])),
        ("dma_buf.support".to_owned(), dma_buf(root)),
    ])
}

fn module(root: &HostRoot, names: &[&str]) -> Fact {
    let modules = root.names(MODULES);
    match &modules.value {
        // A kernel always has some: a folder without any is masked.
        Some(all) if all.is_empty() => absent(
            GapKind::NotVisible,
            MODULES,
            "it is empty: masked in this container",
        ),
        Some(all) => {
            let is_loaded = all.iter().any(|name| names.contains(&name.as_str()));
            let state = if is_loaded { "loaded" } else { "absent" };
            Fact::read(state.into(), modules.source)
        }
        None => modules.map(Into::into),
    }
}

/// Whether network adapters can reach memory of GPUs by dma-buf, as far as versions tell: a kernel of 5.12 or newer
/// and the open modules of the driver (NVIDIA's guide to `GPUDirect` RDMA). Distributions bring parts of newer kernels into old
/// ones, so that an old number proves nothing.
fn dma_buf(root: &HostRoot) -> Fact {
    const RELEASE: &str = "proc/sys/kernel/osrelease";
    let release = root.line(RELEASE);
    let flavour = driver::flavour(root);
    let source = format!("{}, {}", release.source, flavour.source);
    let version = release.value.as_deref().and_then(major_and_minor);
    match (version, flavour.value.as_deref()) {
        (_, Some("proprietary")) => Fact::read(false.into(), source),
        (Some(version), Some(_)) if version >= DMA_BUF_KERNEL => Fact::read(true.into(), source),
        (Some(_), Some(_)) => Fact::missing(
            GapKind::NotVisible,
            "the kernel is older than 5.12; whether its maker brought the support into it is not seen",
            source,
        ),
        _ => {
            let gap = release.gap.or(flavour.gap);
            let none = || Gap::new(GapKind::Failed, "no version");
            Fact::without(gap.unwrap_or_else(none), source)
        }
    }
}

/// `6.8.0-60-generic`.
fn major_and_minor(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|letter: char| !letter.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// Every port of every adapter; none where the kernel has no RDMA at all.
fn ports(root: &HostRoot) -> Fact {
    let adapters = root.names(ADAPTERS);
    let Some(names) = &adapters.value else {
        let classes = root.names("sys/class").value.unwrap_or_default();
        let gap = adapters.gap.as_ref().map(|gap| gap.kind);
        if gap == Some(GapKind::NotVisible) && !classes.is_empty() {
            return Fact::read(json!([]), "/sys/class");
        }
        return adapters.map(Into::into);
    };
    let ports = names.iter().flat_map(|adapter| {
        let folder = format!("{ADAPTERS}/{adapter}/ports");
        let ports = root.names(&folder).value.unwrap_or_default();
        ports.into_iter().map(move |port| describe(root, adapter, &port))
    });
    Fact::read(Value::Array(ports.collect()), adapters.source)
}

fn describe(root: &HostRoot, adapter: &str, port: &str) -> Value {
    let folder = format!("{ADAPTERS}/{adapter}");
    let parent = root.link(&format!("{folder}/device"));
    let parent = parent.map(|path| path.rsplit('/').next().unwrap_or_default().to_owned());
    let of_port = |name: &str| embedded(root.line(&format!("{folder}/ports/{port}/{name}")).map(bare));
    json!({
        "adapter": adapter,
        "port": port.parse::<u32>().ok(),
        "pci_address": embedded(parent),
        "firmware": embedded(root.line(&format!("{folder}/fw_ver"))),
        "state": of_port("state"),
        "physical_state": of_port("phys_state"),
        "rate": of_port("rate"),
        "link_layer": of_port("link_layer"),
    })
}

/// `4: ACTIVE` without its number.
fn bare(text: String) -> String {
    match text.split_once(": ") {
        Some((number, word)) if number.bytes().all(|byte| byte.is_ascii_digit()) => word.to_owned(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::host::tests::tree::tree;

    fn read(root: &tempfile::TempDir) -> BTreeMap<String, Fact> {
        facts(&HostRoot::new(root.path()))
    }

    #[test]
    fn ports_are_described_with_their_place() {
        let root = tree(&[
            ("sys/class/infiniband/mlx5_0/fw_ver", "28.43.1014\n"),
            ("sys/class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n"),
            ("sys/class/infiniband/mlx5_0/ports/1/phys_state", "5: LinkUp\n"),
            (
                "sys/class/infiniband/mlx5_0/ports/1/rate",
                "400 Gb/sec (4X NDR)\n",
            ),
            ("sys/class/infiniband/mlx5_0/ports/1/link_layer", "InfiniBand\n"),
            ("sys/class/infiniband/mlx5_1/ports/1/state", "1: DOWN\n"),
        ]);
        let device = root.path().join("sys/class/infiniband/mlx5_0/device");
        symlink("../../../devices/pci0000:0c/0000:0c:01.0/0000:0d:00.0", device).unwrap();
        let ports = read(&root)["infiniband.ports"].value.clone().unwrap();
        assert_eq!(
            ports[0],
            json!({
                "adapter": "mlx5_0", "port": 1, "pci_address": "0000:0d:00.0", "firmware": "28.43.1014",
                "state": "ACTIVE", "physical_state": "LinkUp", "rate": "400 Gb/sec (4X NDR)",
                "link_layer": "InfiniBand",
            })
        );
        assert_eq!(ports[1]["state"], "DOWN");
        assert_eq!(ports[1]["rate"]["gap"]["kind"], "not_visible");
    }

    #[test]
    fn no_ports_is_a_value_only_where_sysfs_is_to_be_seen() {
        let seen = tree(&[("sys/class/net/lo/mtu", "65536")]);
        assert_eq!(read(&seen)["infiniband.ports"].value, Some(json!([])));
        assert!(read(&tree(&[]))["infiniband.ports"].gap.is_some());
    }

    #[test]
    fn modules_are_loaded_absent_or_not_visible() {
        let root = tree(&[("sys/module/nvidia_peermem/refcnt", "0")]);
        let facts = read(&root);
        assert_eq!(facts["peermem.module"].value, Some(json!("loaded")));
        assert_eq!(facts["gdrcopy.module"].value, Some(json!("absent")));
        let masked = tree(&[]);
        assert!(read(&masked)["peermem.module"].gap.is_some());
        std::fs::create_dir_all(masked.path().join("sys/module")).unwrap();
        assert!(read(&masked)["peermem.module"].gap.is_some());
    }

    #[test]
    fn dma_buf_follows_kernel_and_modules() {
        let support = |release: &str, kind: &str| {
            let root = tree(&[
                ("proc/sys/kernel/osrelease", release),
                (
                    "proc/driver/nvidia/version",
                    &format!("NVRM version: NVIDIA {kind} 580.1\n"),
                ),
            ]);
            read(&root)["dma_buf.support"].value.clone()
        };
        assert_eq!(
            support("6.8.0-60-generic", "UNIX Open Kernel Module"),
            Some(json!(true))
        );
        assert_eq!(support("5.12.0", "UNIX Open Kernel Module"), Some(json!(true)));
        assert_eq!(support("5.4.0", "UNIX Open Kernel Module"), None);
        assert_eq!(support("6.8.0", "UNIX x86_64 Kernel Module"), Some(json!(false)));
    }
}
