//! What may be a phrase.

use super::contexts::{CONTEXTS, Context, context};
use super::{PhraseSpec, outline};
use crate::signature::{PatternError, PatternFacts};

/// Shortest and longest words, in bytes.
const TEXT_BYTES: std::ops::RangeInclusive<usize> = 3..=200;

impl PhraseSpec {
    /// Checks a phrase as the matcher will use it. Rules: `phrase/context`, `phrase/text`, `phrase/numbers`.
    pub fn check(&self) -> Result<PatternFacts, PatternError> {
        outline(self).map(|outline| outline.analysis.facts)
    }

    pub(super) fn known_context(&self) -> Result<(usize, &'static Context), PatternError> {
        let Some(known) = context(&self.context) else {
            let names: Vec<&str> = CONTEXTS.iter().map(|context| context.name).collect();
            return Err(PatternError::new(
                "phrase/context",
                format!(
                    "there are no contexts called {:?}; there are {}",
                    self.context,
                    names.join(", ")
                ),
                "name one of them, or write a pattern",
            ));
        };
        self.check_text(known.1)?;
        self.check_numbers(known.1)?;
        Ok(known)
    }

    fn check_text(&self, context: &Context) -> Result<(), PatternError> {
        let wrong = |reason: String| {
            let help = "write 3 to 200 bytes as programs print them, a letter or digit of ASCII first, without line breaks, and only \
                        for contexts that print words";
            Err(PatternError::new("phrase/text", reason, help))
        };
        match &self.text {
            None if context.prints_text() => wrong(format!(
                "the contexts {:?} print words, and there is no text",
                context.name
            )),
            Some(_) if !context.prints_text() => {
                wrong(format!("the contexts {:?} print numbers, no text", context.name))
            }
            Some(text) if !TEXT_BYTES.contains(&text.len()) => {
                wrong(format!("the text has {} bytes", text.len()))
            }
            Some(text) if text.trim() != text => wrong(format!("{text:?} has white space around it")),
            Some(text)
                if text.chars().any(char::is_control)
                    || !text.starts_with(|c: char| c.is_ascii_alphanumeric()) =>
            {
                wrong(format!("{text:?} cannot be looked for on a line"))
            }
            _ => Ok(()),
        }
    }

    fn check_numbers(&self, context: &Context) -> Result<(), PatternError> {
        let wrong = |reason: String| {
            let help = "write the error's numbers, and only for contexts that print them";
            Err(PatternError::new("phrase/numbers", reason, help))
        };
        match (self.numbers.is_empty(), context.prints_numbers()) {
            (true, true) if !context.prints_text() => wrong(format!(
                "the contexts {:?} print numbers, and there are none",
                context.name
            )),
            (false, false) => wrong(format!("the contexts {:?} print no numbers", context.name)),
            _ => Ok(()),
        }
    }
}
