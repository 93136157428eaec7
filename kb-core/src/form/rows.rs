//! Adding, moving and removing rows. Lists that run side by side stay side by side, and pointers that name a row follow it.

use super::fields::{Input, field};
use super::values::Texts;
use crate::text::{Part, Tree};

/// What is done to a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowEdit {
    /// One place towards the front.
    Up(usize),
    /// One place towards the end.
    Down(usize),
    /// Taken out.
    Remove(usize),
}

/// Reads `up:/workarounds/1`: what to do, and to which list.
pub fn parse_row_edit(text: &str) -> Option<(RowEdit, &str)> {
    let (word, pointer) = text.split_once(':')?;
    let (list, at) = pointer.rsplit_once('/')?;
    let at = at.parse().ok()?;
    let edit = match word {
        "up" => RowEdit::Up(at),
        "down" => RowEdit::Down(at),
        "remove" => RowEdit::Remove(at),
        _ => return None,
    };
    Some((edit, list))
}

/// Lists that say more of the same things, in the same order.
const BESIDE: [(&str, &[(Part, &str)]); 2] = [
    (
        "/workarounds",
        &[
            (Part::Document, "/workarounds_zh"),
            (Part::Annex, "/workarounds_zh"),
            (Part::Annex, "/workaround_notes"),
        ],
    ),
    ("/dead_ends", &[(Part::Annex, "/dead_ends_zh")]),
];

/// Does it; false, and nothing changed, where there is no such row.
pub fn edit_row(texts: &mut Texts, (part, list): (Part, &str), edit: RowEdit) -> bool {
    if !field(part, list).is_some_and(|field| matches!(field.input, Input::Rows(_))) {
        return false;
    }
    let length = texts
        .part(part)
        .find(list)
        .and_then(Tree::items)
        .map_or(0, <[Tree]>::len);
    let Some(places) = places(length, edit) else {
        return false;
    };
    reorder(texts.part_mut(part), list, &places);
    if part == Part::Document {
        for (_, beside) in BESIDE.iter().filter(|(of, _)| *of == list) {
            for (part, list) in *beside {
                reorder(texts.part_mut(*part), list, &places);
            }
        }
        follow(&mut texts.annex, list, &places);
    }
    true
}

fn places(length: usize, edit: RowEdit) -> Option<Vec<usize>> {
    let mut places: Vec<usize> = (0..length).collect();
    match edit {
        RowEdit::Remove(at) if at < length => {
            places.remove(at);
        }
        RowEdit::Up(at) if at < length => places.swap(at, at.checked_sub(1)?),
        RowEdit::Down(at) if at + 1 < length => places.swap(at, at + 1),
        _ => return None,
    }
    Some(places)
}

/// A list beside may be shorter: what it does not have is not moved.
fn reorder(tree: &mut Tree, list: &str, places: &[usize]) {
    let Some(items) = tree.find_mut(list).and_then(Tree::items_mut) else {
        return;
    };
    let reordered: Vec<Tree> = places.iter().filter_map(|at| items.get(*at).cloned()).collect();
    *items = reordered;
}

/// Where the annex names a row of the document, the name follows the row; a source of a row that is gone supports it no more.
fn follow(annex: &mut Tree, list: &str, places: &[usize]) {
    let moved = |pointer: &str| -> Option<String> {
        let Some(rest) = pointer.strip_prefix(list).and_then(|rest| rest.strip_prefix('/')) else {
            return Some(pointer.to_owned());
        };
        let (at, below) = rest
            .split_once('/')
            .map_or((rest, String::new()), |(at, below)| (at, format!("/{below}")));
        let Ok(at) = at.parse::<usize>() else {
            return Some(pointer.to_owned());
        };
        let now = places.iter().position(|old| *old == at)?;
        Some(format!("{list}/{now}{below}"))
    };
    for holder in ["/sources", "/reproduced"] {
        let Some(items) = annex.find_mut(holder).and_then(Tree::items_mut) else {
            continue;
        };
        for item in items {
            if let Some(supports) = item.find_mut("/supports").and_then(Tree::items_mut) {
                let kept = supports.iter().filter_map(|pointer| match pointer.as_text() {
                    Some(text) => moved(text).map(|now| renamed(pointer, &now)),
                    None => Some(pointer.clone()),
                });
                *supports = kept.collect();
            }
        }
    }
    let disputes = annex.find_mut("/disputes").and_then(Tree::items_mut);
    if let Some(disputes) = disputes {
        disputes.retain_mut(|dispute| {
            let Some(pointer) = dispute.find_mut("/pointer") else {
                return true;
            };
            let Some(now) = pointer.as_text().map(moved) else {
                return true;
            };
            if let Some(now) = &now {
                *pointer = renamed(pointer, now);
            }
            now.is_some()
        });
    }
}

fn renamed(pointer: &Tree, now: &str) -> Tree {
    if pointer.as_text() == Some(now) {
        pointer.clone()
    } else {
        Tree::text(now)
    }
}
