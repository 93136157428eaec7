//! A text as values that can be changed, each scalar as it was written.

use std::collections::BTreeMap;

use super::error::TextError;
use super::node::{Kind, Node};
use super::pointer::steps;
use super::reader::parse;

/// A value. [`super::rewrite`] turns a changed one into text.
#[derive(Debug, Clone)]
pub enum Tree {
    /// A string, unescaped, with its JSON as it was written.
    Text {
        /// The string.
        plain: String,
        /// Its JSON, with the quotes.
        written: String,
    },
    /// A number, `true`, `false` or `null`, as it was written.
    Word(String),
    /// An array.
    Array(Vec<Tree>),
    /// An object; its keys are distinct.
    Object(Vec<(String, Tree)>),
}

/// Strings are compared unescaped, numbers as they are written, objects without regard to the order of their keys.
impl PartialEq for Tree {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Text { plain, .. }, Self::Text { plain: other, .. }) => plain == other,
            (Self::Word(word), Self::Word(other)) => word == other,
            (Self::Array(items), Self::Array(others)) => items == others,
            (Self::Object(members), Self::Object(others)) => {
                if members.len() != others.len() {
                    return false;
                }
                let in_order = || members.iter().zip(others).all(|(one, other)| one.0 == other.0);
                if in_order() {
                    return members.iter().zip(others).all(|(one, other)| one.1 == other.1);
                }
                let by_key: BTreeMap<&str, &Self> =
                    others.iter().map(|(key, value)| (key.as_str(), value)).collect();
                members
                    .iter()
                    .all(|(key, value)| by_key.get(key.as_str()) == Some(&value))
            }
            _ => false,
        }
    }
}

impl Tree {
    /// Reads a JSON text, as strictly as [`parse`].
    pub fn parse(text: &str) -> Result<Self, TextError> {
        parse(text).map(|node| Self::of(text, &node))
    }

    pub(super) fn of(text: &str, node: &Node) -> Self {
        let written = || text.get(node.span.clone()).unwrap_or_default().to_owned();
        match &node.kind {
            Kind::Null | Kind::Bool(_) | Kind::Number { .. } => Self::Word(written()),
            Kind::String(plain) => Self::Text {
                plain: plain.clone(),
                written: written(),
            },
            Kind::Array(items) => Self::Array(items.iter().map(|item| Self::of(text, item)).collect()),
            Kind::Object(members) => {
                let member =
                    |member: &super::node::Member| (member.key.clone(), Self::of(text, &member.value));
                Self::Object(members.iter().map(member).collect())
            }
        }
    }

    /// `null`
    pub fn null() -> Self {
        Self::Word("null".to_owned())
    }

    /// A string.
    pub fn text(plain: &str) -> Self {
        Self::Text {
            plain: plain.to_owned(),
            written: quoted(plain),
        }
    }

    /// The string, where this is one.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text { plain, .. } => Some(plain),
            _ => None,
        }
    }

    /// The items, where this is an array.
    pub fn items(&self) -> Option<&[Self]> {
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The same, to be changed.
    pub fn items_mut(&mut self) -> Option<&mut Vec<Self>> {
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    /// True for `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Word(word) if word == "null")
    }

    /// The member or item of that name.
    pub fn child(&self, step: &str) -> Option<&Self> {
        match self {
            Self::Object(members) => members
                .iter()
                .find(|(key, _)| key == step)
                .map(|(_, value)| value),
            Self::Array(items) => items.get(index(step)?),
            _ => None,
        }
    }

    fn child_mut(&mut self, step: &str) -> Option<&mut Self> {
        match self {
            Self::Object(members) => members
                .iter_mut()
                .find(|(key, _)| key == step)
                .map(|(_, value)| value),
            Self::Array(items) => items.get_mut(index(step)?),
            _ => None,
        }
    }

    /// The value at a JSON pointer.
    pub fn find(&self, pointer: &str) -> Option<&Self> {
        let mut tree = self;
        for step in steps(pointer)? {
            tree = tree.child(&step)?;
        }
        Some(tree)
    }

    /// The same, to be changed.
    pub fn find_mut(&mut self, pointer: &str) -> Option<&mut Self> {
        let mut tree = self;
        for step in steps(pointer)? {
            tree = tree.child_mut(&step)?;
        }
        Some(tree)
    }

    /// Puts a value at a pointer. Missing or `null` parents are made: an array where the step below is `0` or `-`, else an
    /// object. An array's end is `-` or its length. `false`, with nothing changed, where the pointer leads nowhere.
    pub fn set(&mut self, pointer: &str, value: Self) -> bool {
        let Some(path) = steps(pointer) else { return false };
        let mut changed = self.clone();
        let done = changed.put(&path, value);
        if done {
            *self = changed;
        }
        done
    }

    fn put(&mut self, path: &[String], value: Self) -> bool {
        let Some((step, rest)) = path.split_first() else {
            *self = value;
            return true;
        };
        if self.is_null() {
            *self = if matches!(step.as_str(), "0" | "-") {
                Self::Array(Vec::new())
            } else {
                Self::Object(Vec::new())
            };
        }
        if let Some(child) = self.child_mut(step) {
            return child.put(rest, value);
        }
        let mut made = Self::null();
        if !made.put(rest, value) {
            return false;
        }
        match self {
            Self::Object(members) => members.push((step.clone(), made)),
            Self::Array(items) if step == "-" || index(step) == Some(items.len()) => items.push(made),
            _ => return false,
        }
        true
    }

    /// Takes away the member or item at a pointer.
    pub fn remove(&mut self, pointer: &str) -> Option<Self> {
        let (parent, _) = pointer.rsplit_once('/')?;
        let step = steps(pointer)?.pop()?;
        match self.find_mut(parent)? {
            Self::Object(members) => {
                let at = members.iter().position(|(key, _)| *key == step)?;
                Some(members.remove(at).1)
            }
            Self::Array(items) => {
                let at = index(&step).filter(|at| *at < items.len())?;
                Some(items.remove(at))
            }
            _ => None,
        }
    }

    /// The value on one line.
    pub fn compact(&self) -> String {
        match self {
            Self::Text { written, .. } => written.clone(),
            Self::Word(word) => word.clone(),
            Self::Array(items) => {
                let items: Vec<String> = items.iter().map(Self::compact).collect();
                format!("[{}]", items.join(", "))
            }
            Self::Object(members) => {
                let member = |(key, value): &(String, Self)| format!("{}: {}", quoted(key), value.compact());
                let members: Vec<String> = members.iter().map(member).collect();
                format!("{{{}}}", members.join(", "))
            }
        }
    }
}

/// A place in an array, written without a leading zero.
fn index(step: &str) -> Option<usize> {
    let plain = step.bytes().all(|byte| byte.is_ascii_digit()) && (step.len() == 1 || !step.starts_with('0'));
    plain.then(|| step.parse().ok()).flatten()
}

pub(super) fn quoted(plain: &str) -> String {
    serde_json::Value::String(plain.to_owned()).to_string()
}
