//! The CUDA sample p2pBandwidthLatencyTest.
//!
//! What its output leaves out or gets wrong (read in its source): it prints the same for copy engine and `--sm_copy`;
//! it does not warm up, so the first cell of a table is several per cent low and looks like an asymmetry; it takes one
//! sample and checks no data; the diagonal counts a local copy twice; "CPU" latency is the time to enqueue a copy.

use std::iter::Peekable;

use super::Options;
use super::draft::{Draft, Figure, address};
use super::error::ConvertError;
use super::format::Section;
use super::lines::{Line, between};
use super::matrix::{self, Matrix};
use crate::report::{Engine, Operation};

const TOOL: &str = "p2pBandwidthLatencyTest";
/// Its buffer without `--numElems`: 40,000,000 integers.
const BUFFER_BYTES: u64 = 160_000_000;
/// Bytes of one copy of its latency tables.
const LATENCY_BYTES: u64 = 16;

pub(super) fn read(draft: &mut Draft, section: &Section<'_>, options: &Options) -> Result<(), ConvertError> {
    let engine = options.engine.unwrap_or_else(|| {
        if section.command.contains("--sm_copy") {
            Engine::Sm
        } else {
            Engine::Ce
        }
    });
    if options.engine.is_none() && !section.command.contains(TOOL) && !section.command.contains("--sm_copy") {
        draft.note(TOOL, "it prints the same for copies of the copy engine and of a kernel (--sm_copy): the copy engine is assumed (--engine says otherwise)");
    }
    if options.bytes.is_none() {
        draft.note(TOOL, "it does not tell the size of its buffer: 160 MB, its default, is assumed (--bytes says otherwise)");
    }
    draft.note(TOOL, "it does not warm up, takes one sample and checks no data: the first cell of a table may be 7 % low on an equal pair");
    let mut lines = section.lines.iter().peekable();
    let mut latencies = 0;
    while let Some(line) = lines.next() {
        let text = line.text.trim();
        if text.starts_with("Device:") {
            device(draft, line)?;
        } else if text.starts_with("Device=") {
            access(draft, line)?;
        } else if text.contains("Connectivity Matrix") {
            table(&mut lines, line, "D\\D")?;
        } else if text.contains("Bandwidth") && text.ends_with("Matrix (GB/s)") {
            let found = table(&mut lines, line, "D\\D")?;
            bandwidth(draft, text, &found, engine, options.bytes.unwrap_or(BUFFER_BYTES))?;
        } else if text.contains("Latency") && text.ends_with("Matrix (us)") {
            latency(draft, text, &mut lines, line, engine)?;
            latencies += 1;
        }
    }
    if latencies < 2 {
        return Err(ConvertError::cut(
            section.last_line(),
            "the tables of p2pBandwidthLatencyTest: its last ones are the latencies with and without P2P",
        ));
    }
    Ok(())
}

/// `Device: 0, NVIDIA H200, pciBusID: 0, pciDeviceID: 6, pciDomainID:0`, hexadecimal.
fn device(draft: &mut Draft, line: &Line) -> Result<(), ConvertError> {
    let text = format!("{}\n", line.text.trim());
    let wrong = || ConvertError::damaged(line.number, format!("this is no device as {TOOL} lists it"));
    let hexadecimal = |before, after| {
        let digits = between(&text, before, after).map(str::trim).ok_or_else(wrong)?;
        u32::from_str_radix(digits, 16).map_err(|_| wrong())
    };
    let number = between(&text, "Device:", ",")
        .and_then(|number| number.trim().parse().ok())
        .ok_or_else(wrong)?;
    let name = between(&text, ", ", ", pciBusID").ok_or_else(wrong)?;
    let (bus, device) = (hexadecimal("pciBusID:", ",")?, hexadecimal("pciDeviceID:", ",")?);
    let address = address(hexadecimal("pciDomainID:", "\n")?, bus, device).ok_or_else(wrong)?;
    draft.name_gpu(number, name, Some(address), (TOOL, line.number))
}

