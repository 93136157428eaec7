//! Why a pattern is refused.

/// Why a pattern is refused. The caller knows where it stands; this says what and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}; {help}")]
pub struct PatternError {
    /// Stable name of the rule, for example `pattern/no-literal`.
    pub rule: &'static str,
    /// What is wrong with this pattern.
    pub reason: String,
    /// What to do about it.
    pub help: &'static str,
}

impl PatternError {
    pub(crate) fn new(rule: &'static str, reason: String, help: &'static str) -> Self {
        Self { rule, reason, help }
    }
}
