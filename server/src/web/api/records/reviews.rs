//! `…/-/review`, `…/-/reviews` and `/api/v1/reviews`: from a draft to what readers see.

use actix_web::web::{self, Payload};
use actix_web::{HttpRequest, HttpResponse};
use kb_core::ids::Revision;
use kb_core::text::Violation;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::get::rfc3339;
use super::publish::{PublishedBody, announce};
use super::{Located, locate};
use crate::domain::curate::{self, CurateError, Foreseen, Gate, Shown};
use crate::store::{Review, ReviewState, Scope};
use crate::web::approver::{admin_reason, approver};
use crate::web::auth::{Access, Caller, Editor};
use crate::web::error::{Code, Problem, ProblemBody};
use crate::web::state::AppState;
use crate::web::{body, limits};

const MOST: u32 = 200;

/// What is done with a review.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReviewStep {
    /// Somebody is asked to look at the revision.
    Ask,
    /// It is published, or the record withdrawn where that is asked; needs the scope `publish`.
    Approve,
    /// Its author is to change it; needs the scope `publish`.
    SendBack,
    /// Whoever asked takes the question back.
    Withdraw,
}

/// A step of a review.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ReviewBody {
    step: ReviewStep,
    /// The revision; of `ask` the newest unless said.
    #[schema(minimum = 1)]
    revision: Option<u32>,
    /// Number of the review that is approved, sent back or withdrawn, as the list has it: another one that is open by then is answered
    /// with 409, and both are told. Needed where the withdrawal of a revision was asked for in more than one way.
    #[schema(minimum = 1)]
    n: Option<u32>,
    /// Why: needed to send back and to withdraw, and to approve in spite of warnings. At most 4000 characters.
    reason: Option<String>,
    /// With `approve`: why one person alone publishes or withdraws what decides a node's verdict; at most 500 characters, shown with the
    /// record. Needs the scope `admin`.
    alone: Option<String>,
}

/// A review.
#[derive(Debug, Serialize, ToSchema)]
pub struct ReviewEntry {
    /// The record.
    record: String,
    /// Its number among the reviews of the record.
    n: u32,
    /// The revision to look at.
    revision: u32,
    /// `open`, `approved`, `sent_back`, `withdrawn`.
    state: &'static str,
    /// True where it asks for the withdrawal of the record.
    withdraws: bool,
    /// Of a withdrawal: id of the record that says it better.
    replaced_by: Option<String>,
    /// Who asked.
    asked_by: String,
    /// When, RFC 3339.
    asked_at: String,
    /// What to look at.
    note: Option<String>,
    /// Who decided.
    decided_by: Option<String>,
    /// When, RFC 3339.
    decided_at: Option<String>,
    /// Why.
    reason: Option<String>,
}

/// Reviews of a record, the newest first, with what publishing the open one would do.
#[derive(Debug, Serialize, ToSchema)]
pub struct RecordReviews {
    reviews: Vec<ReviewEntry>,
    /// What publishing the open one would do.
    outlook: Option<Outlook>,
}

/// What publishing a revision would do.
#[derive(Debug, Serialize, ToSchema)]
pub struct Outlook {
    /// What is not good.
    #[schema(value_type = Vec<Object>)]
    warnings: Vec<Violation>,
    /// Nodes that would be judged otherwise.
    nodes: Foreseen,
}

/// Reviews that wait, the one that waits longest first.
#[derive(Debug, Serialize, ToSchema)]
pub struct OpenReviews {
    reviews: Vec<ReviewEntry>,
}

/// What became of a step.
#[derive(Debug, Serialize, ToSchema)]
pub struct ReviewAnswer {
    /// The review that was asked for.
    review: Option<ReviewEntry>,
    /// Where the revision was published, or the record withdrawn.
    published: Option<PublishedBody>,
}

/// Reviews that wait for somebody, of all records.
#[utoipa::path(
    get, path = "/api/v1/reviews", operation_id = "list_reviews", tag = "records", security(("token" = ["edit"])),
    responses((status = 200, description = "At most 200", body = OpenReviews)),
)]
pub async fn open(_: Editor, state: web::Data<AppState>) -> Result<HttpResponse, Problem> {
    let reviews = state.store.open_reviews(MOST).await?;
    Ok(HttpResponse::Ok().json(OpenReviews {
        reviews: reviews.into_iter().map(entry).collect(),
    }))
}

