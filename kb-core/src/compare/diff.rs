//! What changed between two texts, by field.

use serde::Serialize;

use super::align::align;
use crate::text::{Part, Step, Tree, push_step};

/// How a field changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// It was not there.
    Added,
    /// It is no longer there.
    Removed,
    /// It has another value.
    Changed,
    /// Items of a list stand in another order.
    Moved,
}

/// A field that changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Change {
    /// Which of the two texts.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub part: Part,
    /// JSON pointer into the newer text; of what was removed, into the older.
    pub pointer: String,
    /// How it changed.
    pub kind: ChangeKind,
    /// Its JSON before, as it was written.
    pub old: Option<String>,
    /// Its JSON now.
    pub new: Option<String>,
}

/// The fields in which two texts differ, in the order of the newer one. Nothing for texts that differ in white space alone.
pub fn diff(part: Part, old: &Tree, new: &Tree) -> Vec<Change> {
    let mut found = Vec::new();
    walk(old, new, (&mut String::new(), &mut String::new()), &mut |seen| {
        found.extend(change(part, &seen));
    });
    found
}

pub(super) struct Seen<'t> {
    pub(super) old: Option<(&'t str, &'t Tree)>,
    pub(super) new: Option<(&'t str, &'t Tree)>,
    pub(super) reordered: bool,
}

pub(super) fn walk(
    old: &Tree,
    new: &Tree,
    (old_pointer, new_pointer): (&mut String, &mut String),
    see: &mut dyn FnMut(Seen<'_>),
) {
    let both = |reordered| (reordered, old, new);
    let (reordered, ..) = match (old, new) {
        _ if old == new => both(false),
        (Tree::Object(before), Tree::Object(after)) => {
            for (key, value) in after {
                let was = old.child(key);
                below(
                    (old_pointer, new_pointer),
                    (
                        was.map(|was| (Step::Key(key), was)),
                        Some((Step::Key(key), value)),
                    ),
                    see,
                );
            }
            for (key, value) in before.iter().filter(|(key, _)| new.child(key).is_none()) {
                below(
                    (old_pointer, new_pointer),
                    (Some((Step::Key(key), value)), None),
                    see,
                );
            }
            return;
        }
        (Tree::Array(before), Tree::Array(after)) => {
            let aligned = align(before, after);
            for (was, now) in aligned.pairs {
                let was = was.and_then(|at| Some((Step::Index(at), before.get(at)?)));
                let now = now.and_then(|at| Some((Step::Index(at), after.get(at)?)));
                below((old_pointer, new_pointer), (was, now), see);
            }
            if !aligned.reordered {
                return;
            }
            both(true)
        }
        _ => both(false),
    };
    see(Seen {
        old: Some((old_pointer, old)),
        new: Some((new_pointer, new)),
        reordered,
    });
}

type Stepped<'t> = Option<(Step<'t>, &'t Tree)>;

fn below(
    (old_pointer, new_pointer): (&mut String, &mut String),
    (was, now): (Stepped<'_>, Stepped<'_>),
    see: &mut dyn FnMut(Seen<'_>),
) {
    let lengths = (old_pointer.len(), new_pointer.len());
    if let Some((step, _)) = &was {
        push_step(old_pointer, step);
    }
    if let Some((step, _)) = &now {
        push_step(new_pointer, step);
    }
    match (&was, &now) {
        (Some((_, was)), Some((_, now))) => walk(was, now, (old_pointer, new_pointer), see),
        _ => see(Seen {
            old: was.map(|(_, tree)| (old_pointer.as_str(), tree)),
            new: now.map(|(_, tree)| (new_pointer.as_str(), tree)),
            reordered: false,
        }),
    }
    old_pointer.truncate(lengths.0);
    new_pointer.truncate(lengths.1);
}

fn change(part: Part, seen: &Seen<'_>) -> Option<Change> {
    let kind = match (seen.old, seen.new) {
        _ if seen.reordered => ChangeKind::Moved,
        (Some((_, old)), Some((_, new))) if old == new => return None,
        (Some(_), Some(_)) => ChangeKind::Changed,
        (None, _) => ChangeKind::Added,
        (_, None) => ChangeKind::Removed,
    };
    let (pointer, _) = seen.new.or(seen.old)?;
    Some(Change {
        part,
        pointer: pointer.to_owned(),
        kind,
        old: seen.old.map(|(_, tree)| tree.compact()),
        new: seen.new.map(|(_, tree)| tree.compact()),
    })
}
