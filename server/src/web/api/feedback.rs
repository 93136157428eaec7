//! `…/-/suggestions`, `/api/v1/feedback` and `/api/v1/disagreements`: what users say, for editors to read.

use actix_web::web::{self, Payload};
use actix_web::{HttpRequest, HttpResponse};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::page;
use super::records::get::rfc3339;
use crate::domain::feedback::{self as domain, Suggestion};
use crate::domain::outcomes::{self, Disagreement, Voting};
use crate::domain::records::{Found, find};
use crate::store::{Feedback, FeedbackState};
use crate::web::auth::{Editor, FeedbackWriter};
use crate::web::error::{Code, Problem, ProblemBody};
use crate::web::state::AppState;
use crate::web::{anonymous, body, feedback, limits};

/// A correction of a record that somebody suggests.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SuggestionBody {
    /// What is wrong, and what is right; at most 4000 characters.
    #[schema(example = "The cause is the firmware of the switch.")]
    text: String,
    /// Where one can read it; at most 500 characters.
    #[serde(default)]
    source: String,
}

/// Which entries to list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct FeedbackParams {
    /// `waiting` unless said, `taken` or `ignored`.
    state: Option<FeedbackStateWord>,
    /// Entries of a page, 50 unless said, at most 200.
    limit: Option<u32>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
}

/// Where an entry of the queue stands.
#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum FeedbackStateWord {
    /// Nobody has decided it.
    #[default]
    Waiting,
    /// An editor has taken it up.
    Taken,
    /// An editor has ignored it.
    Ignored,
}

/// What is done with an entry.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum FeedbackDecision {
    /// The editor does something about it.
    Take,
    /// The editor does nothing about it; needs a reason.
    Ignore,
}

/// A decision on an entry.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct FeedbackDecisionBody {
    decision: FeedbackDecision,
    /// Why; at most 500 characters.
    #[serde(default)]
    reason: String,
}

/// A page of the queue.
#[derive(Debug, Serialize, ToSchema)]
pub struct FeedbackPage {
    /// The entries, the newest first.
    entries: Vec<FeedbackEntry>,
    /// Ask with it for the next page; absent on the last.
    next_cursor: Option<String>,
}

/// An entry of the queue.
#[derive(Debug, Serialize, ToSchema)]
pub struct FeedbackEntry {
    n: i64,
    /// `suggestion` or `vote`.
    kind: &'static str,
    /// The record.
    record: String,
    /// The revision that was read.
    revision: u32,
    /// `person`, `token`, `anonymous` or `assistant`.
    from: &'static str,
    /// Name of the person or token.
    name: String,
    /// What was said: of a suggestion `text` and `source`, of a vote `tried`, `action`, `outcome` and `environment`.
    #[schema(value_type = Object)]
    body: serde_json::Value,
    /// When, RFC 3339.
    at: String,
    /// `waiting`, `taken` or `ignored`.
    state: &'static str,
    /// Who decided.
    decided_by: Option<String>,
    /// When, RFC 3339.
    decided_at: Option<String>,
    /// Why.
    reason: Option<String>,
}

/// Actions whose outcomes disagree with their records.
#[derive(Debug, Serialize, ToSchema)]
pub struct Disagreements {
    /// Those with the widest gap first.
    disagreements: Vec<Disagreement>,
}

/// Suggests a correction. An editor reads it, and it changes nothing by itself. Without a login where the operator allows it.
#[utoipa::path(
    post, path = "/api/v1/records/{id}/-/suggestions", operation_id = "suggest_correction", tag = "records",
    params(("id" = String, Path, description = "Two or three segments, raw or with %2F")),
    request_body = SuggestionBody,
    responses(
        (status = 202, description = "It waits for an editor"),
        (status = 400, description = "The body cannot be read", body = ProblemBody),
        (status = 404, description = "No such published record", body = ProblemBody),
        (status = 413, description = "Over the limit", body = ProblemBody),
        (status = 415, description = "Not JSON", body = ProblemBody),
    ),
    security((), ("token" = [])),
)]
pub async fn suggest(
    writer: FeedbackWriter,
    request: HttpRequest,
    path: web::Path<String>,
    payload: Payload,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let voting = match &writer.0 {
        Some(actor) => Voting::Known(actor),
        None => Voting::Nobody(anonymous::nobody(&state, &request)),
    };
    let id = match find(&state.knowledge.current(), &path)? {
        Found::Published(published) => published.record.id().clone(),
        Found::Moved(now) => now,
        Found::Unpublished(id) => {
            let detail = format!("there is no published record {id}");
            return Err(Problem::new(Code::NotFound, detail));
        }
    };
    let sent: SuggestionBody = body::json(&request, payload, limits::FEEDBACK_BYTES).await?;
    let suggestion = Suggestion {
        text: sent.text,
        source: sent.source,
    };
    feedback::suggest(&state, &id, &suggestion, voting).await?;
    Ok(HttpResponse::Accepted().finish())
}

