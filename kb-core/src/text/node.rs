//! A parsed text: values with the bytes they came from.

use std::ops::Range;

use super::pointer::steps;

/// A value and its place in the text.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// The bytes of the value, without white space around it.
    pub span: Range<usize>,
    /// What it is.
    pub kind: Kind,
}

/// What a value is.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number.
    Number {
        /// It as a double, which is finite.
        value: f64,
        /// True when it is written without fraction and exponent.
        whole: bool,
    },
    /// A string, unescaped.
    String(String),
    /// An array.
    Array(Vec<Node>),
    /// An object; its keys are distinct, in the order of the text.
    Object(Vec<Member>),
}

impl Kind {
    /// The word for it in messages.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Number { .. } => "a number",
            Self::String(_) => "a string",
            Self::Array(_) => "an array",
            Self::Object(_) => "an object",
        }
    }
}

/// A member of an object.
#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    /// The key, unescaped.
    pub key: String,
    /// The bytes of the key with its quotes.
    pub key_span: Range<usize>,
    /// The value.
    pub value: Node,
}

impl Node {
    /// The value at a JSON pointer.
    pub fn find(&self, pointer: &str) -> Option<&Node> {
        let mut node = self;
        for step in steps(pointer)? {
            node = node.child(&step)?;
        }
        Some(node)
    }

    /// The member or item of that name; array indices have no leading zero.
    pub fn child(&self, step: &str) -> Option<&Node> {
        match &self.kind {
            Kind::Object(members) => members.iter().find(|m| m.key == step).map(|m| &m.value),
            Kind::Array(items) => {
                let has_leading_zero = step.len() > 1 && step.starts_with('0');
                let all_digits = step.bytes().all(|b| b.is_ascii_digit());
                if has_leading_zero || !all_digits {
                    return None;
                }
                items.get(step.parse::<usize>().ok()?)
            }
            _ => None,
        }
    }

    /// The members, where this is an object.
    pub fn members(&self) -> Option<&[Member]> {
        match &self.kind {
            Kind::Object(members) => Some(members),
            _ => None,
        }
    }

    /// The items, where this is an array.
    pub fn items(&self) -> Option<&[Node]> {
        match &self.kind {
            Kind::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The text, where this is a string.
    pub fn as_str(&self) -> Option<&str> {
        match &self.kind {
            Kind::String(text) => Some(text),
            _ => None,
        }
    }
}
