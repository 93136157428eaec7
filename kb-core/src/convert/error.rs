//! Why a text cannot be converted: where, what, and what to do.

use std::fmt;

/// Why a text cannot be converted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct ConvertError {
    /// 1-based line of the text, where one is to blame.
    pub line: Option<usize>,
    /// What is wrong.
    pub what: String,
    /// What to do.
    pub advice: String,
}

impl ConvertError {
    pub(super) fn new(what: impl Into<String>, advice: impl Into<String>) -> Self {
        Self {
            line: None,
            what: what.into(),
            advice: advice.into(),
        }
    }

    pub(super) fn at(line: usize, what: impl Into<String>, advice: impl Into<String>) -> Self {
        Self {
            line: Some(line),
            ..Self::new(what, advice)
        }
    }

    pub(super) fn cut(line: usize, within: &str) -> Self {
        Self::at(
            line,
            format!("the output ends within {within}"),
            "it was cut off: give all that the tool printed, or run it again",
        )
    }

    pub(super) fn damaged(line: usize, what: impl Into<String>) -> Self {
        Self::at(
            line,
            what,
            "the file is damaged: give what the tool printed, unchanged",
        )
    }
}

impl fmt::Display for ConvertError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        write!(f, "{}; {}", self.what, self.advice)
    }
}
