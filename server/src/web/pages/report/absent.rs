//! GPUs that a run should have looked at and did not.

use kb_core::report::{Absence, AbsentGpu};

use super::facts::record;
use crate::render::i18n::Locale;
use crate::render::words::{Link, Tone};

/// A GPU that was not looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AbsentView {
    pub name: String,
    /// Nothing where the absence is information.
    pub cause: Option<String>,
    pub tone: Tone,
    pub reason: String,
    pub fix: Option<String>,
    pub record: Option<Link>,
}

pub(super) fn absent(gpu: &AbsentGpu, locale: Locale) -> AbsentView {
    AbsentView {
        name: gpu.name(),
        cause: gpu.cause.clone(),
        tone: match gpu.absence {
            Absence::Missing | Absence::Lost => Tone::Bad,
            Absence::WithoutDriver => Tone::Warn,
            Absence::NotLookedAt
            | Absence::NotGranted
            | Absence::OtherDriver
            | Absence::Excluded
            | Absence::Mig
            | Absence::Unrecognised => Tone::Unknown,
        },
        reason: gpu.reason.clone(),
        fix: gpu.fix.clone(),
        record: gpu.record.as_ref().map(|id| record(id, locale)),
    }
}
