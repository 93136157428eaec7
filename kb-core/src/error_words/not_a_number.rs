//! Whether a figure of a training is no number: `loss=nan`, `grad_norm: inf`, `NaN detected in the gradients`.

use super::beside::{NEAR, begins_with, is_one_of, words};

/// Figures of a training, as the beginning of a word.
const FIGURES: [&str; 16] = [
    "loss",
    "grad",
    "norm",
    "ppl",
    "perplexity",
    "logit",
    "logprob",
    "activation",
    "weight",
    "param",
    "output",
    "reward",
    "kl",
    "entropy",
    "tensor",
    "eval",
];
/// Words that say that something is no number where it should be one.
const SEEN: [&str; 12] = [
    "detected",
    "found",
    "encountered",
    "contains",
    "contain",
    "became",
    "becomes",
    "has",
    "is",
    "are",
    "was",
    "got",
];
/// Figures that trainers write with nothing but blanks before their value: `loss nan`.
const BARE: [&str; 6] = ["loss", "losses", "norm", "ppl", "perplexity", "entropy"];
/// Words before such a figure: it is looked for, or there is none.
const ASKED: [&str; 9] = [
    "no", "not", "without", "if", "for", "when", "skip", "check", "checks",
];
/// Words behind such a value that make it a name: `loss nan check`.
const OF_NAMES: [&str; 20] = [
    "check",
    "checks",
    "checker",
    "checking",
    "count",
    "counts",
    "detection",
    "detector",
    "filter",
    "filtering",
    "guard",
    "handler",
    "handling",
    "policy",
    "recovery",
    "skip",
    "skipped",
    "steps",
    "threshold",
    "tolerance",
];
/// Words in the name of a limit, or of the best value so far, which begins without a bound: `best_loss=inf`.
const UNBOUNDED: [&str; 9] = [
    "best",
    "min",
    "minimum",
    "lowest",
    "clip",
    "clipping",
    "threshold",
    "limit",
    "initial",
];
/// Those of them that are figures of their own where a value follows: `loss nan skipped=0`.
const FIGURES_BEHIND: [&str; 3] = ["skip", "skipped", "steps"];
/// Words before a figure that are read.
const ASKED_BEFORE: usize = 3;
/// Words that say that there is none, or that it is looked for.
const NONE: [&str; 12] = [
    "no", "not", "without", "skip", "check", "checks", "checking", "isnan", "if", "for", "never", "ignore",
];

/// `loss=nan`, `loss nan`, `grad_norm: inf`, `Loss is NaN or Inf`, `NaN detected in the gradients`.
pub(super) fn is_not_a_number(line: &[u8], from: usize, to: usize) -> bool {
    // `info`, `nanoseconds`, `nan_to_num`, `skip_nan`.
    let rest = line.get(to..).unwrap_or_default();
    let rest = rest.strip_prefix(b"inity").unwrap_or(rest);
    let goes_on = rest
        .first()
        .is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'(' | b'='));
    let before = line.get(..from).unwrap_or_default();
    if goes_on || matches!(before.last(), Some(b'_' | b'.')) {
        return false;
    }
    let near = before
        .get(before.len().saturating_sub(NEAR)..)
        .unwrap_or_default();
    let last = words(near).last().unwrap_or_default();
    let is_inf = line
        .get(from..to)
        .is_some_and(|found| found.to_ascii_lowercase().ends_with(b"inf"));
    if is_one_of(last, &NONE) || is_inf && is_unbounded(near) {
        return false;
    }
    let behind = rest.get(..NEAR.min(rest.len())).unwrap_or_default();
    let is_figure = |word: &[u8]| FIGURES.iter().any(|name| begins_with(word, name));
    let is_value = matches!(before.trim_ascii_end().last(), Some(b':' | b'='))
        || matches!(line.get(from), Some(b':' | b'='));
    if is_value {
        // `loss`, `lm loss`, `loss (scaled)`.
        let count = words(near).count();
        return words(near).skip(count.saturating_sub(2)).any(is_figure);
    }
    if is_bare_value(near, behind) {
        return true;
    }
    let around = || words(near).chain(words(behind));
    around().any(is_figure)
        && (around().any(|word| is_one_of(word, &SEEN)) || words(behind).next().is_some_and(is_figure))
        || around().any(|word| is_one_of(word, &["detected", "encountered"]))
}

/// Whether nothing but blanks stands between the name of a figure and its value. Both parts end, or begin, at the value.
fn is_bare_value(near: &[u8], behind: &[u8]) -> bool {
    let is_apart = near.last().is_some_and(u8::is_ascii_whitespace)
        && near
            .trim_ascii_end()
            .last()
            .is_some_and(u8::is_ascii_alphanumeric);
    let is_figure = words(near).last().is_some_and(|name| is_one_of(name, &BARE));
    let first = words(near).count().saturating_sub(ASKED_BEFORE);
    let is_asked = words(near).skip(first).any(|word| is_one_of(word, &ASKED));
    // `norm inf = 0.1` is the name of another figure.
    let has_value = matches!(behind.trim_ascii_start().first(), Some(b':' | b'='));
    is_apart && is_figure && !is_asked && !is_name(behind) && !has_value
}

/// Whether the word right behind a value makes it a name. With a number of its own it is the next figure: `loss nan skipped 0`.
fn is_name(behind: &[u8]) -> bool {
    let is_apart = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'-');
    let start = behind.iter().take_while(is_apart).count();
    let rest = behind.get(start..).unwrap_or_default();
    let length = rest
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric())
        .count();
    let (word, rest) = rest.split_at(length);
    let has_value = match rest.trim_ascii_start() {
        [b'/' | b'0'..=b'9', ..] => true,
        [b':' | b'=', value @ ..] => {
            let value = value.trim_ascii_start().first();
            is_one_of(word, &FIGURES_BEHIND) && value.is_some_and(u8::is_ascii_digit)
        }
        _ => false,
    };
    is_one_of(word, &OF_NAMES) && !has_value
}

/// Whether a value without a bound is what the figure begins with, or its limit: `best_loss=inf`, `max_grad_norm: inf`. Words behind
/// a blank are of another figure: `grad_clip 1 | loss: inf`.
fn is_unbounded(near: &[u8]) -> bool {
    let is_behind_name = |byte: &&u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'');
    let apart = near.iter().rev().take_while(is_behind_name).count();
    let near = near.get(..near.len() - apart).unwrap_or_default();
    let is_of_name = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'/');
    let length = near.iter().rev().take_while(is_of_name).count();
    let name = near.get(near.len() - length..).unwrap_or_default();
    let is_norm = words(name).last().is_some_and(|word| is_one_of(word, &["norm"]));
    words(name).any(|word| is_one_of(word, &UNBOUNDED) || is_norm && is_one_of(word, &["max"]))
}
