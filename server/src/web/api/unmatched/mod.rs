//! `GET /api/v1/unmatched`, `GET` and `POST /api/v1/unmatched/{id}`: lines that look like errors and that no record knows.

pub mod views;

use actix_web::web::{self, Payload};
use actix_web::{HttpRequest, HttpResponse};
use kb_core::ids::{NodeId, RecordId};
use kb_core::near;
use kb_core::propose::propose;
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use self::views::{UnmatchedDay, UnmatchedDetail, UnmatchedDraft, UnmatchedNode, UnmatchedPage, entry};
use super::page;
use super::reports::list::known_node;
use crate::domain::ingest::Accepted;
use crate::domain::unmatched::{self, ChangeError, LogsOf, known_as};
use crate::feed::Generation;
use crate::store::{
    UnmatchedChange, UnmatchedHistory, UnmatchedOrder, UnmatchedQuery, UnmatchedSince, UnmatchedState,
    UnmatchedStep,
};
use crate::web::auth::Editor;
use crate::web::compute::Desk;
use crate::web::error::{Code, Problem, ProblemBody};
use crate::web::state::AppState;
use crate::web::{body, limits};

/// Which unknown lines to list.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct UnmatchedParams {
    /// `open`, `ignored` or `known`; all of them unless said.
    #[param(pattern = "^(open|ignored|known)$")]
    state: Option<String>,
    /// Only what this person or token has taken on.
    assignee: Option<String>,
    /// Only what was seen on this node.
    node: Option<String>,
    /// Only templates that hold this text, in whatever case.
    q: Option<String>,
    /// What comes first: the most by `count` (unless said) or by `nodes`, or the newest by `last_seen`.
    #[param(pattern = "^(count|nodes|last_seen)$")]
    sort: Option<String>,
    /// `reports` (unless said), or `pasted`: lines of pasted texts that their owners let us keep; of them none has a state.
    #[param(pattern = "^(reports|pasted)$")]
    from: Option<String>,
    /// Entries of a page, 50 unless said, at most 200.
    limit: Option<u32>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
}

/// With what a template is shown.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct UnmatchedOneParams {
    /// Begin a record with this id: `draft` has its two texts, with title, signature, examples and pattern.
    #[param(value_type = Option<String>)]
    record: Option<RecordId>,
}

/// What is done with unknown lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum UnmatchedAction {
    /// The caller looks after them.
    Take,
    /// Somebody else does; needs `to`.
    Assign,
    /// Nobody does.
    Release,
    /// They are no error, or none for a record; needs `reason`.
    Ignore,
    /// A record is about them; needs `record`.
    KnownAs,
    /// They wait again.
    Reopen,
}

/// A step with unknown lines.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"step": "ignore", "reason": "a test of ours"}))]
pub struct UnmatchedBody {
    step: UnmatchedAction,
    /// Who looks after them. At most 200 characters.
    to: Option<String>,
    /// Why they are ignored. At most 1000 characters.
    reason: Option<String>,
    /// The record that is about them.
    record: Option<String>,
}

/// Unknown lines, those that matter most first.
#[utoipa::path(
    get, path = "/api/v1/unmatched", operation_id = "list_unmatched", tag = "records", security(("token" = ["edit"])),
    params(UnmatchedParams), responses(
        (status = 200, description = "A page of them", body = UnmatchedPage),
        (status = 400, description = "A parameter is wrong", body = ProblemBody),
        (status = 404, description = "No report of such a node", body = ProblemBody),
    ),
)]
pub async fn list(
    _: Editor,
    params: web::Query<UnmatchedParams>,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let mut params = params.into_inner();
    let from = params.from.take();
    let query = query(params)?;
    let node = query.node.as_deref().map(str::parse).transpose()?;
    known_node(&state, node.as_ref()).await?;
    let found = match from.as_deref() {
        None | Some("reports") => state.store.unmatched(&query).await?,
        Some("pasted") => {
            let messages = unmatched::pasted(state.store.as_ref()).await?.into_iter();
            messages
                .skip(query.skip as usize)
                .take(query.limit as usize)
                .collect()
        }
        Some(_) => {
            let detail = "from is one of reports, pasted";
            return Err(Problem::new(Code::BadQuery, detail));
        }
    };
    let is_full = found.len() == query.limit as usize;
    let why_none = if found.is_empty() {
        taken_on_by_nobody(&state, query.assignee.as_deref()).await?
    } else {
        None
    };
    Ok(HttpResponse::Ok().json(UnmatchedPage {
        note: why_none,
        next_cursor: is_full.then(|| query.skip.saturating_add(query.limit).to_string()),
        unmatched: found.into_iter().map(entry).collect(),
    }))
}

