//! The CUDA sample simpleP2P.
//!
//! It looks at the first pair that is granted access, only; its "GB/s" are of 1024^3 bytes; it proves loads of a kernel
//! from the peer and no stores, and compares once behind both directions, so a failure does not tell which one it was.

use super::draft::{Draft, Figure};
use super::error::ConvertError;
use super::format::Section;
use super::lines::{Line, between};
use super::matrix::figure;
use crate::report::{Check, Engine, Mismatch, Operation, Outcome};

const TOOL: &str = "simpleP2P";
/// What it calls a gigabyte, in bytes over 1e9.
const GIBIBYTE: f64 = 1.073_741_824;
/// A `float`.
const ELEMENT_BYTES: u64 = 4;
/// "Test failed!" means that data was wrong, also where the lines before it, which say what data, were cut off. The tool
/// prints no more than the first few.
const NONE_PRINTED: Mismatch = Mismatch {
    first_offset: 0,
    words: 0,
    in_guard: false,
    untouched: false,
    writer_sees_it: None,
};

pub(super) fn read(draft: &mut Draft, section: &Section<'_>) -> Result<(), ConvertError> {
    let mut pair = None;
    let mut bytes = 0;
    let mut outcome = None;
    let mut wrong_words: Option<Mismatch> = None;
    let mut refused = false;
    for line in &section.lines {
        let text = line.text.trim();
        if text.starts_with("> Peer access from") {
            access(draft, line)?;
        } else if let Some(rest) = text.strip_prefix("Allocating buffers (") {
            let (mebibytes, _) = rest.split_once("MB").ok_or_else(|| wrong(line))?;
            bytes = mebibytes.parse::<u32>().map(u64::from).map_err(|_| wrong(line))? << 20;
        } else if text.starts_with("cudaMemcpyPeer") {
            pair = Some(bandwidth(draft, line, bytes)?);
        } else if text.starts_with("Two or more GPUs with Peer-to-Peer access capability are required") {
            refused = true;
        } else if let Some(rest) = text.strip_prefix("Verification error @ element ") {
            let (element, _) = rest.split_once(':').ok_or_else(|| wrong(line))?;
            let element: u64 = element.parse().map_err(|_| wrong(line))?;
            let first = Mismatch {
                first_offset: element.saturating_mul(ELEMENT_BYTES),
                ..NONE_PRINTED
            };
            wrong_words.get_or_insert(first).words += 1;
        } else if text == "Test passed" {
            outcome = Some(Outcome::Pass);
        } else if text == "Test failed!" {
            outcome = Some(Outcome::Fail);
        }
    }
    match (outcome, pair) {
        (Some(outcome), Some(pair)) => {
            let mismatch = (outcome == Outcome::Fail).then(|| wrong_words.unwrap_or(NONE_PRINTED));
            checks(draft, pair, bytes, outcome, mismatch);
            draft.note(
                TOOL,
                "it tests one pair, and of that only that a kernel can load from the peer",
            );
            Ok(())
        }
        _ if refused => Ok(()),
        _ => Err(ConvertError::cut(
            section.last_line(),
            "simpleP2P's output: \"Test passed\" or \"Test failed!\" is its last line",
        )),
    }
}

fn wrong(line: &Line) -> ConvertError {
    ConvertError::damaged(line.number, "this is not as simpleP2P prints it")
}

/// `> Peer access from NVIDIA H200 (GPU0) -> NVIDIA H200 (GPU1) : Yes`.
fn access(draft: &mut Draft, line: &Line) -> Result<(), ConvertError> {
    let (from, rest) = line.text.split_once("->").ok_or_else(|| wrong(line))?;
    let (to, answer) = rest.rsplit_once(':').ok_or_else(|| wrong(line))?;
    let mut numbers = [0; 2];
    for (number, text) in numbers.iter_mut().zip([from, to]) {
        let (name, place) = text.rsplit_once("(GPU").ok_or_else(|| wrong(line))?;
        *number = place
            .trim()
            .trim_end_matches(')')
            .parse()
            .map_err(|_| wrong(line))?;
        let name = name.trim().trim_start_matches("> Peer access from");
        draft.name_gpu(*number, name, None, (TOOL, line.number))?;
    }
    let granted = match answer.trim() {
        "Yes" => true,
        "No" => false,
        _ => return Err(wrong(line)),
    };
    let [from, to] = numbers;
    if from == to {
        return Err(wrong(line));
    }
    draft.access(from, to, granted, TOOL);
    Ok(())
}

/// `cudaMemcpyPeer / cudaMemcpy between GPU0 and GPU1: 342.76GB/s`, there and back in turns.
fn bandwidth(draft: &mut Draft, line: &Line, bytes: u64) -> Result<(u32, u32), ConvertError> {
    let text = line.text.trim();
    let number = |found: Option<&str>| {
        found
            .and_then(|digits| digits.parse().ok())
            .ok_or_else(|| wrong(line))
    };
    let from: u32 = number(between(text, "between GPU", " "))?;
    let to: u32 = number(between(text, "and GPU", ":"))?;
    let rate = text
        .rsplit_once(": ")
        .and_then(|(_, rate)| rate.strip_suffix("GB/s"))
        .ok_or_else(|| wrong(line))?;
    let rate = figure(rate, line.number)? * GIBIBYTE;
    if from == to {
        return Err(wrong(line));
    }
    let of = Figure {
        metric: "d2d_bandwidth_there_and_back",
        unit: "GB/s",
        engine: Engine::Ce,
        operation: Operation::Other,
        bytes,
        peer_access: Some(true),
    };
    draft.measure(of, (Some(from), Some(to)), Ok(rate), line.number)?;
    Ok((from, to))
}

fn checks(
    draft: &mut Draft,
    (from, to): (u32, u32),
    bytes: u64,
    outcome: Outcome,
    mismatch: Option<Mismatch>,
) {
    for (initiator, owner) in [(from, to), (to, from)] {
        draft.direction(initiator, owner).checks.push(Check {
            rung: 4,
            name: "sm_load".to_owned(),
            engine: Engine::Sm,
            outcome,
            reason: (outcome == Outcome::Fail).then(|| {
                "simpleP2P's data was wrong behind loads in both directions; it does not tell which"
                    .to_owned()
            }),
            reason_code: None,
            earlier_code: None,
            call: None,
            code: None,
            code_name: None,
            checked_by: "initiator_kernel".to_owned(),
            bytes,
            windows: 0,
            spread_bytes: 0,
            mismatch,
            seconds: 0.0,
            rerun: false,
        });
    }
}
