//! What the kernel log tells of a GPU's way over the bus beside the driver's own lines: errors that the firmware reports in a block of
//! lines, and accesses that the IOMMU stopped. No check of GPUs shows that they are over.

use super::Verdict;
use super::kernel_log::{self, Event};
use crate::observation::{Look, canonical, is_of_process, without_stamp};
use crate::report::{Report, When, fact_name};

/// Behind the number of the block: `{1}[Hardware Error]: `.
const MARK: &str = "[Hardware Error]: ";
/// Longest text of a line in a reason, in characters.
const LONGEST_LINE: usize = 300;

/// The worst that lines written during the run tell of a GPU that the report lists.
pub(super) fn bus_errors(report: &Report) -> Option<(Verdict, String)> {
    let found = [reported_by_firmware(report), stopped_by_iommu(report)];
    found.into_iter().flatten().max_by_key(|(verdict, _)| *verdict)
}

fn lines(report: &Report) -> impl Iterator<Item = &str> {
    let during = report.logs.iter().filter(|log| log.when != When::Before);
    during
        .flat_map(|log| log.text.lines())
        .map(|line| without_stamp(line.trim()))
        .filter(|line| !is_of_process(line))
}

/// Which errors a block of the firmware tells of, as far as it was read.
#[derive(Default)]
struct Block<'a> {
    number: &'a str,
    is_fatal: bool,
    is_corrected: bool,
    is_of_bus: bool,
}

/// A block names its severity first, then the kind of error, then the device.
fn reported_by_firmware(report: &Report) -> Option<(Verdict, String)> {
    let look = Look::of(report);
    let mut block = Block::default();
    let mut worst: Option<(Verdict, String)> = None;
    for line in lines(report) {
        let Some((number, rest)) = line.split_once(MARK) else {
            continue;
        };
        if number != block.number {
            block = Block {
                number,
                ..Block::default()
            };
        }
        let said = rest.trim();
        let severity = said.strip_prefix("event severity: ").or_else(|| {
            let error = said.strip_prefix("Error ")?;
            error.split_once(", type: ").map(|(_, severity)| severity)
        });
        if let Some(severity) = severity {
            block.is_fatal = severity.starts_with("fatal");
            block.is_corrected = severity.starts_with("corrected") || severity.starts_with("info");
            block.is_of_bus = false;
        } else if let Some(kind) = said.strip_prefix("section_type: ") {
            block.is_of_bus = kind.starts_with("PCIe error");
        } else if let Some(address) = said.strip_prefix("device_id: ")
            && block.is_of_bus
            && !block.is_corrected
        {
            let device = canonical(address.trim());
            if let Some((verdict, whose)) = weight(report, &look, &device, block.is_fatal) {
                let reason = format!(
                    "the kernel log says during the run that the firmware reported an error of PCI Express at {device}, {whose}"
                );
                if worst.as_ref().is_none_or(|(known, _)| verdict > *known) {
                    worst = Some((verdict, reason));
                }
            }
        }
    }
    worst
}

/// What an error that was not corrected says of the GPUs. `None` where the device is none of them and none is behind it.
fn weight(report: &Report, look: &Look, device: &str, is_fatal: bool) -> Option<(Verdict, &'static str)> {
    if !look.gpus_at(device).is_empty() {
        return Some(if is_fatal {
            (Verdict::Broken, "which a GPU is or has above it, and it is fatal")
        } else {
            (Verdict::Unknown, "which a GPU is or has above it")
        });
    }
    let mut ways = report.gpus.iter().map(|gpu| gpu.facts.get(fact_name::PCI_PATH));
    let has_unknown_way = ways.any(|way| way.is_none_or(|way| way.value.is_none()));
    has_unknown_way.then_some((
        Verdict::Unknown,
        "and it is not known whether a GPU is behind that device",
    ))
}

/// An access of a GPU to an address that it may not use: it read or wrote where it should not, or its mapping was gone.
fn stopped_by_iommu(report: &Report) -> Option<(Verdict, String)> {
    let gpus = report.gpus.iter();
    let gpus: Vec<kernel_log::Slot> = gpus
        .filter_map(|gpu| kernel_log::slot(&canonical(gpu.pci_address.value.as_deref()?)))
        .collect();
    let line = lines(report).find(|line| {
        kernel_log::read(line).is_some_and(|(event, slot)| event == Event::IommuFault && gpus.contains(&slot))
    })?;
    let line: String = line.chars().take(LONGEST_LINE).collect();
    Some((
        Verdict::Unknown,
        format!("the kernel log says during the run that the IOMMU stopped an access of a GPU: {line}"),
    ))
}
