//! Fatal errors of PCI Express whose GPU is not there, or is not asked for, when the line is read.

use std::fs;
use std::os::unix::fs::symlink;

use fake_gpu::Scenario;

use crate::listed_earlier::without;
use crate::node::Node;
use crate::passive::{daemon, log};
use crate::tree::{attribute, device, write};

const PORTS: [&str; 3] = ["0000:00:01.0", "0000:00:02.0", "0000:00:03.0"];
const GPUS: [&str; 3] = ["0000:00:06.0", "0000:00:07.0", "0000:00:08.0"];
/// A network card below a port of its own.
const OTHER: [&str; 2] = ["0000:00:04.0", "0000:0d:00.0"];

/// Lines about the second GPU: named by the port, by the number of the sender, and by its port alone.
const LINES: [&str; 3] = [
    "pcieport 0000:00:02.0: AER: Uncorrected (Fatal) error received: 0000:00:07.0",
    "pcieport 0000:00:02.0: DPC: containment event, status:0x1f05 source:0x0038: ERR_FATAL received from 0000:00:07.0",
    "pcieport 0000:00:02.0: DPC: containment event, status:0x1f01 source:0x0000",
];

/// Three GPUs, each below a port, and a card that is none.
fn node() -> Node {
    let node = Node::with(&Scenario::healthy(3));
    let host = node.path("host");
    for (port, gpu) in PORTS.into_iter().zip(GPUS) {
        device(&host, &[port, gpu]);
        let driver = host.join("sys/bus/pci/devices").join(gpu).join("driver");
        symlink("../../../bus/pci/drivers/nvidia", driver).unwrap();
    }
    device(&host, &OTHER);
    attribute(&host, OTHER[1], "vendor", "0x15b3\n");
    attribute(&host, OTHER[1], "class", "0x020000\n");
    write(&host, "dev/kmsg", "5,0,0,-;Linux version 6.8.0\n");
    write(&host, "proc/1/cgroup", "0::/init.scope\n");
    write(&host, "proc/self/status", "Uid:\t0\t0\t0\t0\n");
    node
}

fn link(node: &Node, address: &str) -> std::path::PathBuf {
    node.path("host/sys/bus/pci/devices").join(address)
}

/// Hotplug takes a device off the bus: its link is gone, and so is its folder.
fn leaves(node: &Node, address: &str) -> std::path::PathBuf {
    let target = fs::read_link(link(node, address)).unwrap();
    fs::remove_file(link(node, address)).unwrap();
    target
}

fn assert_open(node: &Node, id: &str, of: &str) {
    let ledger = fs::read_to_string(node.path("state/ledger.json")).unwrap();
    assert!(ledger.contains(&format!("{id}\"")), "{of}: {ledger}");
}

#[test]
fn a_gpu_that_its_port_took_off_the_bus_keeps_the_event_when_it_is_back() {
    for line in LINES {
        let node = node();
        assert_eq!(daemon(&node, &[]).code, 0);
        log(&node, 1, line);
        let target = leaves(&node, GPUS[1]);
        node.becomes(&without(3, 1));
        assert_eq!(daemon(&node, &[]).code, 2, "{line}");
        symlink(target, link(&node, GPUS[1])).unwrap();
        node.becomes(&Scenario::healthy(3));
        let back = daemon(&node, &[]);
        assert_eq!(back.code, 2, "{line}: {}", back.stderr);
        assert!(
            back.stderr.contains("kernel_message-") && back.stderr.contains(GPUS[1]),
            "{line}: {}",
            back.stderr
        );
        for other in [GPUS[0], GPUS[2]] {
            assert!(!back.stderr.contains(other), "{line}: {}", back.stderr);
        }
    }
}

#[test]
fn a_line_about_what_nobody_has_seen_is_a_warning_of_the_node() {
    for line in LINES {
        let node = node();
        log(&node, 1, line);
        leaves(&node, GPUS[1]);
        node.becomes(&without(3, 1));
        let run = daemon(&node, &[]);
        assert_eq!(run.code, 1, "{line}: {}", run.stderr);
        assert!(
            run.stderr.contains("may have been a GPU"),
            "{line}: {}",
            run.stderr
        );
    }
    // A drive that was taken out.
    let node = node();
    log(
        &node,
        1,
        "pcieport 0000:00:02.0: pciehp: Slot(2): Card not present",
    );
    leaves(&node, GPUS[1]);
    node.becomes(&without(3, 1));
    let run = daemon(&node, &[]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_open(&node, "kernel_message-hotplug-card-gone@node", "a drive");
}

#[test]
fn a_line_about_another_device_that_is_there_is_none_of_the_node() {
    let node = node();
    for (number, line) in [
        "pcieport 0000:00:04.0: AER: Uncorrected (Fatal) error received: 0000:0d:00.0",
        "pcieport 0000:00:04.0: DPC: containment event, status:0x1f01 source:0x0d00",
        "pcieport 0000:00:04.0: DPC: containment event, status:0x1f01 source:0x0000",
    ]
    .into_iter()
    .enumerate()
    {
        log(&node, u64::try_from(number).unwrap() + 1, line);
    }
    let run = daemon(&node, &[]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let ledger = fs::read_to_string(node.path("state/ledger.json")).unwrap();
    assert!(!ledger.contains("kernel_message"), "{ledger}");
}

#[test]
fn a_look_at_some_gpus_notes_lines_about_the_others() {
    for (number, line) in LINES.into_iter().enumerate() {
        let node = node();
        assert_eq!(daemon(&node, &[]).code, 0);
        log(&node, 1, line);
        if number > 0 {
            leaves(&node, GPUS[1]);
            node.becomes(&without(3, 1));
        }
        daemon(&node, &["--devices", "0"]);
        let record = ["aer-uncorrected", "downstream-port-containment"][number.min(1)];
        assert_open(&node, &format!("kernel_message-{record}@{}", GPUS[1]), line);
        assert_eq!(daemon(&node, &[]).code, 2, "{line}");
    }
}
