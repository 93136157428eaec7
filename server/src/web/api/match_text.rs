//! `POST /api/v1/match`: a text or a log in, the records that explain it out. Nothing of it is kept.

use std::collections::BTreeMap;
use std::sync::Arc;

use actix_web::http::header::{self, ContentType};
use actix_web::web::{self, Bytes, Payload};
use actix_web::{HttpRequest, HttpResponse, HttpResponseBuilder};
use kb_core::scanner::{EnvironmentError, errors_and_harmless};
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;
use utoipa::{IntoParams, ToSchema};

use super::match_draft::{self, MatchReply, UnsavedDraft};
use super::match_view::{self, Lines, Part, Reader};
use crate::domain::answer_json::{Expand, Explaining, explain};
use crate::domain::lookup::{self, MatchAnswer, MatchOptions, Matching};
use crate::domain::steps::Steps;
use crate::domain::work_time::{Meter, PIECE};
use crate::render::answer_text;
use crate::web::auth::{Anyone, Caller};
use crate::web::body::{BodyError, Patience, Share, Sink, each_once};
use crate::web::compute::{ALL_RECORDS, Desk};
use crate::web::error::{Code, Problem, ProblemBody};
use crate::web::held::held;
use crate::web::links::base_url;
use crate::web::lookup::in_turns;
use crate::web::state::AppState;
use crate::web::{accept, body, limits};

/// A text with what is known of where it was written.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct MatchRequest {
    /// The text.
    #[schema(example = "RuntimeError: CUDA error: peer access is not supported between these two devices")]
    text: String,
    /// Versions and models by component: `driver`, `cuda`, `nccl`, `gpu_model`, …
    #[serde(default, deserialize_with = "each_once")]
    #[schema(example = json!({"driver": "550.54.14"}))]
    environment: BTreeMap<String, String>,
    /// A draft to try on the text beside what is published; needs the scope `edit`. For JSON answers.
    #[serde(default)]
    draft: Option<UnsavedDraft>,
}

/// What may be said beside a text that is the body.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct MatchQuery {
    /// Versions and models where the text was written: `driver=550.54.14,cuda=12.4`. What a JSON body says of a
    /// component stands before it.
    environment: Option<String>,
    /// `record`: each match carries its whole record, too. For JSON and ndjson.
    #[param(inline)]
    expand: Option<Expand>,
    /// Id of a record whose newest revision is tried on the text beside what is published; needs the scope `edit`. For JSON
    /// bodies and answers.
    with: Option<String>,
}

/// Number of known errors found, on every answer that is not `application/x-ndjson`.
pub const MATCHES_HEADER: &str = "peerless-matches";
/// On the same answers: `1` where something looks like an error and no record explains it, else `0`.
pub const UNEXPLAINED_HEADER: &str = "peerless-unexplained";