/// The queue of editors: suggestions, and votes that count in no share.
#[utoipa::path(
    get, path = "/api/v1/feedback", operation_id = "list_feedback", tag = "records", security(("token" = ["edit"])),
    params(FeedbackParams),
    responses(
        (status = 200, description = "A page", body = FeedbackPage),
        (status = 400, description = "A parameter is wrong", body = ProblemBody),
    ),
)]
pub async fn list(
    _: Editor,
    params: web::Query<FeedbackParams>,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let wanted = match params.state.unwrap_or_default() {
        FeedbackStateWord::Waiting => FeedbackState::Waiting,
        FeedbackStateWord::Taken => FeedbackState::Taken,
        FeedbackStateWord::Ignored => FeedbackState::Ignored,
    };
    let size = page::size(params.limit)?;
    let before = params.cursor.as_deref().map(page::counted).transpose()?;
    let mut entries = state.store.feedback(wanted, before, size + 1).await?;
    let more = entries.len() > size as usize;
    entries.truncate(size as usize);
    let last = entries.last().filter(|_| more);
    Ok(HttpResponse::Ok().json(FeedbackPage {
        next_cursor: last.map(|last| last.n.to_string()),
        entries: entries.into_iter().map(entry).collect(),
    }))
}

/// Takes an entry of the queue up, or ignores it.
#[utoipa::path(
    post, path = "/api/v1/feedback/{n}", operation_id = "decide_feedback", tag = "records",
    security(("token" = ["edit"])), params(("n" = String, Path, description = "Number of the entry")),
    request_body = FeedbackDecisionBody,
    responses(
        (status = 204, description = "Decided"),
        (status = 400, description = "The body cannot be read, or has no reason", body = ProblemBody),
        (status = 404, description = "No such entry", body = ProblemBody),
        (status = 409, description = "Somebody has decided it before", body = ProblemBody),
        (status = 413, description = "Over the limit", body = ProblemBody),
        (status = 415, description = "Not JSON", body = ProblemBody),
    ),
)]
pub async fn decide(
    editor: Editor,
    request: HttpRequest,
    path: web::Path<String>,
    payload: Payload,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let n = path
        .parse::<i64>()
        .map_err(|_| Problem::new(Code::BadId, format!("{:?} is no number of an entry", *path)))?;
    let sent: FeedbackDecisionBody = body::json(&request, payload, limits::FEEDBACK_BYTES).await?;
    let decision = match sent.decision {
        FeedbackDecision::Take => FeedbackState::Taken,
        FeedbackDecision::Ignore => FeedbackState::Ignored,
    };
    let (store, by, now) = (state.store.as_ref(), editor.0.by(), state.clock.now());
    let done = domain::decide(store, n, decision, &sent.reason, &by, now).await;
    done.map_err(|error| feedback::refused(&state, error))?;
    Ok(HttpResponse::NoContent().finish())
}

/// Where what known people say disagrees with what a record claims.
#[utoipa::path(
    get, path = "/api/v1/disagreements", operation_id = "list_disagreements", tag = "records",
    security(("token" = ["edit"])),
    responses((status = 200, description = "All of them", body = Disagreements)),
)]
pub async fn disagreements(_: Editor, state: web::Data<AppState>) -> Result<HttpResponse, Problem> {
    let generation = state.knowledge.current();
    Ok(HttpResponse::Ok().json(Disagreements {
        disagreements: outcomes::disagreements(&generation, &state.shares),
    }))
}

fn entry(entry: Feedback) -> FeedbackEntry {
    let decided = entry.decided;
    FeedbackEntry {
        n: entry.n,
        kind: entry.kind.as_str(),
        record: entry.record.to_string(),
        revision: entry.revision.0,
        from: entry.from.kind.as_str(),
        name: entry.name,
        body: serde_json::from_str(&entry.body).unwrap_or_default(),
        at: rfc3339(entry.at),
        state: entry.state.as_str(),
        decided_by: decided.as_ref().map(|(by, ..)| by.clone()),
        decided_at: decided.as_ref().map(|(_, at, _)| rfc3339(*at)),
        reason: decided.map(|(.., reason)| reason),
    }
}
