//! Faults that facts and the kernel log show.

use kb_core::report::{Absence, AbsentGpu, Fact, Report, fact_name};
use serde_json::{Value, json};

use super::super::faults::Fault;
use super::super::{pcie, reports};
use super::Moment;
use crate::random::Random;

fn index(fault: &Fault) -> usize {
    usize::try_from(fault.gpu).unwrap_or_default()
}

fn address_of(report: &Report, fault: &Fault) -> String {
    let gpu = report.gpus.get(index(fault));
    gpu.and_then(|gpu| gpu.pci_address.value.clone())
        .unwrap_or_default()
}

/// The address as the driver writes it into its lines: without the function.
fn slot(address: &str) -> &str {
    address.trim_end_matches(".0")
}

fn put(report: &mut Report, fault: &Fault, facts: &[(&str, Value)]) {
    let Some(gpu) = report.gpus.get_mut(index(fault)) else {
        return;
    };
    for (name, value) in facts {
        let source = gpu
            .facts
            .get(*name)
            .map_or("nvml", |fact| fact.source.as_str())
            .to_owned();
        gpu.facts
            .insert((*name).to_owned(), Fact::read(value.clone(), source));
    }
}

/// The ports of the switch redirect what goes between GPUs.
pub(super) fn acs(report: &mut Report) {
    for (index, gpu) in report.gpus.iter_mut().enumerate() {
        let path = Fact::read(pcie::path(index, true), "/sys/bus/pci/devices");
        gpu.facts.insert(fact_name::PCI_PATH.to_owned(), path);
    }
    for pair in &mut report.pairs {
        let ports = [pair.a, pair.b].map(|gpu| pcie::port(usize::try_from(gpu).unwrap_or_default()));
        pair.facts = pcie::pair_facts(&ports);
    }
}

/// `part` goes from above 0 to 1 on the last day. An idle GPU is warm; a working one is as hot as it may be, and slows down.
pub(super) fn heat(report: &mut Report, fault: &Fault, part: f64, moment: Moment) {
    let clock = 1980.0 - 700.0 * part;
    let degrees = if moment.is_look {
        48.0 + 20.0 * part
    } else {
        74.0 + 15.0 * part
    };
    put(
        report,
        fault,
        &[(fact_name::TEMPERATURE_GPU_C, json!(degrees.round()))],
    );
    if !moment.is_look {
        put(report, fault, &[(fact_name::CLOCK_SM_MHZ, json!(clock.round()))]);
        let reasons: &[&str] = if part < 0.6 {
            &["sw_thermal_slowdown"]
        } else {
            &["sw_thermal_slowdown", "hw_slowdown", "hw_thermal_slowdown"]
        };
        put(report, fault, &[(fact_name::THROTTLE_REASONS, json!(reasons))]);
    }
}

/// The driver lists one GPU less, and the bus still has it.
pub(super) fn lost(report: &mut Report, fault: &Fault, is_first: bool) -> Vec<String> {
    let address = address_of(report, fault);
    let at = slot(&address).to_owned();
    reports::leave_out(report, fault.gpu);
    let mut absent = AbsentGpu::new(
        Absence::Lost,
        format!("the driver has {address} on the bus and NVML does not list it"),
    );
    absent.pci_address = Some(address);
    report.absent.push(absent);
    if !is_first {
        return Vec::new();
    }
    vec![
        format!("NVRM: Xid (PCI:{at}): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."),
        format!("NVRM: GPU {at}.0: GPU has fallen off the bus."),
    ]
}

/// The adapter that this is about, as `reports::network` has them.
const FLAPPING: &str = "mlx5_core 0000:5e:00.0 ens1f0np0";

/// In each half day the link goes down and up again a few times; it may be down just now.
pub(super) fn flapping(report: &mut Report, random: &mut Random) -> Vec<String> {
    let is_down = random.below(4) == 0;
    if is_down {
        let ports = report.host.get_mut("infiniband.ports");
        let ports = ports.and_then(|fact| fact.value.as_mut()?.as_array_mut());
        for port in ports
            .into_iter()
            .flatten()
            .take(1)
            .filter_map(Value::as_object_mut)
        {
            port.insert("state".to_owned(), json!("DOWN"));
            port.insert("physical_state".to_owned(), json!("Disabled"));
        }
    }
    let mut lines = Vec::new();
    for _ in 0..3 + random.below(8) {
        lines.push(format!("{FLAPPING}: Link down"));
        lines.push(format!("{FLAPPING}: Link up"));
    }
    if is_down {
        lines.pop();
    }
    lines
}

pub(super) fn remap_failed(report: &mut Report, fault: &Fault, is_first: bool) -> Vec<String> {
    let address = address_of(report, fault);
    put(
        report,
        fault,
        &[
            (fact_name::REMAPPED_ROWS_FAILURE, json!(true)),
            (fact_name::REMAPPED_ROWS_UNCORRECTED, json!(8)),
            ("ecc.aggregate_uncorrected", json!(9)),
        ],
    );
    if !is_first {
        return Vec::new();
    }
    vec![format!(
        "NVRM: Xid (PCI:{}): 64, Row remapping failure",
        slot(&address)
    )]
}
