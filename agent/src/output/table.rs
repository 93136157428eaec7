//! The terminal's view of a report: verdict first, then GPUs, the map of the directed pairs, what calls for a look.

use std::fmt::Write as _;

use kb_core::health::headline;
use kb_core::report::{AbsentGpu, Fact, Failure, Gpu, Nccl, NcclVerdict, Report, fact_name};

use super::grid::{Cell, lay_out};
use super::{Style, bench, converted, load, map, pairs, times};

const GIB: u64 = 1 << 30;

pub(crate) fn table(report: &Report, style: Style) -> String {
    let tools = converted::tools(report);
    let mut text = match &tools {
        Some(tools) if !converted::tells_of_access(report) => {
            format!("converted from {tools}: figures, and no check of the agent's own\n")
        }
        _ => headline(report, |verdict| style.verdict(verdict, verdict.phrase())) + "\n",
    };
    if let Some(machine) = report.simulated_machine() {
        // Writing into a String does not fail.
        let _ = writeln!(
            text,
            "simulated: the machine {machine} is made up, and no GPU was touched"
        );
    } else if report.simulated {
        text.push_str("simulated: a stand-in took the place of the driver\n");
    }
    if !report.gpus.is_empty() {
        text.push('\n');
        text.push_str(&gpus(&report.gpus, style));
    }
    for gpu in &report.absent {
        text.push_str(&not_there(gpu));
    }
    if !report.pairs.is_empty() && (tools.is_none() || converted::tells_of_access(report)) {
        text.push('\n');
        text.push_str(&map::of_pairs(report, style));
        text.push('\n');
        text.push_str(&pairs::told(&report.pairs, style));
    }
    if tools.is_some() {
        text.push_str(&converted::links(report, style));
        text.push_str(&converted::matrices(report, style));
    }
    let measured = bench::of_measurements(report, style);
    if !measured.is_empty() {
        text.push('\n');
        text.push_str(&measured);
        text.push_str(&times::of_run(report));
    }
    if let Some(nccl) = &report.nccl {
        text.push_str(&of_nccl(nccl));
    }
    if let Some(load) = &report.load {
        text.push_str(&load::of_load(load, style));
    }
    for failure in &report.failures {
        text.push_str(&failed(failure));
    }
    for note in &report.notes {
        text.push_str(&failed(note));
    }
    let gaps = gaps(report);
    if gaps > 0 {
        // Writing into a String does not fail.
        let _ = writeln!(
            text,
            "\n  {gaps} facts could not be seen; --json has the reason of each"
        );
    }
    style.harmless(&text)
}

fn of_nccl(nccl: &Nccl) -> String {
    let word = match nccl.verdict {
        NcclVerdict::Ok => "works",
        NcclVerdict::PeerAccessFails => "fails with peer access",
        NcclVerdict::StagingFails => "fails without peer access",
        NcclVerdict::NotRun => "not run",
        NcclVerdict::Inconclusive | NcclVerdict::Unrecognised => "could not tell",
    };
    format!("\nNCCL {}: {word}: {}\n", shown(&nccl.version), nccl.reason)
}

pub(super) fn shown<T: ToString>(fact: &Fact<T>) -> String {
    fact.value.as_ref().map_or_else(|| "?".to_owned(), T::to_string)
}

fn gpus(gpus: &[Gpu], style: Style) -> String {
    let heads = [
        "GPU",
        "model",
        "PCI address",
        "NVML",
        "memory",
        "capability",
        "NVLinks",
        "PCIe",
    ];
    let mut rows = vec![heads.map(Cell::plain).into_iter().collect::<Vec<Cell>>()];
    for gpu in gpus {
        let memory = match gpu.memory_bytes.value {
            Some(bytes) => format!("{} GiB", bytes / GIB),
            None => "?".to_owned(),
        };
        rows.push(vec![
            Cell::plain(gpu.cuda_ordinal.to_string()),
            Cell::plain(shown(&gpu.name)),
            Cell::plain(shown(&gpu.pci_address)),
            Cell::plain(shown(&gpu.nvml_index)),
            Cell::plain(memory),
            Cell::plain(shown(&gpu.compute_capability)),
            Cell::plain(links(gpu)),
            Cell::plain(pcie(gpu)),
        ]);
    }
    lay_out(&rows, style)
}

fn number(gpu: &Gpu, name: &str) -> Option<u64> {
    gpu.facts.get(name)?.value.as_ref()?.as_u64()
}

/// `18 of 18`, `none`, or `?`.
fn links(gpu: &Gpu) -> String {
    let total =
        number(gpu, fact_name::NVLINK_LINKS_EXPECTED).or_else(|| number(gpu, fact_name::NVLINK_LINKS));
    match (number(gpu, fact_name::NVLINK_LINKS_ACTIVE), total) {
        (Some(_), Some(0)) => "none".to_owned(),
        (Some(active), Some(total)) => format!("{active} of {total}"),
        _ => "?".to_owned(),
    }
}

/// `gen 5 x16`, or `?`.
fn pcie(gpu: &Gpu) -> String {
    let generation = number(gpu, fact_name::PCIE_LINK_GENERATION);
    match (generation, number(gpu, fact_name::PCIE_LINK_WIDTH)) {
        (Some(generation), Some(width)) => format!("gen {generation} x{width}"),
        _ => "?".to_owned(),
    }
}

fn not_there(gpu: &AbsentGpu) -> String {
    let cause = gpu.cause.as_ref();
    let cause = cause.map_or_else(String::new, |cause| format!("{cause}: "));
    let mut text = format!("\n  {cause}{}: {}\n", gpu.name(), gpu.reason);
    text.push_str(&pairs::advice(gpu.fix.as_deref(), gpu.record.as_ref()));
    text
}

fn failed(failure: &Failure) -> String {
    let mut text = format!("\n  {}: {}\n", failure.step, failure.message);
    text.push_str(&pairs::advice(failure.fix.as_deref(), failure.record.as_ref()));
    text
}

fn gaps(report: &Report) -> usize {
    let gpus = report.gpus.iter().flat_map(|gpu| gpu.facts.values());
    let pairs = report.pairs.iter().flat_map(|pair| pair.facts.values());
    let facts = report.host.values().chain(gpus).chain(pairs);
    facts.filter(|fact| fact.gap.is_some()).count()
}
