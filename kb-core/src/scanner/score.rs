//! How much of a line a hit explains: the share of the message's words, by weight, that stand under literals and
//! character classes, never under wildcards; and how telling what it explains is. Ordinal.

use std::ops::Range;

use crate::matcher::rarity::{word_weight, words};
use crate::matcher::{Kind, Line, Matcher, RawHit};

/// What a record gains whose signature is the whole message: it is meant, whoever else explains as much.
const SIGNATURE_BONUS: f32 = 0.1;

pub(super) struct Explained<'a> {
    pub(super) matcher: &'a Matcher,
    pub(super) line: &'a Line<'a>,
    pub(super) record: u32,
    pub(super) speaker: &'a RawHit,
    pub(super) group: &'a [RawHit],
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Score {
    /// Share times how telling it is, and more where the signature is what the message says; ranks the answer.
    pub(super) value: f32,
    /// Share of the message, 0 to 1; said to the reader.
    pub(super) share: f32,
    pub(super) whole_signature: bool,
}

impl Score {
    /// The score of a signature of several lines: each of them counts the same.
    pub(super) fn of_parts(parts: impl ExactSizeIterator<Item = Self>, is_signature: bool) -> Self {
        let count = f32::from(u16::try_from(parts.len()).unwrap_or(u16::MAX)).max(1.0);
        let (value, share) = parts.fold((0.0, 0.0), |(value, share), part| {
            (value + part.value, share + part.share)
        });
        let bonus = if is_signature { SIGNATURE_BONUS } else { 0.0 };
        Self {
            value: value / count + bonus,
            share: share / count,
            whole_signature: is_signature,
        }
    }
}

pub(super) fn score(explained: &Explained<'_>) -> Score {
    let message = message(explained);
    let mut covered = vec![false; message.len()];
    for hit in explained.group {
        cover(&mut covered, &message, &hit.span, true);
        // Only a hit's own wildcards are left out: what another hit names is explained.
        for gap in &hit.gaps {
            cover(&mut covered, &message, gap, false);
        }
    }
    // Hits without wildcards again, for what the gaps of others took away.
    for hit in explained.group.iter().filter(|hit| hit.gaps.is_empty()) {
        cover(&mut covered, &message, &hit.span, true);
    }
    let lower = explained.line.lower.get(message.clone()).unwrap_or_default();
    let record = explained.matcher.record(explained.record);
    let signature = record.and_then(|record| {
        let len = record.signature.text().len();
        let at = record.signature.find(lower).filter(|_| len > 0)?;
        Some((
            message.start + at..message.start + at + len,
            record.signature_weight,
        ))
    });
    if let Some((span, _)) = &signature {
        cover(&mut covered, &message, span, true);
    }
    let of_signature = signature.as_ref().map_or(0.0, |(_, weight)| *weight);
    let (explained_weight, total_weight) = weigh(lower, &covered);
    let of_all = |weight: f32| {
        if total_weight > 0.0 {
            weight / total_weight
        } else {
            0.0
        }
    };
    let share = of_all(explained_weight);
    let telling = explained_weight / (explained_weight + 1.0);
    Score {
        value: share * telling + SIGNATURE_BONUS * of_all(of_signature).min(1.0),
        share,
        whole_signature: signature.is_some(),
    }
}

fn message(explained: &Explained<'_>) -> Range<usize> {
    let span = &explained.speaker.span;
    let around = explained
        .line
        .messages()
        .iter()
        .rev()
        .find(|message| message.start <= span.start);
    let nearest = around.or_else(|| explained.line.messages().first());
    let all = 0..explained.line.text.len();
    let message = nearest.unwrap_or(&all);
    message.start.min(span.start)..message.end.max(span.end).min(all.end)
}

fn cover(covered: &mut [bool], message: &Range<usize>, span: &Range<usize>, value: bool) {
    let from = span.start.saturating_sub(message.start).min(covered.len());
    let to = span.end.saturating_sub(message.start).min(covered.len());
    if let Some(bytes) = covered.get_mut(from..to) {
        bytes.fill(value);
    }
}

fn weigh(message: &[u8], covered: &[bool]) -> (f32, f32) {
    let mut explained = 0.0;
    let mut total = 0.0;
    for (start, word) in words(message) {
        let weight = word_weight(word);
        let under = covered.get(start..start + word.len()).unwrap_or_default();
        explained += weight * ratio(under.iter().filter(|covered| **covered).count(), word.len());
        total += weight;
    }
    (explained, total)
}

fn ratio(part: usize, whole: usize) -> f32 {
    // A piece of a line has at most one byte more than a `u16` can say.
    let small = |n: usize| f32::from(u16::try_from(n).unwrap_or(u16::MAX));
    if whole == 0 {
        0.0
    } else {
        small(part) / small(whole)
    }
}

/// Which of a record's hits on a line speaks for it: patterns before the signature before codes, then weight.
pub(super) fn authority(matcher: &Matcher, hit: &RawHit) -> f32 {
    matcher.signal(hit.signal).map_or(0.0, |signal| {
        let rank = match signal.kind {
            Kind::Pattern(_) => 2_000.0,
            Kind::Signature => 1_000.0,
            Kind::Part(..) | Kind::Word(_) | Kind::Number { .. } => 0.0,
        };
        rank + hit.weight
    })
}
