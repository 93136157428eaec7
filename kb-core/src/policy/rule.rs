//! A rule, and a policy: rules in their order, of which the first that fits decides.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Code;
use crate::report::Meaning;
use crate::text::Sha256;

/// Hex digits of a version.
const VERSION_DIGITS: usize = 12;
/// Version of what has no rule.
const NONE: &str = "none";

/// What something is on this site. A key that is not known may narrow the rule: one that has it is refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Its number in the policy, from 1.
    pub number: u32,
    /// What it is about.
    pub code: Code,
    /// What that is here.
    pub is: Meaning,
    /// How often it has to be seen on one device within the window; below that it is an event.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub count: Option<u32>,
    /// The window, in seconds.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub window_seconds: Option<u64>,
    /// Only GPUs of these models; `*` stands for any characters.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub model: Option<String>,
    /// Only nodes with all of these labels.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub label: BTreeMap<String, String>,
    /// Why, in one line.
    pub reason: String,
}

/// A site's policy, or the part of it that is for one node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    /// Digest of all its rules; `none` where it has none. The part that is for one node keeps the version of the whole.
    pub version: String,
    /// The rules, in order: the first that fits decides.
    pub rules: Vec<Rule>,
    /// Where the policy itself cannot be read and these are the rules that were read last: only what they make a fault counts.
    #[serde(skip)]
    pub faults_only: bool,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            version: NONE.to_owned(),
            rules: Vec::new(),
            faults_only: false,
        }
    }
}

impl Policy {
    /// Numbers the rules and digests them.
    pub fn of(mut rules: Vec<Rule>) -> Self {
        for (number, rule) in (1..).zip(&mut rules) {
            rule.number = number;
        }
        if rules.is_empty() {
            return Self::default();
        }
        let text = serde_json::to_string(&rules).unwrap_or_default();
        Self {
            version: digest(&text),
            rules,
            faults_only: false,
        }
    }

    /// The rules for a node with these labels, with their numbers and the version of the whole.
    #[must_use]
    pub fn for_node(&self, labels: &BTreeMap<String, String>) -> Self {
        let fits = |rule: &&Rule| {
            let mut wanted = rule.label.iter();
            wanted.all(|(name, value)| labels.get(name) == Some(value))
        };
        Self {
            version: self.version.clone(),
            rules: self.rules.iter().filter(fits).cloned().collect(),
            faults_only: self.faults_only,
        }
    }

    /// Whether nodes differ by their labels.
    pub fn asks_for_labels(&self) -> bool {
        self.rules.iter().any(|rule| !rule.label.is_empty())
    }

    /// The rule of this number.
    pub fn rule(&self, number: u32) -> Option<&Rule> {
        self.rules.iter().find(|rule| rule.number == number)
    }
}

/// The first digits of a SHA-256, as versions are written.
pub(crate) fn digest(text: &str) -> String {
    let whole = Sha256::of(text).to_string();
    whole.get(..VERSION_DIGITS).unwrap_or(&whole).to_owned()
}

/// `24h`, `90min`, `30s`, `7d`.
pub fn window_words(seconds: u64) -> String {
    for (unit, size) in [("d", 86_400), ("h", 3_600), ("min", 60)] {
        if seconds > 0 && seconds.is_multiple_of(size) {
            return format!("{}{unit}", seconds / size);
        }
    }
    format!("{seconds}s")
}
