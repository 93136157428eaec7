//! Who may do what. The types here stand in handler signatures, so that a reader of a handler sees who may call
//! it; the route table declares the same once more, and [`super::gate`] holds requests to it.

use std::future::{Ready, ready};
use std::time::Duration;

use actix_web::dev::Payload;
use actix_web::http::header::{self, HeaderMap};
use actix_web::{FromRequest, HttpMessage, HttpRequest};
use tokio::time::timeout;

use super::access::token_needed;
pub use super::access::{Access, Caller};
use super::error::{Code, Problem};
use super::state::AppState;
use crate::domain::tokens::{self, Actor, TokenError};
use crate::store::Scope;

/// How long a call for everybody waits to learn whose its token is.
const PUBLIC_PATIENCE: Duration = Duration::from_secs(1);

impl Caller {
    /// Who calls a route that is for everybody. A token that is sent must be good; where the store cannot say whether it is,
    /// the call is answered as one without a token.
    pub async fn of_anyone(headers: &HeaderMap, state: &AppState) -> Result<Self, Problem> {
        if !headers.contains_key(header::AUTHORIZATION) || state.token_outage.is_recent() {
            return Ok(Self(None));
        }
        match timeout(PUBLIC_PATIENCE, Self::of(headers, state)).await {
            Ok(Err(problem)) if problem.code() == Code::Unavailable => {}
            Ok(known) => return known,
            Err(_) => {}
        }
        state.token_outage.note();
        Ok(Self(None))
    }

    /// Reads the `Authorization` header. Schemes other than Bearer belong to a proxy in front and are passed over.
    pub async fn of(headers: &HeaderMap, state: &AppState) -> Result<Self, Problem> {
        let Some(value) = headers.get(header::AUTHORIZATION) else {
            return Ok(Self(None));
        };
        let text = value.to_str().map_err(|_| TokenError::Unknown)?;
        let Some((scheme, token)) = text.split_once(' ') else {
            return Err(TokenError::Unknown.into());
        };
        if !scheme.eq_ignore_ascii_case("bearer") {
            return Ok(Self(None));
        }
        let actor = tokens::authenticate(state.store.as_ref(), token.trim(), state.clock.now()).await?;
        Ok(Self(Some(actor)))
    }
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
    access.check(caller, state.settings.public_fleet)?;
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
}
