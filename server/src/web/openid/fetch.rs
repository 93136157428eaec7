//! Requests to the provider: bounded in time and size, without redirects.

use std::path::Path;
use std::time::Duration;

use openidconnect::{HttpRequest, HttpResponse};
use reqwest::redirect::Policy;
use reqwest::{Certificate, Client};

/// Longest time for an answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// Largest answer, in bytes.
const LARGEST: usize = 1 << 20;

#[derive(Debug)]
pub(super) struct Fetch(Client);

#[derive(Debug, thiserror::Error)]
pub(super) enum FetchError {
    #[error(transparent)]
    Http(#[from] reqwest::Error),
    #[error("{0}")]
    Form(#[from] http::Error),
    #[error("the answer has more than {LARGEST} bytes")]
    TooLarge,
    #[error("{0}")]
    Certificates(String),
}

impl Fetch {
    pub(super) fn new(issuer: &str, ca_file: Option<&Path>) -> Result<Self, FetchError> {
        // rustls is built without a default provider; a second installation is refused and does no harm.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = Client::builder()
            .user_agent(concat!("peerless/", env!("CARGO_PKG_VERSION")))
            .timeout(PATIENCE)
            // A redirect would lead requests of this server where an answer likes.
            .redirect(Policy::none());
        if let Some(path) = ca_file {
            let told = |error: &dyn std::fmt::Display| {
                FetchError::Certificates(format!("--oidc-ca-file {}: {error}", path.display()))
            };
            let pem = std::fs::read(path).map_err(|error| told(&error))?;
            let certificates = Certificate::from_pem_bundle(&pem).map_err(|error| told(&error))?;
            builder = builder.tls_certs_only(certificates);
        } else if issuer.starts_with("http://") {
            // Without this the client looks for the system's certificates, and fails on a host that has none.
            builder = builder.tls_certs_only(Vec::new());
        }
        Ok(Self(builder.build()?))
    }

    pub(super) async fn call(&self, request: HttpRequest) -> Result<HttpResponse, FetchError> {
        let mut response = self.0.execute(request.try_into()?).await?;
        let mut answer = http::Response::builder().status(response.status());
        for (name, value) in response.headers() {
            answer = answer.header(name, value);
        }
        let mut body = Vec::new();
        while let Some(piece) = response.chunk().await? {
            if body.len() + piece.len() > LARGEST {
                return Err(FetchError::TooLarge);
            }
            body.extend_from_slice(&piece);
        }
        Ok(answer.body(body)?)
    }
}
