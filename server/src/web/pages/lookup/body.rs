//! From the request's body to an answer: a form with the text in it, or the text itself, streamed.

use std::collections::BTreeMap;
use std::sync::Arc;

use actix_web::HttpRequest;
use actix_web::http::header;
use actix_web::web::Payload;

use super::form;
use crate::domain::lookup::{LookupError, MatchAnswer, MatchOptions, Matching};
use crate::domain::search::search;
use crate::domain::shared::{Shared, Unknown};
use crate::domain::steps::Steps;
use crate::feed::Generation;
use crate::render::answer::in_order;
use crate::render::answer::log::{self as marks, MarkedText};
use crate::render::answer::origin::Only;
use crate::search::{SearchAnswer, SearchRequest};
use crate::web::body::{self, BodyError, Sink};
use crate::web::compute::{ALL_RECORDS, Desk};
use crate::web::error::{Code, Problem};
use crate::web::limits;

/// Longest text that is put back into the box, in bytes.
const ECHO_BYTES: usize = 16 * 1024;
/// Longest line that may be meant as words to search for, in bytes.
const QUERY_BYTES: usize = 200;
/// Percent-encoding makes three bytes of one at most.
const FORM_BYTES: u64 = 3 * limits::JSON_BYTES;

#[derive(Debug)]
pub(super) struct LookedUp {
    pub(super) answer: MatchAnswer,
    /// Search results, where a short text matched nothing.
    pub(super) found: Option<SearchAnswer>,
    /// The text, if it is short enough to be shown again.
    pub(super) echo: String,
    /// The text with its marks; of one that was read as it came the marked lines alone.
    pub(super) marked: MarkedText,
    pub(super) environment: BTreeMap<String, String>,
    pub(super) only: Only,
    /// What may be shared of it, where that is offered.
    pub(super) shared: Option<Shared>,
}

/// Reads the body and looks it up. `shares`: answers may be shared.
pub(super) async fn look_up(
    request: &HttpRequest,
    payload: Payload,
    generation: Arc<Generation>,
    shares: bool,
) -> Result<LookedUp, Problem> {
    match media_type(request).as_str() {
        "application/x-www-form-urlencoded" => from_form(request, payload, generation, shares).await,
        "text/plain" | "application/octet-stream" => from_stream(request, payload, generation, shares).await,
        _ => Err(Problem::new(
            Code::UnsupportedType,
            "send the text as a form field, or as text/plain",
        )),
    }
}

fn media_type(request: &HttpRequest) -> String {
    let value = request
        .headers()
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    value
        .unwrap_or_default()
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase()
}

/// The text of the box, as its form sends it.
pub(in crate::web::pages) async fn text_of_form(
    request: &HttpRequest,
    payload: Payload,
) -> Result<String, Problem> {
    if media_type(request) != "application/x-www-form-urlencoded" {
        return Err(Problem::new(
            Code::UnsupportedType,
            "send the text as a form field",
        ));
    }
    let encoded = body::text(request, payload, FORM_BYTES).await?;
    let fields = body::fields(&encoded)?;
    form::known_only(&fields)?;
    the_text(fields)
}

/// The field `text`, which the encoding may have made longer than it is.
fn the_text(fields: Vec<(String, String)>) -> Result<String, Problem> {
    let text = fields.into_iter().find(|(name, _)| name == "text");
    let text = text.map(|(_, text)| text).unwrap_or_default();
    if text.len() as u64 > limits::JSON_BYTES {
        return Err(BodyError::TooLarge(limits::JSON_BYTES).into());
    }
    Ok(text)
}

async fn from_form(
    request: &HttpRequest,
    payload: Payload,
    generation: Arc<Generation>,
    shares: bool,
) -> Result<LookedUp, Problem> {
    let encoded = body::text(request, payload, FORM_BYTES).await?;
    let fields = body::fields(&encoded)?;
    form::known_only(&fields)?;
    let environment = form::environment(&fields)?;
    let only = form::only(&fields);
    let text = the_text(fields)?;
    if text.trim().is_empty() {
        return Err(Problem::new(
            Code::MalformedBody,
            "the box is empty: paste an error line or a log",
        ));
    }
    let options = MatchOptions {
        environment: environment.clone(),
        without_text: false,
    };
    let desk = Desk::of(request);
    let mut steps = Steps::start(&generation, text.as_str(), options, limits::WORK_TIME);
    let answer = desk.in_turns(ALL_RECORDS, move || steps.step()).await??;
    let work = move || {
        let found = (!answer.has_error())
            .then(|| search_for(&generation, &text))
            .flatten();
        let marked = MarkedText::of(&answer, Some(&text));
        let shared = shares.then(|| to_share(&answer, &marked, Some(&text)));
        let echo = if text.len() <= ECHO_BYTES {
            text
        } else {
            String::new()
        };
        (answer, found, marked, shared, echo)
    };
    let (answer, found, marked, shared, echo) = desk.go_on(ALL_RECORDS, work).await?;
    Ok(LookedUp {
        answer,
        found,
        echo,
        marked,
        environment,
        only,
        shared,
    })
}

fn to_share(answer: &MatchAnswer, marked: &MarkedText, text: Option<&str>) -> Shared {
    let unknown = match &marked.unknown {
        marks::Unknown::NotLooked => Unknown {
            looked: false,
            numbers: &[],
            are_more: false,
        },
        marks::Unknown::Lines { numbers, are_more } => Unknown {
            looked: true,
            numbers,
            are_more: *are_more,
        },
    };
    Shared::of(answer, &in_order(answer), unknown, text)
}

/// One short line that matches nothing may be meant as a search.
fn search_for(generation: &Generation, text: &str) -> Option<SearchAnswer> {
    let text = text.trim();
    if text.contains('\n') || text.len() > QUERY_BYTES {
        return None;
    }
    let request = SearchRequest {
        text: text.to_owned(),
        limit: Some(10),
        ..SearchRequest::default()
    };
    match search(generation, &request) {
        Ok(found) if !found.hits.is_empty() => Some(found),
        Ok(_) => None,
        Err(error) => {
            tracing::error!(%error, "no search results beside a lookup");
            None
        }
    }
}

struct MatchingSink(Matching);

impl Sink for MatchingSink {
    fn take(&mut self, piece: &[u8]) -> Result<(), BodyError> {
        self.0.feed(piece);
        Ok(())
    }
}

async fn from_stream(
    request: &HttpRequest,
    payload: Payload,
    generation: Arc<Generation>,
    shares: bool,
) -> Result<LookedUp, Problem> {
    let environment = form::environment(&body::fields(request.query_string())?)?;
    let options = MatchOptions {
        environment: environment.clone(),
        without_text: false,
    };
    let sink = MatchingSink(Matching::start(generation, options));
    let sink = body::stream(request, payload, limits::STREAM_BYTES, sink).await?;
    let desk = Desk::of(request);
    let work = move || {
        let answer = sink.0.finish()?;
        let marked = MarkedText::of(&answer, None);
        let shared = shares.then(|| to_share(&answer, &marked, None));
        Ok::<_, LookupError>((answer, marked, shared))
    };
    let (answer, marked, shared) = desk.go_on(ALL_RECORDS, work).await??;
    Ok(LookedUp {
        answer,
        found: None,
        echo: String::new(),
        marked,
        environment,
        only: Only::default(),
        shared,
    })
}
