//! From the request's body to an answer: a form with the text in it, or the text itself, streamed.

use std::collections::BTreeMap;
use std::mem;
use std::sync::Arc;

use actix_web::HttpRequest;
use actix_web::http::header;
use actix_web::web::Payload;

use super::form;
use crate::domain::hits::Hits;
use crate::domain::lookup::{LookupError, MatchAnswer, MatchOptions, Matching};
use crate::domain::search::search;
use crate::domain::steps::Steps;
use crate::feed::Generation;
use crate::render::answer::origin::Only;
use crate::web::body::{self, BodyError, Sink};
use crate::web::compute::{ALL_RECORDS, Desk};
use crate::web::error::{Code, Problem};
use crate::web::limits;
use crate::web::lookup::in_turns;
use peerless_search::{SearchAnswer, SearchRequest};

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
    pub(super) hits: Hits,
    /// The text; of one that was read as it came nothing is kept.
    pub(super) text: Option<String>,
    pub(super) environment: BTreeMap<String, String>,
    pub(super) only: Only,
}

impl LookedUp {
    pub(super) fn echo(&self) -> &str {
        let text = self.text.as_deref().unwrap_or_default();
        if text.len() <= ECHO_BYTES { text } else { "" }
    }
}

pub(super) async fn look_up(
    request: &HttpRequest,
    payload: Payload,
    generation: Arc<Generation>,
) -> Result<LookedUp, Problem> {
    match media_type(request).as_str() {
        "application/x-www-form-urlencoded" => from_form(request, payload, generation).await,
        "text/plain" | "application/octet-stream" => from_stream(request, payload, generation).await,
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
) -> Result<LookedUp, Problem> {
    // What the body was sent as goes before the text is looked up.
    let fields = body::fields(&body::text(request, payload, FORM_BYTES).await?)?;
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
    let mut steps = Steps::start(&generation, text, options, limits::WORK_TIME);
    let mut hits = Hits::default();
    let step = move || {
        let answer = steps.step_noting(&mut hits);
        let whole = |answer| (answer, mem::take(&mut hits), steps.take_text());
        let done = answer.map(|answer| answer.map(whole));
        (done, steps.memory_usage())
    };
    let (answer, hits, text) = in_turns(request, ALL_RECORDS, step).await?;
    let words = words_of(&text).filter(|_| !answer.has_error());
    let found = match words.map(str::to_owned) {
        Some(words) => {
            let search = move || search_for(&generation, words);
            desk.go_on(QUERY_BYTES, search).await?
        }
        None => None,
    };
    Ok(LookedUp {
        answer,
        found,
        hits,
        text: Some(text),
        environment,
        only,
    })
}

/// One short line that matches nothing may be meant as a search.
fn words_of(text: &str) -> Option<&str> {
    let text = text.trim();
    (text.len() <= QUERY_BYTES && !text.contains('\n')).then_some(text)
}

fn search_for(generation: &Generation, text: String) -> Option<SearchAnswer> {
    let request = SearchRequest {
        text,
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

struct MatchingSink {
    matching: Matching,
    hits: Hits,
}

impl Sink for MatchingSink {
    fn take(&mut self, piece: &[u8]) -> Result<(), BodyError> {
        self.hits.note(&self.matching.push(piece));
        Ok(())
    }

    fn memory_usage(&self) -> usize {
        self.matching.memory_usage()
    }
}

async fn from_stream(
    request: &HttpRequest,
    payload: Payload,
    generation: Arc<Generation>,
) -> Result<LookedUp, Problem> {
    let environment = form::environment(&body::fields(request.query_string())?)?;
    let options = MatchOptions {
        environment: environment.clone(),
        without_text: false,
    };
    let sink = MatchingSink {
        matching: Matching::start(generation, options),
        hits: Hits::default(),
    };
    let sink = body::stream(request, payload, limits::STREAM_BYTES, sink).await?;
    let desk = Desk::of(request);
    let work = move || {
        let mut hits = sink.hits;
        let answer = sink.matching.finish_noting(&mut hits)?;
        Ok::<_, LookupError>((answer, hits))
    };
    let (answer, hits) = desk.go_on(ALL_RECORDS, work).await??;
    Ok(LookedUp {
        answer,
        found: None,
        hits,
        text: None,
        environment,
        only: Only::default(),
    })
}
