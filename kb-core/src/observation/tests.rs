//! Which lines are events, and of which device.

use proptest::prelude::*;

use super::{Recovery, What, read_line, read_message};
use crate::report::Family;

#[test]
fn each_form_gives_its_event_and_device() {
    let numbered = |family, number, fatal| What::Numbered {
        family,
        number,
        fatal,
    };
    for (line, what, device) in [
        (
            "[ 12.3] NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', GPU has fallen off the bus.",
            numbered(Family::Xid, 79, None),
            "0000:3b:00.0",
        ),
        (
            "NVRM: Xid (0000:3B:00): 48, An uncorrectable",
            numbered(Family::Xid, 48, None),
            "0000:3b:00.0",
        ),
        (
            "NVRM: Xid (PCI:0009:01:00 GPU-I:05): 43, pid=1",
            numbered(Family::Xid, 43, None),
            "0009:01:00.0",
        ),
        (
            "NVRM: Xid (PCI:zz:3b:00): 79, pid=1",
            numbered(Family::Xid, 79, None),
            "node",
        ),
        (
            "NVRM: Xid (PCI:0000:3b:00): 99999999999999999999, pid=1",
            numbered(Family::Xid, u32::MAX, None),
            "0000:3b:00.0",
        ),
        (
            "NVRM: Xid (PCI:0000:3b:00): 149, NETIR Fatal XC0 i0 Link -1 (0x000fe406)",
            numbered(Family::Xid, 149, Some(true)),
            "0000:3b:00.0",
        ),
        (
            "NVRM: Xid (PCI:0000:3b:00): 144, SAW_MVB Nonfatal XC0 i0 Link 0 (0x1)",
            numbered(Family::Xid, 144, Some(false)),
            "0000:3b:00.0",
        ),
        (
            "nvidia-nvswitch0: SXid (PCI:0000:c5:00.0): 12028, Non-fatal, Link 32 egress non-posted PRIV error",
            numbered(Family::Sxid, 12_028, Some(false)),
            "0000:c5:00.0",
        ),
        (
            "NVRM: GPU 0000:01:00.0: GPU has fallen off the bus.",
            What::Message(Some("driver/gpu-lost-at-probe")),
            "0000:01:00.0",
        ),
        (
            "[ 1.2] NVRM: GPU 0000:01:00.0: RmInitAdapter failed! (0x62:0x40:1924)",
            What::Message(None),
            "0000:01:00.0",
        ),
        (
            "nvidia 0000:3b:00.0: PCIe Bus Error: severity=Uncorrected (Fatal), type=Transaction Layer",
            What::Message(Some("pcie/aer-uncorrected")),
            "0000:3b:00.0",
        ),
        (
            "NVRM: GPU 0000:00:06.0: GPU does not have the necessary power cables connected.",
            What::Message(Some("driver/power-cables-missing-at-start")),
            "0000:00:06.0",
        ),
        (
            "[ 87.4] nvidia 0000:01:00.0: Unable to change power state from D3cold to D0, device inaccessible",
            What::Message(Some("pcie/power-state-unreachable")),
            "0000:01:00.0",
        ),
        (
            "NVRM: Rate limiting GSP RPC error prints for GPU at PCI:0000:61:00 (printing 1 of every 30).  \
             The GPU likely needs to be reset.",
            What::Message(Some("driver/gsp-rpc-prints-limited")),
            "0000:61:00.0",
        ),
        (
            "nvidia-uvm: Encountered a global fatal error: GPU lost from the bus [NV_ERR_GPU_IS_LOST]",
            What::Message(Some("driver/uvm-global-fatal-error")),
            "node",
        ),
        (
            "NVRM: GPU0 knvlinkSetDegradedMode_IMPL: GPU0 marked Degraded. Error originated on linkId 5!",
            What::Message(Some("nvlink/gpu-degraded")),
            "node",
        ),
    ] {
        let event = read_line(line).unwrap_or_else(|| panic!("{line}"));
        assert_eq!((event.what, event.device.as_str()), (what, device), "{line}");
        assert!(!event.text.starts_with('['), "{}", event.text);
    }
}

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
fn anything_else_is_none() {
    for line in [
        "",
        "NVRM: Xid (PCI:0000:3b:00): x, pid=1",
        "someone said Xid 79 once",
        "nvme 0000:02:00.0: Unable to change power state from D3cold to D0, device inaccessible",
        "nvme 0000:02:00.0: PCIe Bus Error: severity=Uncorrected (Fatal), type=Transaction Layer",
        "nvidia 0000:3b:00.0: PCIe Bus Error: severity=Corrected, type=Physical Layer",
        "NVRM: loading NVIDIA UNIX x86_64 Kernel Module  580.159.04",
        "pcieport 0000:00:1c.0: pciehp: Slot #5 AttnBtn- PwrCtrl- MRL-",
        "pcieport 0000:00:1c.0: pciehp: Slot(5): Card present",
        "pcieport 0000:64:01.0: pciehp: Slot(21): Link Down/Up ignored",
        "pcieport 0000:64:01.0: pciehp: Slot(21): Link Down/Up ignored (recovered by DPC)",
        "NVRM: _kgspIsHeartbeatTimedOut: Heartbeat timed out, currentTimeMs 1870886560 heartbeat 0 diff 1870886560",
    ] {
        assert_eq!(read_line(line), None, "{line}");
    }
}

