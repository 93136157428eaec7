//! What was kept as an answer again, by the records of today: one that has another id now is found under it, one that was withdrawn
//! is left as an id.

use kb_core::ids::{RecordId, Revision};
use kb_core::scanner::{Applies, Marked, Match, MatchedLine, RootCause, UnknownCause};

use super::{Fault, Held, Shared};
use crate::domain::lookup::MatchAnswer;
use crate::feed::Generation;
use peerless_search::KnowledgeStamp;

impl Shared {
    /// With what this server finds on the lines, which also says what came first and what applies; `held` is of the same generation.
    pub fn answer(&self, generation: &Generation, held: &Held) -> MatchAnswer {
        let now = |id: &RecordId| now(generation, id).clone();
        let unknown = held.unknown_cause.as_ref();
        let wrapper = unknown.and_then(|unknown| unknown.wrapped_by.clone());
        let root_causes: Vec<RootCause> = held
            .causes
            .iter()
            .map(|cause| RootCause {
                behind_line: unknown
                    .map(|unknown| unknown.line)
                    .filter(|_| wrapper.as_ref() == Some(&cause.id)),
                ..cause.clone()
            })
            .collect();
        MatchAnswer {
            matches: self
                .faults
                .iter()
                .map(|fault| {
                    let id = now(&fault.id);
                    // Forms are written by anybody: that a fault is harmless is said by its record alone, of lines that show it.
                    let is_notice = held.harmless.contains(&id) && !held.unconfirmed.contains_key(&id);
                    Match {
                        harmless: fault.harmless && is_notice,
                        applies: held.applies.get(&id).copied().unwrap_or_default(),
                        ..self.found(fault, id)
                    }
                })
                .chain(held.unnamed.iter().cloned())
                .collect(),
            candidates: Vec::new(),
            root_cause: root_causes.first().map(|cause| cause.id.clone()),
            root_causes,
            unknown_cause: held.unknown_cause.clone(),
            // Beside the lines that the form itself calls so.
            unexplained: held.unexplained.clone(),
            order: held.order,
            lines_scanned: self.lines,
            bytes_scanned: self.bytes,
            notes: self.notes.clone(),
            environment: self.environment.clone(),
            kb: KnowledgeStamp { seq: generation.seq },
        }
    }

    /// The error without a record that whoever shared this names, where this server does not find it on the lines.
    pub fn claimed_cause(&self, answer: &MatchAnswer) -> Option<&UnknownCause> {
        let found = answer.unknown_cause.as_ref();
        let is_found = |claim: &&UnknownCause| {
            found.is_some_and(|found| (found.line, found.part) == (claim.line, claim.part))
        };
        self.unknown_cause.as_ref().filter(|claim| !is_found(claim))
    }

    pub fn is_of(&self, generation: &Generation) -> bool {
        let of_causes = self.causes.iter().flat_map(|cause| &cause.chain);
        let mut ids = self.faults.iter().map(|fault| &fault.id).chain(of_causes);
        ids.all(|id| generation.record(id).is_some() || generation.alias(id.as_str()).is_some())
    }

    fn found(&self, fault: &Fault, id: RecordId) -> Match {
        Match {
            id,
            revision: Revision(1),
            score: 0.0,
            applies: Applies::Unknown,
            count: fault.count,
            lines: fault.lines.iter().map(|number| self.line(*number)).collect(),
            folds: Vec::new(),
            overflow: 0,
            wraps: None,
            harmless: fault.harmless,
            why: String::new(),
            why_code: None,
            reason: None,
        }
    }

    pub(super) fn line(&self, number: u64) -> MatchedLine {
        let line = self.marked.iter().find(|line| line.number == number);
        MatchedLine {
            line: number,
            start: 0,
            end: 0,
            text: line.map(|line| Marked {
                text: line.text.clone(),
                mark_start: line.start,
                mark_end: line.end,
                cut: false,
            }),
            captures: line.map(|line| line.captures.clone()).unwrap_or_default(),
            parts: Vec::new(),
        }
    }
}

/// The id that a record has now.
pub(super) fn now<'g>(generation: &'g Generation, id: &'g RecordId) -> &'g RecordId {
    match generation.record(id) {
        Some(_) => id,
        None => generation.alias(id.as_str()).unwrap_or(id),
    }
}
