//! Who publishes or takes away, and an administrator's reason to do what one person otherwise may not.

use super::auth::{Access, Caller};
use super::error::{Code, Problem};
use super::limits;
use super::state::AppState;
use crate::domain::curate::Approver;
use crate::domain::tokens::Actor;
use crate::store::Scope;

/// Who publishes; `alone` is an administrator's reason to do without a second person, as [`admin_reason`] gives it.
pub(super) fn approver(actor: &Actor, alone: Option<String>) -> Approver {
    Approver {
        by: actor.by(),
        person: actor.person().map(str::to_owned),
        alone,
    }
}

/// An administrator's reason from this form field; a wrong one gets this code. Readers see it: it must say something, briefly.
pub(super) fn admin_reason(
    (name, code): (&str, Code),
    reason: Option<&str>,
    actor: &Actor,
    state: &AppState,
) -> Result<Option<String>, Problem> {
    let Some(reason) = reason.map(str::trim) else {
        return Ok(None);
    };
    Access::Scope(Scope::Admin).check(&Caller(Some(actor.clone())), state.settings.opened())?;
    let longest = limits::NOTE_CHARACTERS;
    if reason.is_empty() || reason.chars().count() > longest {
        let detail = format!("{name} says why, in 1 to {longest} characters");
        return Err(Problem::new(code, detail));
    }
    Ok(Some(reason.to_owned()))
}
