//! Fatal errors of PCI Express: of a GPU, of a bridge above it, of another device.

use super::*;
use crate::report::Verdict;

/// GPU 0 and GPU 1 below one port of the root, each behind a port of a switch.
fn below_a_switch() -> Report {
    let mut report = looked("a");
    for (gpu, port) in ["0000:03:00.0", "0000:03:01.0"].into_iter().enumerate() {
        let own = report.gpus[gpu].pci_address.value.clone().unwrap();
        let path = [own.as_str(), port, "0000:02:00.0", "0000:00:01.0"];
        let steps: Vec<Value> = path.iter().map(|address| json!({ "address": address })).collect();
        set(&mut report, gpu, "pci.path", json!(steps));
    }
    report
}

fn told(line: &str) -> Vec<String> {
    let health = look(&mut Ledger::default(), &below_a_switch(), &[line]);
    let verdict = if health.open.is_empty() {
        Verdict::NoFaultSeen
    } else {
        Verdict::Broken
    };
    assert_eq!(health.verdict, verdict, "{line}");
    health.open.into_iter().map(|entry| entry.id).collect()
}

#[test]
fn an_error_of_a_gpu_or_of_a_bridge_above_it_is_a_fault_of_the_gpu() {
    let gpu_1 = looked("a").gpus[1].pci_address.value.clone().unwrap();
    let of = |name: &str, gpu: &str| format!("kernel_message-{name}@{gpu}");
    let received = |from: &str| {
        format!("pcieport 0000:00:01.0: AER: Uncorrectable (Fatal) error message received from {from}")
    };
    assert_eq!(told(&received(GPU_0)), [of("aer-uncorrected", GPU_0)]);
    assert_eq!(told(&received("0000:03:01.0")), [of("aer-uncorrected", &gpu_1)]);
    assert_eq!(
        told("pcieport 0000:00:01.0: DPC: containment event, status:0x1f01 source:0x0000"),
        [
            of("downstream-port-containment", GPU_0),
            of("downstream-port-containment", &gpu_1)
        ]
    );
}

#[test]
fn a_port_that_is_stopped_names_what_stopped_it() {
    let of = |name: &str| vec![format!("kernel_message-{name}@{GPU_0}")];
    let id = GPU_0.split([':', '.']).nth(1).unwrap();
    let device = u8::from_str_radix(GPU_0.split([':', '.']).nth(2).unwrap(), 16).unwrap();
    // The port is above no GPU that is known.
    let stopped = format!(
        "pcieport 0000:7e:01.0: DPC: containment event, status:0x1f01 source:0x{id}{:02x}",
        device << 3
    );
    assert_eq!(told(&stopped), of("downstream-port-containment"));
    assert_eq!(
        told("pcieport 0000:7e:01.0: DPC: containment event, status:0x1f01 source:0x7f00"),
        [] as [String; 0]
    );
    assert_eq!(
        told(&format!("pci {GPU_0}: unknown header type 7f, ignoring device")),
        of("config-space-all-ones")
    );
    assert_eq!(
        told("pci 0000:7f:00.0: unknown header type 7f, ignoring device"),
        [] as [String; 0]
    );
}

#[test]
fn an_error_of_another_device_is_none_of_a_gpu() {
    for line in [
        "pcieport 0000:00:01.0: AER: Uncorrected (Fatal) error received: 0000:0d:00.0",
        "pcieport 0000:00:02.0: AER: Uncorrected (Fatal) error received: 0000:00:02.0",
        "pcieport 0000:00:02.0: DPC: containment event, status:0x1f01 source:0x0000",
        "pcieport 0000:00:02.0: PCIe Bus Error: severity=Uncorrected (Fatal), type=Transaction Layer, (Receiver ID)",
        "pci 0000:0d:00.0: PCIe Bus Error: severity=Uncorrected (Fatal), type=Inaccessible, (Unregistered Agent ID)",
    ] {
        assert_eq!(told(line), [] as [String; 0], "{line}");
    }
}
