//! From what messages share to the parts of a pattern: literals, values with a name, gaps.

use super::align::Item;
use super::kinds::{ANY, Class, DIGITS, HEX_DIGITS, Kind, NAME, UNBROKEN};
use super::names::name;
use super::tokens::What;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Segment {
    Literal {
        text: String,
        /// A word or number ends with it in every message.
        ends_word: bool,
    },
    Blanks {
        most: usize,
    },
    Value {
        class: Class,
        least: usize,
        /// Characters of the longest value that was seen.
        seen: usize,
        name: &'static str,
        /// The word before it, where it names the value better.
        word: Option<String>,
    },
    /// Anything, or nothing.
    Gap {
        seen: usize,
    },
}

pub(super) struct Placed<'m> {
    pub(super) message: &'m str,
    pub(super) places: Vec<(usize, usize)>,
}

impl Placed<'_> {
    fn item(&self, at: usize) -> &str {
        let place = self.places.get(at).copied().unwrap_or_default();
        self.message.get(place.0..place.1).unwrap_or_default()
    }

    fn before(&self, at: usize) -> &str {
        let from = at.checked_sub(1).and_then(|before| self.places.get(before));
        let to = self.places.get(at);
        match (from, to) {
            (Some((_, from)), Some((to, _))) => self.message.get(*from..*to).unwrap_or_default(),
            _ => "",
        }
    }

    fn ends_word(&self, at: usize) -> bool {
        let end = self.places.get(at).map_or(0, |place| place.1);
        let next = self.message.get(end..).and_then(|rest| rest.chars().next());
        next.is_none_or(|next| !next.is_alphanumeric() && next != '_')
    }
}

/// Messages from which on an equal number is part of the error and no accident.
const SURE_OF_NUMBERS: usize = 3;

pub(super) fn segments(items: &[Item], placed: &[Placed<'_>]) -> Vec<Segment> {
    let mut all = Vec::new();
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            let between: Vec<&str> = placed.iter().map(|message| message.before(at)).collect();
            gap(&between, &mut all);
        }
        let values: Vec<&str> = placed.iter().map(|message| message.item(at)).collect();
        match item.what {
            What::Varies(kind) if !is_constant(kind, &values) => {
                let named = name(kind, &all);
                value(kind.class(), &values, kind.name(), named, &mut all);
            }
            What::Text | What::Varies(_) => {
                let ends_word = placed.iter().all(|message| message.ends_word(at));
                literal(&item.text, ends_word, &mut all);
            }
        }
    }
    all
}

fn is_constant(kind: Kind, values: &[&str]) -> bool {
    let is_same = values.iter().zip(values.iter().skip(1)).all(|(a, b)| a == b);
    let needed = match kind {
        Kind::Quoted => 2,
        Kind::Number | Kind::Decimal => SURE_OF_NUMBERS,
        _ => return false,
    };
    is_same && values.len() >= needed
}

fn literal(text: &str, ends_word: bool, all: &mut Vec<Segment>) {
    if text.is_empty() {
        return;
    }
    match all.last_mut() {
        Some(Segment::Literal {
            text: before,
            ends_word: ends,
        }) => {
            before.push_str(text);
            *ends = ends_word;
        }
        _ => all.push(Segment::Literal {
            text: text.to_owned(),
            ends_word,
        }),
    }
}

fn value(class: Class, values: &[&str], name: &'static str, word: Option<String>, all: &mut Vec<Segment>) {
    let lengths = || values.iter().map(|value| value.chars().count());
    let seen = lengths().max().unwrap_or(0);
    all.push(Segment::Value {
        class,
        least: usize::from(lengths().min().unwrap_or(0) > 0),
        seen,
        name,
        word,
    });
}

/// What stands between two items: the same everywhere, blanks, one word or number, or anything.
fn gap(between: &[&str], all: &mut Vec<Segment>) {
    let is_same = between.iter().zip(between.iter().skip(1)).all(|(a, b)| a == b);
    let first = between.first().copied().unwrap_or_default();
    if is_same && (first.is_empty() || first == " " || !first.contains(char::is_whitespace)) {
        return literal(first, false, all);
    }
    let length = |text: &&str| text.chars().count();
    let most = between.iter().map(length).max().unwrap_or(0);
    if between.iter().all(|text| text.trim().is_empty()) {
        if between.iter().any(|text| text.is_empty()) {
            return all.push(Segment::Gap { seen: most });
        }
        return all.push(Segment::Blanks { most });
    }
    let begins = between.iter().all(|text| text.starts_with(' '));
    let ends = between.iter().all(|text| text.len() > 1 && text.ends_with(' '));
    let cores = between.iter().map(|text| {
        let text = if begins {
            text.get(1..).unwrap_or_default()
        } else {
            text
        };
        if ends {
            text.strip_suffix(' ').unwrap_or(text)
        } else {
            text
        }
    });
    let cores: Vec<&str> = cores.collect();
    if begins {
        literal(" ", false, all);
    }
    let takes = |fits: fn(char) -> bool| {
        cores
            .iter()
            .all(|core| !core.is_empty() && core.chars().all(fits))
    };
    let class = if takes(|sign| sign.is_ascii_digit()) {
        Some((DIGITS, "number"))
    } else if takes(|sign| sign.is_ascii_hexdigit())
        && cores
            .iter()
            .any(|core| core.contains(|c: char| c.is_ascii_digit()))
    {
        Some((HEX_DIGITS, "number"))
    } else if takes(|sign| sign.is_ascii_alphanumeric() || "_.:/-".contains(sign)) {
        Some((NAME, "name"))
    } else if takes(|sign| !sign.is_whitespace()) {
        Some((UNBROKEN, "value"))
    } else {
        None
    };
    match class {
        Some((class, called)) => {
            let word = name(Kind::Quoted, all);
            value(class, &cores, called, word, all);
        }
        None => all.push(Segment::Gap {
            seen: cores.iter().map(length).max().unwrap_or(0),
        }),
    }
    if ends {
        literal(" ", false, all);
    }
}

impl Segment {
    /// Characters that it takes at most, where bounds are divided by `scale`; never fewer than were seen.
    pub(super) fn most(&self, scale: usize) -> usize {
        match self {
            Self::Literal { text, .. } => text.chars().count(),
            Self::Blanks { most } => (*most).max(8),
            Self::Value { class, seen, .. } => (*seen).max(class.usual / scale),
            Self::Gap { seen } => (*seen).max(ANY.usual / scale),
        }
    }
}
