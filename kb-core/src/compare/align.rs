//! Which item of one list is which of another.

use std::collections::{BTreeMap, BTreeSet};

use crate::text::Tree;

/// Keys that name an item, the first that it has.
const NAMING: [&str; 9] = [
    "id",
    "error_id",
    "url",
    "report",
    "pointer",
    "component",
    "version",
    "action",
    "text",
];

pub(super) fn name(item: &Tree) -> String {
    let own = NAMING
        .iter()
        .find_map(|key| Some((key, item.child(key)?.as_text()?)));
    match own {
        Some((key, text)) => format!("{key}={text}"),
        None => item.compact(),
    }
}

/// Place of each name; `None` where two items have the same.
pub(super) fn named(items: &[Tree]) -> Option<BTreeMap<String, usize>> {
    let names: BTreeMap<String, usize> = items
        .iter()
        .enumerate()
        .map(|(at, item)| (name(item), at))
        .collect();
    (names.len() == items.len()).then_some(names)
}

/// Pairs of places, in the order of the new list; what has no partner stands alone, the old ones last.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Aligned {
    pub(super) pairs: Vec<(Option<usize>, Option<usize>)>,
    /// True when items that stayed stand in another order.
    pub(super) reordered: bool,
}

pub(super) fn align(old: &[Tree], new: &[Tree]) -> Aligned {
    let (Some(old_names), Some(new_names)) = (named(old), named(new)) else {
        return by_place(old, new);
    };
    let mut partner: Vec<Option<usize>> = vec![None; new.len()];
    let mut taken: BTreeSet<usize> = BTreeSet::new();
    for (name, at) in &new_names {
        if let (Some(before), Some(slot)) = (old_names.get(name), partner.get_mut(*at)) {
            *slot = Some(*before);
            taken.insert(*before);
        }
    }
    let kept: Vec<usize> = partner.iter().flatten().copied().collect();
    let reordered = !kept.is_sorted();
    // An item whose name changed stands where it stood: between the same neighbours.
    let mut next = 0;
    for slot in &mut partner {
        match slot {
            Some(before) => next = *before + 1,
            None if next < old.len() && taken.insert(next) => {
                *slot = Some(next);
                next += 1;
            }
            None => {}
        }
    }
    let mut pairs: Vec<_> = partner
        .into_iter()
        .enumerate()
        .map(|(at, before)| (before, Some(at)))
        .collect();
    let gone = (0..old.len()).filter(|at| !taken.contains(at));
    pairs.extend(gone.map(|at| (Some(at), None)));
    Aligned { pairs, reordered }
}

fn by_place(old: &[Tree], new: &[Tree]) -> Aligned {
    let longest = old.len().max(new.len());
    let place = |at: usize, length: usize| (at < length).then_some(at);
    let pairs = (0..longest).map(|at| (place(at, old.len()), place(at, new.len())));
    Aligned {
        pairs: pairs.collect(),
        reordered: false,
    }
}
