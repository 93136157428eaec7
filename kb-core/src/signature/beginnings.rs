//! Texts that a pattern may begin with, never the whole of it: what somebody would repeat who wants to keep it busy. Each ends
//! where ways part: before and after what repeats, and before alternatives.
//!
//! Of each choice in a pattern (the branches of alternatives, a part that may be left out) every branch is taken once, with
//! the first of all other choices. So there are as many ways as the pattern has branches, and not their product.

use std::collections::BTreeSet;

use regex_syntax::hir::{Class, ClassBytesRange, ClassUnicodeRange, Hir, HirKind};

/// Longest beginning, in bytes.
const MOST_BYTES: usize = 512;
/// Copies of what is repeated that a text holds.
const MOST_COPIES: u32 = 64;
/// Parts of a way: copies of copies would be without end.
const MOST_PARTS: usize = 2048;

/// A way through the pattern: its parts in order. Alternatives stand before the branch taken, without text of their own.
type Way<'h> = Vec<&'h Hir>;

/// The beginnings; `None` where there are more ways or beginnings than `most`.
pub(super) fn beginnings(hir: &Hir, most: usize) -> Option<BTreeSet<Vec<u8>>> {
    let mut texts = BTreeSet::new();
    for way in ways(hir, most)? {
        let mut text = Vec::new();
        let mut after_parting = false;
        let last = way.len().saturating_sub(1);
        for (at, part) in way.iter().enumerate() {
            let parts_ways = matches!(part.kind(), HirKind::Repetition(_) | HirKind::Alternation(_));
            text.truncate(MOST_BYTES);
            if !text.is_empty() && (parts_ways || after_parting || at == last) && !texts.contains(&text) {
                texts.insert(text.clone());
            }
            after_parting = parts_ways;
            shortest(part, &mut text);
        }
        if texts.len() > most {
            return None;
        }
    }
    Some(texts)
}

/// The ways through the pattern, the one that takes all first branches first; `None` where there are more than `most`.
fn ways(hir: &Hir, most: usize) -> Option<Vec<Way<'_>>> {
    let ways = match hir.kind() {
        HirKind::Capture(group) => ways(&group.sub, most)?,
        HirKind::Alternation(branches) => {
            let mut all = Vec::new();
            for branch in branches {
                let ways = ways(branch, most)?.into_iter();
                all.extend(ways.map(|way| [vec![hir], way].concat()));
            }
            all
        }
        HirKind::Concat(parts) => {
            let parts: Vec<Vec<Way<'_>>> =
                parts.iter().map(|part| ways(part, most)).collect::<Option<_>>()?;
            in_turn(&parts, most)?
        }
        // What only repeats a letter is short in each way.
        HirKind::Repetition(repetition) if !is_letter(&repetition.sub) => {
            let copies = repetition.min.clamp(1, MOST_COPIES) as usize;
            let once = ways(&repetition.sub, most)?;
            let repeated = once
                .iter()
                .map(|way| way.repeat(copies.min(MOST_PARTS / way.len().max(1))));
            let mut all: Vec<Way<'_>> = repeated.collect();
            if repetition.min == 0 {
                all.insert(0, Vec::new());
            }
            all
        }
        HirKind::Repetition(_)
        | HirKind::Empty
        | HirKind::Look(_)
        | HirKind::Literal(_)
        | HirKind::Class(_) => vec![vec![hir]],
    };
    (ways.len() <= most).then_some(ways)
}

/// The parts one after another: each in all its ways, while the others go their first.
fn in_turn<'h>(parts: &[Vec<Way<'h>>], most: usize) -> Option<Vec<Way<'h>>> {
    let others: usize = parts.iter().map(|ways| ways.len().saturating_sub(1)).sum();
    if others >= most {
        return None;
    }
    let first = |part: &Vec<Way<'h>>| part.first().cloned().unwrap_or_default();
    let mut all: Vec<Way<'h>> = vec![parts.iter().flat_map(first).take(MOST_PARTS).collect()];
    for (at, part) in parts.iter().enumerate() {
        for other in part.iter().skip(1) {
            let before = parts.iter().take(at).flat_map(first);
            let after = parts.iter().skip(at + 1).flat_map(first);
            let way = before.chain(other.iter().copied()).chain(after);
            all.push(way.take(MOST_PARTS).collect());
        }
    }
    Some(all)
}

fn is_letter(hir: &Hir) -> bool {
    matches!(hir.kind(), HirKind::Literal(_) | HirKind::Class(_))
}

fn shortest(hir: &Hir, into: &mut Vec<u8>) {
    match hir.kind() {
        HirKind::Literal(literal) => into.extend_from_slice(&literal.0),
        HirKind::Class(Class::Unicode(class)) => {
            let letter = class.ranges().first().map(ClassUnicodeRange::start);
            let mut buffer = [0; 4];
            let text = letter.map(|letter| letter.encode_utf8(&mut buffer).as_bytes().to_vec());
            into.extend(text.unwrap_or_default());
        }
        HirKind::Class(Class::Bytes(class)) => {
            into.extend(class.ranges().first().map(ClassBytesRange::start));
        }
        HirKind::Repetition(repetition) => {
            for _ in 0..repetition.min.min(MOST_COPIES) {
                shortest(&repetition.sub, into);
            }
        }
        // Their parts stand in the way by themselves.
        HirKind::Capture(_)
        | HirKind::Concat(_)
        | HirKind::Alternation(_)
        | HirKind::Empty
        | HirKind::Look(_) => {}
    }
}
