//! A request to one address: bounded in time, without redirects; of the answer the status alone is read.

use std::time::Duration;

use reqwest::Url;
use reqwest::redirect::Policy;

/// Longest time for an attempt; shorter than a server's claim to it.
const PATIENCE: Duration = Duration::from_secs(15);

/// Why it was not taken, without the address.
#[derive(Debug, thiserror::Error)]
pub enum NotTaken {
    #[error("it answered {0}")]
    Answered(u16),
    #[error("{0}")]
    NoAnswer(String),
}

pub(super) struct Client {
    client: reqwest::Client,
    url: Url,
}

impl Client {
    /// A client of this address; an error does not tell it.
    pub(super) fn new(url: &str) -> Result<Self, String> {
        let url = Url::parse(url).map_err(|error| error.to_string())?;
        // rustls is built without a default provider; a second installation is refused and does no harm.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = reqwest::Client::builder()
            .user_agent(concat!("peerless/", env!("CARGO_PKG_VERSION")))
            .timeout(PATIENCE)
            // A redirect would lead requests of this server where an answer likes.
            .redirect(Policy::none());
        if url.scheme() == "http" {
            // Without this the client looks for the system's certificates, and fails on a host that has none.
            builder = builder.tls_certs_only(Vec::new());
        }
        let client = builder.build().map_err(why)?;
        Ok(Self { client, url })
    }

    /// Sends JSON.
    pub(super) async fn post(
        &self,
        headers: &[(&'static str, String)],
        body: String,
    ) -> Result<(), NotTaken> {
        let mut request = self.client.post(self.url.clone());
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        let sent = request
            .header("content-type", "application/json")
            .body(body)
            .send();
        match sent.await {
            Ok(answer) if answer.status().is_success() => Ok(()),
            Ok(answer) => Err(NotTaken::Answered(answer.status().as_u16())),
            Err(error) => Err(NotTaken::NoAnswer(why(error))),
        }
    }
}

fn why(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(&error);
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