#[test]
fn a_recovery_action_is_read_from_what_it_says() {
    for (change, expected) in [
        ("0x0 (None) to 0x0 (None)", Recovery::None),
        ("0x4 (Drain and Reset) to 0x0 (None)", Recovery::None),
        ("0x0 (None) to 0x1 (GPU Reset Required)", Recovery::Reset),
        ("0x0 (None) to 0x1 (PF FLR)", Recovery::Reset),
        ("0x0 (None) to 0x2 (Node Reboot Required)", Recovery::Reboot),
        ("0x0 (None) to 0x2 (OS Reboot)", Recovery::Reboot),
        ("0x0 (None) to 0x3 (Drain P2P)", Recovery::DrainP2p),
        ("0x0 (None) to 0x4 (Drain and Reset)", Recovery::DrainAndReset),
        (
            "0x0 (None) to 0x5 (Recover IMEX Domain)",
            Recovery::Other("Recover IMEX Domain".to_owned()),
        ),
    ] {
        let line = format!("NVRM: Xid (PCI:0000:3b:00): 154, GPU recovery action changed from {change}");
        let event = read_line(&line).unwrap();
        assert_eq!(event.what, What::RecoveryAction(expected), "{change}");
    }
    let cut = read_line("NVRM: Xid (PCI:0000:3b:00): 154, GPU recov").unwrap();
    assert_eq!(cut.what, What::RecoveryAction(Recovery::Other(String::new())));
}

proptest! {
    #[test]
    fn any_text_is_read_without_a_panic(
        text in "\\PC{0,80}",
        words in proptest::collection::vec(
            prop_oneof![
                Just("NVRM: "), Just("SXid ("), Just("NVRM: Xid ("), Just("): "), Just("PCI:0000:3b:00"), Just("154, "),
                Just("recovery action changed from "), Just(" to "), Just("0x"), Just("é"), Just("nvidia 0"),
                Just("fallen off the bus"),
            ],
            0..12,
        ),
    ) {
        let _ = read_line(&text);
        if let Some(event) = read_line(&words.concat()) {
            prop_assert!(!event.device.is_empty());
        }
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

/// A user chooses the name of a process, of 15 bytes at most.
#[test]
fn the_name_of_a_process_says_nothing_of_the_error() {
    let of = |number: u32, name: &str, message: &str| {
        let line = format!("NVRM: Xid (PCI:0000:3b:00): {number}, pid=7, name={name}, {message}");
        read_line(&line).map(|event| (event.what, event.device))
    };
    let told = |number, fatal| {
        let what = What::Numbered {
            family: Family::Xid,
            number,
            fatal,
        };
        Some((what, "0000:3b:00.0".to_owned()))
    };
    for name in [
        "x Nonfatal",
        "x Fatal",
        "x, Non-fatal, y",
        "SXid (PCI:0000:",
        "NVRM: Xid (PCI",
        "Fatal",
        "p\u{e9}\u{e9} Fatal \u{20ac}",
        r"\x01\x01\x01\x01\x01\x01\x01\x01\x01 Fatal",
    ] {
        assert_eq!(
            of(79, name, "GPU has fallen off the bus."),
            told(79, None),
            "{name}"
        );
    }
    assert_eq!(
        of(149, "python", "NETIR_LINK_EVT Fatal XC0 i0"),
        told(149, Some(true))
    );
    for name in ["sh", "vllm", "python", "a-long-name-15x", "x, y"] {
        for unit in ["A", "SAW_MVB", "RLW_RXTX", "NETIR_LINK_EVT"] {
            let fatal = format!("{unit} Fatal XC0 i0");
            assert_eq!(of(149, name, &fatal), told(149, Some(true)), "{name} {unit}");
        }
    }
    assert_eq!(
        of(149, "x Fatal", "NETIR_LINK_EVT Nonfatal XC0 i0"),
        told(149, Some(false))
    );
}

#[test]
fn a_message_that_names_such_a_line_further_behind_is_none() {
    let xid = "NVRM: Xid (PCI:0000:3b:00): 79, pid=1, GPU has fallen off the bus.";
    for message in [xid.to_owned(), format!("[  12.345678] {xid}")] {
        assert!(read_message(&message).is_some(), "{message}");
    }
    for message in [
        format!("a.out[123]: segfault at 0 ip 0 sp 0 error 4 in {xid}[55e0+1000]"),
        format!("[  12.345678] traps: x[9] general protection fault in {xid}"),
        format!("NVRM: Xid (PCI:[27184]: segfault at 0 error 4 in {xid}"),
        "NVRM: [x[27184]: segfault at 0 error 4 in NVRM: GPU has fallen off the bus[55e0+1000]".to_owned(),
        "NVRM: GPU has f[27184]: segfault at 0 error 4 in NVRM: GPU has fallen off the bus[55e0+1000]"
            .to_owned(),
    ] {
        assert_eq!(read_message(&message), None, "{message}");
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

/// A line is read by the words of the record that explains it.
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
