//! What is wrong with a policy's rules, each with the rule's number and what to do.

use super::code::Code;
use super::decide::fits_pattern;
use super::{MOST_TIMES, Policy, Rule};
use crate::near::{nearest, shown};
use crate::report::{Bearing, Meaning};

/// Rules of a policy at most.
const MOST_RULES: usize = 200;
/// Longest reason, in characters.
const LONGEST_REASON: usize = 200;
/// Longest window: a year.
const LONGEST_WINDOW: u64 = 365 * 86_400;

/// Something that is wrong with a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The rule, from 1; 0 where it is the whole.
    pub rule: u32,
    /// The key that is wrong.
    pub key: &'static str,
    /// What, and what to do.
    pub told: String,
}

/// A policy that is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.iter().map(|fault| format!("rule {}: {}: {}", fault.rule, fault.key, fault.told)).collect::<Vec<_>>().join("; "))]
pub struct PolicyError(pub Vec<Fault>);

/// Everything that is wrong with a policy whose codes are known. `models`: names of GPUs that there are; where none are given, no
/// pattern is held against them.
pub fn check(policy: &Policy, models: &[&str]) -> Vec<Fault> {
    check_by(policy, models, |_| false)
}

/// The same where the caller knows which ids are of a record that tells of a GPU that is gone: records are renamed.
pub fn check_by(policy: &Policy, models: &[&str], tells_of_loss: impl Fn(&str) -> bool) -> Vec<Fault> {
    let mut faults = Vec::new();
    if policy.rules.len() > MOST_RULES {
        faults.push(Fault {
            rule: 0,
            key: "rule",
            told: format!(
                "there are {} rules, the limit is {MOST_RULES}",
                policy.rules.len()
            ),
        });
        return faults;
    }
    for (index, rule) in policy.rules.iter().enumerate() {
        let mut add = |key: &'static str, told: String| {
            faults.push(Fault {
                rule: rule.number,
                key,
                told,
            });
        };
        reason(rule, &mut add);
        counts(rule, &mut add);
        model(rule, models, &mut add);
        let is_of_loss = matches!(&rule.code, Code::Record(id) if tells_of_loss(id));
        protected(rule, is_of_loss, &mut add);
        let earlier = policy.rules.get(..index).unwrap_or_default();
        if let Some(other) = earlier.iter().find(|other| covers(other, rule)) {
            add(
                "code",
                format!(
                    "it never applies: rule {} comes first and takes in all that it is about; put it before that rule, or \
                     remove it",
                    other.number
                ),
            );
        }
    }
    faults
}

fn reason(rule: &Rule, add: &mut impl FnMut(&'static str, String)) {
    let characters = rule.reason.trim().chars().count();
    if characters == 0 || characters > LONGEST_REASON || rule.reason.chars().any(char::is_control) {
        add(
            "reason",
            format!("say in one line of 1 to {LONGEST_REASON} characters why the site decides so"),
        );
    }
}

fn counts(rule: &Rule, add: &mut impl FnMut(&'static str, String)) {
    let most = u32::try_from(MOST_TIMES).unwrap_or(u32::MAX);
    match (rule.count, rule.window_seconds) {
        (None, None) => {}
        (Some(_), None) => add("count", "a count needs a window, as \"24h\"".to_owned()),
        (None, Some(_)) => add("window", "a window needs a count, as 3".to_owned()),
        (Some(_), Some(_)) if rule.is.bearing() == Bearing::Event => add(
            "count",
            format!(
                "below a count it is an event: a count goes with is = \"warning\" or \"fault\", and not with {:?}",
                rule.is.word()
            ),
        ),
        (Some(_), Some(_)) if rule.code.is_state() => add(
            "count",
            format!(
                "{} is there or not whenever one looks: only events are counted",
                rule.code
            ),
        ),
        (Some(count), Some(window)) => {
            if !(2..=most).contains(&count) {
                add(
                    "count",
                    format!("give 2 to {most}; without a count the first one decides"),
                );
            }
            if !(1..=LONGEST_WINDOW).contains(&window) {
                add(
                    "window",
                    "give at most 365d, as \"24h\", \"90min\", \"7d\"".to_owned(),
                );
            }
        }
    }
}

fn model(rule: &Rule, models: &[&str], add: &mut impl FnMut(&'static str, String)) {
    let Some(pattern) = &rule.model else { return };
    if pattern.trim().is_empty() || pattern.chars().any(char::is_control) || pattern.len() > LONGEST_REASON {
        add(
            "model",
            "give the name of a model, * for any characters".to_owned(),
        );
        return;
    }
    if models.is_empty() || models.iter().any(|model| fits_pattern(pattern, model)) {
        return;
    }
    let plain = pattern.replace('*', "");
    let near = nearest(&plain, models.iter().copied());
    let near = near.map_or_else(String::new, |near| format!("; did you mean {near:?}?"));
    add(
        "model",
        format!(
            "{} fits no GPU that is known{near} (a newer one is named in `models` at the head of the file)",
            shown(pattern)
        ),
    );
}

/// A count makes less of what has happened less often.
fn protected(rule: &Rule, is_of_loss: bool, add: &mut impl FnMut(&'static str, String)) {
    if (rule.code.is_protected() || is_of_loss) && (rule.is != Meaning::Fault || rule.count.is_some()) {
        let what = match &rule.code {
            Code::Cause(name) if name == "load_fault" => "a proof that failed",
            Code::Cause(name) if name == "ledger_damaged" => "faults that could not be read",
            _ => "a GPU that is lost",
        };
        add(
            "is",
            format!(
                "{} tells of {what}: a policy can make it a fault, and nothing milder",
                rule.code
            ),
        );
    }
}

fn covers(earlier: &Rule, later: &Rule) -> bool {
    let has_labels = earlier
        .label
        .iter()
        .all(|(name, value)| later.label.get(name) == Some(value));
    let has_model = match (&earlier.model, &later.model) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(wide), Some(narrow)) => wide.eq_ignore_ascii_case(narrow) || fits_pattern(wide, narrow),
    };
    earlier.code.covers(&later.code) && has_labels && has_model
}
