//! The collected data, as `evaluation/README.md` describes it. What breaks that description is an error with file
//! and line.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;
use serde::de::DeserializeOwned;

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Origin {
    url: String,
    read_on: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Message {
    pub(crate) id: String,
    pub(crate) text: String,
    pub(crate) expect: Vec<String>,
    pub(crate) domain: String,
    origin: Origin,
    pub(crate) note: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Negative {
    pub(crate) id: String,
    pub(crate) text: String,
    origin: Origin,
    pub(crate) note: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Query {
    pub(crate) id: String,
    #[serde(rename = "query")]
    pub(crate) text: String,
    pub(crate) expect: Vec<String>,
    pub(crate) kind: Kind,
    #[serde(default)]
    origin: Option<Origin>,
    pub(crate) note: String,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    Code,
    Number,
    Symbol,
    Prose,
    Chinese,
    Typo,
    Prefix,
    Message,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::Number => "number",
            Self::Symbol => "symbol",
            Self::Prose => "prose",
            Self::Chinese => "chinese",
            Self::Typo => "typo",
            Self::Prefix => "prefix",
            Self::Message => "message",
        }
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LogLabels {
    pub(crate) faults: Vec<Fault>,
    pub(crate) domain: String,
    origin: Origin,
    #[serde(rename = "note")]
    _note: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Fault {
    pub(crate) line: u64,
    pub(crate) expect: Vec<String>,
    pub(crate) first_cause: bool,
    pub(crate) note: String,
}

#[derive(Debug)]
pub(crate) struct Log {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
    pub(crate) labels: LogLabels,
}

pub(crate) fn messages(folder: &Path) -> Result<Vec<Message>> {
    let items: Vec<Message> = lines(&folder.join("messages.jsonl"))?;
    distinct(items.iter().map(|item| item.id.as_str()))?;
    for item in &items {
        labelled(&item.id, &item.expect)?;
        sourced(&item.id, &item.origin)?;
    }
    Ok(items)
}

pub(crate) fn negatives(folder: &Path) -> Result<Vec<Negative>> {
    let items: Vec<Negative> = lines(&folder.join("negatives.jsonl"))?;
    distinct(items.iter().map(|item| item.id.as_str()))?;
    items
        .iter()
        .try_for_each(|item| sourced(&item.id, &item.origin))?;
    Ok(items)
}

pub(crate) fn queries(folder: &Path) -> Result<Vec<Query>> {
    let items: Vec<Query> = lines(&folder.join("queries.jsonl"))?;
    distinct(items.iter().map(|item| item.id.as_str()))?;
    for item in &items {
        labelled(&item.id, &item.expect)?;
        item.origin
            .as_ref()
            .map_or(Ok(()), |origin| sourced(&item.id, origin))?;
    }
    Ok(items)
}

/// The logs below `logs/`, by name.
pub(crate) fn logs(folder: &Path) -> Result<Vec<Log>> {
    let folder = folder.join("logs");
    let mut found = Vec::new();
    if !folder.is_dir() {
        return Ok(found);
    }
    for entry in fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.extension().is_none_or(|end| end != "log") {
            continue;
        }
        let name = path.file_stem().map(|name| name.to_string_lossy().into_owned());
        let name = name.unwrap_or_default();
        let bytes = fs::read(&path).with_context(|| path.display().to_string())?;
        let beside = path.with_extension("json");
        let text = fs::read_to_string(&beside).with_context(|| beside.display().to_string())?;
        let labels: LogLabels = serde_json::from_str(&text).with_context(|| beside.display().to_string())?;
        let lines = bytes.split(|&byte| byte == b'\n').count() as u64;
        for fault in &labels.faults {
            labelled(&name, &fault.expect)?;
            ensure!(
                (1..=lines).contains(&fault.line),
                "{name}: there is no line {}, the log has {lines}",
                fault.line
            );
        }
        ensure!(
            labels.faults.is_empty() || labels.faults.iter().any(|fault| fault.first_cause),
            "{name}: none of the faults is a first cause"
        );
        sourced(&name, &labels.origin)?;
        found.push(Log { name, bytes, labels });
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

/// The objects of a file with one on each line; none where there is no file.
fn lines<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>> {
    if !path.try_exists()? {
        eprintln!("note: there is no {}", path.display());
        return Ok(Vec::new());
    }
    let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let item = serde_json::from_str(line);
        found.push(item.with_context(|| format!("{}:{}", path.display(), index + 1))?);
    }
    Ok(found)
}

fn distinct<'i>(ids: impl Iterator<Item = &'i str>) -> Result<()> {
    let mut seen = BTreeSet::new();
    for id in ids {
        let is_well_formed = id
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
        ensure!(is_well_formed && !id.is_empty(), "{id:?}: an id is [a-z0-9-]+");
        if !seen.insert(id) {
            bail!("{id} stands twice");
        }
    }
    Ok(())
}

fn labelled(id: &str, expect: &[String]) -> Result<()> {
    ensure!(!expect.is_empty(), "{id}: \"expect\" is empty");
    Ok(())
}

fn sourced(id: &str, origin: &Origin) -> Result<()> {
    let Origin { url, read_on } = origin;
    ensure!(
        url.starts_with("https://") || url.starts_with("http://"),
        "{id}: {url:?} is no address of a page"
    );
    let digits = read_on.bytes().filter(u8::is_ascii_digit).count();
    ensure!(digits == 8 && read_on.len() == 10, "{id}: {read_on:?} is no day");
    Ok(())
}
