//! `GET /api/v1/records`: all records by id; with `since` what changed after a seq; `sort=modified`: newest change first.

use std::collections::BTreeSet;

use actix_web::{HttpResponse, web};
use kb_core::ids::{RecordId, Seq};
use kb_core::near;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::get::rfc3339;
use super::{may_edit, state_name};
use crate::feed::Generation;
use crate::store::{ListQuery, RecordListing, RecordState};
use crate::web::api::page;
use crate::web::auth::Anyone;
use crate::web::error::{Code, Problem, ProblemBody};
use crate::web::state::AppState;

/// Which records to list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct RecordsQuery {
    /// Entries of a page, 50 unless said, at most 200.
    limit: Option<u32>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
    /// Only records whose published face changed after this seq, in that order, withdrawn ones included.
    since: Option<i64>,
    /// `id`, or `modified`: the newest change first, withdrawn records included. Not with `since`.
    #[serde(default)]
    #[param(inline)]
    sort: Sort,
    /// Only records in this state; drafts are listed for editors, by id.
    #[param(inline)]
    state: Option<State>,
    /// Only records whose id begins with this segment: `cuda`.
    domain: Option<String>,
}

/// State of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Never published.
    Draft,
    /// Waiting for a reviewer.
    InReview,
    /// Readers see it.
    Published,
    /// Taken out of matching and search.
    Withdrawn,
}

impl From<State> for RecordState {
    fn from(state: State) -> Self {
        match state {
            State::Draft => Self::Draft,
            State::InReview => Self::InReview,
            State::Published => Self::Published,
            State::Withdrawn => Self::Withdrawn,
        }
    }
}

/// Order of a list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sort {
    /// By id.
    #[default]
    Id,
    /// Newest change first.
    Modified,
}

/// A page of records.
#[derive(Debug, Serialize, ToSchema)]
pub struct RecordsPage {
    /// The records.
    records: Vec<RecordEntry>,
    /// Ask with it for the next page; absent on the last.
    next_cursor: Option<String>,
}

/// A record in a list.
#[derive(Debug, Serialize, ToSchema)]
pub struct RecordEntry {
    /// Its id.
    #[schema(example = "cuda/peer-access-unsupported-by-hardware")]
    id: String,
    /// Signature of the published revision.
    signature: Option<String>,
    /// What readers see, or saw last.
    revision: Option<u32>,
    /// The newest revision.
    head_revision: u32,
    /// `draft`, `in_review`, `published`, `withdrawn`.
    state: &'static str,
    /// Seq of its last change in the feed.
    seq: Option<i64>,
    /// Time of its last change, RFC 3339.
    changed_at: String,
}

/// Records by id, what changed after a seq, or the newest changes first. Drafts are listed for editors, by id.
#[utoipa::path(get, path = "/api/v1/records", operation_id = "list_records", tag = "records", params(RecordsQuery), responses(
    (status = 200, description = "A page of records", body = RecordsPage),
    (status = 400, description = "A parameter is wrong", body = ProblemBody),
))]
pub async fn list(
    caller: Anyone,
    query: web::Query<RecordsQuery>,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let limit = page::size(query.limit)?;
    let drafts = may_edit(caller.0.as_ref());
    let listed = state.store.list(store_query(&query, limit, drafts)?).await?;
    if let Some(domain) = query.domain.as_deref().filter(|_| listed.is_empty()) {
        check_domain(domain, &state).await?;
    }
    let is_full = listed.len() == limit as usize;
    let next_cursor = listed
        .last()
        .filter(|_| is_full)
        .map(|last| cursor_after(last, query.since.is_some() || query.sort == Sort::Modified));
    Ok(HttpResponse::Ok().json(RecordsPage {
        records: listed.iter().map(entry).collect(),
        next_cursor,
    }))
}

/// Refuses a domain that no record has or had: an empty list of it would say that there is such a domain.
async fn check_domain(domain: &str, state: &AppState) -> Result<(), Problem> {
    let generation = state.knowledge.current();
    let known = segments(&generation);
    if known.is_empty() || known.contains(domain) {
        return Ok(());
    }
    let ever = ListQuery {
        after: None,
        since: Some(Seq(0)),
        before: None,
        limit: 1,
        drafts: false,
        state: None,
        domain: Some(domain.to_owned()),
    };
    if !state.store.list(ever).await?.is_empty() {
        return Ok(());
    }
    let known: Vec<&str> = known.into_iter().collect();
    let (shown, choices) = (near::shown(domain), near::choices(domain, &known));
    let detail = format!("no record has the domain {shown}: {choices}");
    Err(Problem::new(Code::BadQuery, detail))
}

fn segments(generation: &Generation) -> BTreeSet<&str> {
    let ids = generation.records().map(|published| published.id().as_str());
    ids.filter_map(|id| id.split('/').next()).collect()
}

fn store_query(query: &RecordsQuery, limit: u32, drafts: bool) -> Result<ListQuery, Problem> {
    let mut asked = ListQuery {
        after: None,
        since: query.since.map(Seq),
        before: (query.sort == Sort::Modified).then_some(Seq(i64::MAX)),
        limit,
        drafts,
        state: query.state.map(Into::into),
        domain: query.domain.clone(),
    };
    if let Some(domain) = &query.domain
        && (domain.contains('/') || format!("{domain}/x").parse::<RecordId>().is_err())
    {
        return Err(Problem::new(
            Code::BadQuery,
            format!("{domain:?} is no first segment of an id, such as cuda"),
        ));
    }
    if matches!(query.state, Some(State::Draft | State::InReview)) && !drafts {
        return Err(Problem::new(
            Code::Forbidden,
            "drafts are listed for the scope edit",
        ));
    }
    if query.since.is_some_and(|since| since < 0) {
        return Err(Problem::new(Code::BadQuery, "since is a seq: 0 or more"));
    }
    if query.since.is_some() && query.sort == Sort::Modified {
        return Err(Problem::new(
            Code::BadQuery,
            "since lists the oldest change first: leave it out, or sort",
        ));
    }
    let seq = |cursor: &str| page::counted(cursor).map(Seq);
    match (&query.cursor, query.since, query.sort) {
        (None, ..) => {}
        (Some(cursor), Some(_), _) => asked.since = Some(seq(cursor)?),
        (Some(cursor), None, Sort::Modified) => asked.before = Some(seq(cursor)?),
        (Some(cursor), None, Sort::Id) => {
            let id: RecordId = cursor.parse().map_err(|_| page::bad_cursor())?;
            asked.after = Some(id);
        }
    }
    Ok(asked)
}

fn cursor_after(last: &RecordListing, by_seq: bool) -> String {
    if by_seq {
        last.status.seq.unwrap_or_default().to_string()
    } else {
        last.status.id.to_string()
    }
}

fn entry(listing: &RecordListing) -> RecordEntry {
    let status = &listing.status;
    RecordEntry {
        id: status.id.to_string(),
        signature: listing.signature.clone(),
        revision: status.published.map(|revision| revision.0),
        head_revision: status.head.0,
        state: state_name(status.state),
        seq: status.seq.map(|seq| seq.0),
        changed_at: rfc3339(status.changed_at),
    }
}
