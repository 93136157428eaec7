//! The records of deadends.dev as the matcher takes them: id, signature, regex, domain and edges, as an import maps
//! them. Nothing of that repository is kept here.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use kb_core::ids::{RecordId, Revision};
use kb_core::signature::{PatternSpec, RecordSignatures};
use serde_json::Value;

/// One of their 20 scenarios.
pub(crate) struct Scenario {
    pub(crate) message: String,
    pub(crate) domain: String,
}

/// Every canon, in the order of their paths.
pub(crate) fn load(repository: &Path) -> Result<Vec<RecordSignatures>> {
    let mut files = Vec::new();
    collect(&repository.join("data/canons"), &mut files)?;
    files.sort();
    ensure!(!files.is_empty(), "no canons in {}", repository.display());
    files.iter().map(|file| read(file)).collect()
}

pub(crate) fn scenarios(repository: &Path) -> Result<Vec<Scenario>> {
    let list = json(&repository.join("benchmarks/error_scenarios.json"))?;
    let list = list.as_array().context("the scenarios are a list")?;
    list.iter()
        .map(|scenario| {
            Ok(Scenario {
                message: text(scenario, "/error_message")?,
                domain: text(scenario, "/expected_domain")?,
            })
        })
        .collect()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let entries = fs::read_dir(folder).with_context(|| format!("could not read {}", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "json") {
            files.push(path);
        }
    }
    Ok(())
}

fn read(file: &Path) -> Result<RecordSignatures> {
    let canon = json(file)?;
    let record = || -> Result<RecordSignatures> {
        Ok(RecordSignatures {
            id: text(&canon, "/id")?.parse()?,
            domain: text(&canon, "/error/domain")?,
            signature: text(&canon, "/error/signature")?,
            patterns: vec![PatternSpec {
                id: "0".to_owned(),
                regex: text(&canon, "/error/regex")?,
                flags: "i".to_owned(),
                captures: Vec::new(),
            }],
            leads_to: edges(&canon, "/transition_graph/leads_to"),
            ..empty()?
        })
    };
    record().with_context(|| format!("in {}", file.display()))
}

fn empty() -> Result<RecordSignatures> {
    Ok(RecordSignatures::empty("a/b".parse()?, Revision(1)))
}

fn edges(canon: &Value, pointer: &str) -> Vec<RecordId> {
    let edges = canon.pointer(pointer).and_then(Value::as_array);
    edges
        .into_iter()
        .flatten()
        .filter_map(|edge| edge.get("error_id")?.as_str()?.parse().ok())
        .collect()
}

fn json(file: &Path) -> Result<Value> {
    let text = fs::read_to_string(file).with_context(|| format!("could not read {}", file.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is no JSON", file.display()))
}

fn text(value: &Value, pointer: &str) -> Result<String> {
    let text = value.pointer(pointer).and_then(Value::as_str);
    Ok(text.with_context(|| format!("no text at {pointer}"))?.to_owned())
}
