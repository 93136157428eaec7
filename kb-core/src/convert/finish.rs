//! From a draft to a report: GPU numbers become positions, gaps get their reason, and the report is judged.

use super::Options;
use super::draft::{Capability, Draft, DraftDirection, DraftGpu, DraftPair};
use super::error::ConvertError;
use crate::ids::ReportId;
use crate::report::{
    Conclusion, Direction, Fact, GapKind, Gpu, GpuIndex, MAJOR, MINOR, NvmlP2p, P2pStatus, Pair, PairVerdict,
    Report, SchemaVersion, fact_name,
};
use crate::text::Sha256;
use crate::verdict::{Expect, judge};

/// Stands where the id will be while the report is hashed.
const NO_ID: &str = "00000000-0000-0000-0000-000000000000";

/// The report. Its id comes from all that it says, so that the same output converted twice is the same report.
pub(super) fn finish(draft: Draft, options: &Options) -> Result<Report, ConvertError> {
    let Draft {
        tools,
        hostname,
        mut host,
        gpus,
        mut pairs,
        mut directions,
        mut measurements,
        logs,
        failures,
        notes,
    } = draft;
    let source = tools.join(", ");
    let numbers: Vec<u32> = gpus.keys().copied().collect();
    let position = |number: u32| -> Option<GpuIndex> {
        let place = numbers.iter().position(|known| *known == number)?;
        GpuIndex::try_from(place).ok()
    };
    for cell in measurements
        .iter_mut()
        .flat_map(|measurement| &mut measurement.cells)
    {
        cell.source = cell.source.and_then(position);
        cell.destination = cell.destination.and_then(position);
    }
    let mut reported = Vec::new();
    for (place, a) in numbers.iter().enumerate() {
        for b in numbers.iter().skip(place + 1) {
            let (Some(first), Some(second)) = (position(*a), position(*b)) else {
                continue;
            };
            let pair = pairs.remove(&(*a, *b)).unwrap_or_default();
            let mut direction = |from: u32, to: u32, ends| {
                let found = directions.remove(&(from, to)).unwrap_or_default();
                direction_of(found, ends, &source)
            };
            let both = vec![
                direction(*a, *b, (first, second)),
                direction(*b, *a, (second, first)),
            ];
            reported.push(pair_of(pair, (first, second), both, &source));
        }
    }
    host.insert(
        fact_name::CONVERT_TOOLS.to_owned(),
        Fact::read(tools.into(), "the text that was converted"),
    );
    let mut node = options.node.clone();
    if hostname.is_some() {
        node.hostname = hostname;
    }
    let mut report = Report {
        schema: SchemaVersion {
            major: MAJOR,
            minor: MINOR,
        },
        report_id: id(NO_ID)?,
        node,
        agent_version: options.agent_version.clone(),
        started_at: options.taken_at.clone(),
        finished_at: options.taken_at.clone(),
        simulated: false,
        host,
        gpus: gpus
            .into_iter()
            .map(|(number, gpu)| gpu_of(number, gpu, &source))
            .collect(),
        absent: Vec::new(),
        pairs: reported,
        measurements,
        logs,
        failures,
        nccl: None,
        load: None,
        parts: Vec::new(),
        notes: Vec::new(),
        health: None,
        conclusion: Conclusion::undecided(),
    };
    judge(&mut report, Expect::Auto);
    report.notes.extend(notes);
    report.report_id = id(&id_of(&report)?)?;
    Ok(report)
}

fn id(text: &str) -> Result<ReportId, ConvertError> {
    text.parse()
        .map_err(|error| ConvertError::new(format!("no id could be made: {error}"), "report this"))
}

/// A UUID of version 8 (RFC 9562, section 5.8) from the hash of the report.
fn id_of(report: &Report) -> Result<String, ConvertError> {
    let json = serde_json::to_vec(report).map_err(|error| {
        ConvertError::new(format!("the report cannot be written: {error}"), "report this")
    })?;
    let hash = Sha256::of(&json).to_string();
    let digits = |from: usize, to: usize| hash.get(from..to).unwrap_or_default();
    Ok(format!(
        "{}-{}-8{}-8{}-{}",
        digits(0, 8),
        digits(8, 12),
        digits(12, 15),
        digits(15, 18),
        digits(18, 30)
    ))
}

/// No tool that is converted tells everything.
fn untold<T>(source: &str) -> Fact<T> {
    Fact::missing(GapKind::NotVisible, "the converted output does not tell", source)
}

fn gpu_of(number: u32, gpu: DraftGpu, source: &str) -> Gpu {
    Gpu {
        cuda_ordinal: number,
        nvml_index: untold(source),
        uuid: gpu.uuid.unwrap_or_else(|| untold(source)),
        pci_address: gpu.pci_address.unwrap_or_else(|| untold(source)),
        name: gpu.name.unwrap_or_else(|| untold(source)),
        memory_bytes: untold(source),
        compute_capability: untold(source),
        facts: gpu.facts,
    }
}

fn pair_of(pair: DraftPair, (a, b): (GpuIndex, GpuIndex), directions: Vec<Direction>, source: &str) -> Pair {
    Pair {
        a,
        b,
        nvlinks: pair.nvlinks.unwrap_or_else(|| untold(source)),
        nvswitch: untold(source),
        common_ancestor: pair.common_ancestor.unwrap_or_else(|| untold(source)),
        facts: pair.facts,
        directions,
        verdict: PairVerdict::undecided(),
    }
}

fn direction_of(found: DraftDirection, (initiator, owner): (GpuIndex, GpuIndex), source: &str) -> Direction {
    let DraftDirection {
        can_access_peer,
        mut nvml,
        checks,
    } = found;
    let mut status =
        |capability| -> Fact<P2pStatus> { nvml.remove(&capability).unwrap_or_else(|| untold(source)) };
    Direction {
        initiator,
        owner,
        can_access_peer: can_access_peer.unwrap_or_else(|| untold(source)),
        nvml: NvmlP2p {
            read: status(Capability::Read),
            write: status(Capability::Write),
            nvlink: status(Capability::Nvlink),
            atomics: status(Capability::Atomics),
            pci: status(Capability::Pci),
        },
        cuda_attributes: std::collections::BTreeMap::new(),
        checks,
    }
}
