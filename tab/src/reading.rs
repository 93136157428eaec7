//! One log from its first byte to its last. What is kept of it grows with what is found, not with the log.

use std::collections::BTreeMap;
use std::sync::Arc;

use kb_core::intake::{Intake, NotText};
use kb_core::scanner::{EnvironmentError, ScanOptions, Scanner, check_environment, errors_and_harmless};

use crate::answer::{self, Answer};
use crate::knowledge::Knowledge;

/// Why there is no answer: one would be a lie about what was not read, or about another machine.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// The environment names what no record knows.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
    /// The bytes are no text.
    #[error(transparent)]
    NotText(#[from] NotText),
    /// There is nothing to look through.
    #[error("it is empty")]
    Empty,
}

/// A log that is being read.
#[derive(Debug)]
pub struct Reading {
    knowledge: Arc<Knowledge>,
    scanner: Scanner,
    intake: Intake,
    base_url: String,
}

impl Reading {
    /// Starts reading a log. `base_url` is what addresses of records begin with.
    pub fn start(
        knowledge: &Arc<Knowledge>,
        environment: BTreeMap<String, String>,
        base_url: &str,
    ) -> Result<Self, ReadError> {
        check_environment(&environment, &knowledge.matcher)?;
        let scanner = knowledge.matcher.scanner(ScanOptions {
            environment,
            keep_text: true,
            report_candidates: false,
        });
        Ok(Self {
            knowledge: Arc::clone(knowledge),
            scanner,
            intake: Intake::default(),
            base_url: base_url.to_owned(),
        })
    }

    /// Takes the next bytes. An error says that the bytes are no text: no more of them is needed.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), ReadError> {
        self.scanner.feed(&self.intake.push(bytes));
        self.intake.refused().map_or(Ok(()), |why| Err(why.into()))
    }

    /// Ends the log. What is no text never gets "no known error".
    pub fn finish(mut self) -> Result<Answer, ReadError> {
        if let Some(why) = self.intake.refused() {
            return Err(why.into());
        }
        self.scanner.feed(&self.intake.end());
        let mut summary = self.scanner.finish();
        if summary.bytes_scanned == 0 {
            return Err(ReadError::Empty);
        }
        if errors_and_harmless(&summary.matches).0 == 0 {
            self.intake.judge()?;
        }
        summary.notes.extend(self.intake.notes());
        Ok(answer::explained(summary, &self.knowledge, &self.base_url))
    }
}
