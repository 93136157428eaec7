//! The first thing to do, with the command for it.

use kb_core::record::Record;

use crate::render::advice::{Advice, Text};
use crate::render::command::leading_command;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirstThing {
    pub title: Text,
    pub kind: Option<String>,
    pub command: Option<String>,
}

/// The first of the workarounds that nobody disputes. What only hides the error stands behind the others already. Commands are
/// the same in each language, and a translation may not set them apart.
pub fn first_thing(record: &Record, workarounds: &[Advice]) -> Option<FirstThing> {
    let first = workarounds.iter().find(|advice| advice.dispute.is_none())?;
    let title = first.title.as_ref().or(first.body.as_ref())?;
    let item = record.document.workarounds.get(first.position);
    let written = item.map(|item| [Some(item.action.as_str()), item.how.as_deref()]);
    Some(FirstThing {
        title: title.clone(),
        kind: first.kind.clone(),
        command: written
            .into_iter()
            .flatten()
            .flatten()
            .find_map(leading_command)
            .map(str::to_owned),
    })
}
