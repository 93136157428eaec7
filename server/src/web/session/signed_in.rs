//! Somebody who is logged in, as the gate found out and as handlers see it.

use std::future::{Ready, ready};
use std::net::IpAddr;
use std::sync::Arc;

use actix_web::dev::Payload;
use actix_web::http::header::HeaderMap;
use actix_web::web::Data;
use actix_web::{FromRequest, HttpMessage as _, HttpRequest};

use super::form::Form;
use crate::domain::accounts::{csrf, sessions};
use crate::render::i18n::Locale;
use crate::store::{By, LiveSession, NewSession, Person};
use crate::web::access::login_needed;
use crate::web::error::Problem;
use crate::web::pages::locale;
use crate::web::state::AppState;

/// Header with the proof of the session, for requests that are no form.
const CSRF_HEADER: &str = "x-csrf-token";

/// The session that a request showed a cookie of.
#[derive(Debug, Clone)]
pub(in crate::web) struct SignedIn(pub(in crate::web) Arc<LiveSession>);

/// Whether a request that changes something carries the proof of the session: in a header, or in a field of its form.
pub(in crate::web) fn proves(session: &NewSession, headers: &HeaderMap, form: Option<&Form>) -> bool {
    let header = headers.get(CSRF_HEADER).and_then(|value| value.to_str().ok());
    let shown = header.or_else(|| form.and_then(Form::proof));
    shown.is_some_and(|token| csrf::matches(&session.csrf, token))
}

#[derive(Debug, Clone)]
pub struct Session {
    pub person: Person,
    pub session: NewSession,
    /// What forms of the page carry in the field `csrf`.
    pub csrf: String,
    pub locale: Locale,
    address: Option<IpAddr>,
}

impl Session {
    /// A session of a page that is made without a request.
    #[cfg(test)]
    pub(in crate::web) fn of(person: Person, session: NewSession, csrf: String, locale: Locale) -> Self {
        Self {
            person,
            session,
            csrf,
            locale,
            address: None,
        }
    }

    pub fn by(&self) -> By {
        sessions::by(&self.person, self.address.map(|address| address.to_string()))
    }
}

impl FromRequest for Session {
    type Error = Problem;
    type Future = Ready<Result<Self, Problem>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(of(request))
    }
}

fn of(request: &HttpRequest) -> Result<Session, Problem> {
    let signed_in = request.extensions().get::<SignedIn>().cloned();
    let state = request.app_data::<Data<AppState>>();
    let (Some(SignedIn(live)), Some(state)) = (signed_in, state) else {
        return Err(login_needed());
    };
    let csrf = csrf::token(&live.session.csrf, state.random.as_ref());
    Ok(Session {
        person: live.person.clone(),
        session: live.session.clone(),
        csrf: csrf.map_err(|error| Problem::internal(&error))?,
        locale: locale::of(request),
        address: state.limiter.address(request.peer_addr(), request.headers()),
    })
}