/// Says that nobody of this name has ever taken on a line.
async fn taken_on_by_nobody(state: &AppState, assignee: Option<&str>) -> Result<Option<String>, Problem> {
    let Some(assignee) = assignee else {
        return Ok(None);
    };
    let all = UnmatchedQuery {
        assignee: Some(assignee.to_owned()),
        limit: 1,
        ..UnmatchedQuery::default()
    };
    let is_nobody = state.store.unmatched(&all).await?.is_empty();
    Ok(is_nobody.then(|| format!("no lines are taken on by {}", near::shown(assignee))))
}

fn query(params: UnmatchedParams) -> Result<UnmatchedQuery, Problem> {
    let wrong = |name, words| Problem::new(Code::BadQuery, format!("{name} is one of {words}"));
    let state = params
        .state
        .map(|word| UnmatchedState::from_word(&word).ok_or_else(|| wrong("state", "open, ignored, known")));
    let order = match params.sort.as_deref() {
        None | Some("count") => UnmatchedOrder::Count,
        Some("nodes") => UnmatchedOrder::Nodes,
        Some("last_seen") => UnmatchedOrder::LastSeen,
        Some(_) => return Err(wrong("sort", "count, nodes, last_seen")),
    };
    let skip = params.cursor.map(|cursor| match cursor.parse() {
        Ok(skip) if skip <= i32::MAX.unsigned_abs() => Ok(skip),
        _ => Err(page::bad_cursor()),
    });
    let node = params.node.map(|node| node.parse::<NodeId>()).transpose()?;
    Ok(UnmatchedQuery {
        state: state.transpose()?,
        assignee: text("assignee", params.assignee)?,
        node: node.map(|node| node.to_string()),
        text: text("q", params.q)?,
        order,
        skip: skip.transpose()?.unwrap_or(0),
        limit: page::size(params.limit)?,
    })
}

/// No database looks for a NUL.
fn text(name: &str, value: Option<String>) -> Result<Option<String>, Problem> {
    match value {
        Some(value) if value.contains('\0') => Err(Problem::new(
            Code::BadQuery,
            format!("{name} holds a NUL character"),
        )),
        value => Ok(value),
    }
}

/// One template with its history.
#[utoipa::path(
    get, path = "/api/v1/unmatched/{id}", operation_id = "get_unmatched", tag = "records", security(("token" = ["edit"])),
    params(("id" = String, Path, pattern = "^([0-9a-f]{16}|p[0-9]+-[0-9]+)$"), UnmatchedOneParams), responses(
        (status = 200, description = "The lines, where and when they were seen", body = UnmatchedDetail),
        (status = 400, description = "A parameter is wrong", body = ProblemBody),
        (status = 404, description = "No such lines", body = ProblemBody),
    ),
)]
pub async fn get(
    _: Editor,
    request: HttpRequest,
    path: web::Path<String>,
    params: web::Query<UnmatchedOneParams>,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let found = one(&state, &path).await?;
    detail(&request, &state, found, params.into_inner().record).await
}