/// `Device=0 CAN Access Peer Device=1`, or `CANNOT`.
fn access(draft: &mut Draft, line: &Line) -> Result<(), ConvertError> {
    let wrong = || ConvertError::damaged(line.number, format!("this is no answer as {TOOL} prints it"));
    let (from, rest) = line
        .text
        .trim()
        .trim_start_matches("Device=")
        .split_once(' ')
        .ok_or_else(wrong)?;
    let (word, to) = rest.split_once(" Access Peer Device=").ok_or_else(wrong)?;
    let (from, to) = (
        from.parse().map_err(|_| wrong())?,
        to.trim().parse().map_err(|_| wrong())?,
    );
    let granted = match word {
        "CAN" => true,
        "CANNOT" => false,
        _ => return Err(wrong()),
    };
    for number in [from, to] {
        draft.gpu(number, line.number)?;
    }
    if from == to {
        return Err(wrong());
    }
    draft.access(from, to, granted, TOOL);
    Ok(())
}

fn table<'a>(
    lines: &mut Peekable<impl Iterator<Item = &'a &'a Line>>,
    heading: &Line,
    corner: &str,
) -> Result<Matrix, ConvertError> {
    let name = heading.text.trim();
    let found = matrix::read(lines, (name, heading.number), Some(corner))?;
    if found.is_square() {
        Ok(found)
    } else {
        Err(ConvertError::cut(heading.number + found.rows.len() + 1, name))
    }
}

fn bandwidth(
    draft: &mut Draft,
    heading: &str,
    table: &Matrix,
    engine: Engine,
    bytes: u64,
) -> Result<(), ConvertError> {
    let peer_access = heading.contains("P2P=Enabled");
    let both = heading.starts_with("Bidirectional");
    let reads = heading.contains("P2P Reads");
    for (row, column, value, line) in table.cells() {
        let Some(value) = value else { continue };
        if row == column {
            // The same copy in all four tables; read and write counted apart.
            if !both && !peer_access {
                let figure = Figure {
                    metric: "local_copy_bandwidth",
                    unit: "GB/s",
                    engine,
                    operation: Operation::Other,
                    bytes,
                    peer_access: None,
                };
                draft.measure(figure, (Some(row), Some(row)), Ok(value / 2.0), line)?;
            }
            continue;
        }
        let (ends, operation) = match (both, reads) {
            (true, _) => ((row, column), Operation::Other),
            (false, true) => ((column, row), Operation::Pull),
            (false, false) => ((row, column), Operation::Push),
        };
        let metric = if both {
            "d2d_bandwidth_both_ways"
        } else {
            "d2d_bandwidth"
        };
        let figure = Figure {
            metric,
            unit: "GB/s",
            engine,
            operation,
            bytes,
            peer_access: Some(peer_access),
        };
        draft.measure(figure, (Some(ends.0), Some(ends.1)), Ok(value), line)?;
    }
    Ok(())
}

/// Two tables below one heading: by the GPU's events, and by the host's clock until the copy was enqueued.
fn latency<'a>(
    draft: &mut Draft,
    heading: &str,
    lines: &mut Peekable<impl Iterator<Item = &'a &'a Line>>,
    line: &Line,
    engine: Engine,
) -> Result<(), ConvertError> {
    let peer_access = heading.contains("P2P=Enabled");
    let reads = heading.contains("P2P Reads");
    for (corner, metric) in [("GPU", "copy_latency"), ("CPU", "copy_enqueue_time")] {
        while lines.next_if(|line| line.text.trim().is_empty()).is_some() {}
        let found = table(lines, line, corner)?;
        for (row, column, value, line) in found.cells() {
            let Some(value) = value.filter(|_| row != column) else {
                continue;
            };
            let (ends, operation) = if reads {
                ((column, row), Operation::Pull)
            } else {
                ((row, column), Operation::Push)
            };
            let figure = Figure {
                metric,
                unit: "us",
                engine,
                operation,
                bytes: LATENCY_BYTES,
                peer_access: Some(peer_access),
            };
            draft.measure(figure, (Some(ends.0), Some(ends.1)), Ok(value), line)?;
        }
    }
    Ok(())
}
