//! A value with the place it was read from, or the reason why there is none.

use serde::{Deserialize, Serialize};

use super::reason_code::ReasonCode;

/// A fact and its source. Exactly one of `value` and `gap` is set: "not visible from here" is never "OK".
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fact<T = serde_json::Value> {
    /// What was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<T>,
    /// Call or file: `nvmlDeviceGetP2PStatus`, `/proc/driver/nvidia/version`.
    pub source: String,
    /// Why nothing was read.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub gap: Option<Gap>,
}

impl<T> Fact<T> {
    /// A value and where it was read.
    pub fn read(value: T, source: impl Into<String>) -> Self {
        Self {
            value: Some(value),
            source: source.into(),
            gap: None,
        }
    }

    /// The same with its value changed; source and gap stay.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Fact<U> {
        Fact {
            value: self.value.map(change),
            source: self.source,
            gap: self.gap,
        }
    }

    /// No value, and why.
    pub fn missing(kind: GapKind, reason: impl Into<String>, source: impl Into<String>) -> Self {
        Self::without(Gap::new(kind, reason), source)
    }

    /// The same for a reason that is known already.
    pub fn without(gap: Gap, source: impl Into<String>) -> Self {
        Self {
            value: None,
            source: source.into(),
            gap: Some(gap),
        }
    }
}

/// Why a value is absent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Gap {
    /// The kind of absence.
    pub kind: GapKind,
    /// In words, for a person.
    pub reason: String,
    /// Why, for programs, where the kind does not say enough. Since 1.6.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason_code: Option<ReasonCode>,
}

impl Gap {
    /// A kind of absence and its reason.
    pub fn new(kind: GapKind, reason: impl Into<String>) -> Self {
        Self {
            kind,
            reason: reason.into(),
            reason_code: None,
        }
    }

    /// The same with a code.
    #[must_use]
    pub fn coded(self, code: ReasonCode) -> Self {
        Self {
            reason_code: Some(code),
            ..self
        }
    }
}

/// The kinds of absence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum GapKind {
    /// The place does not show it (virtual machine, container); says nothing about the value.
    NotVisible,
    /// The library or driver has no such call, or says that it is not supported.
    NotSupported,
    /// Permission is missing.
    NoPermission,
    /// Left out on purpose.
    Skipped,
    /// Tried, and the call failed.
    Failed,
    /// Measured, and what arrived was not what was sent: such copies make no figure. Since 1.2.
    WrongData,
    /// A value of a newer minor version.
    #[serde(other)]
    Unrecognised,
}
