//! Fatal lines of the kernel log without a number, by their words.

use super::What;

/// Of the GPU driver: words of the line, and the record that explains it. The first that the line has counts. A healthy start
/// prints none of them, nor does a GPU that is excluded or of another driver.
const MESSAGES: [(&str, Option<&str>); 28] = [
    ("fallen off the bus", Some("driver/gpu-lost-at-probe")),
    // Several records are about reasons of it.
    ("RmInitAdapter failed", None),
    (
        "rm_init_adapter failed",
        Some("driver/rm-init-adapter-failed-open"),
    ),
    (
        "does not have the necessary power cables connected",
        Some("driver/power-cables-missing-at-start"),
    ),
    (
        "D3cold to D0, device inaccessible",
        Some("pcie/power-state-unreachable"),
    ),
    (
        "GPU likely needs to be reset",
        Some("driver/gsp-rpc-prints-limited"),
    ),
    (
        "Encountered a global fatal error",
        Some("driver/uvm-global-fatal-error"),
    ),
    ("Detected a channel error", Some("driver/uvm-channel-error")),
    (
        "ECC error encountered, GPU",
        Some("driver/uvm-hardware-error-seen"),
    ),
    (
        "SEC_FAULT lockdown detected",
        Some("driver/security-fault-lockdown"),
    ),
    ("marked Degraded", Some("nvlink/gpu-degraded")),
    (
        "Memory Subsystem Error detected",
        Some("driver/memory-subsystem-hangs"),
    ),
    (
        ": A fatal error was detected.",
        Some("driver/device-unreachable-after-error"),
    ),
    (
        "The kernel has enabled MMIO for the device",
        Some("driver/device-unreachable-after-error"),
    ),
    ("Fatal GSP-FMC Error", Some("driver/gsp-fmc-fatal-error")),
    ("GSP-CrashCat Report", Some("driver/gsp-crash-report")),
    (
        "annot initialize GSP firmware RM",
        Some("driver/gsp-firmware-not-started"),
    ),
    ("unexpected WPR2 already up", Some("driver/gsp-wpr2-already-up")),
    (
        "Timeout waiting for lockdown release",
        Some("driver/gsp-lockdown-not-released"),
    ),
    ("failed to wait for GFW", Some("driver/gpu-boot-not-complete")),
    (
        "FSP fuse error check has failed",
        Some("driver/fsp-fuse-check-failed"),
    ),
    ("returned garbage 0x", Some("driver/bar2-self-test-failed")),
    (
        "failed to wait for bar firewall to lower",
        Some("driver/pci-device-not-enabled"),
    ),
    (
        "RC watchdog: GPU is probably locked",
        Some("xid/8-gpu-stopped-processing"),
    ),
    (
        "requiring os reboot to recover",
        Some("driver/uvm-global-fatal-error"),
    ),
    (HEARTBEAT, Some("driver/gsp-heartbeat-timed-out")),
    (FATAL_BUS_ERROR, Some(AER)),
    // Of any call of the driver, so behind the lines that say more.
    ("NV_ERR_GPU_IS_LOST", Some("xid/79-gpu-has-fallen-off-the-bus")),
];

/// The GPU's own processor has not written its time stamp for too long.
pub(crate) const HEARTBEAT: &str = "eartbeat timed out";
/// In such a line: it has not written one since its start, as some laptops never do. What that means is not known.
pub(crate) const NEVER_BEAT: &str = " heartbeat 0 ";
/// The link was down and up again before the kernel looked, or was reset on purpose: the kernel leaves the device as it is.
const LINK_IGNORED: &str = "): Link Down/Up ignored";
/// Record of a device that answers nothing but ones.
pub(crate) const NO_ANSWER: &str = "pcie/config-space-all-ones";
/// Record of a card that was taken out, on purpose or not.
pub(crate) const CARD_GONE: &str = "pcie/hotplug-card-gone";
const CONTAINMENT: &str = "pcie/downstream-port-containment";
const AER: &str = "pcie/aer-uncorrected";
/// As [`normal`] writes it.
const FATAL_BUS_ERROR: &str = "PCIe Bus Error: severity=Uncorrected (Fatal)";

/// Of PCI Express itself, about any device.
const OF_BUS: [(&str, &str); 8] = [
    (FATAL_BUS_ERROR, AER),
    ("Uncorrected (Fatal) error received", AER),
    ("Uncorrected (Fatal) error message received", AER),
    ("DPC: containment event", CONTAINMENT),
    ("unmasked uncorrectable error detected", CONTAINMENT),
    (": unknown header type 7f", NO_ANSWER),
    ("): Card not present", CARD_GONE),
    ("): Link Down", CARD_GONE),
];

/// Records of fatal messages.
pub(crate) fn fatal_records() -> impl Iterator<Item = &'static str> {
    let of_bus = OF_BUS.iter().map(|(_, record)| *record);
    MESSAGES.iter().filter_map(|(_, record)| *record).chain(of_bus)
}

pub(super) struct FatalMessage {
    pub(super) start: usize,
    pub(super) what: What,
}

/// Finds a message of the GPU driver, or of PCI Express. Other drivers' devices are not GPUs.
pub(super) fn find(line: &str) -> Option<FatalMessage> {
    // Linux writes the second since 6.8.
    let normal = line.replace("Uncorrectable (Fatal)", "Uncorrected (Fatal)");
    let begin = |starts: &[&str]| starts.iter().find_map(|start| line.find(start));
    if let Some(start) = begin(&["NVRM: ", "nvidia 0", "nvidia-uvm: "]) {
        let (words, record) = MESSAGES.iter().find(|(words, _)| normal.contains(words))?;
        if *words == HEARTBEAT && normal.contains(NEVER_BEAT) {
            return None;
        }
        let what = What::Message(*record);
        return Some(FatalMessage { start, what });
    }
    if normal.contains(LINK_IGNORED) {
        return None;
    }
    let (_, record) = OF_BUS.iter().find(|(words, _)| normal.contains(words))?;
    let start = begin(&["pcieport ", "pci 0"])?;
    let what = What::Bus(record);
    Some(FatalMessage { start, what })
}
