//! Another editor was faster: what both changed, and the texts that both changes give together.

use kb_core::compare::{Change, Conflict, diff, merge};
use kb_core::form::Texts;
use kb_core::text::{Part, Tree};

use super::sent::{Pair, Sent, name};
use crate::render::i18n::{Locale, field};

#[derive(Debug)]
pub(super) struct Together {
    pub(super) contradictions: Vec<Contradiction>,
    pub(super) theirs: Vec<ChangeView>,
    pub(super) mine: Vec<ChangeView>,
}

/// A field that both changed.
#[derive(Debug)]
pub(super) struct Contradiction {
    /// Name of the field in the form.
    pub(super) name: String,
    pub(super) label: String,
    pub(super) before: Option<String>,
    pub(super) theirs: Option<String>,
    /// For the reader, and as JSON for the form.
    pub(super) mine: Option<String>,
    pub(super) mine_json: Option<String>,
}

#[derive(Debug)]
pub(super) struct ChangeView {
    pub(super) label: String,
    pub(super) before: Option<String>,
    pub(super) now: Option<String>,
}

/// Puts `mine` into `theirs`; both began with `base`. Texts that cannot be read stay as they were sent.
pub(super) fn merged(base: &Pair, mine: Sent, theirs: &Pair, locale: Locale) -> (Sent, Option<Together>) {
    let parsed = |pair: &Pair| Texts::parse(&pair.document, &pair.annex).ok();
    let (Some(of_base), Some(of_mine), Some(of_theirs)) = (parsed(base), parsed(&mine.now), parsed(theirs))
    else {
        return (mine, None);
    };
    let labels = field::Words::of(locale.language);
    let mut together = Together {
        contradictions: Vec::new(),
        theirs: Vec::new(),
        mine: Vec::new(),
    };
    let mut one = |part: Part| -> Tree {
        let (base, mine, theirs) = (of_base.part(part), of_mine.part(part), of_theirs.part(part));
        let merged = merge(part, base, mine, theirs);
        let conflicts = merged.conflicts.iter();
        together
            .contradictions
            .extend(conflicts.map(|conflict| contradiction(conflict, labels)));
        let views = |changes: Vec<Change>| -> Vec<ChangeView> {
            changes.iter().map(|change| view(change, labels)).collect()
        };
        together.theirs.extend(views(diff(part, base, theirs)));
        together.mine.extend(views(diff(part, base, mine)));
        merged.tree
    };
    let texts = Texts {
        document: one(Part::Document),
        annex: one(Part::Annex),
    };
    match texts.written(&theirs.document, &theirs.annex) {
        Ok((document, annex)) => {
            let mut sent = mine;
            sent.stand_at(Pair { document, annex });
            (sent, Some(together))
        }
        Err(_) => (mine, Some(together)),
    }
}

fn contradiction(conflict: &Conflict, labels: &field::Words) -> Contradiction {
    let shown = |json: &Option<String>| json.as_deref().map(spoken);
    Contradiction {
        name: name(conflict.part, &conflict.pointer),
        label: field::spoken(labels, conflict.part, &conflict.pointer),
        before: shown(&conflict.base),
        theirs: shown(&conflict.theirs),
        mine: shown(&conflict.mine),
        mine_json: conflict.mine.clone(),
    }
}

fn view(change: &Change, labels: &field::Words) -> ChangeView {
    ChangeView {
        label: field::spoken(labels, change.part, &change.pointer),
        before: change.old.as_deref().map(spoken),
        now: change.new.as_deref().map(spoken),
    }
}

pub(super) fn spoken(json: &str) -> String {
    match Tree::parse(json) {
        Ok(Tree::Text { plain, .. }) => plain,
        _ => json.to_owned(),
    }
}
