//! Edits of single values and items of arrays, in a text that keeps every other byte.

use super::edit::EditError;
use super::rewrite::rewrite;
use super::tree::Tree;

/// The text with `value`, a JSON text, at `pointer`. Parents that are not there are made ([`Tree::set`]).
pub fn set_value(text: &str, pointer: &str, value: &str) -> Result<String, EditError> {
    let value = Tree::parse(value).map_err(EditError::Value)?;
    edit(text, pointer, |tree| tree.set(pointer, value))
}

/// The text with one more item, before the one that stands at `at`, or at the end of the array.
pub fn insert_item(text: &str, array: &str, at: usize, value: &str) -> Result<String, EditError> {
    let value = Tree::parse(value).map_err(EditError::Value)?;
    items(text, array, |items| {
        let fits = at <= items.len();
        if fits {
            items.insert(at, value);
        }
        fits
    })
}

/// The text without an item.
pub fn remove_item(text: &str, array: &str, at: usize) -> Result<String, EditError> {
    items(text, array, |items| {
        let there = at < items.len();
        if there {
            items.remove(at);
        }
        there
    })
}

/// The text with an item at another place.
pub fn move_item(text: &str, array: &str, from: usize, to: usize) -> Result<String, EditError> {
    items(text, array, |items| {
        let there = from.max(to) < items.len();
        if there {
            let item = items.remove(from);
            items.insert(to, item);
        }
        there
    })
}

fn items(text: &str, array: &str, change: impl FnOnce(&mut Vec<Tree>) -> bool) -> Result<String, EditError> {
    edit(text, array, |tree| {
        tree.find_mut(array).and_then(Tree::items_mut).is_some_and(change)
    })
}

fn edit(text: &str, pointer: &str, change: impl FnOnce(&mut Tree) -> bool) -> Result<String, EditError> {
    let mut tree = Tree::parse(text).map_err(EditError::Text)?;
    if !change(&mut tree) {
        return Err(EditError::NotFound(pointer.to_owned()));
    }
    rewrite(text, &tree)
}
