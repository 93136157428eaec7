//! From a pattern's text to the engine's tree. Parsing alone is cheap; compiling waits until a line needs it.

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{
    Capture, Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange, Hir, HirKind, Look,
};

use super::quick::parse_for_literals;
use super::{PatternError, PatternSpec};

pub(super) const MAX_PATTERN_BYTES: usize = 4 * 1024;
/// Deepest nesting of groups, classes and repetitions.
pub(super) const MAX_NESTING: u32 = 64;
/// Members of a class at most that loses what folding has added: literals are read from classes of four letters, which have
/// ten members with their other cases and both signs. Larger ones are no literal, and may keep them.
const SMALL_CLASS: usize = 16;
/// Wildcard runs that are told apart in one pattern; further ones count as explained.
const MAX_GAPS: u32 = 16;

/// Parses a pattern: Unicode classes, matched on bytes. Under `i`, the letters `k` and `s` fold to their two ASCII
/// forms only (not to the Kelvin sign and the long s), so that an ASCII prefilter stays exact; likewise in small classes with
/// them (`[sk]`), unless the pattern names something beyond ASCII itself.
pub(crate) fn parse(spec: &PatternSpec) -> Result<Hir, PatternError> {
    if spec.regex.len() > MAX_PATTERN_BYTES {
        return Err(PatternError::new(
            "pattern/too-long",
            format!(
                "the pattern has {} bytes, at most {MAX_PATTERN_BYTES} are accepted",
                spec.regex.len()
            ),
            "split it into several patterns",
        ));
    }
    let parsed = tree(spec)?;
    let names_others = names_others(spec);
    Ok(fold_ascii_only(parsed, names_others))
}

/// Whether a pattern may ask for characters beyond ASCII by itself, apart from classes with a name.
pub(super) fn names_others(spec: &PatternSpec) -> bool {
    let escaped = |escape| spec.regex.contains(escape);
    !spec.regex.is_ascii() || [r"\x", r"\u", r"\U"].into_iter().any(escaped)
}

/// A pattern's tree for ASCII texts: it matches the same and is far smaller, for `\w` knows 700 ranges of characters.
pub(super) fn parse_for_ascii(spec: &PatternSpec) -> Result<Hir, PatternError> {
    Ok(rebuild(parse_for_literals(spec)?, &mut |kind| match kind {
        HirKind::Class(class) => Hir::class(Class::Bytes(ascii_of(class))),
        HirKind::Look(look) => Hir::look(look_in_ascii(look)),
        other => from_kind(other),
    }))
}

fn tree(spec: &PatternSpec) -> Result<Hir, PatternError> {
    let mut builder = ParserBuilder::new();
    builder.utf8(false).nest_limit(MAX_NESTING);
    for flag in spec.flags.chars() {
        match flag {
            'i' => builder.case_insensitive(true),
            'm' => builder.multi_line(true),
            's' => builder.dot_matches_new_line(true),
            'x' => builder.ignore_whitespace(true),
            other => {
                return Err(PatternError::new(
                    "pattern/flag",
                    format!("{other:?} is not a flag"),
                    "use any of i, m, s, x",
                ));
            }
        };
    }
    builder
        .build()
        .parse(&spec.regex)
        .map_err(|error| syntax_error(&error))
}

fn ascii_of(class: Class) -> ClassBytes {
    let ascii = ClassBytes::new([ClassBytesRange::new(0, 0x7f)]);
    match class {
        Class::Unicode(mut class) => {
            class.intersect(&ClassUnicode::new([ClassUnicodeRange::new('\0', '\u{7f}')]));
            class.to_byte_class().unwrap_or_else(ClassBytes::empty)
        }
        Class::Bytes(mut class) => {
            class.intersect(&ascii);
            class
        }
    }
}

/// In a text of ASCII a word ends where an ASCII word does.
fn look_in_ascii(look: Look) -> Look {
    match look {
        Look::WordUnicode => Look::WordAscii,
        Look::WordUnicodeNegate => Look::WordAsciiNegate,
        Look::WordStartUnicode => Look::WordStartAscii,
        Look::WordEndUnicode => Look::WordEndAscii,
        Look::WordStartHalfUnicode => Look::WordStartHalfAscii,
        Look::WordEndHalfUnicode => Look::WordEndHalfAscii,
        other => other,
    }
}

fn syntax_error(error: &regex_syntax::Error) -> PatternError {
    let (what, offset) = match error {
        regex_syntax::Error::Parse(e) => (e.kind().to_string(), e.span().start.offset),
        regex_syntax::Error::Translate(e) => (e.kind().to_string(), e.span().start.offset),
        other => (other.to_string(), 0),
    };
    let nested = matches!(
        error,
        regex_syntax::Error::Parse(e) if matches!(e.kind(), regex_syntax::ast::ErrorKind::NestLimitExceeded(_))
    );
    if nested {
        return PatternError::new(
            "pattern/nesting",
            format!("the pattern nests deeper than {MAX_NESTING} levels"),
            "flatten the groups",
        );
    }
    PatternError::new(
        "pattern/syntax",
        format!("does not parse at byte {offset}: {what}"),
        "write Rust regex syntax; there is no look-around and no back-reference",
    )
}

