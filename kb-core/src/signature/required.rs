//! Which literals must stand in every text that a pattern matches, read from the parsed pattern.
//!
//! The answer is a conjunction of clauses, each a disjunction of literals in ASCII lower case: a line that lacks any
//! clause cannot match. It may be weaker than the pattern, never stronger.

use regex_syntax::hir::{Class, Hir, HirKind, Repetition};

/// At least one of these literals (ASCII lower case) stands in every match.
pub type Clause = Vec<Vec<u8>>;

/// A literal shorter than this is not worth looking for.
const MIN_LITERAL: usize = 2;
/// Alternatives kept apart before a run of literals is closed.
const MAX_ALTERNATIVES: usize = 16;
/// Longest literal kept in one piece, in bytes.
const MAX_LITERAL: usize = 128;
/// A class with more members than this (after folding) ends a literal.
const MAX_CLASS: usize = 4;

enum Known {
    /// It matches exactly these texts, apart from case.
    Exact(Clause),
    /// Each match holds one literal of each clause.
    Holds(Vec<Clause>),
}

/// All clauses of a pattern, in the order of the text. Empty if nothing is required.
pub(super) fn required(hir: &Hir) -> Vec<Clause> {
    into_clauses(walk(hir))
}

fn walk(hir: &Hir) -> Known {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => Known::Exact(vec![Vec::new()]),
        HirKind::Literal(literal) if literal.0.len() <= MAX_LITERAL => {
            Known::Exact(vec![literal.0.to_ascii_lowercase()])
        }
        HirKind::Literal(literal) => {
            let pieces = literal.0.chunks(MAX_LITERAL).map(<[u8]>::to_ascii_lowercase);
            Known::Holds(
                pieces
                    .filter(|p| p.len() >= MIN_LITERAL)
                    .map(|p| vec![p])
                    .collect(),
            )
        }
        HirKind::Class(class) => class_members(class).map_or(Known::Holds(Vec::new()), Known::Exact),
        HirKind::Capture(group) => walk(&group.sub),
        HirKind::Repetition(repetition) => repeat(repetition),
        HirKind::Concat(children) => concat(children),
        HirKind::Alternation(children) => alternate(children),
    }
}

/// The ASCII lower case of what matches one character alone, apart from case.
pub(super) fn letter(hir: &Hir) -> Option<u8> {
    match hir.kind() {
        HirKind::Literal(literal) => match *literal.0 {
            [byte] => Some(byte.to_ascii_lowercase()),
            _ => None,
        },
        HirKind::Class(Class::Bytes(class)) => match class.ranges() {
            [upper, lower] if upper.len() == 1 && lower.len() == 1 => {
                let is_one = upper.start().eq_ignore_ascii_case(&lower.start());
                is_one.then_some(lower.start())
            }
            _ => None,
        },
        _ => None,
    }
}

fn class_members(class: &Class) -> Option<Clause> {
    let mut members: Clause = Vec::new();
    let mut add = |bytes: &[u8]| {
        let folded = bytes.to_ascii_lowercase();
        if !members.contains(&folded) {
            members.push(folded);
        }
        members.len() <= MAX_CLASS
    };
    let fits = match class {
        Class::Unicode(class) => class
            .iter()
            .all(|range| (range.start()..=range.end()).all(|c| add(c.encode_utf8(&mut [0; 4]).as_bytes()))),
        Class::Bytes(class) => class
            .iter()
            .all(|range| (range.start()..=range.end()).all(|byte| add(&[byte]))),
    };
    fits.then_some(members)
}

fn repeat(repetition: &Repetition) -> Known {
    match (repetition.min, repetition.max) {
        (0, Some(1)) => match walk(&repetition.sub) {
            Known::Exact(mut texts) if texts.len() < MAX_ALTERNATIVES => {
                texts.push(Vec::new());
                Known::Exact(unique(texts))
            }
            _ => Known::Holds(Vec::new()),
        },
        (0, _) => Known::Holds(Vec::new()),
        (1, Some(1)) => walk(&repetition.sub),
        _ => Known::Holds(into_clauses(walk(&repetition.sub))),
    }
}

fn concat(children: &[Hir]) -> Known {
    let mut clauses = Vec::new();
    let mut run: Clause = vec![Vec::new()];
    let mut exact = true;
    for child in children {
        // Nearly all children are letters of one text.
        if let (Some(letter), [text]) = (letter(child), run.as_mut_slice())
            && text.len() < MAX_LITERAL
        {
            text.push(letter);
            continue;
        }
        match walk(child) {
            Known::Exact(texts) => {
                if let Some(longer) = cross(&run, &texts) {
                    run = longer;
                } else {
                    exact = false;
                    clauses.extend(clause(std::mem::replace(&mut run, texts)));
                }
            }
            Known::Holds(more) => {
                exact = false;
                clauses.extend(clause(std::mem::replace(&mut run, vec![Vec::new()])));
                clauses.extend(more);
            }
        }
    }
    if exact {
        return Known::Exact(run);
    }
    clauses.extend(clause(run));
    Known::Holds(clauses)
}

/// Every text of `left` followed by every text of `right`, unless that grows too large.
fn cross(left: &Clause, right: &Clause) -> Option<Clause> {
    if left.len() * right.len() > MAX_ALTERNATIVES {
        return None;
    }
    let mut texts = Vec::with_capacity(left.len() * right.len());
    for head in left {
        for tail in right {
            if head.len() + tail.len() > MAX_LITERAL {
                return None;
            }
            texts.push([head.as_slice(), tail].concat());
        }
    }
    Some(unique(texts))
}

fn alternate(children: &[Hir]) -> Known {
    let mut exact: Option<Clause> = Some(Vec::new());
    let mut best: Option<Clause> = Some(Vec::new());
    for child in children {
        let known = walk(child);
        exact = match (exact, &known) {
            (Some(mut texts), Known::Exact(more)) if texts.len() + more.len() <= MAX_ALTERNATIVES => {
                texts.extend_from_slice(more);
                Some(texts)
            }
            _ => None,
        };
        best = match (best, strongest(into_clauses(known))) {
            (Some(mut any_of), Some(more)) => {
                any_of.extend(more);
                Some(any_of)
            }
            _ => None,
        };
    }
    match (exact, best) {
        (Some(texts), _) => Known::Exact(unique(texts)),
        (None, Some(any_of)) => Known::Holds(vec![unique(any_of)]),
        (None, None) => Known::Holds(Vec::new()),
    }
}

/// The clause whose shortest literal is the longest.
pub(super) fn strongest(clauses: Vec<Clause>) -> Option<Clause> {
    clauses
        .into_iter()
        .max_by_key(|clause| clause.iter().map(Vec::len).min())
}

fn into_clauses(known: Known) -> Vec<Clause> {
    match known {
        Known::Exact(texts) => clause(texts).into_iter().collect(),
        Known::Holds(clauses) => clauses,
    }
}

fn clause(texts: Clause) -> Option<Clause> {
    let long_enough = !texts.is_empty() && texts.iter().all(|text| text.len() >= MIN_LITERAL);
    long_enough.then_some(texts)
}

fn unique(mut texts: Clause) -> Clause {
    texts.sort_unstable();
    texts.dedup();
    texts
}
