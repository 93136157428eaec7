//! The version of all that decides: what records say of severity, action and fault, their rules, and the policy.

use kb_core::policy::Policy;
use kb_core::record::Record;
use kb_core::text::Sha256;

/// Hex digits of a version.
const DIGITS: usize = 12;

/// Digest of what decides in these records. They come in the order of their ids.
pub fn of_records<'r>(records: impl Iterator<Item = &'r Record>) -> String {
    let mut lines: Vec<String> = records.map(line).collect();
    lines.sort_unstable();
    short(&lines.join("\n"))
}

/// The version of records and policy together.
pub fn of(records: &str, policy: &Policy) -> String {
    short(&format!("{records} {}", policy.version))
}

fn line(record: &Record) -> String {
    let annex = &record.annex;
    let who = annex.at_fault.as_ref().map(|at_fault| at_fault.who);
    let rules: Vec<_> = annex
        .probe
        .iter()
        .map(|rule| (&rule.id, rule.scope, &rule.when))
        .collect();
    serde_json::json!([
        record.id(),
        annex.severity,
        annex.action,
        who,
        record.is_notice(),
        rules
    ])
    .to_string()
}

fn short(text: &str) -> String {
    let whole = Sha256::of(text).to_string();
    whole.get(..DIGITS).unwrap_or(&whole).to_owned()
}
