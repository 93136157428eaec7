//! Messages and queries that mean something to the server: made from the signatures of its own records.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

/// The document of every published record.
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

/// Their signatures.
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

/// Three neighbouring words of a signature, each combination once; fewer than `count` where there are no more.
pub(super) fn queries(signatures: &[String], count: usize) -> Vec<String> {
    let words: Vec<Vec<&str>> = signatures
        .iter()
        .map(|signature| signature.split_whitespace().collect())
        .collect();
    let longest = words.iter().map(Vec::len).max().unwrap_or_default();
    let mut seen = BTreeSet::new();
    let mut queries = Vec::new();
    for place in 0..longest {
        for signature in &words {
            let end = signature.len().min(place + 3);
            let Some(window) = signature.get(place..end).filter(|window| !window.is_empty()) else {
                continue;
            };
            let query = window.join(" ");
            if queries.len() < count && seen.insert(query.clone()) {
                queries.push(query);
            }
        }
    }
    queries
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
