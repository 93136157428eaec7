//! Who a route is for, and whether a caller is one of them.

use actix_web::http::header::{self, HeaderValue};

use super::error::{Code, Problem};
use crate::domain::tokens::{Actor, Who};
use crate::store::Scope;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    Anyone,
    Scope(Scope),
    /// Holders of `fleet`; everybody under `--public-fleet`.
    FleetReader,
    /// People, by a session or a token of their own, and holders of `report`; everybody under `--anonymous-writing`.
    Feedback,
    /// Whoever is logged in, whatever the role. Not for tokens.
    SignedIn,
}

#[derive(Debug, Clone, Copy, Default)]
pub struct Opened {
    /// Reading nodes and reports.
    pub fleet: bool,
    /// Votes and suggestions.
    pub writing: bool,
}

impl Access {
    pub fn check(self, caller: &Caller, opened: Opened) -> Result<(), Problem> {
        let scope = match self {
            Self::Anyone => return Ok(()),
            Self::SignedIn => return check_signed_in(caller),
            Self::Feedback => return check_feedback(caller, opened),
            Self::FleetReader if opened.fleet => return Ok(()),
            Self::FleetReader => Scope::Fleet,
            Self::Scope(scope) => scope,
        };
        let Some(actor) = &caller.0 else {
            return Err(token_needed(scope));
        };
        if actor.may(scope) {
            return Ok(());
        }
        Err(Problem::new(
            Code::Forbidden,
            match actor.who {
                Who::Person { .. } => format!("this needs a role with the scope {:?}", scope.as_str()),
                _ => format!("this needs a token with the scope {:?}", scope.as_str()),
            },
        ))
    }
}

fn check_feedback(caller: &Caller, opened: Opened) -> Result<(), Problem> {
    match &caller.0 {
        None if opened.writing => Ok(()),
        None => Err(token_needed(Scope::Report)),
        Some(actor) if actor.person().is_some() || actor.may(Scope::Report) => Ok(()),
        Some(_) => Err(Problem::new(
            Code::Forbidden,
            "this needs a login, a token of one's own, or a token with the scope \"report\"",
        )),
    }
}

fn check_signed_in(caller: &Caller) -> Result<(), Problem> {
    match &caller.0 {
        None => Err(login_needed()),
        Some(actor) if matches!(actor.who, Who::Person { .. }) => Ok(()),
        Some(_) => Err(Problem::new(
            Code::Forbidden,
            "this is for people who log in, and not for tokens",
        )),
    }
}

pub(super) fn login_needed() -> Problem {
    Problem::new(Code::Unauthorized, "log in at /login")
}

pub(super) fn token_needed(scope: Scope) -> Problem {
    let detail = format!(
        "send `Authorization: Bearer …` with a token that has the scope {name:?}; the operator makes one with \
         `peerless token create --scope {name}`; or log in at /login with a role that has it",
        name = scope.as_str()
    );
    Problem::new(Code::Unauthorized, detail).with_header(
        header::WWW_AUTHENTICATE,
        HeaderValue::from_static(r#"Bearer realm="peerless""#),
    )
}

/// Who calls, found out once per request by [`super::gate`].
#[derive(Debug, Clone, Default)]
pub struct Caller(pub Option<Actor>);
