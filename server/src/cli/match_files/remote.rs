//! Explaining by a server, because `--server` asked for it: the text is sent as it is read, compressed.

mod answer;
mod tell;

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, anyhow, bail};
use clap::Args;
use kb_core::ids::RecordId;
use kb_core::record::Record;
use kb_core::scanner::{Event, Hit};
use kb_core::terminal::{harmless, harmless_lines, without_password};
use kb_core::unreachable;
use reqwest::blocking::{Body, Client, RequestBuilder, Response};
use reqwest::header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE};
use reqwest::redirect::Policy;
use reqwest::{Certificate, StatusCode, Url};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use answer::{body, has_unexplained, moved_to, problem, strange};

use super::explain::{Explainer, Facts, Found};
use super::pad::Padded;
use super::unpack::Text;
use crate::domain::answer_json::ExplainedAnswer;
use crate::domain::lookup::MatchAnswer;
use crate::web::api::match_text::MATCHES_HEADER;
use crate::web::api::search::HITS_HEADER;

const CONNECT_LIMIT: Duration = Duration::from_secs(10);
/// Former ids that lead from one to the next at most.
const MOST_MOVES: u32 = 3;

/// Which server explains.
#[derive(Debug, Args)]
pub(in crate::cli) struct RemoteArgs {
    /// Show the answers of this server; it is sent what is asked about, texts compressed [default: nothing leaves this
    /// machine]
    #[arg(long, value_name = "URL")]
    pub(in crate::cli) server: Option<String>,
    // The environment is read where a server is asked: a variable that is set for other programs is no reason to
    // refuse a call that asks none.
    #[arg(
        long,
        value_name = "TOKEN",
        requires = "server",
        help = "Token for a server that asks for one [else the value of PEERLESS_TOKEN]"
    )]
    token: Option<String>,
    /// Certificates (PEM) to trust in place of the system's
    #[arg(long, value_name = "FILE", requires = "server")]
    ca_file: Option<PathBuf>,
}

pub(in crate::cli) struct Remote {
    client: Client,
    base: Url,
    environment: String,
    token: Option<String>,
}

