//! The form opened at one field: what a reader wants to correct is found in the draft, which may be another revision.

use kb_core::form::Texts;
use kb_core::ids::Revision;
use kb_core::text::Tree;
use serde::Deserialize;

use super::sent::{Pair, name, place};
use super::view::{Entry, FieldView, SectionView};
use crate::render::i18n::edit::Words;

/// What the address says: a field as the form names it, and the number of the revision that was read.
#[derive(Debug, Default, Deserialize)]
pub struct At {
    pub(super) at: Option<String>,
    pub(super) read: Option<u32>,
}

/// The field to be corrected, and what an editor must know before.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) field: Option<String>,
    pub(super) notice: Option<String>,
}

/// The field of `at`, which was read in `read`, in the texts of the draft.
pub(super) fn find(at: String, (revision, read): (Revision, &Pair), draft: &Pair, words: &Words) -> Found {
    let texts = |pair: &Pair| Texts::parse(&pair.document, &pair.annex);
    let (Some((part, pointer)), Ok(read), Ok(draft)) = (place(&at), texts(read), texts(draft)) else {
        return Found::default();
    };
    let (read, draft) = (read.part(part), draft.part(part));
    let Some((list, number, column)) = row(pointer) else {
        let is_changed = read.find(pointer) != draft.find(pointer);
        return Found {
            notice: is_changed.then(|| words.at_changed(&revision.to_string())),
            field: Some(at),
        };
    };
    let items = |tree: &Tree| -> Vec<Tree> {
        let found = tree.find(list).and_then(Tree::items);
        found.map(<[Tree]>::to_vec).unwrap_or_default()
    };
    let (before, now) = (items(read), items(draft));
    let Some(item) = before.get(number) else {
        return Found::default();
    };
    let is_in_place = now.get(number) == Some(item);
    let found = if is_in_place {
        Some(number)
    } else {
        now.iter().position(|other| other == item)
    };
    match found {
        Some(found) => Found {
            field: Some(name(part, &format!("{list}/{found}/{column}"))),
            notice: None,
        },
        None => Found {
            field: None,
            notice: Some(words.at_gone(&revision.to_string())),
        },
    }
}

/// `/workarounds/1/how` is in row 1 of a list.
fn row(pointer: &str) -> Option<(&str, usize, &str)> {
    let (row, column) = pointer.rsplit_once('/')?;
    let (list, number) = row.rsplit_once('/')?;
    Some((list, number.parse().ok()?, column))
}

/// Gives the field the focus, and unfolds its row.
pub(super) fn focus(sections: &mut [SectionView], field: &str) {
    let mark = |one: &mut FieldView| one.has_focus = one.name == field;
    for entry in sections.iter_mut().flat_map(|section| &mut section.entries) {
        match entry {
            Entry::Field(one) => mark(one),
            Entry::List(list) => list
                .rows
                .iter_mut()
                .flat_map(|row| &mut row.fields)
                .for_each(mark),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::i18n::Language;

    fn pair(workarounds: &str) -> Pair {
        Pair {
            document: format!(
                "{{\"root_cause\": \"{}\", \"workarounds\": {workarounds}}}",
                workarounds.len()
            ),
            annex: "{}".to_owned(),
        }
    }

    #[test]
    fn a_row_is_found_where_the_draft_has_it() {
        let words = Words::of(Language::English);
        let read = pair(r#"[{"action": "a"}, {"action": "b"}]"#);
        let found = |at: &str, draft: &str| {
            let found = find(at.to_owned(), (Revision(7), &read), &pair(draft), words);
            (found.field, found.notice.is_some())
        };
        let at = "d:/workarounds/1/action";
        let is_at = |field: &str| (Some(field.to_owned()), false);
        assert_eq!(found(at, r#"[{"action": "x"}, {"action": "b"}]"#), is_at(at));
        assert_eq!(
            found(at, r#"[{"action": "b"}]"#),
            is_at("d:/workarounds/0/action")
        );
        assert_eq!(found(at, r#"[{"action": "a"}, {"action": "c"}]"#), (None, true));
        assert_eq!(
            found("d:/root_cause", "[]"),
            (Some("d:/root_cause".to_owned()), true)
        );
        for unknown in [
            "",
            "x",
            "d:",
            "d:/workarounds/99999999999999999999/action",
            "d:/workarounds/9/how",
        ] {
            assert_eq!(
                found(unknown, "[]").0.filter(|at| at.contains("works")),
                None,
                "{unknown}"
            );
        }
    }
}
