//! A pattern read as literals in their order: `A.*B|C` is the chains `A … B` and `C`. A line that holds no chain cannot
//! match; where a pattern is nothing but literals and `.*`, a line that holds one does match, and where is known
//! without running the pattern.

use std::sync::OnceLock;

use memchr::memmem::Finder;
use regex_syntax::hir::{Class, Hir, HirKind, Repetition};

use super::required::letter;

/// Most chains that one pattern is read as; a pattern with more is known by its required literals only.
pub(super) const MAX_CHAINS: usize = 48;
const MAX_PARTS: usize = 16;
/// A class with more members than this (after folding) is a gap.
const MAX_CLASS: usize = 4;
/// Longest literal kept in one piece, in bytes.
const MAX_LITERAL: usize = 256;

/// What stands between two literals, or before the first, or after the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gap {
    /// Nothing.
    None,
    /// `.*`, or `.+` with one byte at least.
    Any { least: usize },
    /// Something that only the pattern itself can tell.
    Unknown,
}

impl Gap {
    pub(crate) fn least(self) -> usize {
        match self {
            Self::Any { least } => least,
            Self::None | Self::Unknown => 0,
        }
    }
}

/// Literals that stand in this order, apart from ASCII case.
#[derive(Debug)]
pub(crate) struct Chain {
    pub(crate) links: Vec<Link>,
    pub(crate) last: Gap,
}

#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) before: Gap,
    text: Box<[u8]>,
    /// Made when a line is first asked: it takes many times the text, and of all links few are ever asked.
    finder: OnceLock<Box<Finder<'static>>>,
}

impl Link {
    pub(super) fn new(before: Gap, text: &[u8]) -> Self {
        Self {
            before,
            text: text.into(),
            finder: OnceLock::new(),
        }
    }

    pub(crate) fn text(&self) -> &[u8] {
        &self.text
    }

    /// Where the literal stands first in a line (ASCII lower case).
    #[inline]
    pub(crate) fn find(&self, lower: &[u8]) -> Option<usize> {
        let made = || Box::new(Finder::new(&self.text).into_owned());
        self.finder.get_or_init(made).find(lower)
    }
}

/// A pattern's chains, in the order in which the pattern prefers them.
#[derive(Debug)]
pub(crate) struct Chains {
    pub(crate) list: Vec<Chain>,
    /// A line of valid UTF-8 that holds a chain matches, and the chains say where.
    pub(crate) exact: bool,
}

#[derive(Debug, Clone, Default)]
struct Way {
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(Vec<u8>),
    Any { least: usize },
    Unknown,
}

struct Reader {
    exact: bool,
}

/// Reads a pattern. `None` if it has too many ways, or one without any literal.
pub(super) fn chains(hir: &Hir) -> Option<Chains> {
    let mut reader = Reader { exact: true };
    let ways = reader.walk(hir)?;
    let list: Option<Vec<Chain>> = ways.into_iter().map(chain).collect();
    let list = list?;
    let leads = list
        .iter()
        .any(|chain| chain.links.first().is_none_or(|link| link.before != Gap::None));
    // Several of `.+` ask for so many characters, and one character may have as many bytes.
    let counts = list.iter().any(|chain| {
        let gaps = chain.links.iter().map(|link| link.before);
        gaps.chain([chain.last]).any(|gap| gap.least() > 1)
    });
    Some(Chains {
        exact: reader.exact && !leads && !counts,
        list,
    })
}

impl Reader {
    fn walk(&mut self, hir: &Hir) -> Option<Vec<Way>> {
        let ways = match hir.kind() {
            HirKind::Empty => vec![Way::default()],
            HirKind::Literal(literal) if literal.0.len() <= MAX_LITERAL => {
                self.read_literal(&literal.0);
                vec![Way::of(Part::Text(literal.0.to_ascii_lowercase()))]
            }
            HirKind::Look(_) | HirKind::Literal(_) => self.unknown(),
            HirKind::Class(class) => match self.members(class) {
                Some(members) => members
                    .into_iter()
                    .map(|text| Way::of(Part::Text(text)))
                    .collect(),
                None => self.unknown(),
            },
            HirKind::Capture(group) => self.walk(&group.sub)?,
            HirKind::Repetition(repetition) => self.repeat(repetition)?,
            HirKind::Concat(children) => self.concat(children)?,
            HirKind::Alternation(children) => {
                let mut ways = Vec::new();
                for child in children {
                    ways.extend(self.walk(child)?);
                }
                ways
            }
        };
        (ways.len() <= MAX_CHAINS).then_some(ways)
    }

    fn unknown(&mut self) -> Vec<Way> {
        self.exact = false;
        vec![Way::of(Part::Unknown)]
    }

    fn concat(&mut self, children: &[Hir]) -> Option<Vec<Way>> {
        let mut ways = vec![Way::default()];
        let mut gap_seen = false;
        for child in children {
            if let Some(letter) = self.letter(child) {
                for way in &mut ways {
                    way.push(letter);
                }
                continue;
            }
            let next = self.walk(child)?;
            // Behind a gap the pattern prefers the longer gap to the earlier alternative: only the pattern itself tells the end.
            self.exact &= !(gap_seen && next.len() > 1);
            gap_seen |= next
                .iter()
                .any(|way| way.parts.iter().any(|part| !matches!(part, Part::Text(_))));
            if ways.len() * next.len() > MAX_CHAINS {
                return None;
            }
            if let [tail] = next.as_slice() {
                for way in &mut ways {
                    way.append(tail);
                }
            } else {
                ways = ways
                    .iter()
                    .flat_map(|head| next.iter().map(|tail| head.followed_by(tail)))
                    .collect();
            }
        }
        Some(ways)
    }

