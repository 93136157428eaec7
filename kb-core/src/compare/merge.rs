//! Two editors changed the same text: what both changes give together, and where they contradict each other.

use std::collections::BTreeSet;

use serde::Serialize;

use super::align::{name, named};
use crate::text::{Part, Step, Tree, push_step};

/// A field that both changed, each otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Conflict {
    /// Which of the two texts.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub part: Part,
    /// JSON pointer into what both began with; of what neither began with, into theirs.
    pub pointer: String,
    /// Its JSON in what both began with.
    pub base: Option<String>,
    /// In mine.
    pub mine: Option<String>,
    /// In theirs, which the merged text keeps.
    pub theirs: Option<String>,
}

/// What came of a merge.
#[derive(Debug, Clone, PartialEq)]
pub struct Merged {
    /// Theirs with all of mine that does not contradict it.
    pub tree: Tree,
    /// Where it does.
    pub conflicts: Vec<Conflict>,
}

/// Merges two changes of one text. A field that one side left alone has the other's value; what is uncertain is a conflict.
pub fn merge(part: Part, base: &Tree, mine: &Tree, theirs: &Tree) -> Merged {
    let mut both = Merger {
        part,
        pointer: String::new(),
        conflicts: Vec::new(),
    };
    let merged = both.value(Some(base), Some(mine), Some(theirs));
    Merged {
        tree: merged.unwrap_or_else(|| theirs.clone()),
        conflicts: both.conflicts,
    }
}

struct Merger {
    part: Part,
    pointer: String,
    conflicts: Vec<Conflict>,
}

impl Merger {
    fn value(&mut self, base: Option<&Tree>, mine: Option<&Tree>, theirs: Option<&Tree>) -> Option<Tree> {
        if mine == theirs || mine == base {
            return theirs.cloned();
        }
        if theirs == base {
            return mine.cloned();
        }
        match (base, mine, theirs) {
            (Some(base @ Tree::Object(_)), Some(mine @ Tree::Object(_)), Some(theirs @ Tree::Object(_))) => {
                Some(self.object(base, mine, theirs))
            }
            (Some(Tree::Array(of_base)), Some(Tree::Array(of_mine)), Some(Tree::Array(of_theirs))) => {
                let merged = self.array(of_base, of_mine, of_theirs);
                Some(merged.unwrap_or_else(|| self.conflict(base, mine, theirs).unwrap_or_else(Tree::null)))
            }
            _ => self.conflict(base, mine, theirs),
        }
    }

    fn conflict(&mut self, base: Option<&Tree>, mine: Option<&Tree>, theirs: Option<&Tree>) -> Option<Tree> {
        self.conflicts.push(Conflict {
            part: self.part,
            pointer: self.pointer.clone(),
            base: base.map(Tree::compact),
            mine: mine.map(Tree::compact),
            theirs: theirs.map(Tree::compact),
        });
        theirs.cloned()
    }

    fn below(
        &mut self,
        step: &Step<'_>,
        base: Option<&Tree>,
        mine: Option<&Tree>,
        theirs: Option<&Tree>,
    ) -> Option<Tree> {
        let length = self.pointer.len();
        push_step(&mut self.pointer, step);
        let merged = self.value(base, mine, theirs);
        self.pointer.truncate(length);
        merged
    }

    fn object(&mut self, base: &Tree, mine: &Tree, theirs: &Tree) -> Tree {
        let mut keys: Vec<&String> = Vec::new();
        let mut known = BTreeSet::new();
        for tree in [theirs, mine, base] {
            if let Tree::Object(members) = tree {
                keys.extend(
                    members
                        .iter()
                        .map(|(key, _)| key)
                        .filter(|key| known.insert(*key)),
                );
            }
        }
        let mut members = Vec::new();
        for key in keys {
            let merged = self.below(
                &Step::Key(key),
                base.child(key),
                mine.child(key),
                theirs.child(key),
            );
            members.extend(merged.map(|value| (key.clone(), value)));
        }
        Tree::Object(members)
    }

    /// `None` where the items cannot be told apart, or both put them into another order.
    fn array(&mut self, base: &[Tree], mine: &[Tree], theirs: &[Tree]) -> Option<Tree> {
        let (base_names, mine_names, theirs_names) = (named(base)?, named(mine)?, named(theirs)?);
        let order = |items: &[Tree]| -> Vec<usize> {
            items
                .iter()
                .filter_map(|item| base_names.get(&name(item)).copied())
                .collect()
        };
        if !order(mine).is_sorted() || !order(theirs).is_sorted() {
            return None;
        }
        let mut merged: Vec<Tree> = Vec::new();
        // Names of theirs and of mine, each new one of mine behind what it stands behind there.
        let mut names: Vec<String> = theirs.iter().map(name).collect();
        for (at, item) in mine.iter().enumerate() {
            let own = name(item);
            if names.contains(&own) || base_names.contains_key(&own) {
                continue;
            }
            let before = mine.get(..at).unwrap_or_default().iter().rev().map(name);
            let place = before
                .into_iter()
                .find_map(|before| names.iter().position(|known| *known == before));
            names.insert(place.map_or(0, |place| place + 1), own);
        }
        let mut gone: Vec<String> = base.iter().map(name).collect();
        gone.retain(|name| !names.contains(name));
        for name in names.iter().chain(&gone) {
            let base_at = base_names.get(name).copied();
            let theirs_at = theirs_names.get(name).copied();
            let of = |items: &[Tree], at: Option<usize>| at.and_then(|at| items.get(at).cloned());
            let (before, my, their) = (
                of(base, base_at),
                of(mine, mine_names.get(name).copied()),
                of(theirs, theirs_at),
            );
            let step = Step::Index(base_at.or(theirs_at).unwrap_or(base.len()));
            merged.extend(self.below(&step, before.as_ref(), my.as_ref(), their.as_ref()));
        }
        Some(Tree::Array(merged))
    }
}
