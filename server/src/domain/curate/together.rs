//! Two changes of the same texts, put together field by field.

use kb_core::compare::{Conflict, merge};
use kb_core::form::Texts;
use kb_core::text::{Part, Tree, Violation};

use super::CurateError;

pub type Pair = (String, String);

/// Puts `mine` into `theirs`, which both began with `base`; gives the texts, and the fields in which both contradict each other.
/// There the texts have what `theirs` says.
pub fn together(base: &Pair, mine: &Pair, theirs: &Pair) -> Result<(Pair, Vec<Conflict>), CurateError> {
    let parsed = |texts: &Pair| {
        Texts::parse(&texts.0, &texts.1)
            .map_err(|(part, error)| CurateError::Invalid(vec![Violation::unreadable(part, error)]))
    };
    let (base, mine, of_theirs) = (parsed(base)?, parsed(mine)?, parsed(theirs)?);
    let mut conflicts = Vec::new();
    let mut one = |part: Part| -> Tree {
        let merged = merge(part, base.part(part), mine.part(part), of_theirs.part(part));
        conflicts.extend(merged.conflicts);
        merged.tree
    };
    let merged = Texts {
        document: one(Part::Document),
        annex: one(Part::Annex),
    };
    let written = merged.written(&theirs.0, &theirs.1);
    let written = written.map_err(|error| {
        let told = Violation::error(Part::Document, "", "merge", error.to_string());
        CurateError::Invalid(vec![told])
    })?;
    Ok((written, conflicts))
}
