//! Edits of a text that keep every other byte.

use std::ops::Range;

use super::error::TextError;
use super::node::{Kind, Node};
use super::pointer::steps;
use super::reader::parse;

/// Why a text could not be edited.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// The text to edit is no acceptable JSON.
    #[error("the text to edit: {0}")]
    Text(TextError),
    /// The new value is no acceptable JSON.
    #[error("the new value: {0}")]
    Value(TextError),
    /// The result would be refused, for instance as too large or too deep.
    #[error("the edited text: {0}")]
    Result(TextError),
    /// Nothing stands at the pointer.
    #[error("nothing stands at {0:?}")]
    NotFound(String),
    /// The pointer does not lead to a place in an object.
    #[error("{0:?} is not a member of an object")]
    NotAMember(String),
    /// The key is there already.
    #[error("{0:?} is there already")]
    Exists(String),
}

/// The text with the value at `pointer` replaced by the JSON text `value`, all other bytes kept.
pub fn replace_value(text: &str, pointer: &str, value: &str) -> Result<String, EditError> {
    let root = parse(text).map_err(EditError::Text)?;
    let value = trimmed_json(value)?;
    let node = root
        .find(pointer)
        .ok_or_else(|| EditError::NotFound(pointer.to_owned()))?;
    splice(text, node.span.clone(), value)
}

/// The text with a new member at the end of its object; it takes the white space that the last member has before it.
pub fn insert_member(text: &str, pointer: &str, value: &str) -> Result<String, EditError> {
    let root = parse(text).map_err(EditError::Text)?;
    let value = trimmed_json(value)?;
    let (object, key) = member_place(&root, pointer)?;
    if object.child(&key).is_some() {
        return Err(EditError::Exists(pointer.to_owned()));
    }
    let quoted = serde_json::Value::String(key).to_string();
    let after_last = object.members().and_then(|members| members.last());
    let Some(last) = after_last else {
        let inside = object.span.start + 1..object.span.end - 1;
        return splice(text, inside, &format!("{quoted}: {value}"));
    };
    let end = last.value.span.end;
    let lead = white_space_before(text, last.key_span.start);
    splice(text, end..end, &format!(",{lead}{quoted}: {value}"))
}

/// The text without the member at `pointer`, its comma and the white space that led to it.
pub fn remove_member(text: &str, pointer: &str) -> Result<String, EditError> {
    let root = parse(text).map_err(EditError::Text)?;
    let (object, key) = member_place(&root, pointer)?;
    let members = object.members().unwrap_or_default();
    let index = members
        .iter()
        .position(|member| member.key == key)
        .ok_or_else(|| EditError::NotFound(pointer.to_owned()))?;
    let previous = index.checked_sub(1).and_then(|before| members.get(before));
    let current = members.get(index);
    let next = members.get(index + 1);
    let range = match (previous, current, next) {
        (_, Some(current), Some(next)) => current.key_span.start..next.key_span.start,
        (Some(previous), Some(current), None) => previous.value.span.end..current.value.span.end,
        _ => object.span.start + 1..object.span.end - 1,
    };
    splice(text, range, "")
}

/// The object that holds, or is to hold, the member at `pointer`, and the member's key.
fn member_place<'n>(root: &'n Node, pointer: &str) -> Result<(&'n Node, String), EditError> {
    let not_a_member = || EditError::NotAMember(pointer.to_owned());
    let mut path = steps(pointer).ok_or_else(not_a_member)?;
    let key = path.pop().ok_or_else(not_a_member)?;
    let mut parent = root;
    for step in path {
        parent = parent.child(&step).ok_or_else(not_a_member)?;
    }
    match parent.kind {
        Kind::Object(_) => Ok((parent, key)),
        _ => Err(not_a_member()),
    }
}

fn trimmed_json(value: &str) -> Result<&str, EditError> {
    let node = parse(value).map_err(EditError::Value)?;
    Ok(value.get(node.span).unwrap_or_default())
}

fn white_space_before(text: &str, end: usize) -> &str {
    let before = text.get(..end).unwrap_or_default();
    let kept = before.trim_end_matches([' ', '\t', '\n', '\r']).len();
    before.get(kept..).unwrap_or_default()
}

fn splice(text: &str, range: Range<usize>, replacement: &str) -> Result<String, EditError> {
    let before = text.get(..range.start).unwrap_or_default();
    let after = text.get(range.end..).unwrap_or_default();
    let edited = [before, replacement, after].concat();
    parse(&edited).map_err(EditError::Result)?;
    Ok(edited)
}
