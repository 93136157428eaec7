//! nvbandwidth's table: `Running NAME.`, a description, the table, `SUM NAME n`; three tables where both ways are told.

use super::{TOOL, check_sum, cuda_version, device, driver_version, take};
use crate::convert::Options;
use crate::convert::draft::Draft;
use crate::convert::error::ConvertError;
use crate::convert::format::Section;
use crate::convert::lines::Line;
use crate::convert::matrix::{self, Matrix, figure};
use crate::report::Failure;

struct Running {
    name: String,
    line: usize,
    tables: Vec<Matrix>,
    /// True between a table and its sum.
    owes_sum: bool,
    /// True when nvbandwidth said why it has none.
    excused: bool,
}

pub(in crate::convert) fn read(
    draft: &mut Draft,
    section: &Section<'_>,
    options: &Options,
) -> Result<(), ConvertError> {
    let mut lines = section.lines.iter().peekable();
    let mut running: Option<Running> = None;
    let mut ended = false;
    let mut stopped = false;
    let mut version = None;
    while let Some(line) = lines.next() {
        let text = line.text.trim();
        if let Some(name) = text
            .strip_prefix("Running ")
            .and_then(|rest| rest.strip_suffix('.'))
        {
            close(draft, running.take(), options)?;
            running = Some(Running {
                name: name.to_owned(),
                line: line.number,
                tables: Vec::new(),
                owes_sum: false,
                excused: false,
            });
        } else if let Some(rest) = text.strip_prefix("SUM ") {
            sum(running.as_mut(), rest, line)?;
        } else if (text.ends_with("(GB/s)") || text.ends_with("(ns)"))
            && let Some(test) = running.as_mut()
        {
            if test.owes_sum {
                return Err(ConvertError::damaged(
                    line.number,
                    format!("{} has a table without its sum", test.name),
                ));
            }
            test.tables
                .push(matrix::read(&mut lines, (&test.name, line.number), None)?);
            test.owes_sum = true;
        } else if let Some(test) = running.as_mut()
            && (text.starts_with("Waived") || text.contains("waived"))
        {
            test.excused = true;
            draft.note(TOOL, format!("it waived {}", test.name));
        } else if text.contains("ERROR") || text.starts_with("[CUDA_ERROR") || text.starts_with("Error") {
            stopped = true;
            let step = running.as_ref().map_or("nvbandwidth".to_owned(), |test| {
                format!("nvbandwidth {}", test.name)
            });
            if let Some(test) = running.as_mut() {
                test.excused = true;
            }
            draft.failures.push(Failure::new(step, text));
        } else if text.starts_with("NOTE: The reported results") {
            ended = true;
        } else if running.is_none() {
            preamble(draft, text, &mut version, line)?;
        }
    }
    let nothing = running.is_none();
    close(draft, running, options)?;
    if nothing && !stopped {
        return Err(ConvertError::cut(
            section.last_line(),
            "what nvbandwidth prints before its first test",
        ));
    }
    if stopped {
        draft.note(TOOL, "it stops at the first error, and loses the tests behind it");
    } else if !ended {
        draft.note(
            TOOL,
            "its closing note is missing: tests behind the last one may have been cut off",
        );
    }
    Ok(())
}

/// A test is whole when its last table has its sum.
fn close(draft: &mut Draft, running: Option<Running>, options: &Options) -> Result<(), ConvertError> {
    let Some(test) = running else { return Ok(()) };
    if test.excused {
        return Ok(());
    }
    if test.tables.is_empty() || test.owes_sum {
        return Err(ConvertError::cut(test.line, &test.name));
    }
    take(draft, &test.name, &test.tables, test.line, options)
}

/// `SUM host_to_device_memcpy_ce 111.05`; the name has a suffix where a test has three tables.
fn sum(running: Option<&mut Running>, rest: &str, line: &Line) -> Result<(), ConvertError> {
    let Some((name, word)) = rest.rsplit_once(' ') else {
        return Err(ConvertError::cut(line.number, "a sum"));
    };
    let sum = figure(word, line.number)?;
    match running {
        Some(test) if test.owes_sum && name.starts_with(&test.name) => {
            test.owes_sum = false;
            check_sum(name, test.tables.last(), sum, line.number)
        }
        _ => Err(ConvertError::damaged(
            line.number,
            format!("there is no table that {name} could be the sum of"),
        )),
    }
}

/// Versions, host and devices. The host's name stands alone between the versions and the devices.
fn preamble<'a>(
    draft: &mut Draft,
    text: &'a str,
    version: &mut Option<&'a str>,
    line: &Line,
) -> Result<(), ConvertError> {
    if let Some(number) = text.strip_prefix("CUDA Driver Version:") {
        let number = number
            .trim()
            .parse()
            .map_err(|_| ConvertError::damaged(line.number, "this is no version of CUDA"))?;
        cuda_version(draft, number);
    } else if let Some(found) = text.strip_prefix("Driver Version:") {
        driver_version(draft, found);
        *version = Some(found);
    } else if let Some((number, rest)) = text
        .strip_prefix("Device ")
        .and_then(|rest| rest.split_once(": "))
    {
        device(draft, number, rest, line.number)?;
        *version = None;
    } else if version.is_some() && !text.is_empty() && !text.contains(char::is_whitespace) {
        draft.on_host(text, line.number)?;
    }
    Ok(())
}
