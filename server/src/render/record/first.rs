//! The first thing to do, with the command for it.

use crate::render::advice::{Advice, Text};
use crate::render::command::leading_command;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirstThing {
    pub title: Text,
    /// What it does to the error, what it costs and touches.
    pub kind: Option<String>,
    pub command: Option<String>,
}

/// The first of the workarounds that nobody disputes. What only hides the error stands behind the others already.
pub fn first_thing(workarounds: &[Advice]) -> Option<FirstThing> {
    let first = workarounds.iter().find(|advice| advice.dispute.is_none())?;
    let title = first.title.as_ref().or(first.body.as_ref())?;
    Some(FirstThing {
        title: title.clone(),
        kind: first.kind.clone(),
        command: [&first.title, &first.body]
            .into_iter()
            .flatten()
            .find_map(|text| leading_command(&text.text))
            .map(str::to_owned),
    })
}
