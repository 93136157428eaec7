//! Which revision a field has its value from.

use std::collections::BTreeMap;

use serde::Serialize;

use super::diff::walk;
use crate::ids::Revision;
use crate::text::{Part, Step, Tree, push_step};

/// A field and the revision that gave it the value that it has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Blame {
    /// Which of the two texts.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub part: Part,
    /// JSON pointer into the newest text, to a value that holds no others.
    pub pointer: String,
    /// The revision.
    #[cfg_attr(feature = "openapi", schema(value_type = u32))]
    pub revision: Revision,
}

/// For each field of the newest text, the revision that it is from, in the order of the text. `revisions` are oldest first; what
/// was there already in the first of them is from that one.
pub fn blame<'t>(part: Part, revisions: impl IntoIterator<Item = (Revision, &'t Tree)>) -> Vec<Blame> {
    let mut from: BTreeMap<String, Revision> = BTreeMap::new();
    let mut last: Option<&Tree> = None;
    for (revision, tree) in revisions {
        let carried = last.map(|last| carried(last, tree)).unwrap_or_default();
        let mut next = BTreeMap::new();
        leaves(tree, &mut String::new(), &mut |pointer| {
            let known = carried.get(pointer).and_then(|before| from.get(before));
            next.insert(pointer.to_owned(), known.copied().unwrap_or(revision));
        });
        from = next;
        last = Some(tree);
    }
    let mut found = Vec::new();
    if let Some(newest) = last {
        leaves(newest, &mut String::new(), &mut |pointer| {
            found.extend(from.get(pointer).map(|revision| Blame {
                part,
                pointer: pointer.to_owned(),
                revision: *revision,
            }));
        });
    }
    found
}

fn carried(old: &Tree, new: &Tree) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    walk(old, new, (&mut String::new(), &mut String::new()), &mut |seen| {
        let (Some((was, old)), Some((now, new))) = (seen.old, seen.new) else {
            return;
        };
        if old == new {
            leaves(new, &mut String::new(), &mut |below| {
                found.insert(format!("{now}{below}"), format!("{was}{below}"));
            });
        }
    });
    found
}

fn leaves(tree: &Tree, pointer: &mut String, call: &mut dyn FnMut(&str)) {
    let length = pointer.len();
    match tree {
        Tree::Object(members) if !members.is_empty() => {
            for (key, value) in members {
                push_step(pointer, &Step::Key(key));
                leaves(value, pointer, call);
                pointer.truncate(length);
            }
        }
        Tree::Array(items) if !items.is_empty() => {
            for (at, value) in items.iter().enumerate() {
                push_step(pointer, &Step::Index(at));
                leaves(value, pointer, call);
                pointer.truncate(length);
            }
        }
        _ => call(pointer),
    }
}
