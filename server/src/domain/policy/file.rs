//! `policy.toml`, read strictly: what is not understood is refused with its line and the nearest name.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use kb_core::near::choices;
use kb_core::policy::{Code, KNOWN_MODELS, Policy, Rule, check_by};
use kb_core::report::Meaning;
use toml_edit::{Document, Item, TableLike, Value};

use super::names::Names;
use crate::domain::labels;

/// Longest file, in bytes.
pub const MAX_BYTES: usize = 256 * 1024;

const HEAD: [&str; 2] = ["models", "rule"];
const KEYS: [&str; 7] = ["code", "is", "count", "window", "model", "label", "reason"];
const UNITS: [(&str, u64); 4] = [("min", 60), ("h", 3_600), ("d", 86_400), ("s", 1)];

/// Something that is wrong with the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// From 1.
    pub line: usize,
    pub told: String,
}

/// A file that is refused, with all that is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct FileError(pub Vec<Fault>);

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.0.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            write!(f, "line {}: {}", fault.line, fault.told)?;
        }
        Ok(())
    }
}

/// Reads a policy. `records`: ids of all records that there are.
pub fn read(text: &str, records: &[&str]) -> Result<Policy, FileError> {
    read_by(text, &Names::of_ids(records))
}

/// The same by what records are called and tell of.
pub fn read_by(text: &str, names: &Names<'_>) -> Result<Policy, FileError> {
    let one = |line: usize, told: String| FileError(vec![Fault { line, told }]);
    if text.len() > MAX_BYTES {
        return Err(one(
            1,
            format!("the file has {} bytes, the limit is {MAX_BYTES}", text.len()),
        ));
    }
    let document = Document::parse(text).map_err(|error| {
        let told = error.message().lines().next().unwrap_or_default().to_owned();
        one(line_of(text, error.span()), format!("this is not TOML: {told}"))
    })?;
    let mut reader = Reader {
        text,
        records: &names.all,
        faults: Vec::new(),
    };
    let (rules, lines, models) = reader.file(document.as_table());
    let policy = Policy::of(rules);
    let mut faults = reader.faults;
    // Rules that could not be read are left out, and what is said of the others would count them wrong.
    if faults.is_empty() {
        let models: Vec<&str> = KNOWN_MODELS
            .iter()
            .copied()
            .chain(models.iter().map(String::as_str))
            .collect();
        for fault in check_by(&policy, &models, |id| names.tells_of_loss(id)) {
            let index = usize::try_from(fault.rule).unwrap_or_default().checked_sub(1);
            let line = index.and_then(|index| lines.get(index));
            let of_key = line.and_then(|line| line.keys.get(fault.key).or(Some(&line.rule)));
            faults.push(Fault {
                line: of_key.copied().unwrap_or(1),
                told: format!("rule {}, {}: {}", fault.rule, fault.key, fault.told),
            });
        }
    }
    if faults.is_empty() {
        return Ok(policy);
    }
    faults.sort_by_key(|fault| fault.line);
    Err(FileError(faults))
}

/// Where a rule and its keys stand.
#[derive(Default)]
struct Lines {
    rule: usize,
    keys: BTreeMap<String, usize>,
}

struct Reader<'t> {
    text: &'t str,
    records: &'t [&'t str],
    faults: Vec<Fault>,
}

