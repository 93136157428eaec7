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
/// Words that say that there is none, or that it is looked for.
const NONE: [&str; 12] = [
    "no", "not", "without", "skip", "check", "checks", "checking", "isnan", "if", "for", "never", "ignore",
];

/// `loss=nan`, `grad_norm: inf`, `Loss is NaN or Inf`, `NaN detected in the gradients`.
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
    if is_one_of(last, &NONE) {
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
    let around = || words(near).chain(words(behind));
    around().any(is_figure)
        && (around().any(|word| is_one_of(word, &SEEN)) || words(behind).next().is_some_and(is_figure))
        || around().any(|word| is_one_of(word, &["detected", "encountered"]))
}
