//! nvbandwidth, table and JSON.
//!
//! What its output gets wrong or leaves out (read in its source, v0.8): the arrows in the labels of device-to-device
//! tests point against the flow of read and of write alike, so the direction is taken from the test's name; in JSON
//! the three tables of a test of both ways stand in one array under the last one's label and sum; "CUDA Runtime
//! Version" is the driver's; the SM "read" variants of all-to-one and one-to-all push; the buffer's size is not said.

mod case;
mod json;
mod text;

pub(super) use json::{is_json, read as json};
pub(super) use text::read as text;

use case::{Case, Layout, case};

use super::Options;
use super::draft::{Draft, parse_address};
use super::error::ConvertError;
use super::matrix::Matrix;
use crate::report::{Engine, Fact, Operation, fact_name};

const TOOL: &str = "nvbandwidth";
/// Its buffer without `-b`, in bytes.
const BUFFER_BYTES: u64 = 512 << 20;
/// A table's figures and its sum may differ by rounding only: two decimals each in text, six digits in JSON.
const ROUNDING: (f64, f64) = (0.01, 1e-5);

/// Takes the tables of one test: one, or three where both ways are told apart.
fn take(
    draft: &mut Draft,
    name: &str,
    tables: &[Matrix],
    line: usize,
    options: &Options,
) -> Result<(), ConvertError> {
    let Some(Case { layout, figure }) = case(name, options.bytes.unwrap_or(BUFFER_BYTES)) else {
        draft.note(TOOL, format!("the test {name} is not known here and left out"));
        return Ok(());
    };
    if options.bytes.is_none() {
        draft.note(
            TOOL,
            "its output does not tell the size of its buffer: 512 MiB, its default, is assumed (--bytes says otherwise)",
        );
    }
    if figure.engine == Engine::Sm
        && name.contains("_read_")
        && matches!(layout, Layout::IntoOne | Layout::OutOfOne)
    {
        draft.note(
            TOOL,
            "its SM read tests of all-to-one and one-to-all really push: they are kept as further samples of push",
        );
    }
    if layout.is_square() && !tables.iter().all(Matrix::is_square) {
        return Err(ConvertError::damaged(
            line,
            format!("the table of {name} is not square"),
        ));
    }
    // Both ways: one direction, the other one, and the sum of the two.
    let parts = match (layout, tables.len()) {
        (Layout::Both { push }, 3) => vec![
            (
                if push { Layout::Push } else { Layout::Pull },
                "d2d_bandwidth_beside_opposite",
            ),
            (
                if push { Layout::Pull } else { Layout::Push },
                "d2d_bandwidth_beside_opposite",
            ),
            (layout, figure.metric),
        ],
        (_, 1) => vec![(layout, figure.metric)],
        (_, count) => {
            return Err(ConvertError::damaged(line, format!("{name} has {count} tables")));
        }
    };
    for ((layout, metric), table) in parts.into_iter().zip(tables) {
        let figure = super::draft::Figure { metric, ..figure };
        for (row, column, value, line) in table.cells() {
            let Some(ends) = layout.ends(row, column) else {
                if value.is_some() {
                    return Err(ConvertError::damaged(
                        line,
                        format!("{name} has a figure where none can be"),
                    ));
                }
                continue;
            };
            draft.measure(
                figure,
                ends,
                value.ok_or("nvbandwidth says N/A: no peer access"),
                line,
            )?;
        }
    }
    Ok(())
}

/// The sum below a table, which is of the last one.
fn check_sum(name: &str, table: Option<&Matrix>, sum: f64, line: usize) -> Result<(), ConvertError> {
    let Some(table) = table else { return Ok(()) };
    let found = table.sum();
    let cells = u32::try_from(table.cells().count()).map_or(f64::MAX, f64::from);
    if (found - sum).abs() > ROUNDING.0 * (cells + 1.0) + ROUNDING.1 * sum {
        return Err(ConvertError::damaged(
            line,
            format!("the figures of {name} add up to {found:.2}, not to {sum:.2}"),
        ));
    }
    Ok(())
}

/// `NVIDIA H200 (00000000:00:06)`.
fn device(draft: &mut Draft, number: &str, rest: &str, line: usize) -> Result<(), ConvertError> {
    let wrong = || ConvertError::damaged(line, "this is no device as nvbandwidth lists it");
    let number: u32 = number.trim().parse().map_err(|_| wrong())?;
    let (name, address) = rest.trim().rsplit_once(" (").ok_or_else(wrong)?;
    let address = parse_address(address.trim_end_matches(')')).ok_or_else(wrong)?;
    draft.name_gpu(number, name, Some(address), (TOOL, line))
}

/// `13000` of CUDA 13.0.
fn cuda_version(draft: &mut Draft, number: u64) {
    let version = format!("{}.{}", number / 1000, number % 1000 / 10);
    draft.host.insert(
        fact_name::CUDA_VERSION.to_owned(),
        Fact::read(version.into(), TOOL),
    );
}

fn driver_version(draft: &mut Draft, version: &str) {
    draft.host.insert(
        fact_name::DRIVER_VERSION.to_owned(),
        Fact::read(version.trim().into(), TOOL),
    );
}

/// Nobody issues a copy from host memory but its GPU.
const OTHER: Operation = Operation::Other;
