//! Which lines of the kernel log have to do with GPUs reaching each other, or tell of a failure of the host. Nothing else leaves the
//! node.

use kb_core::observation::is_host_failure;

/// Words of a message. Those in capitals are names that the kernel writes so; the comparison is exact.
const WORDS: [&str; 26] = [
    // The GPU driver, its helpers, and the switches of its fabric.
    "NVRM",
    "Xid",
    "SXid",
    "nvidia-",
    "nvidia ",
    "nvidia:",
    "nvidia_",
    "nvswitch",
    // PCIe errors: Advanced Error Reporting and the port driver.
    "AER:",
    "pcieport",
    "PCIe Bus Error",
    "unknown header type 7f",
    // What the firmware reports of it, a block of lines.
    "}[Hardware Error]: ",
    // Translation of DMA addresses.
    "iommu",
    "IOMMU",
    "DMAR",
    "AMD-Vi",
    "IO_PAGE_FAULT",
    // The network between nodes.
    "mlx5",
    "infiniband",
    "ib_core",
    "ib_uverbs",
    // What ends or stops a program.
    "soft lockup",
    "Out of memory: Killed process",
    "oom-kill:",
    "Memory cgroup out of memory",
];

/// Libraries of whose crashes the kernel tells: `x[1]: segfault at 0 ip … in libnccl.so.2[…]`.
const CRASHING: [&str; 2] = ["libnccl", "libcuda"];

/// Messages that repeat the kernel's command line, which can hold secrets (an address to boot from, a token for an
/// installer). What of it matters here is the fact `kernel.command_line`, by its options' names.
const COMMAND_LINE: [&str; 3] = [
    "Command line: ",
    "Kernel command line: ",
    "Unknown kernel command line parameters ",
];

pub(super) fn is_relevant(message: &str) -> bool {
    if is_audit(message) || COMMAND_LINE.iter().any(|start| message.contains(start)) {
        return false;
    }
    WORDS.iter().any(|word| message.contains(word))
        || is_host_failure(message)
        || (message.contains("segfault at") && CRASHING.iter().any(|library| message.contains(library)))
}

/// Audit records, `audit: type=1400 audit(1763712000.123:45): …`, tell who opened which file, even programs of the driver.
fn is_audit(message: &str) -> bool {
    message.starts_with("audit:") || message.contains("audit(")
}

pub(super) fn is_about_iommu(message: &str) -> bool {
    ["iommu", "IOMMU", "DMAR", "AMD-Vi"]
        .iter()
        .any(|word| message.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_about_gpus_and_what_carries_them_are_kept() {
        for line in [
            "NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
            "nvidia-nvswitch0: SXid (PCI:0000:c5:00.0): 12028, Non-fatal, Link 32 egress non-posted PRIV error",
            "nvidia-nvlink: Nvlink Core is being initialized, major device number 236",
            "pcieport 0000:3a:00.0: AER: Corrected error received: 0000:3a:00.0",
            "nvidia 0000:3b:00.0: PCIe Bus Error: severity=Corrected, type=Data Link Layer",
            "nvidia 0000:3b:00.0: AMD-Vi: Event logged [IO_PAGE_FAULT domain=0x0021 address=0xf2000000 flags=0x0020]",
            "DMAR: [DMA Write NO_PASID] Request device [3b:00.0] fault addr 0xf2000000 [fault reason 0x05]",
            "iommu: Default domain type: Translated",
            "mlx5_core 0000:0d:00.0: temperature warning",
            "python3[4711]: segfault at 8 ip 00007f1c sp 00007ffd error 4 in libnccl.so.2.28.9[7f1c+1000]",
            "watchdog: BUG: soft lockup - CPU#3 stuck for 22s! [nccl-tests:1234]",
            "mce: [Hardware Error]: CPU 3: Machine Check: 0 Bank 4: be00000000800400",
            "EDAC MC0: 1 UE memory read error on CPU_SrcID#0_MC#0_Chan#0_DIMM#0",
            "{1}[Hardware Error]:   device_id: 0000:3b:00.0",
            "pci 0000:3b:00.0: unknown header type 7f, ignoring device",
            "Out of memory: Killed process 4711 (python3) total-vm:1kB",
        ] {
            assert!(is_relevant(line), "{line}");
        }
    }

    #[test]
    fn the_rest_stays_on_the_node() {
        for line in [
            "usb 1-1: new high-speed USB device number 2 using xhci_hcd",
            "audit: type=1400 apparmor=\"DENIED\" name=\"/home/alice/secret\"",
            "audit: type=1400 apparmor=\"DENIED\" name=\"/home/alice\" comm=\"nvidia-smi\"",
            "type=1400 audit(1763712000.123:45): name=\"/home/alice\" comm=\"nvidia-smi\"",
            "audit(1763712000.123:45): name=\"/home/alice\" comm=\"nvidia-smi\"",
            "python3[4711]: segfault at 8 ip 00007f1c sp 00007ffd error 4 in libc.so.6[7f1c+1000]",
            "EXT4-fs (nvme0n1p1): mounted filesystem",
            "IPv6: ADDRCONF(NETDEV_CHANGE): eth0: link becomes ready",
            "Command line: BOOT_IMAGE=/vmlinuz ds=nocloud;token=abc iommu=pt",
            "Kernel command line: BOOT_IMAGE=/vmlinuz ds=nocloud;token=abc iommu=pt",
            "Unknown kernel command line parameters \"token=abc nvidia_x=1\", will be passed to user space.",
        ] {
            assert!(!is_relevant(line), "{line}");
        }
    }
}
