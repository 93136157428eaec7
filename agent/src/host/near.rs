//! The CPUs of the NUMA node that a GPU hangs on.

use kb_core::report::Fact;

use super::HostRoot;
use super::pci;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Near {
    pub(crate) node: u32,
    pub(crate) cpus: Vec<u32>,
}

/// The node of the GPU at a PCI address. Linux ABI `sysfs-bus-pci`, `sysfs-devices-node`.
pub(crate) fn near(root: &HostRoot, address: &str) -> Fact<Near> {
    let node = pci::numa_node(root, address);
    let Some(number) = node.value.and_then(|node| u32::try_from(node).ok()) else {
        return Fact {
            value: None,
            source: node.source,
            gap: node.gap,
        };
    };
    let list = format!("sys/devices/system/node/node{number}/cpulist");
    root.find(&list, "it is no list of CPUs", cpus)
        .map(|cpus| Near { node: number, cpus })
}

/// `0-15,64-79`; of no CPU at all nothing.
fn cpus(text: &str) -> Option<Vec<u32>> {
    let mut all = Vec::new();
    for part in text.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        // More than any machine has is no list of CPUs.
        if last < first || last >= 1 << 16 {
            return None;
        }
        all.extend(first..=last);
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cpus_are_read() {
        assert_eq!(cpus("0-2,8\n"), Some(vec![0, 1, 2, 8]));
        for wrong in ["", "a", "3-1", "0-4294967295"] {
            assert_eq!(cpus(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn a_gpu_is_near_the_cpus_of_its_node() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("sys/bus/pci/devices/0000:3b:00.0/numa_node", "1\n");
        write("sys/bus/pci/devices/0000:5e:00.0/numa_node", "-1\n");
        write("sys/devices/system/node/node1/cpulist", "4-5\n");
        let host = HostRoot::new(root.path());
        let found = near(&host, "0000:3b:00.0");
        assert_eq!(
            found.value,
            Some(Near {
                node: 1,
                cpus: vec![4, 5]
            })
        );
        let silent = near(&host, "0000:5e:00.0").gap.unwrap().reason;
        assert!(silent.contains("no NUMA node"), "{silent}");
    }
}
