//! Answers as a SARIF 2.1.0 log (OASIS standard, 27 March 2020), for annotations in CI: a rule for each record, a result
//! for each record and file, at the first line on which the record stands.

use std::collections::HashMap;
use std::path::Path;

use kb_core::annex::Severity;
use kb_core::ids::RecordId;
use kb_core::scanner::{Applies, Match, MatchedLine};
use serde_json::{Value, json};

use super::explain::{Explainer, Facts};
use super::input::Input;
use crate::domain::lookup::MatchAnswer;

/// Address of the schema, as the standard writes it.
const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// The rule of lines that no record explains. No record has this id: theirs have a domain.
const UNEXPLAINED: &str = "unexplained-line";
const UNEXPLAINED_TEXT: &str = "The line looks like an error, and no record explains it";
const MORE_TEXT: &str = "The file may have more lines that look like errors and that no record explains: not all of them were looked at or are listed";

#[derive(Debug, Default)]
pub(super) struct Sarif {
    rules: Vec<Value>,
    rule_of: HashMap<RecordId, Rule>,
    /// The place of the rule of what no record explains.
    unexplained_rule: Option<usize>,
    results: Vec<Value>,
    failures: Vec<Value>,
}

/// What results need of a record's rule.
#[derive(Debug, Clone)]
struct Rule {
    /// Its place in the list of rules.
    index: usize,
    level: &'static str,
    /// What an annotation says first: signature and cause.
    headline: String,
}

/// What a match is among those of its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Alone,
    Cause,
    /// It goes when its cause is mended.
    Consequence,
}

impl Sarif {
    /// Adds what was found in a text.
    pub(super) fn add(
        &mut self,
        input: &Input,
        answer: &MatchAnswer,
        explainer: &dyn Explainer,
    ) -> anyhow::Result<()> {
        // First what the rest comes from, in its order; then the rest as it was ranked.
        let place = |found: &Match| answer.root_causes.iter().position(|cause| cause.id == found.id);
        let mut matches: Vec<(Option<usize>, &Match)> =
            answer.matches.iter().map(|found| (place(found), found)).collect();
        matches.sort_by_key(|(place, _)| place.unwrap_or(usize::MAX));
        for (place, found) in matches {
            let rule = self.rule(&found.id, explainer)?;
            let part = match place {
                _ if answer.matches.len() == 1 => Part::Alone,
                Some(_) => Part::Cause,
                None => Part::Consequence,
            };
            self.results.push(result(input, found, &rule, part));
        }
        self.add_unexplained(input, answer);
        Ok(())
    }

    /// Adds the lines that look like errors and that no record explains. Where nothing else was found they are all there is.
    fn add_unexplained(&mut self, input: &Input, answer: &MatchAnswer) {
        let Some(unexplained) = &answer.unexplained else {
            return;
        };
        let index = *self.unexplained_rule.get_or_insert_with(|| {
            self.rules.push(unexplained_rule());
            self.rules.len() - 1
        });
        let level = if answer.has_error() { "note" } else { "warning" };
        let mut add = |message: String, location: Value| {
            self.results.push(json!({
                "ruleId": UNEXPLAINED,
                "ruleIndex": index,
                "level": level,
                "message": {"text": message},
                "locations": [location],
            }));
        };
        for line in &unexplained.lines {
            let text = line.text.as_deref();
            let message = format!("{UNEXPLAINED_TEXT}: {}", text.unwrap_or_default());
            add(message, region(input, line.line, text));
        }
        if unexplained.are_more {
            add(MORE_TEXT.to_owned(), file(input));
        }
    }

    /// Adds a text that could not be read.
    pub(super) fn fail(&mut self, input: &Input, why: &str) {
        self.failures.push(json!({
            "level": "error",
            "message": {"text": why},
            "locations": [file(input)],
        }));
    }

    pub(super) fn log(self) -> Value {
        json!({
            "$schema": SCHEMA,
            "version": "2.1.0",
            "runs": [{
                "tool": {"driver": {
                    "name": "Peerless",
                    "version": env!("CARGO_PKG_VERSION"),
                    "semanticVersion": env!("CARGO_PKG_VERSION"),
                    "rules": self.rules,
                }},
                "invocations": [{
                    "executionSuccessful": self.failures.is_empty(),
                    "toolExecutionNotifications": self.failures,
                }],
                "results": self.results,
            }],
        })
    }

    /// A record's rule, which is made at its first result.
    fn rule(&mut self, id: &RecordId, explainer: &dyn Explainer) -> anyhow::Result<Rule> {
        if let Some(known) = self.rule_of.get(id) {
            return Ok(known.clone());
        }
        let facts = explainer.facts(id)?;
        let made = Rule {
            index: self.rules.len(),
            level: level(facts.severity),
            headline: format!("{}: {}", facts.signature, facts.root_cause),
        };
        self.rules.push(rule(id, &facts, made.level));
        self.rule_of.insert(id.clone(), made.clone());
        Ok(made)
    }
}

fn unexplained_rule() -> Value {
    json!({
        "id": UNEXPLAINED,
        "shortDescription": {"text": UNEXPLAINED_TEXT},
        "fullDescription": {"text": UNEXPLAINED_TEXT},
        "help": {"text": "Read the line: it may be an error that is not known yet."},
        "defaultConfiguration": {"level": "warning"},
    })
}

