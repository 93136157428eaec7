//! The HTTP side: one POST, no redirects (they would carry the token elsewhere).

use std::path::Path;
use std::time::Duration;

use kb_core::ids::ReportId;
use kb_core::terminal::without_password;
use kb_core::unreachable;
use kb_core::wire::is_this_machine;
use reqwest::blocking::{Client, RequestBuilder, Response};
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, DATE, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Certificate, Url};

use crate::clock::{Clock as _, SystemClock};

use super::answer::Answer;
use super::receipt::Receipt;
use super::secret::{Secret, read_by_others};
use super::unwaited::Unwaited;
use super::{Body, ConfigurationError, UploadError};

const CONNECT_LIMIT: Duration = Duration::from_secs(10);

pub(crate) struct Uploader {
    pub(super) client: Unwaited,
    pub(super) address: Url,
    secret: Secret,
    warnings: Vec<String>,
    limit: Duration,
}

impl Uploader {
    /// Longest wait for one answer.
    pub(crate) const LONGEST: Duration = Duration::from_mins(1);

    /// Checks every setting; nothing is sent yet.
    pub(crate) fn new(
        server: &str,
        token_file: Option<&Path>,
        ca_file: Option<&Path>,
    ) -> Result<Self, ConfigurationError> {
        let address = report_address(server)?;
        // rustls is built without a default provider; a second installation is refused and does no harm.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = Client::builder()
            .user_agent(concat!("peerless-agent/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT_LIMIT)
            .timeout(Self::LONGEST)
            .redirect(Policy::none());
        if let Some(path) = ca_file {
            builder = builder.tls_certs_only(certificates(path)?);
        } else if address.scheme() == "http" {
            // Without this the client looks for the system's certificates, and fails on a host that has none.
            builder = builder.tls_certs_only(Vec::new());
        }
        let client = builder.build().map_err(|error| ConfigurationError::Tls {
            why: root_cause(&error),
        })?;
        let secret = Secret::read(token_file)?;
        let mut warnings: Vec<String> = token_file.and_then(read_by_others).into_iter().collect();
        if secret.header().is_some()
            && address.scheme() == "http"
            && !is_this_machine(address.host_str().unwrap_or_default())
        {
            warnings.push(format!(
                "the token goes to {} over plain http, where others can read it: use https",
                address.origin().ascii_serialization()
            ));
        }
        Ok(Self {
            client: Unwaited::of(client),
            address,
            secret,
            warnings,
            limit: Self::LONGEST,
        })
    }

    /// Longest wait for an answer, where somebody waits for this program.
    pub(crate) fn within(self, limit: Duration) -> Self {
        Self {
            limit: limit.min(Self::LONGEST),
            ..self
        }
    }

    pub(super) fn limit(&self) -> Duration {
        self.limit
    }

    pub(super) fn authorized(&self, request: RequestBuilder) -> RequestBuilder {
        let request = request.timeout(self.limit);
        match self.secret.header() {
            Some(header) => request.header(AUTHORIZATION, header.clone()),
            None => request,
        }
    }

    pub(super) fn answer(&self, response: Response) -> Result<Answer, String> {
        Answer::read(response, self.secret.clone(), self.limit)
    }

    pub(super) fn beside(&self, call: &str) -> Url {
        let mut address = self.address.clone();
        let path = address.path().trim_end_matches("reports").to_owned();
        address.set_path(&format!("{path}{call}"));
        address
    }

    pub(crate) fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Sends the bytes. 200 and 201 with the report's id mean that the server has it; without, a login page may have answered.
    pub(crate) fn send(&self, body: &Body) -> Result<Receipt, UploadError> {
        let request = self
            .client
            .post(self.address.clone())
            .header(CONTENT_TYPE, "application/json")
            .header(CONTENT_ENCODING, "zstd")
            .header(ACCEPT, "application/json")
            // The server sets this clock beside its own.
            .header(DATE, crate::clock::http_date(SystemClock.now()))
            .body(body.for_the_wire());
        let response = self
            .authorized(request)
            .send()
            .map_err(|error| UploadError::Unreachable {
                server: self.server(),
                why: unreachable::why(&error, error.is_timeout()),
            })?;
        let status = response.status().as_u16();
        let asked = response
            .headers()
            .get(RETRY_AFTER)
            .and_then(|value| value.to_str().ok());
        let retry_after = asked.and_then(|asked| super::retry::retry_after(asked, SystemClock.now()));
        let answer = self.answer(response);
        if !matches!(status, 200 | 201) {
            // The status has said what matters; an answer that breaks off only costs its details.
            let answer = answer.unwrap_or_default();
            return Err(UploadError::Refused {
                server: self.server(),
                status,
                code: answer.code(),
                detail: answer.detail(),
                retry_after,
            });
        }
        let answer = answer.map_err(|why| UploadError::Unreachable {
            server: self.server(),
            why,
        })?;
        let json = answer.json();
        let named = json.get("id").and_then(serde_json::Value::as_str);
        if named.is_none() || named != body.id().ok().as_ref().map(ReportId::as_str) {
            return Err(UploadError::Foreign {
                server: self.server(),
                status,
                shown: answer.shown(),
            });
        }
        Ok(Receipt::of(self.server(), status == 200, json))
    }

    pub(crate) fn address(&self) -> &str {
        self.address.as_str()
    }

    pub(super) fn server(&self) -> String {
        self.address.origin().ascii_serialization()
    }
}

/// `{server}/api/v1/reports`, below whatever path the server lies at.
fn report_address(server: &str) -> Result<Url, ConfigurationError> {
    let refused = |why: &str| ConfigurationError::Server {
        url: without_password(server),
        why: why.to_owned(),
    };
    let mut address = Url::parse(server).map_err(|error| refused(&error.to_string()))?;
    if !matches!(address.scheme(), "http" | "https") {
        return Err(refused("it is neither http nor https"));
    }
    if !address.username().is_empty() || address.password().is_some() {
        return Err(refused("it holds a password; use --token-file"));
    }
    address.set_query(None);
    address.set_fragment(None);
    let path = format!("{}/api/v1/reports", address.path().trim_end_matches('/'));
    address.set_path(&path);
    Ok(address)
}

fn certificates(path: &Path) -> Result<Vec<Certificate>, ConfigurationError> {
    let refused = |why: String| ConfigurationError::File {
        option: "--ca-file",
        path: path.to_owned(),
        why,
    };
    let pem = std::fs::read(path).map_err(|error| refused(error.to_string()))?;
    let found = Certificate::from_pem_bundle(&pem).map_err(|error| refused(error.to_string()))?;
    if found.is_empty() {
        return Err(refused("it holds no PEM certificate".to_owned()));
    }
    Ok(found)
}

/// The innermost reason: reqwest's own text says only that sending failed.
fn root_cause(error: &dyn std::error::Error) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_message_has_the_password_of_an_address() {
        for wrong in [
            "https://u:secret@a.example",
            "ftp://u:secret@a",
            "u:secret@a.example",
            "https://u:secret@",
        ] {
            let told = report_address(wrong).unwrap_err().to_string();
            assert!(!told.contains("secret"), "{told}");
        }
    }

    #[test]
    fn reports_go_below_the_servers_address() {
        for (server, expected) in [
            ("http://localhost:8080", "http://localhost:8080/api/v1/reports"),
            ("https://a.example/", "https://a.example/api/v1/reports"),
            (
                "https://a.example/gpu/?x#y",
                "https://a.example/gpu/api/v1/reports",
            ),
        ] {
            assert_eq!(report_address(server).unwrap().as_str(), expected);
        }
        for bad in [
            "",
            "localhost:8080",
            "ftp://a",
            "a.example",
            "https://u:p@a.example",
        ] {
            assert!(report_address(bad).is_err(), "{bad}");
        }
    }
}
