//! What a record says to do and not to do, in the order in which it is shown.

use super::{DeadEnd, Record, Workaround};
use crate::annex::{Dispute, WorkaroundKind, WorkaroundNote};

/// A workaround or a dead end, and what the annex holds against it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Advised<'r, T> {
    /// Its place in the document's list, from 0; votes and translations go by it.
    pub position: usize,
    /// What the document says.
    pub item: &'r T,
    /// Why that is not to be believed, where the annex says so.
    pub dispute: Option<&'r Dispute>,
}

impl Record {
    /// The workarounds in the document's order; those that only hide the error stand behind the others, those that the annex
    /// disputes last. The first is one to try, unless all are disputed.
    pub fn workarounds(&self) -> Vec<Advised<'_, Workaround>> {
        let mut advised = self.advised("workarounds", &self.document.workarounds);
        let hides = |position| {
            let note = self.workaround_note(position);
            note.is_some_and(|note| note.kind == WorkaroundKind::Hides)
        };
        advised.sort_by_key(|advised| (advised.dispute.is_some(), hides(advised.position)));
        advised
    }

    /// What the annex says of the workaround at a place of the document's list.
    pub fn workaround_note(&self, position: usize) -> Option<&WorkaroundNote> {
        self.annex.workaround_notes.get(position)
    }

    /// The dead ends in the document's order, those that the annex disputes last.
    pub fn dead_ends(&self) -> Vec<Advised<'_, DeadEnd>> {
        self.advised("dead_ends", &self.document.dead_ends)
    }

    /// What the annex holds against the statement at a pointer into the document.
    pub fn dispute(&self, pointer: &str) -> Option<&Dispute> {
        self.annex
            .disputes
            .iter()
            .find(|dispute| dispute.pointer == pointer)
    }

    fn advised<'r, T>(&'r self, list: &str, items: &'r [T]) -> Vec<Advised<'r, T>> {
        let advised = items.iter().enumerate().map(|(position, item)| Advised {
            position,
            item,
            dispute: self.dispute(&format!("/{list}/{position}")),
        });
        let (disputed, mut shown): (Vec<_>, Vec<_>) = advised.partition(|advised| advised.dispute.is_some());
        shown.extend(disputed);
        shown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCUMENT: &str = include_str!("../validate/testdata/good.json");

    #[test]
    fn what_hides_or_is_disputed_stands_last() {
        let workarounds = r#"[{"action": "a"}, {"action": "b"}, {"action": "c"}]"#;
        let document = crate::text::replace_value(DOCUMENT, "/workarounds", workarounds).unwrap();
        let order = |rest: &str| {
            let annex = format!(r#"{{"schema_version": 1, {rest}}}"#);
            let record = Record::parse(&document, &annex).unwrap();
            let shown = record.workarounds().into_iter();
            shown
                .map(|advised| {
                    (
                        advised.position,
                        advised.item.action.clone(),
                        advised.dispute.is_some(),
                    )
                })
                .collect::<Vec<_>>()
        };
        let shown = |position, action: &str, disputed| (position, action.to_owned(), disputed);
        let dispute = |at| {
            format!(r#""disputes": [{{"pointer": "{at}", "why": "no", "source": "https://example.org/"}}]"#)
        };
        assert_eq!(
            order(&dispute("/workarounds/0")),
            [shown(1, "b", false), shown(2, "c", false), shown(0, "a", true)]
        );
        let hidden = r#""workaround_notes": [{"kind": "hides", "scope": "job"}, {"kind": "avoids", "scope": "job"},
            {"kind": "repairs", "scope": "node"}]"#;
        assert_eq!(
            order(hidden),
            [shown(1, "b", false), shown(2, "c", false), shown(0, "a", false)]
        );
        assert_eq!(
            order(&dispute("/dead_ends/0")),
            [shown(0, "a", false), shown(1, "b", false), shown(2, "c", false)]
        );
    }
}
