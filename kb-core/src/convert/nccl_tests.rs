//! nccl-tests: one line a size, out of place and in place.
//!
//! Its "Avg bus bandwidth" is over all sizes of the sweep and comparable with nothing else, so it is left out. Where
//! the size is smaller than the number of ranks some collectives move nothing and print 0 bytes: these lines are too.

use super::Options;
use super::draft::{Draft, Figure, parse_address};
use super::error::ConvertError;
use super::format::Section;
use super::lines::{Line, between};
use super::matrix::figure;
use crate::report::{Engine, Failure, Operation};
use crate::verdict::cause;

const TOOL: &str = "nccl-tests";
/// Figures are printed with two decimals, or fewer where they are large: time, bandwidth and size must fit together.
const ROUNDING: f64 = 0.02;

/// Reads the output of one program.
pub(super) fn read(draft: &mut Draft, section: &Section<'_>, options: &Options) -> Result<(), ConvertError> {
    let mut ranks = Vec::new();
    let mut ended = false;
    let mut sizes = 0;
    let mut name = options.collective.clone().or_else(|| program(section.command));
    for line in &section.lines {
        let text = line.text.trim();
        if let Some(found) = text.strip_prefix("# Collective test starting:") {
            name = program(found);
        } else if let Some(rest) = text
            .strip_prefix("#")
            .map(str::trim_start)
            .filter(|rest| rest.starts_with("Rank "))
        {
            ranks.push(rank(draft, rest, line)?);
        } else if let Some(count) = text.strip_prefix("# Out of bounds values") {
            if count.contains("FAILED") && draft.failures.is_empty() {
                let count = count.trim_start_matches([' ', ':']);
                let told = format!("values out of bounds: {count}");
                draft.failures.push(wrong_data(TOOL.to_owned(), told));
            }
            ended = true;
        } else if text.starts_with("# Avg bus bandwidth") {
            ended = true;
        } else if text.contains("Test NCCL failure") || text.contains("Test CUDA failure") {
            draft.failures.push(Failure::new(TOOL, text));
            ended = true;
        } else if !ended && text.starts_with(|c: char| c.is_ascii_digit()) {
            let Some(name) = &name else {
                return Err(ConvertError::at(
                    line.number,
                    "the output does not tell which collective it is of, as nccl-tests before 2.17",
                    "name it: --collective all_reduce",
                ));
            };
            let first = ranks.iter().min().copied().ok_or_else(|| {
                ConvertError::damaged(line.number, "there are figures before the list of ranks")
            })?;
            row(draft, name, first, line)?;
            sizes += 1;
        }
    }
    if !ended {
        return Err(ConvertError::cut(
            section.last_line(),
            "the table of nccl-tests: \"# Out of bounds values\" stands behind it",
        ));
    }
    if sizes == 0 && draft.failures.is_empty() {
        return Err(ConvertError::cut(section.last_line(), "the head of nccl-tests"));
    }
    if ranks.len() > 1 {
        let count = ranks.len();
        let name = name.as_deref().unwrap_or("?");
        draft.host.insert(
            format!("nccl_tests.{name}.ranks"),
            crate::report::Fact::read(count.into(), TOOL),
        );
    }
    Ok(())
}

/// `all_reduce` of `./build/all_reduce_perf -b 8`.
fn program(command: &str) -> Option<String> {
    let word = command.split_whitespace().find_map(|word| {
        word.strip_suffix("_perf")
            .or_else(|| word.strip_suffix("_perf_mpi"))
    })?;
    let name = word.rsplit('/').next()?;
    let is_name = !name.is_empty()
        && name.len() <= 40
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    is_name.then(|| name.to_owned())
}