impl Reader<'_> {
    fn fault(&mut self, line: usize, told: String) {
        self.faults.push(Fault { line, told });
    }

    fn line(&self, span: Option<Range<usize>>) -> usize {
        line_of(self.text, span)
    }

    fn key_line(&self, table: &dyn TableLike, key: &str) -> usize {
        self.line(table.key(key).and_then(toml_edit::Key::span))
    }

    fn unknown(&mut self, table: &dyn TableLike, known: &[&str], place: &str) {
        for (key, _) in table.iter() {
            if !known.contains(&key) {
                let line = self.key_line(table, key);
                self.fault(
                    line,
                    format!("{key:?} is no key of {place}: {}", choices(key, known)),
                );
            }
        }
    }

    fn file(&mut self, table: &dyn TableLike) -> (Vec<Rule>, Vec<Lines>, Vec<String>) {
        self.unknown(table, &HEAD, "the file");
        let models = match table.get("models") {
            None => Vec::new(),
            Some(item) => self.models(table, item),
        };
        let (mut rules, mut lines) = (Vec::new(), Vec::new());
        let written = table.get("rule");
        if let Some(all) = written.and_then(Item::as_array_of_tables) {
            for table in all {
                if let Some((rule, at)) = self.rule(table, self.line(table.span())) {
                    rules.push(rule);
                    lines.push(at);
                }
            }
        } else if written.is_some() {
            let line = self.key_line(table, "rule");
            let wrong = "rules are written as [[rule]], one below the other".to_owned();
            self.fault(line, wrong);
        }
        (rules, lines, models)
    }

    fn models(&mut self, table: &dyn TableLike, item: &Item) -> Vec<String> {
        let names = item
            .as_array()
            .map(|array| array.iter().map(Value::as_str).collect::<Option<Vec<&str>>>());
        if let Some(Some(names)) = names {
            return names.into_iter().map(str::to_owned).collect();
        }
        let line = self.key_line(table, "models");
        self.fault(line, "models is a list of names, as [\"NVIDIA H200\"]".to_owned());
        Vec::new()
    }

    fn rule(&mut self, table: &dyn TableLike, line: usize) -> Option<(Rule, Lines)> {
        let before = self.faults.len();
        self.unknown(table, &KEYS, "a rule");
        let keys = table
            .iter()
            .map(|(key, _)| (key.to_owned(), self.key_line(table, key)))
            .collect();
        let code = self.needed(table, line, "code", "what the rule is about, as \"xid 63\"");
        let code = code.and_then(|text| match Code::parse(&text, self.records) {
            Ok(code) => Some(code),
            Err(error) => {
                let line = self.key_line(table, "code");
                self.fault(line, error.to_string());
                None
            }
        });
        let is = self.needed(table, line, "is", "what it is here, as \"event\"");
        let is = is.and_then(|word| self.meaning(table, &word));
        let reason = self.needed(table, line, "reason", "why the site decides so");
        let count = self.count(table);
        let window_seconds = self.window(table);
        let model = self.text(table, "model");
        let label = self.label(table);
        let (code, is, reason) = (code?, is?, reason?);
        let rule = Rule {
            number: 0,
            code,
            is,
            count,
            window_seconds,
            model,
            label,
            reason,
        };
        (self.faults.len() == before).then_some((rule, Lines { rule: line, keys }))
    }

    fn text(&mut self, table: &dyn TableLike, key: &str) -> Option<String> {
        let item = table.get(key)?;
        let text = item.as_str().map(str::to_owned);
        if text.is_none() {
            let line = self.key_line(table, key);
            self.fault(line, format!("{key} is a text in quotation marks"));
        }
        text
    }

    fn needed(&mut self, table: &dyn TableLike, line: usize, key: &str, what: &str) -> Option<String> {
        if table.get(key).is_none() {
            self.fault(line, format!("the rule has no {key}: {what}"));
        }
        self.text(table, key)
    }

    fn meaning(&mut self, table: &dyn TableLike, word: &str) -> Option<Meaning> {
        let found = Meaning::ALL.into_iter().find(|meaning| meaning.word() == word);
        if found.is_none() {
            let line = self.key_line(table, "is");
            let words = Meaning::ALL.map(Meaning::word);
            self.fault(
                line,
                format!("is = {word:?} says nothing: {}", choices(word, &words)),
            );
        }
        found
    }

    fn count(&mut self, table: &dyn TableLike) -> Option<u32> {
        let item = table.get("count")?;
        let count = item.as_integer().and_then(|count| u32::try_from(count).ok());
        if count.is_none() {
            let line = self.key_line(table, "count");
            self.fault(line, "count is a whole number, as 3".to_owned());
        }
        count
    }

    fn window(&mut self, table: &dyn TableLike) -> Option<u64> {
        let text = self.text(table, "window")?;
        let window = UNITS.iter().find_map(|(unit, size)| {
            let number = text.strip_suffix(unit)?.trim();
            number.parse::<u64>().ok()?.checked_mul(*size)
        });
        if window.is_none() {
            let line = self.key_line(table, "window");
            self.fault(
                line,
                format!("window = {text:?} is no time: write \"24h\", \"90min\", \"30s\" or \"7d\""),
            );
        }
        window
    }

    fn label(&mut self, table: &dyn TableLike) -> BTreeMap<String, String> {
        let Some(item) = table.get("label") else {
            return BTreeMap::new();
        };
        let line = self.key_line(table, "label");
        let pairs = item.as_table_like().map(|pairs| {
            let pairs = pairs
                .iter()
                .map(|(name, value)| Some((name.to_owned(), value.as_str()?.to_owned())));
            pairs.collect::<Option<BTreeMap<String, String>>>()
        });
        let Some(Some(label)) = pairs else {
            self.fault(
                line,
                "label names labels with their values, as { pool = \"test\" }".to_owned(),
            );
            return BTreeMap::new();
        };
        if label.is_empty() {
            self.fault(line, "label is empty: name a label, or leave it out".to_owned());
        }
        if let Err(why) = labels::check(&label) {
            self.fault(line, format!("label: {why}"));
        }
        label
    }
}

fn line_of(text: &str, span: Option<Range<usize>>) -> usize {
    let end = span.map_or(0, |span| span.start);
    let before = text.as_bytes().get(..end).unwrap_or_default();
    memchr::memchr_iter(b'\n', before).count() + 1
}

#[cfg(test)]
mod tests;
