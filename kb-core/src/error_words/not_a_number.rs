//! Whether a figure of a training is no number: `loss=nan`, `grad_norm: inf`, `NaN detected in the gradients`.

use memchr::memmem;

use super::beside::{NEAR, begins_with, is_one_of, words};

/// Figures of a training, as the beginning of a word.
const FIGURES: [&str; 20] = [
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
    // German, French, Portuguese and Italian.
    "verlust",
    "perte",
    "perda",
    "perdita",
];
/// The same in other languages, anywhere in a name.
const WIDE_FIGURES: [&str; 13] = [
    "损失",
    "損失",
    "梯度",
    "范数",
    "範數",
    "困惑度",
    "奖励",
    "勾配",
    "ロス",
    "손실",
    "기울기",
    "потер",
    "pérdida",
];
/// Figures that are without a bound downwards only where something went wrong. Masks, and what is made of them, are so by design:
/// `logits: -inf`.
const BOUNDED_BELOW: [&str; 6] = ["loss", "grad", "norm", "ppl", "perplexity", "kl"];
/// What stands between a colon or an equals sign and a value.
const OPENINGS: [&str; 10] = [
    "-", "+", "\"", "'", "[", "tensor(", "array(", "float32(", "float64(", "np.",
];
/// Between the name of a figure and its value.
const VALUE_SIGNS: [&str; 7] = [":", "=", "：", "＝", "为", "是", "成"];
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
const NONE: [&str; 13] = [
    "no", "not", "non", "without", "skip", "check", "checks", "checking", "isnan", "if", "for", "never",
    "ignore",
];

/// Longest phrase with what stands behind it, in bytes.
const PHRASE: usize = 20;

/// `loss=nan`, `loss: -nan`, `loss nan`, `grad_norm: inf`, `Loss is NaN or Inf`, `NaN detected in the gradients`.
pub(super) fn is_not_a_number(line: &[u8], from: usize, to: usize) -> bool {
    let found = line.get(from..to).unwrap_or_default();
    let is_inf = found.to_ascii_lowercase().ends_with(b"inf");
    // A phrase may begin with what stands before the value.
    let is_value_alone = found.first().is_some_and(u8::is_ascii_alphabetic) && !ends_with(found, "(inf");
    let from = if is_inf && !is_value_alone {
        to - "inf".len()
    } else {
        from
    };
    // `info`, `nanoseconds`, `nan_to_num`, `skip_nan`.
    let rest = line.get(to..).unwrap_or_default();
    let rest = rest.strip_prefix(b"inity").unwrap_or(rest);
    let goes_on = rest
        .first()
        .is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'='));
    let before = line.get(..from).unwrap_or_default();
    if goes_on || matches!(before.last(), Some(b'_' | b'.')) {
        return false;
    }
    let (unsigned, is_negative) = without_sign(before);
    let named = named(before);
    let near = last(named.unwrap_or(unsigned));
    let last = words(near).last().unwrap_or_default();
    if is_one_of(last, &NONE) || is_inf && is_unbounded(near, is_negative) {
        return false;
    }
    let is_figure = |word: &[u8]| FIGURES.iter().any(|name| begins_with(word, name));
    if named.is_some() {
        let is_figure = |word: &[u8]| {
            let is_bounded = || BOUNDED_BELOW.iter().any(|name| begins_with(word, name));
            is_figure(word) && (!is_inf || !is_negative || is_bounded())
        };
        // `loss`, `lm loss`, `loss (scaled)`.
        let count = words(near).count();
        return has_wide_figure(near) || words(near).skip(count.saturating_sub(2)).any(is_figure);
    }
    // Only a value has a remark: `loss=nan(ind)`. Elsewhere it is a call.
    if rest.first() == Some(&b'(') {
        return false;
    }
    let behind = rest.get(..NEAR.min(rest.len())).unwrap_or_default();
    if is_bare_value(near, behind) {
        return true;
    }
    let around = || words(near).chain(words(behind));
    around().any(is_figure)
        && (around().any(|word| is_one_of(word, &SEEN)) || words(behind).next().is_some_and(is_figure))
        || around().any(|word| is_one_of(word, &["detected", "encountered"]))
}

