//! `POST /api/v1/match/batch`: many short texts at once, answered in their order, each with its own error.

use std::sync::Arc;

use actix_web::web::{self, Payload};
use actix_web::{HttpRequest, HttpResponse};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::domain::lookup::{BatchItem, MatchAnswer, look_up_item};
use crate::feed::Generation;
use crate::web::auth::Anyone;
use crate::web::error::{Code, Problem, ProblemBody};
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
    items: Vec<BatchItemAnswer>,
}

/// What explains one item, or why it could not be read.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub enum BatchItemAnswer {
    /// What explains it.
    Found(Box<MatchAnswer>),
    /// What is wrong with it.
    Problem {
        /// As the body of a problem.
        #[schema(value_type = ProblemBody)]
        problem: serde_json::Value,
    },
}

/// Explains many short texts.
#[utoipa::path(post, path = "/api/v1/match/batch", tag = "match", request_body = BatchRequest, responses(
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
    let generation = state.knowledge.current();
    let work = web::block(move || texts.iter().map(|item| one(&generation, item)).collect());
    let items = work.await.map_err(|error| Problem::internal(&error))?;
    Ok(HttpResponse::Ok().json(BatchAnswer { items }))
}

/// The items of a batch of any kind, each still to be read.
pub(super) async fn items(request: &HttpRequest, payload: Payload) -> Result<Vec<Box<RawValue>>, Problem> {
    let BatchRequest { items } = body::json(request, payload, limits::BATCH_BYTES).await?;
    if items.len() <= limits::BATCH_ITEMS {
        return Ok(items);
    }
    let detail = format!(
        "{} items, a batch has at most {}",
        items.len(),
        limits::BATCH_ITEMS
    );
    Err(Problem::new(Code::TooLarge, detail))
}

fn one(generation: &Arc<Generation>, item: &RawValue) -> BatchItemAnswer {
    let found = body::parse_json::<BatchItem>(item.get().as_bytes())
        .and_then(|item| look_up_item(generation, item).map_err(Problem::from));
    match found {
        Ok(answer) => BatchItemAnswer::Found(Box::new(answer)),
        Err(problem) => BatchItemAnswer::Problem {
            problem: problem.to_json(),
        },
    }
}
