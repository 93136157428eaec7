//! What a record says in a glance: how bad it is, whether it can be fixed, what is at fault, and who acts.

use kb_core::record::Record;

use crate::domain::whose::whose;
use crate::render::i18n::{Language, answer, terms};
use crate::render::words::{Mark, severity};

/// Each is absent where the record does not say it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verdict {
    pub severity: Option<Mark>,
    pub resolvable: Option<&'static str>,
    pub at_fault: Option<&'static str>,
    pub action: Option<&'static str>,
    /// The reader, the admin or the vendor.
    pub whose: Option<&'static str>,
}

pub(super) fn verdict(record: &Record, language: Language) -> Verdict {
    let terms = terms::Words::of(language);
    let annex = &record.annex;
    Verdict {
        severity: annex.severity.map(|word| severity(word, language)),
        resolvable: record.document.resolvable().map(|word| terms.resolvable(word)),
        at_fault: annex.at_fault.as_ref().map(|at_fault| terms.blame(at_fault.who)),
        action: annex.action.map(|word| terms.action(word)),
        whose: whose(record).map(|whose| answer::Words::of(language).whose(whose)),
    }
}
