//! Of what type the values of those facts are that tell of a GPU's health. A value of another type says nothing.

use serde_json::Value;

use super::fact_name;

/// Type of a fact's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// `true` or `false`.
    Flag,
    /// A whole number that is not negative.
    Count,
    /// A text.
    Word,
    /// A list of texts.
    Words,
}

impl Shape {
    /// The type of a GPU's fact; `None` for facts that no verdict reads.
    pub fn of(name: &str) -> Option<Self> {
        match name {
            fact_name::REMAPPED_ROWS_FAILURE
            | fact_name::REMAPPED_ROWS_PENDING
            | fact_name::ECC_SRAM_THRESHOLD_EXCEEDED => Some(Self::Flag),
            fact_name::RECOVERY_ACTION | fact_name::FABRIC_STATE | fact_name::FABRIC_STATUS => {
                Some(Self::Word)
            }
            fact_name::FABRIC_HEALTH | fact_name::THROTTLE_REASONS => Some(Self::Words),
            fact_name::ECC_VOLATILE_CORRECTED
            | fact_name::ECC_VOLATILE_UNCORRECTED
            | fact_name::REMAPPED_ROWS_CORRECTED
            | fact_name::REMAPPED_ROWS_UNCORRECTED
            | fact_name::NVLINK_LINKS_ACTIVE
            | fact_name::NVLINK_LINKS_EXPECTED
            | fact_name::PCIE_LINK_WIDTH
            | fact_name::PCIE_LINK_WIDTH_MAX => Some(Self::Count),
            risen if risen.starts_with("during.") => Some(Self::Count),
            _ => None,
        }
    }

    /// Whether the value is of this type.
    pub fn fits(self, value: &Value) -> bool {
        match self {
            Self::Flag => value.is_boolean(),
            Self::Count => value.is_u64(),
            Self::Word => value.is_string(),
            Self::Words => value
                .as_array()
                .is_some_and(|words| words.iter().all(Value::is_string)),
        }
    }

    /// `a whole number`.
    pub fn words(self) -> &'static str {
        match self {
            Self::Flag => "true or false",
            Self::Count => "a whole number",
            Self::Word => "a text",
            Self::Words => "a list of texts",
        }
    }
}
