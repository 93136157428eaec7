//! Fatal lines without a number.

use super::super::{What, read_line, read_message};

#[test]
fn what_leaves_a_slot_or_is_locked_is_an_event() {
    for (line, what, device) in [
        (
            "NVRM: krcWatchdog_IMPL: RC watchdog: GPU is probably locked!  Notify Timeout Seconds: 7",
            What::Message(Some("xid/8-gpu-stopped-processing")),
            "node",
        ),
        (
            "NVRM: nvGpuOpsReportFatalError: uvm encountered global fatal error 0x60, requiring os reboot to recover.",
            What::Message(Some("driver/uvm-global-fatal-error")),
            "node",
        ),
        (
            "[ 9.1] pcieport 0000:00:1c.0: pciehp: Slot(12): Card not present",
            What::Bus("pcie/hotplug-card-gone"),
            "0000:00:1c.0",
        ),
        (
            "pcieport 0000:64:01.0: pciehp: Slot(11-1): Link Down",
            What::Bus("pcie/hotplug-card-gone"),
            "0000:64:01.0",
        ),
        (
            "pcieport 0000:3a:00.0: DPC: unmasked uncorrectable error detected",
            What::Bus("pcie/downstream-port-containment"),
            "0000:3a:00.0",
        ),
    ] {
        let event = read_line(line).unwrap_or_else(|| panic!("{line}"));
        assert_eq!((event.what, event.device.as_str()), (what, device), "{line}");
    }
}

#[test]
fn fatal_errors_of_the_bus_are_read_in_the_words_of_old_and_new_kernels() {
    for word in ["Uncorrected", "Uncorrectable"] {
        let line = |severity: &str| {
            read_line(&format!(
                "nvidia 0000:3b:00.0: PCIe Bus Error: severity={severity}, type=Transaction Layer, (Requester ID)"
            ))
        };
        assert_eq!(line(&format!("{word} (Fatal)")).unwrap().device, "0000:3b:00.0");
        assert_eq!(line(&format!("{word} (Non-Fatal)")), None);
    }
}

/// A module that supports none of the GPUs says it, and the right one may be loaded behind it.
#[test]
fn a_module_that_finds_no_gpu_of_its_own_is_no_fault() {
    assert_eq!(
        read_message("NVRM: None of the NVIDIA devices were initialized."),
        None
    );
}

#[test]
fn fatal_lines_of_the_driver_are_read_with_their_record() {
    for (line, record, device) in [
        (
            "NVRM: RmInitAdapter: Cannot initialize GSP firmware RM",
            "driver/gsp-firmware-not-started",
            "node",
        ),
        (
            "NVRM: gpuWaitForGfwBootComplete_TU102: failed to wait for GFW_BOOT: (progress 0x3)",
            "driver/gpu-boot-not-complete",
            "node",
        ),
        (
            "NVRM: GPU0 kfspWaitForSecureBoot_GB100: ** FSP fuse error check has failed. Status = 0x2.",
            "driver/fsp-fuse-check-failed",
            "node",
        ),
        (
            "NVRM: kbusVerifyBar2_GM107: MMUTest BAR0 window offset 0x70f000 returned garbage 0x0",
            "driver/bar2-self-test-failed",
            "node",
        ),
        (
            "NVRM: _kgspBootGspRm: unexpected WPR2 already up, cannot proceed with booting GSP",
            "driver/gsp-wpr2-already-up",
            "node",
        ),
        (
            "NVRM: GPU6 kgspBootstrap_GH100: Timeout waiting for lockdown release. It's also possible that bootrom may have failed.",
            "driver/gsp-lockdown-not-released",
            "node",
        ),
        (
            "NVRM: failed to wait for bar firewall to lower",
            "driver/pci-device-not-enabled",
            "node",
        ),
        (
            "NVRM: GPU0 _kgspRpcRecvPoll: GSP RM heartbeat timed out",
            "driver/gsp-heartbeat-timed-out",
            "node",
        ),
        (
            "NVRM: GPU6 _kgspIsHeartbeatTimedOut: Heartbeat timed out, currentTimeMs 812751949 heartbeat 1899482 diff 6070",
            "driver/gsp-heartbeat-timed-out",
            "node",
        ),
        (
            "nvidia-uvm: Detected a channel error, channel ID 1 (0x1) CE 2 GPU GPU0",
            "driver/uvm-channel-error",
            "node",
        ),
        (
            "NVRM: GPU0 kgspHealthCheck_TU102: ***** GSP-CrashCat Report *****",
            "driver/gsp-crash-report",
            "node",
        ),
        (
            "NVRM: nvAssertOkFailedNoLog: Assertion failed: GPU lost from the bus [NV_ERR_GPU_IS_LOST] (0x0000000F)",
            "xid/79-gpu-has-fallen-off-the-bus",
            "node",
        ),
        (
            "NVRM: GPU 0000:00:06.0: The kernel has enabled MMIO for the device,",
            "driver/device-unreachable-after-error",
            "0000:00:06.0",
        ),
    ] {
        let event = read_message(&format!("[    1.000000] {line}")).unwrap_or_else(|| panic!("{line}"));
        assert_eq!(
            (event.what, event.device.as_str()),
            (What::Message(Some(record)), device),
            "{line}"
        );
        // The same words of another driver's.
        let (_, words) = line.split_once(": ").unwrap();
        for other in ["mlx5_core 0000:0d:00.0", "nvme nvme0", "nouveau 0000:00:06.0"] {
            assert_eq!(
                read_message(&format!("{other}: {words}")),
                None,
                "{other}: {words}"
            );
        }
    }
}

