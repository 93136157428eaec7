//! Who a route is for, and whether a caller is one of them.

use actix_web::http::header::{self, HeaderValue};

use super::error::{Code, Problem};
use crate::domain::tokens::{Actor, Who};
use crate::store::Scope;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Everybody, with or without a token.
    Anyone,
    /// Holders of a token with this scope.
    Scope(Scope),
    /// Holders of `fleet`; everybody under `--public-fleet`.
    FleetReader,
    /// Whoever is logged in, whatever the role. Not for tokens.
    SignedIn,
}

impl Access {
    pub fn check(self, caller: &Caller, public_fleet: bool) -> Result<(), Problem> {
        let scope = match self {
            Self::Anyone => return Ok(()),
            Self::SignedIn => return check_signed_in(caller),
            Self::FleetReader if public_fleet => return Ok(()),
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

/// The answer where somebody has to log in.
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
