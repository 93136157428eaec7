//! Whose an error is: who has to do the first step.

use kb_core::annex::{Action, Blame, WorkaroundScope};
use kb_core::record::Record;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose {
    /// The one whose job met it.
    Reader,
    /// Who runs the machine: drivers, settings of the node, resets.
    Admin,
    /// The maker of the hardware or of the driver, asked by the one who runs the machine.
    Vendor,
    /// Nobody: nothing needs to be done.
    Nobody,
}

/// Whose it is, by the step that the record names first; `None` where it names none.
pub fn whose(record: &Record) -> Option<Whose> {
    let whose = match record.annex.action? {
        Action::None => Whose::Nobody,
        Action::FixApplication | Action::RestartApplication => Whose::Reader,
        Action::ResetGpu | Action::RebootNode | Action::CheckHardware => Whose::Admin,
        Action::ReplaceHardware | Action::ContactSupport => Whose::Vendor,
        // A variable of the job, or the driver of the node: the first step tells which.
        Action::ChangeConfiguration | Action::UpdateSoftware => by_first_step(record),
    };
    Some(whose)
}

/// By what the first step changes; a step that only looks changes nothing. Where no step changes anything, by whose fault it is.
fn by_first_step(record: &Record) -> Whose {
    let steps = record.workarounds().into_iter();
    let undisputed = steps.filter(|advised| advised.dispute.is_none());
    let mut scopes = undisputed
        .filter_map(|advised| record.workaround_note(advised.position))
        .map(|note| note.scope);
    match scopes.find(|scope| *scope != WorkaroundScope::None) {
        Some(WorkaroundScope::Gpu | WorkaroundScope::Node | WorkaroundScope::Fabric) => Whose::Admin,
        Some(WorkaroundScope::Job) => Whose::Reader,
        Some(WorkaroundScope::None) | None => {
            match record.annex.at_fault.as_ref().map(|at_fault| at_fault.who) {
                Some(Blame::Application) | None => Whose::Reader,
                Some(_) => Whose::Admin,
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::feed::samples::PEER_ACCESS;

    #[test]
    fn the_first_step_says_who_acts() {
        let (document, annex) = PEER_ACCESS;
        let mut record = Record::parse(document, annex).unwrap();
        let mut told = |action, scope| {
            record.annex.action = action;
            for note in &mut record.annex.workaround_notes {
                note.scope = scope;
            }
            whose(&record)
        };
        assert_eq!(told(None, WorkaroundScope::Job), None);
        let update = Some(Action::UpdateSoftware);
        assert_eq!(told(update, WorkaroundScope::Job), Some(Whose::Reader));
        assert_eq!(told(update, WorkaroundScope::Node), Some(Whose::Admin));
        assert_eq!(told(update, WorkaroundScope::None), Some(Whose::Admin));
        let reset = Some(Action::ResetGpu);
        assert_eq!(told(reset, WorkaroundScope::Job), Some(Whose::Admin));
        let replace = Some(Action::ReplaceHardware);
        assert_eq!(told(replace, WorkaroundScope::Job), Some(Whose::Vendor));
        assert_eq!(
            told(Some(Action::None), WorkaroundScope::Job),
            Some(Whose::Nobody)
        );
    }
}