/// `Rank  0 Group  0 Pid   1648 on         vm device  0 [0000:00:06] NVIDIA H200`; the device's number.
fn rank(draft: &mut Draft, text: &str, line: &Line) -> Result<u32, ConvertError> {
    let wrong = || ConvertError::damaged(line.number, "this is no rank as nccl-tests lists it");
    let host = between(text, " on ", " device ")
        .map(str::trim)
        .ok_or_else(wrong)?;
    let (_, rest) = text.split_once(" device ").ok_or_else(wrong)?;
    let (number, rest) = rest.split_once('[').ok_or_else(wrong)?;
    let (place, name) = rest.split_once(']').ok_or_else(wrong)?;
    let number: u32 = number.trim().parse().map_err(|_| wrong())?;
    draft.on_host(host, line.number)?;
    // Older versions print the bus alone, as 0x3b.
    draft.name_gpu(number, name, parse_address(place), (TOOL, line.number))?;
    Ok(number)
}

/// `size count type redop root  time algbw busbw #wrong  time algbw busbw #wrong`; without reduction a column less in
/// some versions, so the eight figures are counted from the end.
fn row(draft: &mut Draft, name: &str, first: u32, line: &Line) -> Result<(), ConvertError> {
    let words: Vec<&str> = line.words().collect();
    let wrong = || {
        ConvertError::damaged(
            line.number,
            format!("this line of {name} has {} columns, not 12 or 13", words.len()),
        )
    };
    if !(12..=13).contains(&words.len()) {
        return Err(wrong());
    }
    let bytes: u64 = words
        .first()
        .and_then(|word| word.parse().ok())
        .ok_or_else(wrong)?;
    let figures = words.get(words.len() - 8..).ok_or_else(wrong)?;
    if bytes == 0 {
        return Ok(());
    }
    for (figures, in_place) in figures.chunks_exact(4).zip([false, true]) {
        let [time, algorithm, bus, bad] = figures else {
            continue;
        };
        let (time, algorithm, bus) = (
            figure(time, line.number)?,
            figure(algorithm, line.number)?,
            figure(bus, line.number)?,
        );
        check(bytes, time, algorithm, line)?;
        let suffix = if in_place { "_in_place" } else { "" };
        if *bad != "N/A" {
            let wrong_values: f64 = figure(bad, line.number)?;
            if wrong_values > 0.0 {
                let step = format!("nccl-tests {name}{suffix} of {bytes} bytes");
                draft
                    .failures
                    .push(wrong_data(step, format!("{bad} values are wrong")));
            }
        }
        // A figure of all GPUs together, kept where the first one's own would be.
        let ends = (Some(first), Some(first));
        for (metric, unit, sample) in [("bus_bandwidth", "GB/s", bus), ("time", "us", time)] {
            let metric = format!("nccl_{name}_{metric}{suffix}");
            let of = Figure {
                metric: &metric,
                unit,
                engine: Engine::Nccl,
                operation: Operation::Other,
                bytes,
                peer_access: None,
            };
            draft.measure(of, ends, Ok(sample), line.number)?;
        }
    }
    Ok(())
}

/// Data that is wrong, whoever moved it.
fn wrong_data(step: String, message: String) -> Failure {
    Failure {
        cause: Some(cause::DATA_MISMATCH.to_owned()),
        record: "nccl/tests-wrong-results".parse().ok(),
        fix: Some(
            "Take the node out of use, and run the probe on each pair to find the link or GPU.".to_owned(),
        ),
        ..Failure::new(step, message)
    }
}

/// Bytes over time is the algorithm bandwidth; a digit that was lost shows here.
fn check(bytes: u64, time: f64, algorithm: f64, line: &Line) -> Result<(), ConvertError> {
    #[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^53")]
    let expected = bytes as f64 / time.max(1e-3) / 1e3;
    if (expected - algorithm).abs() > ROUNDING * expected + 0.01 {
        return Err(ConvertError::damaged(
            line.number,
            format!("{bytes} bytes in {time} us are {expected:.2} GB/s, and {algorithm} stands there"),
        ));
    }
    Ok(())
}