/// Reviews of a record.
#[utoipa::path(
    get, path = "/api/v1/records/{id}/-/reviews", operation_id = "list_record_reviews", tag = "records",
    security(("token" = ["edit"])), params(("id" = String, Path)),
    responses(
        (status = 200, description = "At most 200", body = RecordReviews),
        (status = 308, description = "The record has another id now"),
        (status = 404, description = "No such record", body = ProblemBody),
    ),
)]
pub async fn list(
    editor: Editor,
    request: HttpRequest,
    path: web::Path<String>,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let status = match locate(&state, &request, &path, Some(&editor.0)).await? {
        Located::Here(status) => status,
        Located::Moved(response) => return Ok(response),
    };
    let store = state.store.as_ref();
    let reviews = state.store.reviews(&status.id, MOST).await?;
    let open = reviews.iter().find(|review| review.state == ReviewState::Open);
    let outlook = match open {
        Some(review) => {
            match curate::outlook(store, &state.knowledge, review, state.clock.as_ref()).await {
                Ok((warnings, nodes)) => Some(Outlook { warnings, nodes }),
                // What the rules of today refuse has no outlook: approving it says why.
                Err(CurateError::Invalid(_)) => None,
                Err(error) => return Err(error.into()),
            }
        }
        None => None,
    };
    Ok(HttpResponse::Ok().json(RecordReviews {
        reviews: reviews.into_iter().map(entry).collect(),
        outlook,
    }))
}

/// Asks for a review, approves, sends back, withdraws.
#[utoipa::path(
    post, path = "/api/v1/records/{id}/-/review", operation_id = "review_record", tag = "records",
    security(("token" = ["edit"])), params(("id" = String, Path)), request_body = ReviewBody,
    responses(
        (status = 200, description = "Done", body = ReviewAnswer),
        (status = 308, description = "The record has another id now"),
        (status = 400, description = "The body cannot be read", body = ProblemBody),
        (status = 404, description = "No such record or revision", body = ProblemBody),
        (status = 409, description = "No review is open, another than the one that is named (then `shown` and `open` tell both), somebody else asks something else, or a second person is needed", body = ProblemBody),
        (status = 413, description = "Over the limit", body = ProblemBody),
        (status = 415, description = "Not JSON", body = ProblemBody),
        (status = 422, description = "The gate refuses it, or warnings need a reason", body = ProblemBody),
    ),
)]
pub async fn step(
    editor: Editor,
    request: HttpRequest,
    path: web::Path<String>,
    payload: Payload,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let status = match locate(&state, &request, &path, Some(&editor.0)).await? {
        Located::Here(status) => status,
        Located::Moved(response) => return Ok(response),
    };
    let asked: ReviewBody = body::json(&request, payload, limits::REVIEW_BYTES).await?;
    let (store, now, by) = (state.store.as_ref(), state.clock.now(), editor.0.by());
    let revision = asked.revision.map(Revision);
    let shown = || {
        let revision = revision.ok_or_else(|| Problem::new(Code::MalformedBody, "say which `revision`"))?;
        let (id, n) = (&status.id, asked.n);
        Ok::<_, Problem>(Shown { id, revision, n })
    };
    let caller = Caller(Some(editor.0.clone()));
    let reason = asked.reason.unwrap_or_default();
    let may = |scope| Access::Scope(scope).check(&caller, state.settings.opened());
    let mut answer = ReviewAnswer {
        review: None,
        published: None,
    };
    match asked.step {
        ReviewStep::Ask => {
            let note = Some(reason);
            let review = curate::propose(store, (&status.id, revision), note, &by, now).await?;
            answer = ReviewAnswer::asked(review);
        }
        ReviewStep::SendBack => {
            may(Scope::Publish)?;
            curate::end(store, shown()?, ReviewState::SentBack, &reason, &by, now).await?;
        }
        ReviewStep::Withdraw => {
            curate::end(store, shown()?, ReviewState::Withdrawn, &reason, &by, now).await?;
        }
        ReviewStep::Approve => {
            may(Scope::Publish)?;
            let alone = ("alone", Code::MalformedBody);
            let alone = admin_reason(alone, asked.alone.as_deref(), &editor.0, &state)?;
            let gate = Gate::Asked(std::sync::Arc::clone(&state.knowledge));
            let approver = approver(&editor.0, alone);
            let done = curate::approve(store, &gate, shown()?, Some(&reason), &approver, now).await?;
            answer.published = Some(announce(&state, done).await);
        }
    }
    Ok(HttpResponse::Ok().json(answer))
}

impl ReviewAnswer {
    /// Nothing is published: somebody is asked.
    pub(super) fn asked(review: Review) -> Self {
        Self {
            review: Some(entry(review)),
            published: None,
        }
    }
}

fn entry(review: Review) -> ReviewEntry {
    let decided = review.decided;
    ReviewEntry {
        record: review.record.to_string(),
        n: review.n,
        revision: review.revision.0,
        state: review.state.as_str(),
        withdraws: review.asks.is_withdrawal(),
        replaced_by: review.asks.replaced_by().map(ToString::to_string),
        asked_by: review.asked_by.name,
        asked_at: rfc3339(review.asked_at),
        note: review.note,
        decided_at: decided.as_ref().map(|decision| rfc3339(decision.at)),
        decided_by: decided.as_ref().map(|decision| decision.by.clone()),
        reason: decided.and_then(|decision| decision.reason),
    }
}
