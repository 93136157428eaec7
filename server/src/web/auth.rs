//! Who may do what. The types here stand in handler signatures, so that a reader of a handler sees who may call
//! it; the route table declares the same once more, and [`super::gate`] holds requests to it.

use std::future::{Ready, ready};
use std::sync::Arc;
use std::time::Duration;

use actix_web::dev::{Payload, ServiceRequest};
use actix_web::http::header::{self, HeaderMap};
use actix_web::{FromRequest, HttpMessage, HttpRequest};
use tokio::time::timeout;

use super::access::token_needed;
pub use super::access::{Access, Caller, Opened};
use super::error::{Code, Problem};
use super::session::{SignedIn, Way, claimed, secret};
use super::state::AppState;
use crate::domain::accounts::{roles, sessions};
use crate::domain::tokens::{self, Actor, TokenError, Who};
use crate::store::{Scope, fold_login};

/// How long a call for everybody waits to learn whose its token is.
const PUBLIC_PATIENCE: Duration = Duration::from_secs(1);

/// Who calls: the actor, and the session where it is one.
#[derive(Debug, Default)]
pub(super) struct Known {
    pub(super) caller: Caller,
    pub(super) session: Option<SignedIn>,
}

impl Known {
    /// Who calls a public route. A token sent must be good; where the store cannot say, the call counts as one without.
    pub(super) async fn of_anyone(request: &ServiceRequest, state: &AppState) -> Result<Self, Problem> {
        let shows_nothing =
            !request.headers().contains_key(header::AUTHORIZATION) && shown_secret(request, state).is_none();
        if shows_nothing || state.token_outage.is_recent() {
            return Ok(Self::default());
        }
        match timeout(PUBLIC_PATIENCE, Self::of(request, state)).await {
            Ok(Err(problem)) if problem.code() == Code::Unavailable => {}
            Ok(known) => return known,
            Err(_) => {}
        }
        state.token_outage.note();
        Ok(Self::default())
    }

    /// Reads `Authorization`, else the cookie. Schemes but Bearer are a proxy's and passed over. An expired session is none.
    pub(super) async fn of(request: &ServiceRequest, state: &AppState) -> Result<Self, Problem> {
        let address = state.limiter.address(request.peer_addr(), request.headers());
        if let Some(token) = bearer(request.headers())? {
            let actor = tokens::authenticate(state.store.as_ref(), token, state.clock.now()).await?;
            return Ok(Self {
                caller: Caller(Some(Actor { address, ..actor })),
                session: None,
            });
        }
        let Some(secret) = shown_secret(request, state) else {
            return Ok(Self::default());
        };
        let now = state.clock.now();
        let Some(live) = sessions::authenticate(state.store.as_ref(), &secret, now).await? else {
            return Ok(Self::default());
        };
        // With a sign-on proxy, a session counts only while the proxy names its login; one that it began counts nowhere else.
        let claimed = claimed(request.peer_addr(), request.headers(), state);
        if claimed.is_some() || sessions::is_by_proxy(&secret) {
            let login = claimed.flatten();
            let is_same = login.is_some_and(|login| fold_login(&login) == fold_login(&live.person.login));
            if !is_same {
                return Ok(Self::default());
            }
        }
        let actor = Actor {
            who: Who::Person {
                id: live.person.id.clone(),
            },
            name: live.person.name.clone(),
            scopes: roles::scopes(live.person.standing),
            node: None,
            address,
        };
        Ok(Self {
            caller: Caller(Some(actor)),
            session: Some(SignedIn(Arc::new(live))),
        })
    }
}

fn bearer(headers: &HeaderMap) -> Result<Option<&str>, TokenError> {
    let Some(value) = headers.get(header::AUTHORIZATION) else {
        return Ok(None);
    };
    let text = value.to_str().map_err(|_| TokenError::Unknown)?;
    let (scheme, token) = text.split_once(' ').ok_or(TokenError::Unknown)?;
    Ok(scheme.eq_ignore_ascii_case("bearer").then(|| token.trim()))
}

fn shown_secret(request: &ServiceRequest, state: &AppState) -> Option<String> {
    let way = Way::of(request.peer_addr(), request.headers(), state);
    secret(request.headers(), way, state.settings.insecure_login)
}

/// What the extractors see of a request: [`super::gate`] put the caller there, or nothing may be had.
fn admit(request: &HttpRequest, access: Access) -> Result<Option<Actor>, Problem> {
    let extensions = request.extensions();
    let (Some(caller), Some(state)) = (
        extensions.get::<Caller>(),
        request.app_data::<actix_web::web::Data<AppState>>(),
    ) else {
        return Err(Problem::new(
            Code::Undeclared,
            "this route has not been opened to anyone",
        ));
    };
    access.check(caller, state.settings.opened())?;
    Ok(caller.0.clone())
}

macro_rules! holders {
    ($($(#[$doc:meta])* $name:ident: $scope:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone)]
        pub struct $name(pub Actor);

        impl FromRequest for $name {
            type Error = Problem;
            type Future = Ready<Result<Self, Problem>>;

            fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
                let admitted = admit(request, Access::Scope(Scope::$scope));
                ready(admitted.and_then(|actor| actor.map(Self).ok_or_else(|| token_needed(Scope::$scope))))
            }
        }
    )*};
}

holders! {
    Editor: Edit;
    Publisher: Publish;
    Uploader: Report;
    Joiner: Enrol;
    Admin: Admin;
    /// Whoever may see nodes by a token or a role, and not because they are open to everybody.
    Operator: Fleet;
}

macro_rules! readers {
    ($($(#[$doc:meta])* $name:ident: $access:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone)]
        pub struct $name(pub Option<Actor>);

        impl FromRequest for $name {
            type Error = Problem;
            type Future = Ready<Result<Self, Problem>>;

            fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
                ready(admit(request, $access).map(Self))
            }
        }
    )*};
}

readers! {
    /// Everybody; holds who it is when a token was sent.
    Anyone: Access::Anyone;
    FleetReader: Access::FleetReader;
    /// Whoever may vote and suggest; nobody where it came without a login.
    FeedbackWriter: Access::Feedback;
}
