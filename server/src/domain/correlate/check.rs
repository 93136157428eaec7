//! Rules are compiled and measured when a record is saved, so that no bad rule fails later.

use std::sync::LazyLock;

use cel::{Env, Program};
use kb_core::annex::{Annex, MAX_EXPRESSION_BYTES, ProbeScope};
use kb_core::text::{Part, Violation};

use super::limits::{Fault, Walk};
use super::stack::deep;

/// The standard functions and macros. What a rule may use of them is in [`super::limits`].
pub(super) static ENVIRONMENT: LazyLock<std::sync::Arc<Env>> =
    LazyLock::new(|| std::sync::Arc::new(Env::stdlib()));

/// Deepest brackets: the parser goes down with them.
const MAX_BRACKETS: usize = 32;
/// Most signs that join parts (operators, `.`, brackets): each may be a level of the tree (`1+1+1`), and a tree of some
/// two thousand levels ends a thread's stack, and with it the process, where it is merely dropped.
const MAX_JOINTS: usize = 1_000;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}: {fix}")]
pub struct RuleError {
    /// Stable name: `rule-length`, `rule-syntax`, `rule-name`, `rule-nesting`, `rule-list`, `rule-cost`.
    pub rule: &'static str,
    pub reason: String,
    pub fix: &'static str,
}

/// Every fault of an annex's rules, with pointers into the annex. Ask it beside `kb_core::validate`, which knows no CEL.
pub fn check_rules(annex: &Annex) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (number, rule) in annex.probe.iter().enumerate() {
        let when = (format!("/probe/{number}/when"), &rule.when);
        let evidence = rule
            .evidence
            .iter()
            .enumerate()
            .map(|(at, text)| (format!("/probe/{number}/evidence/{at}"), text));
        for (pointer, text) in std::iter::once(when).chain(evidence) {
            if let Err(error) = check_expression(rule.scope, text) {
                violations
                    .push(Violation::error(Part::Annex, pointer, error.rule, error.reason).fix(error.fix));
            }
        }
    }
    violations
}

pub fn check_expression(scope: ProbeScope, text: &str) -> Result<(), RuleError> {
    compile(scope, text).map(|_| ())
}

pub(super) fn compile(scope: ProbeScope, text: &str) -> Result<Program, RuleError> {
    let refuse = |rule, reason: String, fix| RuleError { rule, reason, fix };
    if text.len() > MAX_EXPRESSION_BYTES {
        let reason = format!(
            "the expression has {} bytes, the limit is {MAX_EXPRESSION_BYTES}",
            text.len()
        );
        return Err(refuse("rule-length", reason, "split the rule into several"));
    }
    if deepest_bracket(text) > MAX_BRACKETS {
        let reason = format!("brackets nest deeper than {MAX_BRACKETS}");
        return Err(refuse("rule-nesting", reason, "write the expression flat"));
    }
    let joints = joints(text);
    if joints > MAX_JOINTS {
        let reason = format!("{joints} operators, points and brackets, the limit is {MAX_JOINTS}");
        return Err(refuse("rule-nesting", reason, "split the rule into several"));
    }
    // The parser is not free of panics; an editor's typing error must not cost a worker.
    deep(|| read(scope, text)).unwrap_or_else(|| {
        let reason = "the expression cannot be read".to_owned();
        Err(refuse("rule-syntax", reason, "see the examples in kb-seed"))
    })
}

fn read(scope: ProbeScope, text: &str) -> Result<Program, RuleError> {
    let refuse = |rule, reason: String, fix| RuleError { rule, reason, fix };
    let program = ENVIRONMENT.compile(text).map_err(|errors| {
        let reason = format!("this is not CEL: {}", first_line(&errors.to_string()));
        refuse("rule-syntax", reason, "see the examples in kb-seed")
    })?;
    let checked = Walk::new(variables(scope)).check(program.expression());
    checked.map_err(|Fault { rule, reason, fix }| refuse(rule, reason, fix))?;
    Ok(program)
}

pub(super) fn variables(scope: ProbeScope) -> &'static [&'static str] {
    match scope {
        ProbeScope::Report => &["report"],
        ProbeScope::Pair => &["report", "pair"],
        ProbeScope::Gpu => &["report", "gpu"],
        ProbeScope::Direction => &["report", "pair", "direction"],
    }
}

/// How deep brackets nest, those in strings included: a guard, not a parser.
fn deepest_bracket(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut deepest = 0;
    for byte in text.bytes() {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

/// How many signs join parts, those in strings included, and the operator that is a word.
fn joints(text: &str) -> usize {
    let signs = text.bytes().filter(|byte| b".+-*/%<>=!&|?([{".contains(byte));
    let words = text.split_ascii_whitespace().filter(|word| *word == "in");
    signs.count() + words.count()
}

fn first_line(text: &str) -> &str {
    text.lines()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .unwrap_or_default()
}
