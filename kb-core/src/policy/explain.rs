//! What the records say of a code, what the policy makes of it, and what a node does then.

use std::fmt;

use super::rule::window_words;
use super::{Code, Policy, Rule, Subject};
use crate::observation::{bearing, cause, known, known_xids};
use crate::report::{Bearing, Family, Meaning, Ruled};
use crate::severity::{Action, Blame, Severity};

/// What a record says of something, in its three words.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Said {
    /// How bad it is.
    pub severity: Option<Severity>,
    /// What to do first.
    pub action: Option<Action>,
    /// What is at fault.
    pub at_fault: Option<Blame>,
}

/// A code with all that decides about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explained {
    /// The code.
    pub code: Code,
    /// The record that explains it.
    pub record: Option<String>,
    /// What that record says; nothing where it is not known here.
    pub said: Said,
    /// What it means for a node by the records alone.
    pub by_records: Bearing,
    /// The rule of the policy that decides.
    pub rule: Option<Rule>,
    /// What the rule makes of it, once its count is reached.
    pub ruled: Option<Ruled>,
}

impl Explained {
    /// What it means for a node here.
    pub fn here(&self) -> Bearing {
        self.ruled
            .as_ref()
            .map_or(self.by_records, |ruled| ruled.is.bearing())
    }
}

impl Policy {
    /// Explains a code for a GPU of this model. `said`: what the record of another code says, where the caller knows it.
    pub fn explain(&self, code: &Code, model: Option<&str>, said: Option<Said>) -> Explained {
        let xid = match code {
            Code::Numbered(family, number) => known(*family, *number),
            Code::Record(id) => known_xids().iter().find(|known| known.record.as_str() == id),
            Code::Cause(_) => None,
        };
        let watched = match code {
            Code::Cause(name) => cause::watched(name),
            _ => None,
        };
        let record = code.own_record().map(str::to_owned);
        let record = record.or_else(|| watched.and_then(|row| row.record).map(str::to_owned));
        let of_xid = xid.map(|xid| Said {
            severity: xid.severity,
            action: xid.action,
            at_fault: Some(xid.at_fault),
        });
        let said = of_xid.or(said).unwrap_or_default();
        let by_records = match (code, xid, watched) {
            (Code::Cause(_), _, Some(row)) => row.bearing.unwrap_or(Bearing::Fault),
            // A warning of a pair.
            (Code::Cause(_), _, None) => Bearing::Warning,
            (_, Some(xid), _) => xid.bearing(None),
            _ => bearing(said.severity, said.action, said.at_fault),
        };
        let numbered = match (code, xid) {
            (Code::Numbered(family, number), _) => Some((*family, *number)),
            (Code::Record(_), Some(xid)) => Some((xid.family, xid.number)),
            _ => None,
        };
        let cause = match (code, numbered) {
            (Code::Cause(name), _) => Some(name.as_str()),
            (_, Some((Family::Xid, _))) => Some(cause::XID),
            (_, Some((Family::Sxid, _))) => Some(cause::SXID),
            (_, None) => None,
        };
        let models = [model];
        let subject = Subject {
            numbered,
            record: record.as_deref(),
            cause,
            models: &models,
            ..Subject::default()
        };
        let ruled = self.judge(subject, by_records);
        let rule = ruled.as_ref().and_then(|ruled| self.rule(ruled.rule)).cloned();
        Explained {
            code: code.clone(),
            record,
            said,
            by_records,
            rule,
            ruled,
        }
    }

    /// The same of every known Xid.
    pub fn explain_xids(&self, model: Option<&str>) -> Vec<Explained> {
        let xids = known_xids().iter().filter(|known| known.family == Family::Xid);
        xids.map(|known| self.explain(&Code::Numbered(known.family, known.number), model, None))
            .collect()
    }
}

/// What a node does, by what something means for it.
fn done(bearing: Bearing) -> &'static str {
    match bearing {
        Bearing::Event => "nothing: it is kept and shown, and says nothing against the node",
        Bearing::Warning => "the verdict is degraded, and no gate drains for it",
        Bearing::Unknown => "the verdict is unknown: an alert, and no gate drains for it",
        Bearing::Fault => "the verdict is broken: an armed gate drains the node, within its breaker",
    }
}

fn word(value: Option<impl serde::Serialize>) -> String {
    let value = value.and_then(|value| serde_json::to_value(value).ok());
    let word = value.as_ref().and_then(serde_json::Value::as_str);
    word.map_or_else(|| "not said".to_owned(), |word| word.replace('_', " "))
}

impl fmt::Display for Explained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Said {
            severity,
            action,
            at_fault,
        } = self.said;
        writeln!(f, "{}", self.code)?;
        writeln!(f, "  record      {}", self.record.as_deref().unwrap_or("none"))?;
        let (severity, action, at_fault) = (word(severity), word(action), word(at_fault));
        writeln!(
            f,
            "  it says     severity {severity}, action {action}, at fault {at_fault}: {}",
            self.by_records.word()
        )?;
        match (&self.rule, &self.ruled) {
            (Some(rule), Some(ruled)) => {
                writeln!(
                    f,
                    "  policy      {} (rule {}: {})",
                    told(rule, ruled.is),
                    rule.number,
                    rule.reason
                )?;
            }
            _ => writeln!(f, "  policy      no rule is about it")?,
        }
        write!(f, "  a node      {}", done(self.here()))
    }
}

/// `fault from 3 in 24h on; below that an event`.
fn told(rule: &Rule, is: Meaning) -> String {
    let limits = rule.model.as_ref().map(|model| format!(" on {model}"));
    let labels = rule
        .label
        .iter()
        .map(|(name, value)| format!(" with {name}={value}"));
    let limits: String = limits.into_iter().chain(labels).collect();
    match (rule.count, rule.window_seconds) {
        (Some(count), Some(window)) => format!(
            "{}{limits} from {count} in {} on; below that an event",
            is.word(),
            window_words(window)
        ),
        _ => format!("{}{limits}", is.word()),
    }
}

/// One line for each code.
pub fn table(rows: &[Explained]) -> String {
    let heading = [
        "code",
        "severity",
        "action",
        "at fault",
        "by records",
        "here",
        "rule",
    ]
    .map(str::to_owned);
    let cells = rows.iter().map(|row| {
        let rule = row.rule.as_ref().map(|rule| rule.number.to_string());
        let here = row
            .ruled
            .as_ref()
            .map_or(row.by_records.word(), |ruled| ruled.is.word());
        [
            row.code.to_string(),
            word(row.said.severity),
            word(row.said.action),
            word(row.said.at_fault),
            row.by_records.word().to_owned(),
            here.to_owned(),
            rule.unwrap_or_default(),
        ]
    });
    let all: Vec<[String; 7]> = std::iter::once(heading).chain(cells).collect();
    let width = |column: usize| {
        let lengths = all
            .iter()
            .filter_map(|row| row.get(column))
            .map(|cell| cell.chars().count());
        lengths.max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..7).map(width).collect();
    let line = |row: &[String; 7]| {
        let cells = row.iter().zip(&widths);
        let text: Vec<String> = cells.map(|(cell, width)| format!("{cell:width$}")).collect();
        format!("{}\n", text.join("  ").trim_end())
    };
    all.iter().map(line).collect()
}
