//! The HTTP side: one POST, no redirects (they would carry the token elsewhere).

use std::fmt;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use kb_core::ids::ReportId;
use kb_core::terminal::{harmless, without_password};
use kb_core::unreachable;
use kb_core::wire::is_this_machine;
use reqwest::blocking::{Client, RequestBuilder, Response};
use reqwest::header::{
    ACCEPT, AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, DATE, ETAG, HeaderValue, IF_NONE_MATCH,
    RETRY_AFTER,
};
use reqwest::redirect::Policy;
use reqwest::{Certificate, Url};

use crate::clock::{Clock as _, SystemClock};

use super::answer::Answer;
use super::secret::Secret;
use super::unwaited::Unwaited;
use super::within::{self, BODY_LIMIT};
use super::{Body, ConfigurationError, UploadError};

const CONNECT_LIMIT: Duration = Duration::from_secs(10);
const TOTAL_LIMIT: Duration = Duration::from_mins(1);
/// The most of all signatures that is read; thousands of records have a few megabytes.
const MOST_SIGNATURE_BYTES: u64 = 64 << 20;

pub(crate) struct Uploader {
    pub(super) client: Unwaited,
    address: Url,
    authorization: Option<HeaderValue>,
    warnings: Vec<String>,
    limit: Duration,
}

pub(crate) struct Receipt {
    address: Url,
    known_before: bool,
    answer: serde_json::Value,
}

impl Uploader {
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
            .timeout(TOTAL_LIMIT)
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
        let authorization = token(token_file)?;
        let mut warnings: Vec<String> = token_file.and_then(read_by_others).into_iter().collect();
        if authorization.is_some()
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
            authorization,
            warnings,
            limit: TOTAL_LIMIT,
        })
    }

    /// Longest wait for an answer, where somebody waits for this program.
    pub(crate) fn within(self, limit: Duration) -> Self {
        Self {
            limit: limit.min(TOTAL_LIMIT),
            ..self
        }
    }

    pub(super) fn limit(&self) -> Duration {
        self.limit
    }

    pub(super) fn authorized(&self, request: RequestBuilder) -> RequestBuilder {
        let request = request.timeout(self.limit);
        match &self.authorization {
            Some(authorization) => request.header(AUTHORIZATION, authorization.clone()),
            None => request,
        }
    }

    pub(super) fn answer(&self, response: Response) -> Result<Answer, String> {
        Answer::read(response, Secret::of(self.authorization.as_ref()), self.limit)
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

    /// Sends the bytes. 200 and 201 with the report's id both mean that the server has it; without, somebody else
    /// answered, such as the login page of a network.
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
        Ok(Receipt {
            address: self.address.clone(),
            known_before: status == 200,
            answer: json,
        })
    }

    /// The signatures of all records and their entity tag; nothing where they are those of `known`.
    pub(crate) fn signatures(&self, known: Option<&str>) -> Result<Option<(String, Vec<u8>)>, UploadError> {
        let unreachable = |why: String| UploadError::Unreachable {
            server: self.server(),
            why,
        };
        let address = self
            .address
            .join("signatures")
            .map_err(|error| unreachable(error.to_string()))?;
        let mut request = self.client.get(address).header(ACCEPT, "application/json");
        if let Some(known) = known {
            request = request.header(IF_NONE_MATCH, known);
        }
        let response = self
            .authorized(request)
            .send()
            .map_err(|error| unreachable(kb_core::unreachable::why(&error, error.is_timeout())))?;
        let status = response.status().as_u16();
        if status == 304 {
            return Ok(None);
        }
        let etag = response.headers().get(ETAG).and_then(|etag| etag.to_str().ok());
        let etag = etag.unwrap_or_default().to_owned();
        if status != 200 {
            let answer = self.answer(response).unwrap_or_default();
            return Err(UploadError::Refused {
                server: self.server(),
                status,
                code: None,
                detail: answer.detail(),
                retry_after: None,
            });
        }
        let bytes = within::read(response, MOST_SIGNATURE_BYTES, BODY_LIMIT)
            .map_err(|error| unreachable(error.to_string()))?;
        Ok(Some((etag, bytes)))
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

/// The token from the file, else from the environment, else none. Its value is in no message.
fn token(file: Option<&Path>) -> Result<Option<HeaderValue>, ConfigurationError> {
    let refused = |why: String| match file {
        Some(path) => ConfigurationError::File {
            option: "--token-file",
            path: path.to_owned(),
            why,
        },
        None => ConfigurationError::Token { why },
    };
    let text = match file {
        Some(path) => std::fs::read_to_string(path).map_err(|error| refused(error.to_string()))?,
        None => match std::env::var("PEERLESS_TOKEN") {
            Ok(text) => text,
            Err(std::env::VarError::NotPresent) => return Ok(None),
            Err(error) => return Err(refused(error.to_string())),
        },
    };
    let text = text.trim();
    if text.is_empty() {
        return Err(refused("it is empty".to_owned()));
    }
    let mut header = HeaderValue::from_str(&format!("Bearer {text}"))
        .map_err(|_| refused("it holds characters that no token has".to_owned()))?;
    header.set_sensitive(true);
    Ok(Some(header))
}

/// A token that every user of the node can read is everybody's.
fn read_by_others(file: &Path) -> Option<String> {
    const OTHERS_READ: u32 = 0o004;
    let mode = std::fs::metadata(file).ok()?.permissions().mode();
    (mode & OTHERS_READ != 0).then(|| {
        let file = file.display();
        format!("--token-file {file} can be read by every user: chmod 600 {file}, and make a new token")
    })
}

/// The innermost reason: reqwest's own text says only that sending failed.
fn root_cause(error: &dyn std::error::Error) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    innermost.to_string()
}

impl fmt::Display for Receipt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let server = self.address.origin().ascii_serialization();
        if self.known_before {
            write!(f, "report known to {server} already")?;
        } else {
            write!(f, "report uploaded to {server}")?;
        }
        let Some(findings) = self.answer.get("findings").and_then(serde_json::Value::as_array) else {
            return Ok(());
        };
        for finding in findings {
            write!(f, "\n  {}", describe(finding))?;
        }
        Ok(())
    }
}

/// `pair 0-1: title (record)`, of what the finding has.
fn describe(finding: &serde_json::Value) -> String {
    let text = |name: &str| finding.get(name).and_then(serde_json::Value::as_str);
    let subject = text("subject").unwrap_or("finding");
    let title = text("title").or_else(|| text("rule")).unwrap_or("no title");
    // A server's words must not pass for the agent's own, nor act on the terminal.
    harmless(&match text("record") {
        Some(record) => format!("{subject}: {title} ({record})"),
        None => format!("{subject}: {title}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_of_a_server_are_one_harmless_line_each() {
        let finding = serde_json::json!({
            "subject": "pair 0-1",
            "title": "\u{1b}[2Jall is well\npeerless-agent: healthy",
            "record": "a/b\rc",
        });
        assert_eq!(
            describe(&finding),
            "pair 0-1: \\u001b[2Jall is well\\u000apeerless-agent: healthy (a/b\\u000dc)"
        );
    }

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
    fn a_token_that_others_can_read_is_warned_of() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        std::fs::write(&file, "abc").unwrap();
        let warned = |mode: u32, server: &str| {
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
            Uploader::new(server, Some(&file), None)
                .unwrap()
                .warnings()
                .join("; ")
        };
        assert_eq!(warned(0o600, "http://127.0.0.1:9"), "");
        assert!(warned(0o644, "http://127.0.0.1:9").contains("chmod 600"));
        assert!(warned(0o600, "http://kb.example").contains("plain http"));
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