/// Whether the value within a phrase that begins at `from` ends there: most such phrases are the beginning of `info`.
pub(super) fn may_be_value(text: &[u8], from: usize) -> bool {
    let phrase = text.get(from..text.len().min(from + PHRASE)).unwrap_or_default();
    let is_value = |part: &[u8]| part.eq_ignore_ascii_case(b"inf") || part.eq_ignore_ascii_case(b"nan");
    let Some(at) = phrase.windows("inf".len()).position(is_value) else {
        return false;
    };
    let rest = phrase.get(at + "inf".len()..).unwrap_or_default();
    rest.first().is_none_or(|byte| !byte.is_ascii_alphanumeric()) || begins_with(rest, "inity")
}

fn last(text: &[u8]) -> &[u8] {
    text.get(text.len().saturating_sub(NEAR)..).unwrap_or_default()
}

fn ends_with(text: &[u8], end: &str) -> bool {
    let start = text.len().checked_sub(end.len());
    let last = start.and_then(|start| text.get(start..));
    last.is_some_and(|last| last.eq_ignore_ascii_case(end.as_bytes()))
}

/// What stands before the sign of a value, and whether that is a minus. In `non-nan` there is none.
fn without_sign(before: &[u8]) -> (&[u8], bool) {
    match before {
        [rest @ .., sign @ (b'-' | b'+')] if rest.last().is_none_or(|byte| !byte.is_ascii_alphanumeric()) => {
            (rest, *sign == b'-')
        }
        _ => (before, false),
    }
}

/// What stands before the colon or the equals sign of a value that begins behind `before`.
fn named(before: &[u8]) -> Option<&[u8]> {
    let mut rest = before;
    for _ in 0..OPENINGS.len() {
        let opening = OPENINGS.iter().find(|opening| ends_with(rest, opening));
        let Some(opening) = opening else {
            break;
        };
        rest = rest.get(..rest.len() - opening.len())?;
    }
    let rest = rest.trim_ascii_end();
    VALUE_SIGNS
        .iter()
        .find_map(|sign| rest.strip_suffix(sign.as_bytes()))
}

/// Whether the name at the end of a text is that of a figure in another language.
fn has_wide_figure(near: &[u8]) -> bool {
    let near = near.trim_ascii_end();
    let is_apart = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b',' | b'|' | b';');
    let name = near.rsplit(is_apart).next().unwrap_or_default();
    !name.is_ascii()
        && WIDE_FIGURES
            .iter()
            .any(|figure| memmem::find(name, figure.as_bytes()).is_some())
}

/// Whether nothing but blanks stands between the name of a figure and its value. Both parts end, or begin, at the value.
fn is_bare_value(near: &[u8], behind: &[u8]) -> bool {
    let is_apart = near.last().is_some_and(u8::is_ascii_whitespace)
        && near
            .trim_ascii_end()
            .last()
            .is_some_and(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii());
    let is_figure = words(near).last().is_some_and(|name| is_one_of(name, &BARE)) || has_wide_figure(near);
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
fn is_unbounded(near: &[u8], is_negative: bool) -> bool {
    let is_behind_name = |byte: &&u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'');
    let apart = near.iter().rev().take_while(is_behind_name).count();
    let near = near.get(..near.len() - apart).unwrap_or_default();
    let is_of_name = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'/');
    let length = near.iter().rev().take_while(is_of_name).count();
    let name = near.get(near.len() - length..).unwrap_or_default();
    let is_norm = words(name).last().is_some_and(|word| is_one_of(word, &["norm"]));
    // The largest value so far begins at minus infinity.
    let may_be_most = is_norm || is_negative;
    words(name).any(|word| is_one_of(word, &UNBOUNDED) || may_be_most && is_one_of(word, &["max", "highest"]))
}
