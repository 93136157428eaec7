//! `/login/oidc` and `/login/oidc/done`: logging in at a provider of OpenID Connect.

use actix_web::web::{Data, Query};
use actix_web::{HttpRequest, HttpResponse};
use serde::Deserialize;

use super::login::hand_over;
use super::{browser, own_address, refuse_open_way, see_other};
use crate::domain::accounts::sessions::Word;
use crate::domain::accounts::vouched::{self, Vouched};
use crate::web::auth::Anyone;
use crate::web::error::{Code, Problem};
use crate::web::openid::{OpenId, OpenIdError, Pending};
use crate::web::session;
use crate::web::state::AppState;

#[derive(Debug, Deserialize)]
pub struct BeginQuery {
    #[serde(default)]
    return_to: String,
}

pub async fn begin(
    _: Anyone,
    request: HttpRequest,
    query: Query<BeginQuery>,
    state: Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let (_, way) = browser(&request, &state);
    refuse_open_way(way, &state)?;
    let (address, pending) = provider(&state)?.begin(state.clock.now()).await?;
    let pending = pending.leading_to(own_address(&query.return_to));
    let mut response = see_other(&address);
    hand_over(&mut response, &session::set_pending(&pending.text(), way));
    Ok(response)
}

#[derive(Debug, Deserialize)]
pub struct DoneQuery {
    #[serde(default)]
    state: String,
    #[serde(default)]
    code: String,
    /// Why the provider let nobody in.
    #[serde(default)]
    error: String,
}

pub async fn done(
    _: Anyone,
    request: HttpRequest,
    query: Query<DoneQuery>,
    state: Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let (browser, way) = browser(&request, &state);
    refuse_open_way(way, &state)?;
    let provider = provider(&state)?;
    let kept = session::pending(request.headers(), way, state.settings.insecure_login);
    let pending = kept.as_deref().and_then(Pending::parse);
    let pending = pending.ok_or(OpenIdError::Refused("it was not begun in this browser"))?;
    if !query.error.is_empty() || query.code.is_empty() {
        return Err(OpenIdError::Refused("the provider let nobody in").into());
    }
    let now = state.clock.now();
    let identity = provider
        .finish(&pending, (&query.state, &query.code), now)
        .await?;
    let vouched = Vouched {
        by: "openid",
        word: Word::Login,
        login: &identity.login,
        name: &identity.name,
        subject: Some((&identity.issuer, &identity.subject)),
        standing: identity.standing,
    };
    let how = (state.store.as_ref(), state.random.as_ref());
    let secret = vouched::log_in(how, &vouched, &browser, now).await?;
    let back = Query::<BeginQuery>::from_query(&format!("return_to={}", pending.return_to()));
    let back = back.map_or_else(|_| String::new(), |back| back.into_inner().return_to);
    let mut response = see_other(own_address(&back));
    hand_over(&mut response, &session::set(&secret, way));
    hand_over(&mut response, &session::set_pending("", way));
    Ok(response)
}

fn provider(state: &AppState) -> Result<&OpenId, Problem> {
    let none = || Problem::new(Code::NotFound, "this server has no provider of OpenID Connect");
    state.openid.as_ref().ok_or_else(none)
}

impl From<OpenIdError> for Problem {
    fn from(error: OpenIdError) -> Self {
        match error {
            OpenIdError::Refused(_) => Self::new(Code::Forbidden, error.to_string()),
            OpenIdError::Provider(_) => {
                tracing::warn!(%error, "a login with OpenID Connect failed");
                Self::new(
                    Code::Unavailable,
                    "the provider of OpenID Connect does not answer as it should: the log of this server says why",
                )
            }
            OpenIdError::Settings(_) => Self::internal(&error),
        }
    }
}
