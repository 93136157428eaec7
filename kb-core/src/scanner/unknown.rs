//! The error that ended a program and that no record knows: named where records know at most what stands around it.

use serde::{Deserialize, Serialize};

use super::raised::{Chain, Language, Writer};
use crate::ids::RecordId;

/// Lines from a wrapper to the report that it announces, at most.
const ANNOUNCED_LINES: u64 = 3;
/// Reports of one failure stand within this many lines of each other.
const BURST_LINES: u64 = 64;
/// Exceptions that only say that another program, process or task failed.
const AROUND_OTHERS: [&str; 8] = [
    "ChildFailedError",
    "CalledProcessError",
    "SystemExit",
    "ExceptionGroup",
    "ProcessRaisedException",
    "ProcessExitedException",
    "RemoteTraceback",
    "GeneratorExit",
];

/// An error that a program raised and that no record knows. It is no match: its line is all that is known of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct UnknownCause {
    /// The line that names it. Of exceptions that came from each other it is the one that was raised first.
    pub line: u64,
    /// The language whose form of a report it has.
    pub language: Language,
    /// The name of the exception, `what()` of C++, `panic` of Rust and Go.
    pub name: String,
    /// The first line of its message, cut where it is long; absent where the text was not asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// What the text says of its part in the failure.
    pub part: UnknownPart,
    /// Who wrote it, as far as the line says so.
    #[serde(default, skip_serializing_if = "Writer::is_unknown")]
    pub writer: Writer,
    /// The record whose message only says that this error, or some other, ended the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(value_type = Option<String>))]
    pub wrapped_by: Option<RecordId>,
}

/// What the text says of an unknown error's part in a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum UnknownPart {
    /// A known message says that a program failed, and this is the error that it failed with.
    Ended,
    /// Somebody ended the program, with Ctrl-C or the signal of it: no fault.
    Interrupted,
    /// It was raised. Whether it ended the program, the text does not say.
    Raised,
}

/// A record that only tells of other errors, and the lines on which it stands.
#[derive(Debug)]
pub(super) struct Around {
    pub(super) id: RecordId,
    pub(super) lines: Vec<u64>,
}

/// Names the error that no record knows. To be asked only where no record explains the failure.
pub(super) fn unknown_cause(chains: &[Chain], around: &[Around], keep_text: bool) -> Option<UnknownCause> {
    let unexplained = |chain: &&Chain| !chain.is_caught && !chain.first.is_explained;
    let all: Vec<&Chain> = chains.iter().filter(unexplained).collect();
    let own: Vec<&Chain> = all
        .iter()
        .copied()
        .filter(|chain| !is_around_others(chain))
        .collect();
    let chains = if own.is_empty() { all } else { own };
    let (chain, wrapped_by) = match announced(&chains, around) {
        Some((chain, by)) => (chain, Some(by)),
        None => (
            last_failure(&chains, around)?,
            around.first().map(|around| &around.id),
        ),
    };
    Some(UnknownCause {
        line: chain.first.line,
        language: chain.first.language,
        name: chain.first.name.clone(),
        text: keep_text.then(|| chain.first.text.clone()),
        part: match wrapped_by {
            _ if chain.is_interrupted => UnknownPart::Interrupted,
            Some(_) => UnknownPart::Ended,
            None => UnknownPart::Raised,
        },
        writer: chain.writer.clone(),
        wrapped_by: wrapped_by.cloned(),
    })
}

fn is_around_others(chain: &Chain) -> bool {
    AROUND_OTHERS.iter().any(|name| chain.first.name.ends_with(name))
}

/// The report that the first wrapper announces: on its own line, or just behind it.
fn announced<'c, 'a>(chains: &[&'c Chain], around: &'a [Around]) -> Option<(&'c Chain, &'a RecordId)> {
    around.iter().find_map(|wrapper| {
        let is_behind = |chain: &&&Chain| {
            let mut lines = wrapper.lines.iter();
            lines.any(|line| (*line..=line + ANNOUNCED_LINES).contains(&chain.head_line))
        };
        let chain = chains.iter().find(is_behind)?;
        Some((*chain, &wrapper.id))
    })
}

/// Of the last reports before the first wrapper, or of the whole text, those of one failure: the first of them.
fn last_failure<'c>(chains: &[&'c Chain], around: &[Around]) -> Option<&'c Chain> {
    let wrapper = around.iter().filter_map(|around| around.lines.first()).min();
    let before = chains
        .iter()
        .take_while(|chain| wrapper.is_none_or(|line| chain.first.line < *line))
        .count();
    let before = chains
        .get(..before)
        .filter(|before| !before.is_empty())
        .unwrap_or(chains);
    let mut first = *before.last()?;
    for chain in before.iter().rev() {
        if first.head_line.saturating_sub(chain.last_line) > BURST_LINES {
            break;
        }
        first = chain;
    }
    Some(first)
}