#[test]
fn fatal_lines_of_the_bus_name_the_device_that_they_are_about() {
    let aer = "pcie/aer-uncorrected";
    for (line, record, device) in [
        (
            "pcieport 0000:3a:00.0: AER: Uncorrected (Fatal) error received: 0000:3b:00.0",
            aer,
            "0000:3b:00.0",
        ),
        (
            "pcieport 0000:3a:00.0: AER: Multiple Uncorrected (Fatal) error received: 0000:3b:00.0",
            aer,
            "0000:3b:00.0",
        ),
        (
            "pcieport 0000:3a:00.0: AER: Uncorrectable (Fatal) error message received from 0000:3b:00.0",
            aer,
            "0000:3b:00.0",
        ),
        (
            "pcieport 0000:3a:00.0: PCIe Bus Error: severity=Uncorrected (Fatal), type=Transaction Layer, (Receiver ID)",
            aer,
            "0000:3a:00.0",
        ),
        (
            "pci 0000:3b:00.0: AER: PCIe Bus Error: severity=Uncorrectable (Fatal), type=Inaccessible, (Unregistered Agent ID)",
            aer,
            "0000:3b:00.0",
        ),
        (
            "pcieport 0000:3a:00.0: DPC: containment event, status:0x1f01 source:0x0000",
            "pcie/downstream-port-containment",
            "0000:3a:00.0",
        ),
    ] {
        let event = read_message(line).unwrap_or_else(|| panic!("{line}"));
        assert_eq!(
            (event.what, event.device.as_str()),
            (What::Bus(record), device),
            "{line}"
        );
    }
    for line in [
        "pcieport 0000:3a:00.0: AER: Uncorrected (Non-Fatal) error received: 0000:3b:00.0",
        "pcieport 0000:3a:00.0: AER: Corrected error message received from 0000:3b:00.0",
        "pcieport 0000:3a:00.0: DPC: error containment capabilities: Int Msg #0, RPExt+ PoisonedTLP+ SwTrigger+",
        "nvme 0000:3b:00.0: AER: Uncorrected (Fatal) error received: 0000:3b:00.0",
    ] {
        assert_eq!(read_message(line), None, "{line}");
    }
}

#[test]
fn a_message_of_several_lines_is_read_with_and_without_its_address() {
    let first =
        r"NVRM: The NVIDIA GPU 0000:3b:00.0\x0aNVRM: (PCI ID: 10de:2330) installed in this system has";
    let last = r"NVRM: fallen off the bus and is not responding to commands.";
    let whole = format!(r"{first}\x0a{last}");
    assert_eq!(read_line(&whole).unwrap().device, "0000:3b:00.0");
    assert_eq!(read_line(last).unwrap().device, "node");
}