fn level(severity: Option<Severity>) -> &'static str {
    match severity {
        Some(Severity::Info) => "note",
        Some(Severity::Warning) => "warning",
        Some(Severity::Error | Severity::Fatal) | None => "error",
    }
}

fn rule(id: &RecordId, facts: &Facts, level: &str) -> Value {
    let mut rule = json!({
        "id": id.as_str(),
        "shortDescription": {"text": facts.signature},
        "fullDescription": {"text": facts.root_cause},
        "help": {"text": help(facts, "", ""), "markdown": help(facts, "**", "**")},
        "defaultConfiguration": {"level": level},
        "properties": {"tags": facts.tags},
    });
    if let (Some(page), Some(rule)) = (&facts.page, rule.as_object_mut()) {
        rule.insert("helpUri".to_owned(), page.as_str().into());
    }
    rule
}

fn help(facts: &Facts, open: &str, close: &str) -> String {
    let mut lines = vec![facts.root_cause.clone()];
    lines.extend(
        facts
            .workarounds
            .iter()
            .map(|what| format!("{open}Do:{close} {what}")),
    );
    lines.extend(
        facts
            .dead_ends
            .iter()
            .map(|what| format!("{open}Do not:{close} {what}")),
    );
    lines.extend(
        facts
            .disputed
            .iter()
            .map(|what| format!("{open}Disputed:{close} {what}")),
    );
    lines.join("\n\n")
}

fn result(input: &Input, found: &Match, rule: &Rule, part: Part) -> Value {
    let applies = found.applies != Applies::No;
    let mut said = format!("{} ({})", rule.headline, found.why);
    if part == Part::Cause {
        said = format!("First cause. {said}");
    }
    if !applies {
        said = format!("Does not apply to this environment. {said}");
    }
    let locations: Vec<Value> = found
        .lines
        .iter()
        .take(1)
        .map(|line| place(input, line))
        .collect();
    let related: Vec<Value> = found
        .lines
        .iter()
        .skip(1)
        .map(|line| place(input, line))
        .collect();
    json!({
        "ruleId": found.id.as_str(),
        "ruleIndex": rule.index,
        "level": result_level(rule.level, applies, part),
        "message": {"text": said},
        "locations": locations,
        "relatedLocations": related,
        "occurrenceCount": found.count,
        // One alert for a record and a file, whatever line it moves to.
        "partialFingerprints": {"recordAndFile/v1": format!("{}:{}", found.id, input.name())},
    })
}

/// A consequence is at most a warning, so that a gate on errors counts causes.
fn result_level(of_record: &'static str, applies: bool, part: Part) -> &'static str {
    match (applies, part, of_record) {
        (false, ..) => "note",
        (true, Part::Consequence, "error") => "warning",
        _ => of_record,
    }
}

fn place(input: &Input, line: &MatchedLine) -> Value {
    // Columns and offsets are left out: they count the text as sent, viewers count the file as it lies there.
    region(
        input,
        line.line,
        line.text.as_ref().map(|text| text.text.as_str()),
    )
}

fn region(input: &Input, line: u64, text: Option<&str>) -> Value {
    let mut region = json!({"startLine": line});
    if let (Some(text), Some(region)) = (text, region.as_object_mut()) {
        region.insert("snippet".to_owned(), json!({"text": text}));
    }
    json!({"physicalLocation": {"artifactLocation": artifact(input), "region": region}})
}

/// The whole file.
fn file(input: &Input) -> Value {
    json!({"physicalLocation": {"artifactLocation": artifact(input)}})
}

/// 3.4.3: a path as a URI, relative to wherever the viewer says the files are.
fn artifact(input: &Input) -> Value {
    match input.path() {
        Some(path) => json!({"uri": uri(path)}),
        None => json!({"uri": "stdin", "description": {"text": "standard input"}}),
    }
}

fn uri(path: &Path) -> String {
    use std::fmt::Write as _;
    use std::os::unix::ffi::OsStrExt as _;
    let mut uri = String::new();
    if path.is_absolute() {
        uri.push_str("file://");
    }
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(char::from(*byte));
            }
            // Writing to a String cannot fail.
            _ => {
                let _ = write!(uri, "%{byte:02X}");
            }
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_uris() {
        for (path, expected) in [
            ("logs/train.log", "logs/train.log"),
            ("/var/log/syslog", "file:///var/log/syslog"),
            ("a b:c%ü", "a%20b%3Ac%25%C3%BC"),
        ] {
            assert_eq!(uri(Path::new(path)), expected);
        }
    }

    #[test]
    fn what_is_only_good_to_know_is_no_error() {
        assert_eq!(level(Some(Severity::Info)), "note");
        assert_eq!(level(Some(Severity::Fatal)), "error");
        assert_eq!(level(None), "error");
    }

    #[test]
    fn a_consequence_is_no_error() {
        for (part, expected) in [
            (Part::Alone, "error"),
            (Part::Cause, "error"),
            (Part::Consequence, "warning"),
        ] {
            assert_eq!(result_level("error", true, part), expected);
            assert_eq!(result_level("note", true, part), "note");
            assert_eq!(result_level("error", false, part), "note");
        }
    }
}
