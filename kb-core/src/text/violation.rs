//! A finding about a text: where, by which rule, why, and what to do.

use serde::Serialize;

use super::error::{Position, TextError};

/// How bad a violation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The text is refused.
    Error,
    /// The text is accepted; someone should look at it.
    Warning,
}

/// Which of a record's two texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// The document, `x.json`.
    Document,
    /// The annex, `x.ext.json`.
    Annex,
}

/// Something wrong with a record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// The text it is in.
    pub part: Part,
    /// JSON pointer to the value; empty for the whole text.
    pub pointer: String,
    /// Where the value stands, once looked up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<Position>,
    /// Stable name of the rule.
    pub rule: &'static str,
    /// Whether it refuses the text.
    pub severity: Severity,
    /// What is wrong.
    pub reason: String,
    /// What to do about it.
    pub fix: String,
}

impl Violation {
    /// One that refuses the text.
    pub fn error(
        part: Part,
        pointer: impl Into<String>,
        rule: &'static str,
        reason: impl Into<String>,
    ) -> Self {
        Self {
            part,
            pointer: pointer.into(),
            position: None,
            rule,
            severity: Severity::Error,
            reason: reason.into(),
            fix: String::new(),
        }
    }

    /// One that does not.
    pub fn warning(
        part: Part,
        pointer: impl Into<String>,
        rule: &'static str,
        reason: impl Into<String>,
    ) -> Self {
        Self {
            severity: Severity::Warning,
            ..Self::error(part, pointer, rule, reason)
        }
    }

    /// The same with what to do about it.
    #[must_use]
    pub fn fix(mut self, fix: impl Into<String>) -> Self {
        self.fix = fix.into();
        self
    }

    /// A text that the strict reader refused.
    pub fn unreadable(part: Part, error: TextError) -> Self {
        let fix = match error.rule {
            "size" => "shorten the record, or split it in two",
            "utf8" => "save the file as UTF-8",
            "bom" => "save the file without a byte order mark",
            "nul" => "take the NUL out",
            "surrogate" => "write the character itself, or both halves of the pair",
            "duplicate-key" => "keep one of the two",
            "depth" => "nest less deeply",
            "trailing" => "take out what stands after the value",
            "number" => "write a number that a double can hold",
            _ => "write valid JSON",
        };
        Self {
            position: Some(error.position),
            ..Self::error(part, error.pointer, error.rule, error.reason).fix(fix)
        }
    }
}
