//! From segments to a pattern that may be a signature: within the bounds on length and cost, around its rarest literal.

use std::collections::BTreeSet;
use std::fmt::{self, Write as _};
use std::ops::Range;

use super::segments::Segment;
use crate::matcher::rarity::text_weight;
use crate::signature::{self, PatternError, PatternSpec};

/// Longest pattern that is proposed, in bytes: a longer one takes a part of the message.
const MOST_BYTES: usize = 800;
/// What the bounds of values and gaps are divided by, until the pattern costs little enough.
const SCALES: [usize; 4] = [1, 2, 4, 16];

/// Signs that end what stands before a pattern, and that begin what stands behind it.
const BEFORE_START: [char; 12] = [' ', '\t', ']', ')', '}', '>', ':', ';', ',', '.', '|', '-'];
const BEHIND_END: [char; 5] = [' ', '\t', '(', '[', '{'];

pub(super) struct Made {
    pub(super) spec: PatternSpec,
    pub(super) names: Vec<String>,
    pub(super) literal: String,
    pub(super) weight: f32,
}

pub(super) fn spec(regex: String) -> PatternSpec {
    PatternSpec {
        id: "proposed".to_owned(),
        regex,
        flags: String::new(),
        captures: Vec::new(),
    }
}

/// The longest part of the segments around the rarest literal that makes a signature; the reason against the shortest where none does.
pub(super) fn make(segments: &[Segment]) -> Result<Made, Option<PatternError>> {
    let rarest = segments
        .iter()
        .enumerate()
        .filter_map(|(at, segment)| match segment {
            Segment::Literal { text, .. } => Some((at, text)),
            _ => None,
        })
        .max_by(|(_, one), (_, other)| weight(one).total_cmp(&weight(other)));
    let Some((rarest, literal)) = rarest else {
        return Err(None);
    };
    let mut refused = None;
    for part in parts(segments, rarest) {
        let Some(part) = segments.get(part) else {
            continue;
        };
        let part = trimmed(part);
        for scale in SCALES {
            let (regex, names) = render(part, scale);
            if regex.len() > MOST_BYTES && part.len() > 1 {
                break;
            }
            let spec = spec(regex);
            match signature::check(&spec) {
                Ok(_) => {
                    return Ok(Made {
                        spec,
                        names,
                        literal: literal.trim().to_owned(),
                        weight: part.iter().map(weight_of).sum(),
                    });
                }
                Err(error) => refused = Some(error),
            }
        }
    }
    Err(refused)
}

fn weight_of(segment: &Segment) -> f32 {
    match segment {
        Segment::Literal { text, .. } => text_weight(text.to_ascii_lowercase().as_bytes()),
        _ => 0.0,
    }
}

/// How much a literal says; of equals the longer.
fn weight(text: &str) -> f32 {
    let lower = text.trim().to_ascii_lowercase();
    #[expect(
        clippy::cast_precision_loss,
        reason = "a length of a line, which decides between equals"
    )]
    let length = lower.len() as f32;
    text_weight(lower.as_bytes()) + length / 10_000.0
}

fn parts(segments: &[Segment], around: usize) -> impl Iterator<Item = Range<usize>> {
    let all = segments.len();
    let mut width = all;
    let mut is_over = false;
    std::iter::from_fn(move || {
        if is_over {
            return None;
        }
        is_over = width <= 1;
        let start = around.saturating_sub(width / 2).min(all - width.min(all));
        let part = start..(start + width).min(all);
        width = if width > 8 {
            width * 3 / 4
        } else {
            width.saturating_sub(2).max(1)
        };
        Some(part)
    })
}

/// Without what would be asked at every byte: a pattern begins with a literal, and ends with one or with a value that has a name.
fn trimmed(part: &[Segment]) -> &[Segment] {
    let says = |segment: &Segment| match segment {
        Segment::Literal { text, .. } => text.chars().any(char::is_alphanumeric),
        _ => false,
    };
    let start = part.iter().position(says).unwrap_or(0);
    let ends = |segment: &Segment| matches!(segment, Segment::Value { .. }) || says(segment);
    let end = part.iter().rposition(ends).map_or(part.len(), |at| at + 1);
    part.get(start..end).unwrap_or(part)
}

fn render(part: &[Segment], scale: usize) -> (String, Vec<String>) {
    let mut regex = String::new();
    let mut names: Vec<String> = Vec::new();
    let mut used = BTreeSet::new();
    for (at, segment) in part.iter().enumerate() {
        let most = segment.most(scale);
        match segment {
            Segment::Literal { text, ends_word } => {
                let first = at == 0;
                let last = at + 1 == part.len();
                let text = if first {
                    text.trim_start_matches(BEFORE_START)
                } else {
                    text
                };
                let text = if last {
                    text.trim_end_matches(BEHIND_END)
                } else {
                    text
                };
                regex.push_str(&escaped(text));
                // `79` is not 794.
                if last && *ends_word && text.ends_with(|sign: char| sign.is_ascii_digit()) {
                    regex.push_str(r"\b");
                }
            }
            Segment::Blanks { .. } => write_into(&mut regex, format_args!(r"\s{{1,{most}}}")),
            Segment::Value {
                class,
                least,
                name,
                word,
                ..
            } => {
                let name = unused(word.as_deref().unwrap_or(name), &mut used);
                let class = class.signs;
                write_into(&mut regex, format_args!("(?P<{name}>{class}{{{least},{most}}})"));
                names.push(name);
            }
            Segment::Gap { .. } => write_into(&mut regex, format_args!(".{{0,{most}}}")),
        }
    }
    (regex, names)
}

fn write_into(text: &mut String, more: fmt::Arguments<'_>) {
    // Writing to a String cannot fail.
    let _ = text.write_fmt(more);
}

fn unused(name: &str, used: &mut BTreeSet<String>) -> String {
    let numbered = (2_u32..).map(|number| format!("{name}_{number}"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    let free = names.find(|name| used.insert(name.clone()));
    free.unwrap_or_else(|| name.to_owned())
}

/// A text as a pattern that takes it alone, as a person would write it: only signs that mean something have a backslash.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 8);
    for sign in text.chars() {
        match sign {
            '\\' | '.' | '+' | '*' | '?' | '(' | ')' | '[' | ']' | '{' | '}' | '|' | '^' | '$' => {
                escaped.push('\\');
                escaped.push(sign);
            }
            sign if sign != ' ' && (sign.is_control() || sign.is_whitespace()) => {
                write_into(&mut escaped, format_args!(r"\x{{{:x}}}", u32::from(sign)));
            }
            sign => escaped.push(sign),
        }
    }
    escaped
}