impl MatchQuery {
    fn environment(&self) -> Result<BTreeMap<String, String>, Problem> {
        let parts = self.environment.as_deref().unwrap_or_default().split(',');
        let parts = parts.map(str::trim).filter(|part| !part.is_empty());
        let pair = |part: &str| match part.split_once('=') {
            Some((component, version)) if !version.contains(['=', ';']) => {
                Ok((component.trim().to_owned(), version.trim().to_owned()))
            }
            _ => Err(Problem::new(
                Code::BadQuery,
                "write environment=component=version,…, for example environment=driver=550.54.14",
            )),
        };
        let mut environment = BTreeMap::new();
        for part in parts {
            let (component, version) = pair(part)?;
            if environment.contains_key(&component) {
                return Err(Problem::new(
                    Code::BadQuery,
                    EnvironmentError::Twice(component).to_string(),
                ));
            }
            environment.insert(component, version);
        }
        Ok(environment)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Json,
    Text,
    Lines,
}

/// Explains a text. `text/plain` is read as it comes, gzip and zstd (also without their header) and UTF-16 too; JSON carries the environment.
#[utoipa::path(
    post, path = "/api/v1/match", operation_id = "match_text", tag = "match", params(MatchQuery),
    request_body(
        content((MatchRequest = "application/json"), (String = "text/plain")),
        description = "The text itself (to 1 GiB), or JSON (to 8 MiB)",
    ),
    responses(
        (status = 200, description = "What explains the text; as text/plain or application/x-ndjson when asked for",
            body = MatchReply,
            headers(("Peerless-Matches" = u64, description = "Known errors found; not with application/x-ndjson"))),
        (status = 400, description = "The body cannot be read", body = ProblemBody),
        (status = 413, description = "Over the limit", body = ProblemBody),
        (status = 406, description = "`Accept` allows no form of the answer", body = ProblemBody),
        (status = 415, description = "Neither text/plain nor JSON, or no text at all", body = ProblemBody),
    ),
)]
pub async fn match_text(
    anyone: Anyone,
    request: HttpRequest,
    payload: Payload,
    query: web::Query<MatchQuery>,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let form = accept::best(&request, &FORMS)?;
    let desk = Desk::of(&request);
    let mut environment = query.environment()?;
    let generation = state.knowledge.current();
    lookup::check_environment(&generation, &environment)
        .map_err(|error| Problem::new(Code::BadQuery, error.to_string()))?;
    let explaining = Explaining {
        generation: Arc::clone(&generation),
        base_url: Some(base_url(&request, &state)),
        expand: query.expand.unwrap_or_default(),
    };
    if body::is_json(&request) {
        let asked: MatchRequest = body::json(&request, payload, limits::JSON_BYTES).await?;
        environment.extend(asked.environment);
        let options = MatchOptions {
            environment,
            without_text: false,
        };
        let bytes = asked.text.len();
        let caller = Caller(anyone.0.clone());
        let draft = match_draft::asked_for(&state, &caller, query.with.as_deref(), asked.draft).await?;
        if draft.is_some() && form != Form::Json {
            return Err(Problem::new(Code::NotAcceptable, "a draft is answered as JSON"));
        }
        let text_for_draft = draft.is_some().then(|| asked.text.clone());
        if form == Form::Lines {
            let matching = Matching::start(generation, options);
            matching.check()?;
            return Ok(lines_of_text(&request, asked.text, matching, explaining));
        }
        let mut text = Steps::start(&generation, asked.text, options, limits::WORK_TIME);
        let step = move || (text.step(), text.memory_usage());
        let found = in_turns(&request, bytes, step).await?;
        if let (Some(draft), Some(text)) = (draft, text_for_draft) {
            let draft = Some(match_draft::tried(&desk, draft, generation, text).await?);
            let answer = explain(found, &explaining);
            return json(HttpResponse::Ok(), &MatchReply { answer, draft }, &state);
        }
        return answer(form, found, &explaining, &state);
    }
    if query.with.is_some() {
        return Err(Problem::new(
            Code::UnsupportedType,
            "with=ID tries a draft on {\"text\": …} as application/json",
        ));
    }
    if !is_text(&request) {
        return Err(Problem::new(
            Code::UnsupportedType,
            "send the text as text/plain, or {\"text\": …} as application/json",
        ));
    }
    let options = MatchOptions {
        environment,
        without_text: false,
    };
    let matching = Matching::start(Arc::clone(&generation), options);
    if form == Form::Lines {
        return lines_from_stream(&request, payload, matching, explaining);
    }
    let sink = body::stream(
        &request,
        payload,
        limits::STREAM_BYTES,
        Feeding { matching, bytes: 0 },
    )
    .await?;
    // The last step asks the index, which computes.
    let finish = desk.go_on(sink.bytes, move || sink.matching.finish());
    let found = finish.await??;
    answer(form, found, &explaining, &state)
}

struct Feeding {
    matching: Matching,
    bytes: usize,
}

impl Sink for Feeding {
    fn take(&mut self, piece: &[u8]) -> Result<(), BodyError> {
        self.matching.feed(piece);
        self.bytes = self.bytes.saturating_add(piece.len());
        Ok(())
    }

    fn memory_usage(&self) -> usize {
        self.matching.memory_usage()
    }
}

fn answer(
    form: Form,
    found: MatchAnswer,
    explaining: &Explaining,
    state: &AppState,
) -> Result<HttpResponse, Problem> {
    let mut response = HttpResponse::Ok();
    response.insert_header((MATCHES_HEADER, errors_and_harmless(&found.matches).0));
    response.insert_header((UNEXPLAINED_HEADER, usize::from(found.has_unexplained())));
    match form {
        Form::Text => {
            response.content_type("text/plain; charset=utf-8");
            let base_url = explaining.base_url.as_deref();
            let text = answer_text::render(&found, &explaining.generation, base_url);
            held(response, text, &state.answers)
        }
        Form::Json | Form::Lines => json(response, &explain(found, explaining), state),
    }
}

fn json(
    mut response: HttpResponseBuilder,
    answer: &impl Serialize,
    state: &AppState,
) -> Result<HttpResponse, Problem> {
    let text = serde_json::to_vec(answer).map_err(|error| Problem::internal(&error))?;
    response.content_type(ContentType::json());
    held(response, text, &state.answers)
}

const FORMS: [(&str, Form); 3] = [
    ("application/json", Form::Json),
    ("text/plain", Form::Text),
    ("application/x-ndjson", Form::Lines),
];