/// Takes them on, ignores them, says which record is about them.
#[utoipa::path(
    post, path = "/api/v1/unmatched/{id}", operation_id = "change_unmatched", tag = "records",
    security(("token" = ["edit"])), params(("id" = String, Path, pattern = "^[0-9a-f]{16}$")),
    request_body = UnmatchedBody, responses(
        (status = 200, description = "Done; the lines as they are now", body = UnmatchedDetail),
        (status = 400, description = "The body cannot be read, or lacks what the step needs", body = ProblemBody),
        (status = 404, description = "No such lines, or no such record", body = ProblemBody),
        (status = 413, description = "Over the limit", body = ProblemBody),
        (status = 415, description = "Not JSON", body = ProblemBody),
    ),
)]
pub async fn change(
    editor: Editor,
    request: HttpRequest,
    path: web::Path<String>,
    payload: Payload,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let asked: UnmatchedBody = body::json(&request, payload, limits::REVIEW_BYTES).await?;
    if path.starts_with('p') {
        let detail = "lines of pasted texts have no steps: they expire, or their owner deletes them";
        return Err(Problem::new(Code::MalformedBody, detail));
    }
    let found = one(&state, &path).await?;
    let needs = |name: &str| Problem::new(Code::MalformedBody, format!("this step needs `{name}`"));
    let step = match asked.step {
        UnmatchedAction::Take => UnmatchedStep::Assign(Some(editor.0.name.clone())),
        UnmatchedAction::Assign => UnmatchedStep::Assign(Some(asked.to.ok_or_else(|| needs("to"))?)),
        UnmatchedAction::Release => UnmatchedStep::Assign(None),
        UnmatchedAction::Ignore => UnmatchedStep::Ignore(asked.reason.ok_or_else(|| needs("reason"))?),
        UnmatchedAction::KnownAs => {
            let record = asked.record.ok_or_else(|| needs("record"))?;
            UnmatchedStep::KnownAs(record.parse()?)
        }
        UnmatchedAction::Reopen => UnmatchedStep::Reopen,
    };
    let change = UnmatchedChange {
        id: found.unmatched.id,
        step,
        by: editor.0.by(),
        at: state.clock.now(),
        since: UnmatchedSince::Whatever,
    };
    let id = change.id.clone();
    unmatched::change(state.store.as_ref(), change).await?;
    let found = one(&state, &id).await?;
    detail(&request, &state, found, None).await
}

pub(super) fn offer(state: &AppState, generation: &std::sync::Arc<Generation>, accepted: &mut Accepted) {
    state.unmatched.offer(LogsOf {
        node: accepted.node.clone(),
        hostname: accepted.hostname.take(),
        texts: std::mem::take(&mut accepted.logs),
        generation: std::sync::Arc::clone(generation),
        at: state.clock.now(),
    });
}

pub(in crate::web) async fn one(state: &AppState, id: &str) -> Result<UnmatchedHistory, Problem> {
    if id.starts_with('p') {
        let mut messages = unmatched::pasted(state.store.as_ref()).await?.into_iter();
        let found = messages.find(|message| message.id == id);
        let found = found.ok_or_else(|| ChangeError::Nothing(id.to_owned()))?;
        return Ok(UnmatchedHistory {
            unmatched: found,
            by_day: Vec::new(),
            by_node: Vec::new(),
        });
    }
    let is_id = id.len() == 16 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    let found = if is_id {
        state.store.unmatched_one(id).await?
    } else {
        None
    };
    found.ok_or_else(|| ChangeError::Nothing(id.to_owned()).into())
}

async fn detail(
    request: &HttpRequest,
    state: &AppState,
    found: UnmatchedHistory,
    record: Option<RecordId>,
) -> Result<HttpResponse, Problem> {
    let generation = state.knowledge.current();
    let bytes = found.unmatched.examples.iter().map(String::len).sum();
    let work = move || {
        let UnmatchedHistory {
            unmatched,
            by_day,
            by_node,
        } = found;
        let draft = record.map(|id| unmatched::draft(&id, &unmatched));
        UnmatchedDetail {
            by_day: by_day
                .into_iter()
                .map(|(day, count)| UnmatchedDay { day, count })
                .collect(),
            by_node: by_node
                .into_iter()
                .map(|(node, count)| UnmatchedNode {
                    node: Some(node).filter(|node| !node.is_empty()),
                    count,
                })
                .collect(),
            known_as: known_as(&generation.matcher, &unmatched.examples)
                .into_iter()
                .map(|id| id.to_string())
                .collect(),
            proposal: propose(unmatched.examples.iter().map(String::as_str)).ok(),
            draft: draft.map(|draft| UnmatchedDraft {
                document: draft.document,
                annex: draft.annex,
            }),
            unmatched: entry(unmatched),
        }
    };
    let detail = Desk::of(request).compute(bytes, work).await?;
    Ok(HttpResponse::Ok().json(detail))
}