    fn repeat(&mut self, repetition: &Repetition) -> Option<Vec<Way>> {
        match (repetition.min, repetition.max) {
            (0, Some(1)) => {
                let mut ways = self.walk(&repetition.sub)?;
                self.exact &= repetition.greedy;
                ways.push(Way::default());
                Some(ways)
            }
            (1, Some(1)) => self.walk(&repetition.sub),
            (least @ (0 | 1), None) if is_dot(&repetition.sub) => {
                self.exact &= repetition.greedy;
                let least = usize::from(least == 1);
                Some(vec![Way::of(Part::Any { least })])
            }
            (0, _) => Some(self.unknown()),
            _ => {
                let once = self.walk(&repetition.sub)?;
                let around = Way::of(Part::Unknown);
                self.exact = false;
                Some(
                    once.iter()
                        .map(|way| around.followed_by(way).followed_by(&around))
                        .collect(),
                )
            }
        }
    }

    /// What a part of a longer text adds to it, which nearly all parts are.
    fn letter(&mut self, hir: &Hir) -> Option<u8> {
        let letter = letter(hir)?;
        if let HirKind::Literal(literal) = hir.kind() {
            self.read_literal(&literal.0);
        }
        Some(letter)
    }

    /// Under `i` letters come as classes; a letter in a literal asks for its case.
    fn read_literal(&mut self, literal: &[u8]) {
        self.exact &= !literal.iter().any(u8::is_ascii_alphabetic);
    }

    fn members(&mut self, class: &Class) -> Option<Vec<Vec<u8>>> {
        let mut all: Vec<Vec<u8>> = Vec::new();
        match class {
            Class::Unicode(class) => {
                for c in class.iter().flat_map(|range| range.start()..=range.end()) {
                    all.push(c.encode_utf8(&mut [0; 4]).as_bytes().to_vec());
                    if all.len() > 2 * MAX_CLASS {
                        return None;
                    }
                }
            }
            Class::Bytes(class) => {
                for byte in class.iter().flat_map(|range| range.start()..=range.end()) {
                    all.push(vec![byte]);
                    if all.len() > 2 * MAX_CLASS {
                        return None;
                    }
                }
            }
        }
        let mut folded: Vec<Vec<u8>> = Vec::new();
        for text in &all {
            let lower = text.to_ascii_lowercase();
            self.exact &= all.contains(&lower) && all.contains(&text.to_ascii_uppercase());
            if !folded.contains(&lower) {
                folded.push(lower);
            }
        }
        (!folded.is_empty() && folded.len() <= MAX_CLASS).then_some(folded)
    }
}

impl Way {
    fn of(part: Part) -> Self {
        Self { parts: vec![part] }
    }

    fn followed_by(&self, tail: &Self) -> Self {
        let mut joined = self.clone();
        joined.append(tail);
        joined
    }

    fn push(&mut self, letter: u8) {
        match self.parts.last_mut() {
            Some(Part::Text(text)) => text.push(letter),
            _ => self.parts.push(Part::Text(vec![letter])),
        }
    }

    fn append(&mut self, tail: &Self) {
        let parts = &mut self.parts;
        for part in &tail.parts {
            match (parts.last_mut(), part) {
                (Some(Part::Text(text)), Part::Text(more)) => text.extend_from_slice(more),
                (Some(Part::Any { least }), Part::Any { least: more }) => *least += more,
                (Some(Part::Unknown), Part::Unknown | Part::Any { .. }) => {}
                (Some(last @ Part::Any { .. }), Part::Unknown) => *last = Part::Unknown,
                _ => parts.push(part.clone()),
            }
        }
    }
}

fn chain(way: Way) -> Option<Chain> {
    let mut links = Vec::new();
    let mut before = Gap::None;
    for part in way.parts {
        match part {
            Part::Text(text) if text.is_empty() => {}
            Part::Text(text) => {
                links.push(Link::new(before, &text));
                before = Gap::None;
            }
            Part::Any { least } => before = Gap::Any { least },
            Part::Unknown => before = Gap::Unknown,
        }
    }
    (!links.is_empty() && links.len() <= MAX_PARTS).then_some(Chain { links, last: before })
}

fn is_dot(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Class(Class::Unicode(class)) => {
            let ranges: Vec<(char, char)> = class.iter().map(|range| (range.start(), range.end())).collect();
            ranges == [('\0', '\t'), ('\u{b}', char::MAX)] || ranges == [('\0', char::MAX)]
        }
        HirKind::Class(Class::Bytes(class)) => {
            let ranges: Vec<(u8, u8)> = class.iter().map(|range| (range.start(), range.end())).collect();
            ranges == [(0, b'\t'), (0xb, u8::MAX)] || ranges == [(0, u8::MAX)]
        }
        HirKind::Capture(group) => is_dot(&group.sub),
        _ => false,
    }
}