/// Text of any kind; curl's own default for `--data-binary` counts, for its user meant a text.
fn is_text(request: &HttpRequest) -> bool {
    let content_type = request.headers().get(header::CONTENT_TYPE);
    let content_type = content_type
        .and_then(|value| value.to_str().ok())
        .unwrap_or("text/plain");
    let essence = content_type
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase();
    essence.starts_with("text/")
        || matches!(
            essence.as_str(),
            "application/octet-stream" | "application/x-www-form-urlencoded"
        )
}

/// Lines that wait for a slow reader.
const LINES_WAITING: usize = 64;

fn lines_from_stream(
    request: &HttpRequest,
    payload: Payload,
    matching: Matching,
    explaining: Explaining,
) -> Result<HttpResponse, Problem> {
    body::check_head(request, limits::STREAM_BYTES)?;
    let (reader, response) = reader_of(request);
    let desk = Desk::of(request);
    let request = request.clone();
    actix_web::rt::spawn(async move {
        let send = async |lines: &mut Lines| reader.send(lines.take_ready()).await;
        let sink = Lines::start(matching, explaining);
        let read = body::stream_with(&request, payload, limits::STREAM_BYTES, sink, send).await;
        end(&desk, reader, read).await;
    });
    Ok(response)
}

/// Answers with lines for a text that is all there: no more is read of it than the reader takes of the answer.
fn lines_of_text(
    request: &HttpRequest,
    text: String,
    matching: Matching,
    explaining: Explaining,
) -> HttpResponse {
    let (reader, response) = reader_of(request);
    let desk = Desk::of(request);
    let request = request.clone();
    actix_web::rt::spawn(async move {
        let mut lines = Lines::start(matching, explaining);
        let mut share = Share::of_answers(&request);
        let mut meter = Meter::default();
        let text = Bytes::from(text);
        let mut start = 0;
        let read = loop {
            let piece = text.slice(start..text.len().min(start + PIECE));
            if piece.is_empty() {
                break Ok(lines);
            }
            start += piece.len();
            let take = move || {
                meter.time(|| lines.take(&piece))?;
                Ok((lines, meter))
            };
            let taken = desk.go_on(ALL_RECORDS, take).await;
            (lines, meter) = match taken.unwrap_or_else(|error| Err(error.into())) {
                Ok(taken) => taken,
                Err(error) => break Err(error),
            };
            if meter.spent() > limits::WORK_TIME {
                break Err(BodyError::TooMuchWork);
            }
            if let Err(busy) = share.grow_to(lines.memory_usage()) {
                break Err(busy);
            }
            if let Err(error) = reader.send(lines.take_ready()).await {
                break Err(error);
            }
        };
        end(&desk, reader, read).await;
    });
    response
}

/// Sends the last lines. An answer that is not whole does not end as one that is: the connection breaks off, unless the
/// reader takes the line that says what went wrong.
async fn end(desk: &Desk, reader: Reader, read: Result<Lines, BodyError>) {
    let last = match read {
        Ok(lines) => finish(desk, lines).await,
        // The status is sent already.
        Err(error) => vec![match_view::problem_line(&Problem::from(error))],
    };
    if reader.send(last).await.is_ok() {
        reader.finish().await;
    }
}

/// The last step asks the index, which computes.
async fn finish(desk: &Desk, lines: Lines) -> Vec<Bytes> {
    let finished = desk.go_on(ALL_RECORDS, move || lines.finish()).await;
    finished.unwrap_or_else(|error| vec![match_view::problem_line(&error.into())])
}

fn reader_of(request: &HttpRequest) -> (Reader, HttpResponse) {
    let (sender, receiver) = mpsc::channel::<Part>(LINES_WAITING);
    let grace = Patience::of(request).grace;
    (Reader { sender, grace }, stream_response(receiver))
}

/// The lines until the end is said. A channel that closes before it is an error, which breaks the connection.
fn stream_response(receiver: mpsc::Receiver<Part>) -> HttpResponse {
    let lines = futures_util::stream::unfold(Some(receiver), |receiver| async move {
        let mut receiver = receiver?;
        match receiver.recv().await {
            Some(Part::Line(line)) => Some((Ok(line), Some(receiver))),
            Some(Part::End) => None,
            None => Some((Err(actix_web::Error::from(BrokenOff)), None)),
        }
    });
    HttpResponse::Ok()
        .content_type("application/x-ndjson")
        // Compression would hold lines back until its window is full.
        .insert_header((header::CONTENT_ENCODING, "identity"))
        .streaming(lines)
}

/// The answer could not be sent to its end.
#[derive(Debug, thiserror::Error)]
#[error("the answer broke off: nobody took it")]
struct BrokenOff;

impl actix_web::ResponseError for BrokenOff {}
