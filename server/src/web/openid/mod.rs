//! Logging in at a provider of OpenID Connect: where a browser is sent, and what is believed of what it brings back.

mod fetch;
mod pending;
mod roles;
mod types;

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use openidconnect::core::{
    CoreAuthenticationFlow, CoreErrorResponseType, CoreJwsSigningAlgorithm, CoreProviderMetadata,
};
use openidconnect::{
    AuthorizationCode, ClientId, ClientSecret, CsrfToken, IssuerUrl, Nonce, PkceCodeChallenge,
    PkceCodeVerifier, RedirectUrl, RequestTokenError, Scope, StandardErrorResponse, TokenResponse as _,
};
use time::{Duration, OffsetDateTime};

use crate::config::OidcArgs;
use crate::store::Standing;
use crate::web::error::chain;
use crate::web::secret_file;
use fetch::{Fetch, FetchError};
pub use pending::Pending;
use roles::Roles;
use types::Provider;

/// The address to which the provider sends browsers back, below the public one.
pub const DONE: &str = "/login/oidc/done";

pub const PATIENCE: Duration = Duration::minutes(10);
/// How long what a provider says of itself is believed.
const KNOWN_FOR: Duration = Duration::minutes(5);

#[derive(Debug)]
pub struct OpenId {
    issuer: IssuerUrl,
    client: ClientId,
    secret: Option<ClientSecret>,
    redirect: RedirectUrl,
    roles: Roles,
    fetch: Fetch,
    known: Mutex<Option<(OffsetDateTime, CoreProviderMetadata)>>,
    /// Logins that were finished, until they would be over anyway: each is good once.
    finished: Mutex<HashMap<String, OffsetDateTime>>,
}

#[derive(Debug, thiserror::Error)]
pub enum OpenIdError {
    #[error("{0}")]
    Settings(String),
    /// The provider does not answer, not as one, or does not know this server.
    #[error("the provider of OpenID Connect: {0}")]
    Provider(String),
    /// What the browser brought back is not believed.
    #[error("the login is not accepted: {0}")]
    Refused(&'static str),
}

#[derive(Debug, Clone)]
pub struct Identity {
    pub issuer: String,
    pub subject: String,
    pub login: String,
    pub name: String,
    pub standing: Option<Standing>,
}

impl OpenId {
    /// The provider of the settings, if there is one. Nothing is asked of it yet.
    pub fn of(settings: &OidcArgs, public_url: Option<&str>) -> Result<Option<Self>, OpenIdError> {
        let wrong = |error: &dyn std::fmt::Display| OpenIdError::Settings(error.to_string());
        let (Some(issuer), Some(client), Some(public)) = (&settings.issuer, &settings.client_id, public_url)
        else {
            return Ok(None);
        };
        let secret = settings.client_secret_file.as_deref().map(read_secret);
        let redirect = format!("{}{DONE}", public.trim_end_matches('/'));
        Ok(Some(Self {
            issuer: IssuerUrl::new(issuer.clone()).map_err(|error| wrong(&error))?,
            client: ClientId::new(client.clone()),
            secret: secret.transpose()?,
            redirect: RedirectUrl::new(redirect).map_err(|error| wrong(&error))?,
            roles: Roles::of(settings),
            fetch: Fetch::new(issuer, settings.ca_file.as_deref()).map_err(|error| wrong(&error))?,
            known: Mutex::default(),
            finished: Mutex::default(),
        }))
    }

    /// Where the browser goes, and what it keeps until it comes back.
    pub async fn begin(&self, now: OffsetDateTime) -> Result<(String, Pending), OpenIdError> {
        let provider = self.provider(now).await?;
        let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
        let flow = CoreAuthenticationFlow::AuthorizationCode;
        let (address, state, nonce) = provider
            .authorize_url(flow, CsrfToken::new_random, Nonce::new_random)
            .add_scope(Scope::new("profile".to_owned()))
            .add_scope(Scope::new("email".to_owned()))
            .set_pkce_challenge(challenge)
            .url();
        let pending = Pending {
            state: state.into_secret(),
            nonce: nonce.secret().clone(),
            verifier: verifier.into_secret(),
            made_at: now.unix_timestamp(),
            return_to: String::new(),
        };
        Ok((address.to_string(), pending))
    }

