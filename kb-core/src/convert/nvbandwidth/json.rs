//! nvbandwidth with `-j`.

use serde::Deserialize;
use serde_json::Value;

use super::{TOOL, check_sum, cuda_version, device, driver_version, take};
use crate::convert::Options;
use crate::convert::draft::Draft;
use crate::convert::error::ConvertError;
use crate::convert::lines::measured;
use crate::convert::matrix::{Matrix, Row};
use crate::report::Failure;

pub(in crate::convert) fn is_json(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    bytes.trim_ascii_start().starts_with(b"{")
}

/// Reads the first JSON text; what stands behind it belongs to a transcript.
pub(in crate::convert) fn read(
    draft: &mut Draft,
    bytes: &[u8],
    options: &Options,
) -> Result<(), ConvertError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut stream = serde_json::Deserializer::from_slice(bytes).into_iter::<Value>();
    let root = match stream.next() {
        Some(Ok(root)) => root,
        Some(Err(error)) if error.is_eof() => return Err(ConvertError::cut(error.line(), "its JSON")),
        Some(Err(error)) => {
            return Err(ConvertError::damaged(
                error.line(),
                format!("this is no JSON: {error}"),
            ));
        }
        None => return Err(ConvertError::cut(1, "nothing: it is empty")),
    };
    let Some(output) = root.get(TOOL) else {
        return Err(ConvertError::new(
            "this JSON has no \"nvbandwidth\"",
            "of JSON, only that of nvbandwidth -j is converted; of nccl-tests give the table (its JSON holds the whole environment)",
        ));
    };
    if let Some(number) = output.get("CUDA Runtime Version").and_then(Value::as_u64) {
        cuda_version(draft, number);
    }
    if let Some(version) = output.get("Driver Version").and_then(Value::as_str) {
        driver_version(draft, version);
    }
    for entry in list(output, "GPU Device list") {
        listed(draft, entry)?;
    }
    if let Some(error) = output.get("error").and_then(Value::as_str) {
        draft.failures.push(Failure::new(TOOL, error));
        draft.note(TOOL, "it stops at the first error, and loses the tests behind it");
    }
    if let Some(warning) = output.get("warning").and_then(Value::as_str) {
        draft.note(TOOL, format!("it warned: {warning}"));
    }
    let testcases = output.get("testcases").and_then(Value::as_array);
    if testcases.is_none() && draft.failures.is_empty() {
        return Err(ConvertError::new(
            "this JSON has no \"testcases\"",
            "give all that nvbandwidth -j printed",
        ));
    }
    for (number, test) in testcases.into_iter().flatten().enumerate() {
        testcase(draft, number, test, options)?;
    }
    Ok(())
}

fn list<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    value.get(name).and_then(Value::as_array).into_iter().flatten()
}

/// `"0: NVIDIA H200 (00000000:00:06): (vm)"`.
fn listed(draft: &mut Draft, entry: &Value) -> Result<(), ConvertError> {
    let wrong = || {
        ConvertError::new(
            format!("the device list holds {entry}"),
            "give nvbandwidth's output unchanged",
        )
    };
    let (number, rest) = entry
        .as_str()
        .and_then(|text| text.split_once(": "))
        .ok_or_else(wrong)?;
    let (rest, host) = rest.rsplit_once(": (").ok_or_else(wrong)?;
    device(draft, number, rest, 1).map_err(|_| wrong())?;
    draft.on_host(host.trim_end_matches(')'), 1)
}

#[derive(Deserialize)]
struct Testcase {
    name: String,
    status: String,
    #[serde(default)]
    bandwidth_description: String,
    #[serde(default)]
    bandwidth_matrix: Vec<Vec<String>>,
    sum: Option<f64>,
}

fn testcase(draft: &mut Draft, number: usize, value: &Value, options: &Options) -> Result<(), ConvertError> {
    let wrong = |what: String| {
        ConvertError::new(
            format!("testcases/{number}: {what}"),
            "give nvbandwidth's output unchanged",
        )
    };
    let test = Testcase::deserialize(value).map_err(|error| wrong(error.to_string()))?;
    match test.status.as_str() {
        "Passed" => {}
        "Waived" | "Not Found" => {
            draft.note(TOOL, format!("{}: {}", test.name, test.status));
            return Ok(());
        }
        status => {
            let failure = Failure::new(
                format!("nvbandwidth {}", test.name),
                format!("its status is {status}"),
            );
            draft.failures.push(failure);
            return Ok(());
        }
    }
    let columns = test.bandwidth_matrix.first().map_or(0, Vec::len);
    let mut rows = Vec::new();
    for row in &test.bandwidth_matrix {
        if row.len() != columns || columns == 0 {
            return Err(wrong(format!(
                "a row of {} has {} of {columns} values",
                test.name,
                row.len()
            )));
        }
        let mut values = Vec::new();
        for word in row {
            let value = (word != "N/A")
                .then(|| measured(word).ok_or_else(|| wrong(format!("{word:?} is no figure"))));
            values.push(value.transpose()?);
        }
        rows.push(Row { line: 1, values });
    }
    // The tables of a test of both ways follow each other in one array; label and sum are the last one's.
    let together = test.bandwidth_description.contains("Total") && rows.len() == 3 * columns;
    let height = if together { columns } else { rows.len() };
    let mut tables = Vec::new();
    let mut rows = rows.into_iter().peekable();
    while rows.peek().is_some() {
        tables.push(Matrix {
            rows: rows.by_ref().take(height).collect(),
        });
    }
    if let Some(sum) = test.sum {
        check_sum(&test.name, tables.last(), sum, 1).map_err(|error| wrong(error.what))?;
    }
    take(draft, &test.name, &tables, 1, options).map_err(|error| wrong(error.what))
}
