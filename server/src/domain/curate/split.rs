//! One record becomes two: chosen patterns, phrases, examples, codes and edges go to a new record. Both are drafts afterwards, saved
//! in one step; readers see what they saw until each is published.

use std::collections::{BTreeMap, BTreeSet};

use kb_core::form::{RowEdit, Texts, edit_row};
use kb_core::ids::{RecordId, Revision};
use kb_core::text::{Part, Tree, Violation};
use time::OffsetDateTime;

use super::{CurateError, begun, check_own, check_texts};
use crate::store::{By, Expected, NewRevision, Split, SplitSaved, Store, StoreError};

/// Lists of which items may go.
const LISTS: [(Part, &str); 8] = [
    (Part::Annex, "/patterns"),
    (Part::Annex, "/phrases"),
    (Part::Annex, "/codes"),
    (Part::Annex, "/examples"),
    (Part::Annex, "/near_misses"),
    (Part::Document, "/transition_graph/leads_to"),
    (Part::Document, "/transition_graph/preceded_by"),
    (Part::Document, "/transition_graph/frequently_confused_with"),
];
/// Values of the document that may go: a pattern and a code.
const VALUES: [&str; 2] = ["/regex", "/error_code"];
/// What the new record has from the old one until somebody writes better.
const KEPT: [&str; 3] = ["/domain", "/category", "/root_cause"];
/// Keys by which an item is told from others, the first that it has.
const TOLD_BY: [&str; 3] = ["regex", "text", "error_id"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Movable {
    pub part: Part,
    /// The list, or the value itself.
    pub list: &'static str,
    pub pointer: String,
    pub text: String,
}

#[derive(Debug)]
pub struct Parting<'a> {
    pub id: &'a RecordId,
    /// The newest revision, which was looked at.
    pub head: Revision,
    pub to: &'a RecordId,
    pub signature: &'a str,
    pub title: Option<&'a str>,
    pub moves: BTreeSet<(Part, String)>,
}

#[derive(Debug)]
pub struct Parted {
    pub old: (Revision, Vec<Violation>),
    pub new: (Revision, Vec<Violation>),
}

pub fn movable(texts: &Texts) -> Vec<Movable> {
    let mut all = Vec::new();
    for list in VALUES {
        if let Some(text) = texts.document.find(list).and_then(Tree::as_text) {
            all.push(Movable {
                part: Part::Document,
                list,
                pointer: list.to_owned(),
                text: text.to_owned(),
            });
        }
    }
    for (part, list) in LISTS {
        let items = texts
            .part(part)
            .find(list)
            .and_then(Tree::items)
            .unwrap_or_default();
        for (at, item) in items.iter().enumerate() {
            let named = TOLD_BY.iter().find_map(|key| item.child(key)?.as_text());
            let text = named.or_else(|| item.as_text());
            all.push(Movable {
                part,
                list,
                pointer: format!("{list}/{at}"),
                text: text.map_or_else(|| item.compact(), str::to_owned),
            });
        }
    }
    all
}

/// Saves both drafts, or nothing.
pub async fn split(
    store: &dyn Store,
    parting: Parting<'_>,
    by: &By,
    at: OffsetDateTime,
) -> Result<Parted, CurateError> {
    let Parting { id, head, to, .. } = parting;
    if parting.moves.is_empty() {
        return Err(CurateError::NothingMoves);
    }
    let status = store.status(id).await?;
    let status = status.ok_or_else(|| CurateError::NoRecord(id.clone()))?;
    check_own(store, &status).await?;
    if status.head != head {
        return Err(CurateError::Stale(Some(status.head)));
    }
    let texts = store.revision(id, head).await?;
    let texts = texts.ok_or_else(|| CurateError::NoRevision(id.clone(), head))?;
    let (old, new) = divided(&parting, &texts.document, &texts.annex)?;
    let of_old = check_texts(id, &old.0, &old.1).map_err(CurateError::Invalid)?;
    let of_new = check_texts(to, &new.0, &new.1).map_err(CurateError::Invalid)?;
    let revision =
        |(id, (document, annex), expected, note): (&RecordId, (String, String), _, String)| NewRevision {
            id: id.clone(),
            document,
            annex,
            expected,
            by: by.clone(),
            note: Some(note),
            at,
        };
    let split = Split {
        old: revision((id, old, Expected::Head(head), format!("Parts of it went to {to}"))),
        new: revision((to, new, Expected::Absent, format!("Split from {id} {head}"))),
    };
    match store.split(split).await? {
        SplitSaved::Saved { old, new } => Ok(Parted {
            old: (old, of_old),
            new: (new, of_new),
        }),
        SplitSaved::Stale(head) => Err(CurateError::Stale(head)),
        SplitSaved::Taken => Err(CurateError::Store(StoreError::AliasTaken {
            alias: to.to_string(),
            holder: to.clone(),
        })),
    }
}

type Pair = (String, String);

fn divided(parting: &Parting<'_>, document: &str, annex: &str) -> Result<(Pair, Pair), CurateError> {
    let parsed = |(document, annex): (&str, &str)| {
        Texts::parse(document, annex)
            .map_err(|(part, error)| CurateError::Invalid(vec![Violation::unreadable(part, error)]))
    };
    let mut old = parsed((document, annex))?;
    let begun = begun(parting.to);
    let mut new = parsed((&begun.0, &begun.1))?;
    for pointer in KEPT {
        if let Some(value) = old.document.find(pointer) {
            new.document.set(pointer, value.clone());
        }
    }
    new.document.set("/signature", Tree::text(parting.signature));
    if let Some(title) = parting.title {
        new.annex.set("/title", Tree::text(title));
    }
    let known = movable(&old);
    // From the end of each list, so that the places of the others hold.
    let mut rows: BTreeMap<(Part, &'static str), Vec<(usize, Tree)>> = BTreeMap::new();
    for (part, pointer) in &parting.moves {
        let found = known
            .iter()
            .find(|one| one.part == *part && one.pointer == *pointer);
        let nothing = || CurateError::NoField(pointer.clone());
        let one = found.ok_or_else(nothing)?;
        let value = old.part(*part).find(pointer).ok_or_else(nothing)?.clone();
        if one.list == pointer {
            new.document.set(pointer, value);
            old.document.set(pointer, Tree::null());
            continue;
        }
        let at = pointer.rsplit('/').next().and_then(|at| at.parse().ok());
        let at = at.ok_or_else(nothing)?;
        rows.entry((*part, one.list)).or_default().push((at, value));
    }
    for ((part, list), mut items) in rows {
        items.sort_by_key(|(at, _)| *at);
        for (at, _) in items.iter().rev() {
            // Codes are no rows of a form: nothing else names their places.
            if !edit_row(&mut old, (part, list), RowEdit::Remove(*at)) {
                old.part_mut(part).remove(&format!("{list}/{at}"));
            }
        }
        for (_, value) in items {
            new.part_mut(part).set(&format!("{list}/-"), value);
        }
    }
    let written = |texts: &Texts, document: &str, annex: &str| {
        texts.written(document, annex).map_err(|error| {
            let told = Violation::error(Part::Document, "", "split", error.to_string());
            CurateError::Invalid(vec![told])
        })
    };
    let old = written(&old, document, annex)?;
    Ok((old, written(&new, &begun.0, &begun.1)?))
}