impl Remote {
    /// Checks the settings; nothing is sent yet.
    pub(in crate::cli) fn new(
        arguments: &RemoteArgs,
        environment: &BTreeMap<String, String>,
    ) -> anyhow::Result<Self> {
        let base = base(arguments.server.as_deref().unwrap_or_default())?;
        // rustls is built without a default provider; a second installation is refused and does no harm.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = Client::builder()
            .user_agent(concat!("peerless/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT_LIMIT)
            // A log of any length, or one that is still being written: the server ends what is too slow.
            .timeout(None)
            // A redirect would carry text and token elsewhere.
            .redirect(Policy::none());
        if let Some(path) = &arguments.ca_file {
            let shown = || format!("--ca-file {}", path.display());
            let pem = std::fs::read(path).with_context(shown)?;
            builder = builder.tls_certs_only(Certificate::from_pem_bundle(&pem).with_context(shown)?);
        } else if base.scheme() == "http" {
            // Without this the client looks for the system's certificates, and fails on a host that has none.
            builder = builder.tls_certs_only(Vec::new());
        }
        let environment: Vec<String> = environment
            .iter()
            .map(|(component, version)| format!("{component}={version}"))
            .collect();
        let token = arguments.token.clone().or_else(environment_token);
        if token.is_some() && is_plain_to_others(&base) {
            eprintln!(
                "peerless: warning: the token goes to {} over plain http, where others can read it: use https",
                base.origin().ascii_serialization()
            );
        }
        Ok(Self {
            client: builder
                .build()
                .context("cannot set up HTTP; --ca-file may help")?,
            base,
            environment: environment.join(","),
            token,
        })
    }

    fn ask(&self, text: Text, accept: &'static str) -> anyhow::Result<Response> {
        let mut address = self.address("api/v1/match")?;
        if !self.environment.is_empty() {
            address
                .query_pairs_mut()
                .append_pair("environment", &self.environment);
        }
        let request = self
            .client
            .post(address)
            .header(CONTENT_TYPE, "text/plain; charset=utf-8")
            .header(CONTENT_ENCODING, "zstd")
            .header(ACCEPT, accept)
            .body(Body::new(Padded::new(text)));
        self.send(request)
    }

    /// The answer as JSON, and whether something is unexplained.
    fn json<T: DeserializeOwned>(&self, text: Text) -> anyhow::Result<(T, Option<bool>)> {
        let response = self.ask(text, "application/json")?;
        let unexplained = has_unexplained(&response);
        let answer = serde_json::from_slice(&body(response)?).map_err(|error| strange(&error))?;
        Ok((answer, unexplained))
    }

    fn send(&self, request: RequestBuilder) -> anyhow::Result<Response> {
        let response = self.exchange(request)?;
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        bail!("{} answers {status}{}", self.shown(), problem(response));
    }

    /// Asks for a record, under its id of today where the one given is a former one: its text in a language, or JSON, which
    /// holds both.
    /// The outer error is trouble; the inner one is what the server says of an id that is none.
    pub(in crate::cli) fn record(
        &self,
        id: &str,
        text_in: Option<&str>,
    ) -> anyhow::Result<Result<String, String>> {
        let mut id = id.to_owned();
        for _ in 0..=MOST_MOVES {
            let mut address = self.address("api/v1/records")?;
            address
                .path_segments_mut()
                .map_err(|()| anyhow!("--server {}: it has no paths", self.shown()))?
                .extend(id.split('/'));
            match text_in {
                Some(language) => address
                    .query_pairs_mut()
                    .extend_pairs([("view", "text"), ("lang", language)]),
                None => address.query_pairs_mut().append_pair("view", "full"),
            };
            let response = self.exchange(self.client.get(address))?;
            let status = response.status();
            if status == StatusCode::PERMANENT_REDIRECT {
                id = moved_to(&response).with_context(|| format!("{} moves in circles", self.shown()))?;
                continue;
            }
            // To an id that could be one, this status is about something else: an older server does not know the view.
            let is_no_id = status == StatusCode::BAD_REQUEST && id.parse::<RecordId>().is_err();
            if is_no_id || status == StatusCode::NOT_FOUND {
                let why = problem(response);
                return Ok(Err(why.strip_prefix(": ").unwrap_or(&why).to_owned()));
            }
            if !status.is_success() {
                bail!("{} answers {status}{}", self.shown(), problem(response));
            }
            let text = String::from_utf8_lossy(&body(response)?).into_owned();
            // JSON holds no control character as such, and is for programs.
            return Ok(Ok(if text_in.is_some() {
                harmless_lines(&text)
            } else {
                text
            }));
        }
        bail!("{} moves in circles", self.shown());
    }

    /// Searches; the answer as text or JSON, and whether a record was found.
    pub(in crate::cli) fn search(
        &self,
        words: &str,
        domain: Option<&str>,
        (limit, cursor): (usize, Option<&str>),
        json: bool,
    ) -> anyhow::Result<(String, bool)> {
        let mut address = self.address("api/v1/search")?;
        address
            .query_pairs_mut()
            .append_pair("q", words)
            .append_pair("limit", &limit.to_string());
        if let Some(domain) = domain {
            address.query_pairs_mut().append_pair("domain", domain);
        }
        if let Some(cursor) = cursor {
            address.query_pairs_mut().append_pair("cursor", cursor);
        }
        let accept = if json { "application/json" } else { "text/plain" };
        let response = self.send(self.client.get(address).header(ACCEPT, accept))?;
        let hits = response.headers().get(HITS_HEADER).cloned();
        let text = String::from_utf8_lossy(&body(response)?).into_owned();
        if json {
            let answer: serde_json::Value = serde_json::from_str(&text).map_err(|error| strange(&error))?;
            let found = answer.pointer("/hits/0").is_some();
            return Ok((text, found));
        }
        let hits = hits.with_context(|| {
            format!("the server does not say {HITS_HEADER}: it is older than this program, try --json")
        })?;
        Ok((text, hits != "0"))
    }

    fn shown(&self) -> String {
        self.base.origin().ascii_serialization()
    }

    fn exchange(&self, mut request: RequestBuilder) -> anyhow::Result<Response> {
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        // As text: what broke on the way to the server must not be taken for the reader of our own output.
        request
            .send()
            .map_err(|error| anyhow!("{} cannot be asked: {}", self.shown(), self.why(&error)))
    }

    /// A streamed body hides why it could not be sent: a request without a body fails of the same cause, and says it.
    fn why(&self, error: &reqwest::Error) -> String {
        if !error.is_body() {
            return unreachable::why(error, error.is_timeout());
        }
        let small = self.client.get(self.base.clone()).timeout(CONNECT_LIMIT).send();
        small.map_or_else(
            |error| unreachable::why(&error, error.is_timeout()),
            |_| {
                "it ended the connection while the text was sent: it may be too long, or came too slowly; the server's log \
                 says more"
                    .to_owned()
            },
        )
    }

    fn address(&self, path: &str) -> anyhow::Result<Url> {
        Ok(self.base.join(path)?)
    }
}

impl Explainer for Remote {
    fn answer(&self, text: Text) -> anyhow::Result<(MatchAnswer, Found)> {
        let (answer, unexplained) = self.json(text)?;
        let error = MatchAnswer::has_error(&answer);
        Ok((answer, Found { error, unexplained }))
    }

    fn explained(&self, text: Text) -> anyhow::Result<(ExplainedAnswer, Found)> {
        let (answer, unexplained) = self.json(text)?;
        let error = ExplainedAnswer::has_error(&answer);
        Ok((answer, Found { error, unexplained }))
    }

    fn rendered(&self, text: Text) -> anyhow::Result<(String, Found)> {
        let response = self.ask(text, "text/plain")?;
        let matches = response.headers().get(MATCHES_HEADER).cloned();
        let found = matches.with_context(|| {
            format!("the server does not say {MATCHES_HEADER}: it is older than this program, try --json")
        })?;
        let found = Found {
            error: found != "0",
            unexplained: has_unexplained(&response),
        };
        let text = String::from_utf8_lossy(&body(response)?).into_owned();
        Ok((harmless_lines(&text), found))
    }

    fn stepwise(
        &self,
        text: Text,
        each: &mut dyn FnMut(&Event) -> anyhow::Result<()>,
    ) -> anyhow::Result<ExplainedAnswer> {
        let response = self.ask(text, "application/x-ndjson")?;
        for line in BufReader::new(response).lines() {
            let line = line.map_err(|error| anyhow!("the answer broke off: {error}"))?;
            match serde_json::from_str(&line).map_err(|error| strange(&error))? {
                Line::Hit(hit) => each(&Event::Hit(hit))?,
                Line::Summary(answer) => return Ok(*answer),
                Line::Problem { detail } => bail!("{}", harmless(&detail)),
                Line::Other => {}
            }
        }
        bail!("the answer broke off");
    }

    fn facts(&self, id: &RecordId) -> anyhow::Result<Facts> {
        let mut address = self.address(&format!("api/v1/records/{id}"))?;
        address.set_query(Some("view=full"));
        let response = self.send(self.client.get(address))?;
        let texts: Full = serde_json::from_slice(&body(response)?).map_err(|error| strange(&error))?;
        let record = Record::parse(texts.document.get(), texts.ext.get())
            .map_err(|_| anyhow!("the server's record {id} is newer than this program"))?;
        let page = self.address(&format!("r/{id}"))?;
        Ok(Facts::of(&record, Some(page.into())))
    }
}

/// A line of the answer as it goes.
#[derive(Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Line {
    Hit(Hit),
    Summary(Box<ExplainedAnswer>),
    Problem {
        detail: String,
    },
    #[serde(other)]
    Other,
}

#[derive(Deserialize)]
struct Full {
    document: Box<RawValue>,
    ext: Box<RawValue>,
}

/// Whether what is sent can be read on the way.
fn is_plain_to_others(base: &Url) -> bool {
    base.scheme() == "http" && !kb_core::wire::is_this_machine(base.host_str().unwrap_or_default())
}

fn environment_token() -> Option<String> {
    let token = std::env::var("PEERLESS_TOKEN").ok()?;
    (!token.is_empty()).then_some(token)
}

fn base(server: &str) -> anyhow::Result<Url> {
    let shown = without_password(server);
    let mut base = Url::parse(server).with_context(|| format!("--server {shown}"))?;
    if !matches!(base.scheme(), "http" | "https") {
        bail!("--server {shown}: write http://… or https://…");
    }
    if !base.username().is_empty() || base.password().is_some() {
        bail!("--server holds a password: use --token or PEERLESS_TOKEN");
    }
    base.set_query(None);
    base.set_fragment(None);
    let path = format!("{}/", base.path().trim_end_matches('/'));
    base.set_path(&path);
    Ok(base)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_may_lie_below_a_path() {
        for (server, expected) in [
            ("http://localhost:8080", "http://localhost:8080/api/v1/match"),
            ("https://a.example/kb/?x#y", "https://a.example/kb/api/v1/match"),
        ] {
            assert_eq!(
                base(server).unwrap().join("api/v1/match").unwrap().as_str(),
                expected
            );
        }
        let secret = [
            "ftp://u:secret@a",
            "u:secret@a.example",
            "https://u:secret@",
            "https://u:secret@a",
        ];
        for wrong in secret {
            let told = format!("{:#}", base(wrong).unwrap_err());
            assert!(!told.contains("secret"), "{told}");
        }
        for bad in ["", "localhost:8080", "ftp://a", "https://u:p@a.example"] {
            assert!(base(bad).is_err(), "{bad}");
        }
    }
}
