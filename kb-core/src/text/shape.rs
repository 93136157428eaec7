//! What a text may hold: a table of keys and types, checked value by value so that every violation is listed.

use super::node::{Kind, Node};
use super::pointer::{Step, push_step};
use super::violation::{Part, Violation};

/// Checks a text value; the error says what it should be.
pub(crate) type TextCheck = fn(&str) -> Result<(), String>;

pub(crate) enum Shape {
    Text,
    /// A string that is not empty or white space only.
    FilledText,
    /// A string that a function accepts; the first field is the rule it breaks otherwise.
    Checked(&'static str, TextCheck),
    /// One of these words.
    Word(&'static [&'static str]),
    /// A number from 0 to 1.
    Share,
    /// A whole number up to this one.
    Whole(u32),
    /// The version of a format, which must be this one.
    Version(u32),
    Bool,
    /// An array of at most so many items.
    List(usize, &'static Shape),
    /// An object with these keys; others are kept unread.
    Object(&'static [Field]),
    /// An object with any keys and anything under them.
    AnyObject,
    /// An object with any keys and these values.
    Map(&'static Shape),
    /// The same, or `null`.
    OrNull(&'static Shape),
}

pub(crate) struct Field {
    pub(crate) key: &'static str,
    pub(crate) presence: Presence,
    pub(crate) shape: Shape,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Presence {
    Required,
    /// An object without it is accepted with a warning.
    Expected,
    Optional,
}

impl Field {
    pub(crate) const fn required(key: &'static str, shape: Shape) -> Self {
        let presence = Presence::Required;
        Self { key, presence, shape }
    }

    pub(crate) const fn expected(key: &'static str, shape: Shape) -> Self {
        let presence = Presence::Expected;
        Self { key, presence, shape }
    }

    pub(crate) const fn optional(key: &'static str, shape: Shape) -> Self {
        let presence = Presence::Optional;
        Self { key, presence, shape }
    }
}

/// Most violations that are listed of one text; who has more mends these first.
const MOST_VIOLATIONS: usize = 100;

/// Every violation of the shape, up to [`MOST_VIOLATIONS`].
pub(crate) fn check_shape(part: Part, root: &Node, shape: &Shape) -> Vec<Violation> {
    let mut walk = Walk {
        part,
        pointer: String::new(),
        found: Vec::new(),
    };
    walk.value(root, shape);
    walk.found.truncate(MOST_VIOLATIONS);
    walk.found
}

struct Walk {
    part: Part,
    pointer: String,
    found: Vec<Violation>,
}

impl Walk {
    fn value(&mut self, node: &Node, shape: &Shape) {
        match (shape, &node.kind) {
            (Shape::Text, Kind::String(_))
            | (Shape::Bool, Kind::Bool(_))
            | (Shape::AnyObject, Kind::Object(_))
            | (Shape::OrNull(_), Kind::Null) => {}
            (Shape::OrNull(inner), _) => self.value(node, inner),
            (Shape::FilledText, Kind::String(text)) => {
                if text.trim().is_empty() {
                    self.error("empty", "this text is empty", "fill it in");
                }
            }
            (Shape::Checked(rule, check), Kind::String(text)) => {
                if let Err(reason) = check(text) {
                    self.error(rule, &reason, "correct the value");
                }
            }
            (Shape::Word(words), Kind::String(text)) => {
                if !words.contains(&text.as_str()) {
                    let reason = format!("{text:?} is not one of the words of this key");
                    self.error(
                        "unknown-word",
                        &reason,
                        &format!("use one of {}", words.join(", ")),
                    );
                }
            }
            (Shape::Share, Kind::Number { value: number, .. }) => {
                if !(0.0..=1.0).contains(number) {
                    self.error(
                        "range",
                        &format!("{number} is not from 0 to 1"),
                        "write a share, not a percentage",
                    );
                }
            }
            (Shape::Whole(max), Kind::Number { value, whole }) => {
                if !whole || value.is_sign_negative() || *value > f64::from(*max) {
                    let reason = format!("{value} is not a whole number from 0 to {max}");
                    self.error("range", &reason, "correct the number");
                }
            }
            (Shape::Version(known), Kind::Number { value, whole }) => {
                let is_known = *whole && value.total_cmp(&f64::from(*known)).is_eq();
                if !is_known {
                    let reason = format!("version {value} is not one that this build reads");
                    self.error(
                        "version",
                        &reason,
                        &format!("write version {known}, or use a newer build"),
                    );
                }
            }
            (Shape::List(most, inner), Kind::Array(items)) => self.items(items, *most, inner),
            (Shape::Object(fields), Kind::Object(_)) => self.fields(node, fields),
            (Shape::Map(inner), Kind::Object(members)) => {
                for member in members {
                    self.below(&Step::Key(&member.key), |walk| walk.value(&member.value, inner));
                }
            }
            _ => {
                let reason = format!("expected {}, found {}", expected(shape), node.kind.name());
                self.error("type", &reason, "change the value's type");
            }
        }
    }

    fn items(&mut self, items: &[Node], most: usize, inner: &Shape) {
        if items.len() > most {
            let reason = format!("{} items, the limit is {most}", items.len());
            self.error("too-many", &reason, "keep the ones that matter");
        }
        for (index, item) in items.iter().enumerate() {
            if self.found.len() >= MOST_VIOLATIONS {
                return;
            }
            self.below(&Step::Index(index), |walk| walk.value(item, inner));
        }
    }

    fn fields(&mut self, object: &Node, fields: &[Field]) {
        for field in fields {
            match (object.child(field.key), field.presence) {
                (Some(value), _) => self.below(&Step::Key(field.key), |walk| walk.value(value, &field.shape)),
                (None, Presence::Optional) => {}
                (None, presence) => self.missing(field.key, presence),
            }
        }
    }

    fn missing(&mut self, key: &str, presence: Presence) {
        let reason = format!("the key {key:?} is missing");
        let violation = if presence == Presence::Required {
            Violation::error(self.part, self.pointer.clone(), "missing-key", reason)
        } else {
            Violation::warning(self.part, self.pointer.clone(), "missing-key", reason)
        };
        self.found.push(violation.fix(format!("add {key:?}")));
    }

    fn below(&mut self, step: &Step<'_>, check: impl FnOnce(&mut Self)) {
        let length = self.pointer.len();
        push_step(&mut self.pointer, step);
        check(self);
        self.pointer.truncate(length);
    }

    fn error(&mut self, rule: &'static str, reason: &str, fix: &str) {
        let violation = Violation::error(self.part, self.pointer.clone(), rule, reason);
        self.found.push(violation.fix(fix));
    }
}

fn expected(shape: &Shape) -> &'static str {
    match shape {
        Shape::Text | Shape::FilledText | Shape::Checked(..) | Shape::Word(_) => "a string",
        Shape::Share => "a number from 0 to 1",
        Shape::Whole(_) | Shape::Version(_) => "a whole number",
        Shape::Bool => "true or false",
        Shape::List(..) => "an array",
        Shape::Object(_) | Shape::Map(_) | Shape::AnyObject => "an object",
        Shape::OrNull(inner) => match inner {
            Shape::List(..) => "an array or null",
            Shape::Share | Shape::Whole(_) => "a number or null",
            Shape::Object(_) | Shape::Map(_) | Shape::AnyObject => "an object or null",
            Shape::Bool => "true, false or null",
            _ => "a string or null",
        },
    }
}