/// Takes out of small classes what folding has put into them beside `k` and `s`.
fn fold_ascii_only(hir: Hir, names_others: bool) -> Hir {
    rebuild(hir, &mut |kind| match kind {
        HirKind::Class(Class::Unicode(class)) => {
            let unfolded = if names_others {
                ascii_pair(class)
            } else {
                without_folded(class)
            };
            Hir::class(Class::Unicode(unfolded))
        }
        other => from_kind(other),
    })
}

/// The long s and the Kelvin sign.
const FOLDED: [(char, char); 2] = [('\u{17f}', 's'), ('\u{212a}', 'k')];

/// A lone `k` or `s` as its ASCII pair; any other class may ask for what it holds.
fn ascii_pair(class: ClassUnicode) -> ClassUnicode {
    for (folded, lower) in FOLDED {
        let upper = lower.to_ascii_uppercase();
        let ranges = [upper, lower, folded].map(|c| ClassUnicodeRange::new(c, c));
        if class.ranges() == ranges {
            return ClassUnicode::new([ranges[0], ranges[1]]);
        }
    }
    class
}

/// A class of a pattern that asks for nothing beyond ASCII: a small one has it from folding.
fn without_folded(mut class: ClassUnicode) -> ClassUnicode {
    let members: usize = class.iter().map(ClassUnicodeRange::len).sum();
    if members <= SMALL_CLASS {
        class.difference(&ClassUnicode::new(
            FOLDED.map(|(c, _)| ClassUnicodeRange::new(c, c)),
        ));
    }
    class
}

/// Wraps each run of a wildcard class (`.*`, `[^"]+`) in a capture group of its own, numbered from `first` on, so
/// that a match tells which bytes nobody named. Returns the tree and the first group number not used.
pub(super) fn mark_gaps(hir: Hir, first: u32) -> (Hir, u32) {
    let mut next = first;
    let marked = rebuild(hir, &mut |kind| {
        let is_gap = matches!(&kind, HirKind::Repetition(rep) if is_wildcard(&rep.sub));
        let inner = from_kind(kind);
        if !is_gap || next - first >= MAX_GAPS {
            return inner;
        }
        let group = Capture {
            index: next,
            name: None,
            sub: Box::new(inner),
        };
        next += 1;
        Hir::capture(group)
    });
    (marked, next)
}

/// A class says nothing when letters, digits and the space are all in it.
fn is_wildcard(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Capture(group) => is_wildcard(&group.sub),
        HirKind::Class(class) => ['a', 'Z', '0', ' '].into_iter().all(|c| holds(class, c)),
        _ => false,
    }
}

fn holds(class: &Class, wanted: char) -> bool {
    match class {
        Class::Unicode(class) => class.iter().any(|r| r.start() <= wanted && wanted <= r.end()),
        Class::Bytes(class) => {
            u8::try_from(wanted).is_ok_and(|b| class.iter().any(|r| r.start() <= b && b <= r.end()))
        }
    }
}

/// Rebuilds a tree from its leaves up through `visit`, children first. The depth is bounded by [`MAX_NESTING`].
fn rebuild(hir: Hir, visit: &mut impl FnMut(HirKind) -> Hir) -> Hir {
    let kind = match hir.into_kind() {
        HirKind::Repetition(mut rep) => {
            rep.sub = Box::new(rebuild(*rep.sub, visit));
            HirKind::Repetition(rep)
        }
        HirKind::Capture(mut group) => {
            group.sub = Box::new(rebuild(*group.sub, visit));
            HirKind::Capture(group)
        }
        HirKind::Concat(children) => {
            HirKind::Concat(children.into_iter().map(|child| rebuild(child, visit)).collect())
        }
        HirKind::Alternation(children) => {
            HirKind::Alternation(children.into_iter().map(|child| rebuild(child, visit)).collect())
        }
        leaf => leaf,
    };
    visit(kind)
}

fn from_kind(kind: HirKind) -> Hir {
    match kind {
        HirKind::Empty => Hir::empty(),
        HirKind::Literal(literal) => Hir::literal(literal.0),
        HirKind::Class(class) => Hir::class(class),
        HirKind::Look(look) => Hir::look(look),
        HirKind::Repetition(repetition) => Hir::repetition(repetition),
        HirKind::Capture(group) => Hir::capture(group),
        HirKind::Concat(children) => Hir::concat(children),
        HirKind::Alternation(children) => Hir::alternation(children),
    }
}
