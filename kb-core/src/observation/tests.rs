//! Which lines are events, and of which device.

mod messages;

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
fn anything_else_is_none() {
    for line in [
        "",
        "NVRM: Xid (PCI:0000:3b:00): x, pid=1",
        // Two lines that were written into each other: whose a number is, nobody knows.
        "NVRM: Xid (PCI:0000:3bNVRM: Xid (PCI:0000:4c:00): 31:00): 79, pid=1",
        "NVRM: Xid (PCI:0000:4c:00): 31:00): 79, pid=1",
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
        let stamp = message.starts_with('[').then_some(12_345_678);
        assert_eq!(read_message(&message).unwrap().microseconds, stamp, "{message}");
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
