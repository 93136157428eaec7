//! From the texts to what stands in a form, and back.

use super::fields::Input;
use crate::text::{EditError, Part, TextError, Tree, rewrite};

/// A record's two texts as values that can be changed.
#[derive(Debug, Clone, PartialEq)]
pub struct Texts {
    /// The document.
    pub document: Tree,
    /// The annex.
    pub annex: Tree,
}

impl Texts {
    /// Reads both; the error says which one cannot be read.
    pub fn parse(document: &str, annex: &str) -> Result<Self, (Part, TextError)> {
        Ok(Self {
            document: Tree::parse(document).map_err(|error| (Part::Document, error))?,
            annex: Tree::parse(annex).map_err(|error| (Part::Annex, error))?,
        })
    }

    /// One of the two.
    pub fn part(&self, part: Part) -> &Tree {
        match part {
            Part::Document => &self.document,
            Part::Annex => &self.annex,
        }
    }

    /// The same, to be changed.
    pub fn part_mut(&mut self, part: Part) -> &mut Tree {
        match part {
            Part::Document => &mut self.document,
            Part::Annex => &mut self.annex,
        }
    }

    /// The texts with these values; all bytes of what did not change are those of `document` and `annex`.
    pub fn written(&self, document: &str, annex: &str) -> Result<(String, String), EditError> {
        Ok((rewrite(document, &self.document)?, rewrite(annex, &self.annex)?))
    }
}

/// What stands in a form for a value, and how it is put in: as JSON, where its own input could not hold it.
pub fn read(value: Option<&Tree>, input: Input) -> (String, Input) {
    let Some(value) = value.filter(|value| !value.is_null()) else {
        return (String::new(), input);
    };
    let shown = match (input, value) {
        (Input::Line, Tree::Text { plain, .. }) if !plain.contains(['\n', '\r']) => Some(plain.clone()),
        // A line that is none is shown with its lines.
        (Input::Line, Tree::Text { plain, .. }) => return (plain.clone(), Input::Paragraph),
        (Input::Paragraph | Input::Ids, Tree::Text { plain, .. }) => Some(plain.clone()),
        (Input::Choice(words), Tree::Text { plain, .. }) if words.contains(&plain.as_str()) => {
            Some(plain.clone())
        }
        (Input::Choice(_), Tree::Text { plain, .. }) => return (plain.clone(), Input::Line),
        (Input::Lines | Input::Ids, Tree::Array(items)) => lines(items),
        (Input::Flag, Tree::Word(word)) if matches!(word.as_str(), "true" | "false") => Some(word.clone()),
        (Input::Number, Tree::Word(word)) => Some(word.clone()),
        // What was no number stays in its field.
        (Input::Number, Tree::Text { plain, .. }) if !is_number(plain) => Some(plain.clone()),
        _ => None,
    };
    match shown {
        Some(shown) => (shown, input),
        None => (value.compact(), Input::Json),
    }
}

/// An array of texts with one on each line; `None` where that would not give the same array.
fn lines(items: &[Tree]) -> Option<String> {
    let texts: Option<Vec<&str>> = items.iter().map(Tree::as_text).collect();
    let texts = texts?;
    let plain = |text: &&str| !text.is_empty() && !text.contains(['\n', '\r']) && text.trim() == *text;
    texts.iter().all(plain).then(|| texts.join("\n"))
}

/// Why a value was not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The text is no JSON.
    #[error("this is no JSON: {0}")]
    Json(TextError),
    /// Something else stands where a parent of the value should.
    #[error("the value has no place at {0}")]
    Nowhere(String),
}

/// Puts what stands in a form at its place, unless it stood there already. An empty input takes the value away: `null` in the
/// document, whose keys are expected; no key in the annex. A required text stays, empty, so that a check speaks of it.
pub fn write(
    texts: &mut Texts,
    (part, pointer): (Part, &str),
    (input, required): (Input, bool),
    given: &str,
) -> Result<bool, Refused> {
    let tree = texts.part_mut(part);
    let before = tree.find(pointer);
    let (shown, input) = read(before, input);
    let given = given.replace("\r\n", "\n");
    if given == shown.replace("\r\n", "\n") {
        return Ok(false);
    }
    if given.trim().is_empty() && !matches!(input, Input::Lines | Input::Ids if required) {
        return Ok(clear(tree, part, pointer, input, required));
    }
    let is_text = before.and_then(Tree::as_text).is_some();
    let value = match input {
        Input::Line | Input::Paragraph | Input::Choice(_) => Tree::text(&given),
        // The target of an edge is one id.
        Input::Ids if required || is_text => Tree::text(given.trim()),
        Input::Lines | Input::Ids => {
            let items = given.lines().map(str::trim).filter(|line| !line.is_empty());
            Tree::Array(items.map(Tree::text).collect())
        }
        Input::Flag | Input::Number => {
            let given = given.trim();
            let word = match input {
                Input::Flag => matches!(given, "true" | "false"),
                _ => is_number(given),
            };
            if word {
                Tree::Word(given.to_owned())
            } else {
                Tree::text(given)
            }
        }
        Input::Rows(_) | Input::Json => Tree::parse(&given).map_err(Refused::Json)?,
    };
    if before == Some(&value) {
        return Ok(false);
    }
    if tree.set(pointer, value) {
        Ok(true)
    } else {
        Err(Refused::Nowhere(pointer.to_owned()))
    }
}

fn clear(tree: &mut Tree, part: Part, pointer: &str, input: Input, required: bool) -> bool {
    if tree.find(pointer).is_none() {
        return false;
    }
    let empty = match input {
        _ if required => Tree::text(""),
        Input::Lines | Input::Ids | Input::Rows(_) => Tree::Array(Vec::new()),
        Input::Json if matches!(tree.find(pointer), Some(Tree::Object(_))) => Tree::Object(Vec::new()),
        _ if part == Part::Document => Tree::null(),
        _ => {
            let gone = tree.remove(pointer).is_some();
            // An object that held nothing else goes with it: `at_fault` without `who` would be refused.
            if let Some((parent, _)) = pointer.rsplit_once('/')
                && !parent.is_empty()
                && matches!(tree.find(parent), Some(Tree::Object(members)) if members.is_empty())
            {
                tree.remove(parent);
            }
            return gone;
        }
    };
    tree.set(pointer, empty)
}

fn is_number(text: &str) -> bool {
    let digits = text.starts_with(|first: char| first == '-' || first.is_ascii_digit());
    digits && Tree::parse(text).is_ok()
}
