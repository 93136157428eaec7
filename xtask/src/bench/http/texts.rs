//! Messages and queries that mean something to the server: made from the signatures of its own records.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

pub(super) fn documents(program: &Path, data: &Path) -> Result<Vec<Value>> {
    let mut export = Command::new(program);
    let output = export.args(["export", "--data-dir"]).arg(data).output();
    let text = String::from_utf8(output.context("could not export")?.stdout)?;
    let document = |line: &str| {
        let line: Value = serde_json::from_str(line)?;
        let document = line.get("document").and_then(Value::as_str);
        Ok(serde_json::from_str(
            document.context("a line without a document")?,
        )?)
    };
    text.lines().map(document).collect()
}

pub(super) fn signatures(documents: &[Value]) -> Result<Vec<String>> {
    let signature = |document: &Value| {
        let signature = document.get("signature").and_then(Value::as_str);
        Ok(signature.context("a document without a signature")?.to_owned())
    };
    documents.iter().map(signature).collect()
}

/// Log lines, each with a signature, a time and a process of its own.
pub(super) fn messages(signatures: &[String], count: usize) -> Vec<String> {
    let picked = signatures.iter().cycle().take(count).enumerate();
    picked
        .map(|(number, signature)| {
            let (second, millisecond) = (number / 1_000 % 60, number % 1_000);
            format!(
                "2026-11-21 03:14:{second:02}.{millisecond:03} node{:02} trainer[{}]: {signature}\n",
                number % 64,
                2_000 + number
            )
        })
        .collect()
}

/// Neighbouring words of the signatures, put one behind the other: `words` of them for each query, each query once. The
/// queries begin as far from each other as they can.
pub(super) fn queries(signatures: &[String], words: usize, count: usize) -> Vec<String> {
    let all: Vec<&str> = signatures
        .iter()
        .flat_map(|signature| signature.split_whitespace())
        .collect();
    let step = (all.len() / count.max(1)).max(1);
    let mut seen = BTreeSet::new();
    let windows = all.windows(words).step_by(step).map(|window| window.join(" "));
    windows
        .filter(|query| seen.insert(query.clone()))
        .take(count)
        .collect()
}

/// A text as it may stand in a query.
pub(super) fn escaped(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                char::from(byte).to_string()
            }
            _ => format!("%{byte:02X}"),
        })
        .collect()
}
