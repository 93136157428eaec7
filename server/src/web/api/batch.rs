//! `POST /api/v1/match/batch`: many short texts at once, answered in their order, each with its own error.

use actix_web::web::{self, Payload};
use actix_web::{HttpRequest, HttpResponse};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::sync::oneshot;
use utoipa::ToSchema;

use crate::domain::answer_json::{Expand, ExplainedAnswer, Explaining, explain};
use crate::domain::lookup::{BatchItem, look_up_item};
use crate::domain::work_time::WorkTime;
use crate::web::auth::Anyone;
use crate::web::body::{Bound, Weigher};
use crate::web::error::{Code, Problem, ProblemBody};
use crate::web::pages::base_url;
use crate::web::state::AppState;
use crate::web::{body, limits};

/// Texts to explain.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BatchRequest {
    /// At most 1,000 items of at most 64 KiB.
    #[schema(value_type = Vec<BatchItem>)]
    items: Vec<Box<RawValue>>,
}

/// The answers, in the order of the items.
#[derive(Debug, Serialize, ToSchema)]
pub struct BatchAnswer {
    /// One for each item.
    #[schema(value_type = Vec<BatchItemAnswer>)]
    items: Vec<Box<RawValue>>,
}

/// What explains one item, or why it could not be read.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub enum BatchItemAnswer {
    /// What explains it.
    Found(Box<ExplainedAnswer>),
    /// What is wrong with it.
    Problem {
        /// As the body of a problem.
        #[schema(value_type = ProblemBody)]
        problem: serde_json::Value,
    },
}

/// Explains many short texts.
#[utoipa::path(post, path = "/api/v1/match/batch", operation_id = "match_batch", tag = "match", request_body = BatchRequest, responses(
    (status = 200, description = "One answer for each item, in order", body = BatchAnswer),
    (status = 413, description = "Too many items, or too large", body = ProblemBody),
))]
pub async fn batch(
    _: Anyone,
    request: HttpRequest,
    payload: Payload,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let texts = items(&request, payload).await?;
    let explaining = Explaining {
        generation: state.knowledge.current(),
        base_url: Some(base_url(&request, &state)),
        expand: Expand::Brief,
    };
    let (waiting, awaited) = oneshot::channel::<()>();
    let work = web::block(move || all(&explaining, &texts, &waiting));
    let items = work.await;
    // Where the caller goes away, this end goes with the request, and the work ends with the next item.
    drop(awaited);
    let items = items.map_err(|error| Problem::internal(&error))?;
    Ok(HttpResponse::Ok().json(BatchAnswer { items }))
}

/// Explains the items, each once, until the time, the room for answers or the caller is gone.
fn all(explaining: &Explaining, texts: &[Box<RawValue>], caller: &oneshot::Sender<()>) -> Vec<Box<RawValue>> {
    let time = WorkTime::start(limits::WORK_TIME);
    let mut room = limits::BATCH_ANSWER_BYTES;
    let mut answers = Vec::with_capacity(texts.len());
    for item in texts {
        if caller.is_closed() {
            break;
        }
        let mut answer = to_raw(&one(explaining, item, &time));
        if answer.get().len() > room {
            let detail = format!(
                "the answers of a batch have at most {} bytes: send this item in another batch",
                limits::BATCH_ANSWER_BYTES
            );
            let problem = Problem::new(Code::TooLarge, detail).to_json();
            answer = to_raw(&BatchItemAnswer::Problem { problem });
        }
        room = room.saturating_sub(answer.get().len());
        answers.push(answer);
    }
    answers
}

/// Plain data with string keys always has a JSON form.
fn to_raw(answer: &BatchItemAnswer) -> Box<RawValue> {
    serde_json::value::to_raw_value(answer).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

/// The items of a batch of any kind, each still to be read.
pub(super) async fn items(request: &HttpRequest, payload: Payload) -> Result<Vec<Box<RawValue>>, Problem> {
    if !body::is_json(request) {
        return Err(body::json_needed());
    }
    let bound = Bound::Items(limits::BATCH_ITEMS);
    let text = body::json_text(request, payload, limits::BATCH_BYTES, bound).await?;
    let BatchRequest { items } = body::parse_json(&text)?;
    Ok(items)
}

fn one(explaining: &Explaining, item: &RawValue, time: &WorkTime) -> BatchItemAnswer {
    let found = weighed(item.get(), limits::JSON_VALUES)
        .and_then(|()| body::parse_json::<BatchItem>(item.get().as_bytes()))
        .and_then(|item| look_up_item(&explaining.generation, item, time).map_err(Problem::from));
    match found {
        Ok(answer) => BatchItemAnswer::Found(Box::new(explain(answer, explaining))),
        Err(problem) => BatchItemAnswer::Problem {
            problem: problem.to_json(),
        },
    }
}

/// Refuses an item that makes too much in memory.
pub(super) fn weighed(item: &str, most: usize) -> Result<(), Problem> {
    let mut weigher = Weigher::default();
    weigher.push(item.as_bytes());
    Ok(weigher.check(Bound::Values(most))?)
}