    /// Who came back with `code`. The state is that of the browser which began, and is good once.
    pub async fn finish(
        &self,
        pending: &Pending,
        (state, code): (&str, &str),
        now: OffsetDateTime,
    ) -> Result<Identity, OpenIdError> {
        if !pending.is_of(state) {
            return Err(OpenIdError::Refused("it was not begun in this browser"));
        }
        let age = now.unix_timestamp() - pending.made_at;
        if !(0..=PATIENCE.whole_seconds()).contains(&age) {
            return Err(OpenIdError::Refused("it took too long: begin again"));
        }
        self.use_up(state, now)?;
        let provider = self.provider(now).await?;
        let told = |error: &dyn std::fmt::Display| OpenIdError::Provider(error.to_string());
        let fetch = |request| self.fetch.call(request);
        let tokens = provider
            .exchange_code(AuthorizationCode::new(code.to_owned()))
            .map_err(|error| told(&error))?
            .set_pkce_verifier(PkceCodeVerifier::new(pending.verifier.clone()))
            .request_async(&fetch)
            .await
            .map_err(|error| of_exchange(&error))?;
        let token = tokens
            .id_token()
            .ok_or(OpenIdError::Refused("the provider gave no ID token"))?;
        let time = chrono::DateTime::from_timestamp(now.unix_timestamp(), 0)
            .ok_or(OpenIdError::Refused("the clock is beyond its years"))?;
        let nonce = Nonce::new(pending.nonce.clone());
        let checked = |provider: &Provider| {
            let verifier = provider
                .id_token_verifier()
                .set_allowed_algs([CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha256])
                .set_time_fn(move || time);
            token.claims(&verifier, &nonce)
        };
        let claims = if let Ok(claims) = checked(&provider) {
            claims
        } else {
            // The provider may have exchanged its keys since they were read.
            self.forget();
            checked(&self.provider(now).await?).map_err(|error| {
                tracing::warn!(%error, "an ID token was refused");
                OpenIdError::Refused("the ID token is not good")
            })?
        };
        let subject = claims.subject().as_str().to_owned();
        let login = claims
            .preferred_username()
            .map(|name| name.as_str().to_owned())
            .or_else(|| claims.email().map(|email| email.as_str().to_owned()));
        let name = claims.name().and_then(|name| name.get(None));
        Ok(Identity {
            issuer: claims.issuer().as_str().to_owned(),
            login: login.unwrap_or_else(|| subject.clone()),
            name: name.map_or_else(String::new, |name| name.as_str().to_owned()),
            standing: self.roles.standing(claims.additional_claims()),
            subject,
        })
    }

    fn use_up(&self, state: &str, now: OffsetDateTime) -> Result<(), OpenIdError> {
        let mut finished = self.finished.lock().unwrap_or_else(PoisonError::into_inner);
        finished.retain(|_, at| now - *at <= PATIENCE);
        match finished.insert(state.to_owned(), now) {
            None => Ok(()),
            Some(_) => Err(OpenIdError::Refused("it was finished before")),
        }
    }

    fn forget(&self) {
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    async fn provider(&self, now: OffsetDateTime) -> Result<Provider, OpenIdError> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let metadata = match known {
            Some((at, metadata)) if now - at <= KNOWN_FOR => metadata,
            _ => {
                let fetch = |request| self.fetch.call(request);
                let metadata = CoreProviderMetadata::discover_async(self.issuer.clone(), &fetch)
                    .await
                    .map_err(|error| OpenIdError::Provider(chain(&error)))?;
                *self.known.lock().unwrap_or_else(PoisonError::into_inner) = Some((now, metadata.clone()));
                metadata
            }
        };
        types::provider(
            metadata,
            self.client.clone(),
            self.secret.clone(),
            self.redirect.clone(),
        )
        .ok_or_else(|| OpenIdError::Provider("it names no address for tokens".to_owned()))
    }
}

/// A code that the provider refuses is no login. Anything else is a fault of the settings, the network or the provider.
fn of_exchange(
    error: &RequestTokenError<FetchError, StandardErrorResponse<CoreErrorResponseType>>,
) -> OpenIdError {
    match error {
        RequestTokenError::ServerResponse(told) if *told.error() == CoreErrorResponseType::InvalidGrant => {
            OpenIdError::Refused("the provider does not accept the code")
        }
        _ => OpenIdError::Provider(chain(error)),
    }
}

fn read_secret(path: &Path) -> Result<ClientSecret, OpenIdError> {
    let text = secret_file::read(path).map_err(|error| {
        OpenIdError::Settings(format!("--oidc-client-secret-file {}: {error}", path.display()))
    })?;
    Ok(ClientSecret::new(text))
}
