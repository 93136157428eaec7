//! Builds folders that stand for `/`: files, and a PCI tree with links as sysfs has them.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

/// A folder with these files in it.
pub(crate) fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, content) in files {
        write(folder.path(), path, content);
    }
    folder
}

/// A file below a folder, with the folders that it needs.
pub(crate) fn write(root: &Path, path: &str, content: impl AsRef<[u8]>) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

/// Configuration space with two extended capabilities: Advanced Error Reporting, then ACS.
pub(crate) fn config_with_acs(capability: u16, control: u16) -> Vec<u8> {
    let mut config = vec![0; 4096];
    let mut put = |at: usize, value: u32| config[at..at + 4].copy_from_slice(&value.to_le_bytes());
    put(0, 0xc030_1000);
    put(0x100, 0x148 << 20 | 0x2_0001);
    put(0x148, 0x0001_000d);
    put(0x14c, u32::from(control) << 16 | u32::from(capability));
    config
}

/// A device below a path of addresses, root port first: `["0000:00:01.0", "0000:3b:00.0"]`. Bridges that are not
/// there yet are made, with a link of generation 5 and 16 lanes and without ACS.
pub(crate) fn device(root: &Path, path: &[&str]) {
    let mut folder = "sys/devices/pci0000:00".to_owned();
    for (depth, address) in path.iter().enumerate() {
        folder = format!("{folder}/{address}");
        if root.join(&folder).is_dir() {
            continue;
        }
        let is_gpu = depth + 1 == path.len();
        let (vendor, class) = if is_gpu {
            ("0x10de", "0x030200")
        } else {
            ("0x1000", "0x060400")
        };
        for (name, content) in [
            ("vendor", vendor),
            ("device", "0x2330"),
            ("class", class),
            ("current_link_speed", "32.0 GT/s PCIe"),
            ("max_link_speed", "32.0 GT/s PCIe"),
            ("current_link_width", "16"),
            ("max_link_width", "16"),
            ("numa_node", "0"),
        ] {
            write(root, &format!("{folder}/{name}"), format!("{content}\n"));
        }
        let mut config = vec![0; 4096];
        config[0] = 1;
        write(root, &format!("{folder}/config"), config);
        let links = root.join("sys/bus/pci/devices");
        fs::create_dir_all(&links).unwrap();
        symlink(
            Path::new("../../..").join(folder.trim_start_matches("sys/")),
            links.join(address),
        )
        .unwrap();
    }
}

/// Writes one attribute of a device that is there.
pub(crate) fn attribute(root: &Path, address: &str, name: &str, content: impl AsRef<[u8]>) {
    fs::write(root.join("sys/bus/pci/devices").join(address).join(name), content).unwrap();
}

/// Puts a device into an IOMMU group of a type.
pub(crate) fn group(root: &Path, address: &str, number: u32, kind: &str) {
    write(
        root,
        &format!("sys/kernel/iommu_groups/{number}/type"),
        format!("{kind}\n"),
    );
    let link = root.join("sys/bus/pci/devices").join(address).join("iommu_group");
    symlink(format!("../../../../kernel/iommu_groups/{number}"), link).unwrap();
}

/// Two GPUs below one PEX switch, whose downstream ports have ACS with this control register.
pub(crate) fn pex_switch(root: &Path, gpus: [&str; 2], control: u16) {
    for (gpu, port) in gpus.into_iter().zip(PEX_PORTS) {
        device(root, &[PEX_ROOT_PORT, PEX_UPSTREAM, port, gpu]);
        attribute(root, port, "config", config_with_acs(0x7f, control));
    }
}

/// The root port above the switch.
pub(crate) const PEX_ROOT_PORT: &str = "0000:a0:01.0";
/// The switch's port towards it.
pub(crate) const PEX_UPSTREAM: &str = "0000:a1:00.0";
/// The switch's ports towards the GPUs.
pub(crate) const PEX_PORTS: [&str; 2] = ["0000:a2:00.0", "0000:a2:01.0"];
/// ACS control as a kernel with an IOMMU sets it: source validation, request and completion redirect, upstream
/// forwarding.
pub(crate) const ACS_REDIRECT: u16 = 0x1d;
/// Source validation alone.
pub(crate) const ACS_VALIDATE: u16 = 0x01;
