//! From pasted lines a proposal for the pattern that finds them and their like.
//!
//! ```text
//! kinds    numbers, addresses, paths, hosts: what varies   tokens   a message cut into words, signs and such parts
//! align    what several messages share, in order           segments literals, named values, gaps
//! names    what a value is called                          pattern  segments -> a pattern within all bounds
//! shared   the longest text that all have, where they share no words
//! ```
//!
//! A proposal is what [`crate::signature::check`] lets pass, and it matches every line that it was made from; both are asked
//! before it is given.

mod align;
mod kinds;
mod names;
mod pattern;
mod segments;
mod shared;
#[cfg(test)]
mod tests;
mod tokens;

use std::borrow::Cow;

use serde::Serialize;

use crate::matcher::rarity::text_weight;
use crate::scanner::{message_start, without_colours};
use crate::signature::{self, PatternError, PatternSpec, Texts};
use align::Item;
use segments::Placed;
use tokens::{Quotes, Token};

/// Different messages that one proposal may be made from.
pub const MOST_MESSAGES: usize = 500;
/// A message is read up to here, in bytes.
const MOST_BYTES: usize = 4096;
/// Lighter literals are signs and syllables: other ways to a pattern come first. Two everyday words weigh as much.
const LEAST_WEIGHT: f32 = 0.5;

/// A pattern for lines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Proposal {
    /// Rust regex syntax.
    pub regex: String,
    /// Names of its captures, in order.
    pub captures: Vec<String>,
    /// The rarest text that it asks for.
    pub literal: String,
}

/// Why there is no proposal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoProposal {
    /// There is no line, or none with a message.
    #[error("there is no line to make a pattern from")]
    NoLines,
    /// The lines have nothing in common that a line could be asked for.
    #[error(
        "the lines share no text of three bytes or more: paste lines of one error, and make one pattern for each error"
    )]
    NothingShared,
    /// There are more than [`MOST_MESSAGES`].
    #[error("the lines have more than {MOST_MESSAGES} different messages: paste fewer")]
    TooMany,
    /// What they share may not be a signature.
    #[error("what the lines share makes no pattern: {0}")]
    Refused(PatternError),
}

/// A pattern that matches each of these lines, apart from empty ones, and their like.
pub fn propose<'l>(lines: impl IntoIterator<Item = &'l str>) -> Result<Proposal, NoProposal> {
    let mut plain: Vec<Cow<'l, str>> = Vec::new();
    for line in lines {
        let line = without_colours(line.trim_end_matches(['\r', '\n']));
        if line.trim().is_empty() || plain.contains(&line) {
            continue;
        }
        if plain.len() == MOST_MESSAGES {
            return Err(NoProposal::TooMany);
        }
        plain.push(line);
    }
    let whole: Vec<&str> = plain.iter().map(|line| cut(line)).collect();
    let messages: Vec<&str> = whole.iter().map(|line| message(line)).collect();
    if messages.is_empty() {
        return Err(NoProposal::NoLines);
    }
    let mut refused = None;
    let mut weak = None;
    let mut best: Option<Proposal> = None;
    let ways = [
        (&messages, Some(Quotes::Vary)),
        (&messages, Some(Quotes::Stay)),
        (&messages, None),
        (&whole, None),
    ];
    for (texts, quotes) in ways {
        let made = match quotes {
            Some(quotes) => aligned(&distinct(texts), quotes),
            None => of_shared(texts),
        };
        match made {
            Ok(made) if takes_all(&made.spec, &plain) => {
                let says_enough = made.weight >= LEAST_WEIGHT;
                let proposal = Proposal {
                    regex: made.spec.regex,
                    captures: made.names,
                    literal: made.literal,
                };
                if says_enough {
                    return Ok(proposal);
                }
                // A longer text from within words beats a sign or two between them.
                let is_better = |known: &Proposal| proposal.literal.len() > 2 * known.literal.len();
                if best.as_ref().is_none_or(is_better) {
                    best = Some(proposal);
                }
            }
            Ok(_) => weak = Some(NoProposal::NothingShared),
            Err(error) => refused = error.or(refused),
        }
    }
    match (best, refused, weak) {
        (Some(best), ..) => Ok(best),
        (None, Some(error), _) if error.rule != "pattern/no-literal" => Err(NoProposal::Refused(error)),
        _ => Err(NoProposal::NothingShared),
    }
}

/// A part of a message, for those who put lines together.
pub(crate) struct PartOf<'m> {
    pub(crate) text: &'m str,
    /// What it is called, where it varies from line to line.
    pub(crate) varies: Option<&'static str>,
    pub(crate) follows_blank: bool,
}

pub(crate) fn parts(message: &str) -> Vec<PartOf<'_>> {
    let message = cut(message);
    let mut end = 0;
    let parts = tokens::tokens(message, Quotes::Vary).into_iter().map(|token| {
        let follows_blank = token.start > end;
        end = token.end;
        PartOf {
            text: token.text(message),
            varies: match token.what {
                tokens::What::Varies(kind) => Some(kind.name()),
                tokens::What::Text => None,
            },
            follows_blank,
        }
    });
    parts.collect()
}

fn cut(line: &str) -> &str {
    line.get(..line.floor_char_boundary(MOST_BYTES)).unwrap_or(line)
}

/// What a line says behind what logging puts before it; the whole line where nothing is behind that.
fn message(line: &str) -> &str {
    let message = line.get(message_start(line)..).unwrap_or(line);
    if message.trim().is_empty() { line } else { message }
}

fn distinct<'m>(messages: &[&'m str]) -> Vec<&'m str> {
    let mut distinct: Vec<&str> = Vec::new();
    for message in messages {
        if !distinct.contains(message) {
            distinct.push(message);
        }
    }
    distinct
}

fn aligned(messages: &[&str], quotes: Quotes) -> Result<pattern::Made, Option<PatternError>> {
    let read: Vec<Vec<Token>> = messages
        .iter()
        .map(|message| tokens::tokens(message, quotes))
        .collect();
    let mut all = messages.iter().zip(&read);
    let (first, tokens) = all.next().ok_or(None)?;
    let mut items: Vec<Item> = tokens.iter().map(|token| Item::of(token, first)).collect();
    for (message, tokens) in all {
        let pairs = align::shared(&items, tokens, message);
        let kept = pairs.iter().filter_map(|(item, _)| items.get(*item).cloned());
        items = kept.collect();
    }
    let placed: Vec<Placed<'_>> = messages
        .iter()
        .zip(&read)
        .map(|(message, tokens)| {
            let pairs = align::shared(&items, tokens, message);
            let places = pairs.iter().filter_map(|(_, token)| tokens.get(*token));
            Placed {
                message,
                places: places.map(|token| (token.start, token.end)).collect(),
            }
        })
        .collect();
    pattern::make(&segments::segments(&items, &placed))
}

fn of_shared(texts: &[&str]) -> Result<pattern::Made, Option<PatternError>> {
    let literal = shared::longest(texts).ok_or(None)?;
    let spec = pattern::spec(pattern::escaped(&literal));
    signature::check(&spec).map_err(Some)?;
    Ok(pattern::Made {
        spec,
        names: Vec::new(),
        weight: text_weight(literal.to_ascii_lowercase().as_bytes()),
        literal,
    })
}

fn takes_all(spec: &PatternSpec, lines: &[Cow<'_, str>]) -> bool {
    let Ok(compiled) = signature::compile(spec, Texts::Any) else {
        return false;
    };
    lines.iter().all(|line| compiled.regex.is_match(line.as_bytes()))
}
