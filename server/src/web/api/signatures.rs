//! `GET /api/v1/signatures`: all that recognises records, for agents that match on their node.

use actix_web::http::header::ContentType;
use actix_web::{HttpRequest, HttpResponse, web};
use kb_core::ids::RecordId;
use kb_core::record::signature_set_by;
use kb_core::signature::RecordSignatures;
use serde::Serialize;
use utoipa::ToSchema;

use crate::feed::Generation;
use crate::web::auth::Anyone;
use crate::web::compute::{ALL_RECORDS, Desk};
use crate::web::error::Problem;
use crate::web::etag;
use crate::web::fresh::{Fresh, begin};
use crate::web::shared::in_pieces;
use crate::web::state::AppState;
use peerless_search::KnowledgeStamp;

/// All that recognises records.
#[derive(Debug, Serialize, ToSchema)]
pub struct SignaturesAnswer {
    /// One entry for each published record.
    #[schema(value_type = Vec<Object>)]
    records: Vec<RecordSignatures>,
    /// Patterns without a text to look for, which are asked of every line. They come with imports; there are 64 at most.
    slow: Vec<PatternName>,
    /// Patterns and codes that are not looked for, and why.
    rejected: Vec<RejectedPattern>,
    /// Which state of the knowledge this is; the entity tag says the same.
    kb: KnowledgeStamp,
}

/// A pattern of a record.
#[derive(Debug, Serialize, ToSchema)]
pub struct PatternName {
    /// The record.
    #[schema(value_type = String)]
    record: RecordId,
    /// The pattern's id.
    pattern: String,
}

/// A pattern or code that is not looked for. Everything else of its record is.
#[derive(Debug, Serialize, ToSchema)]
pub struct RejectedPattern {
    /// The record.
    #[schema(value_type = String)]
    record: RecordId,
    /// The pattern's id, or `code:` and the code, or `signature`.
    pattern: String,
    /// What is wrong and what to do about it.
    reason: String,
}

/// Patterns, codes and edges of all published records.
#[utoipa::path(get, path = "/api/v1/signatures", operation_id = "list_signatures", tag = "records", responses(
    (status = 200, description = "All signatures", body = SignaturesAnswer),
    (status = 304, description = "Nothing changed"),
))]
pub async fn signatures(
    _: Anyone,
    request: HttpRequest,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let generation = state.knowledge.current();
    let mut response = match begin(&request, etag::of_seq(generation.seq))? {
        Fresh::Known(response) => return Ok(response),
        Fresh::Needed(response) => response,
    };
    let shared = state.signatures.clone();
    let made = move || shared.get(generation.number, || serde_json::to_vec(&answer(&generation)));
    let answer = Desk::of(&request).compute(ALL_RECORDS, made).await?;
    let answer = answer.map_err(|error| Problem::internal(&error))?;
    Ok(response.content_type(ContentType::json()).body(in_pieces(answer)))
}

fn answer(generation: &Generation) -> SignaturesAnswer {
    let published = generation
        .records()
        .map(|published| (&published.record, published.revision));
    let former = generation.records().flat_map(|published| published.former_ids());
    SignaturesAnswer {
        records: signature_set_by(published, former),
        slow: slow(generation),
        rejected: rejected(generation),
        kb: KnowledgeStamp { seq: generation.seq },
    }
}

fn slow(generation: &Generation) -> Vec<PatternName> {
    let names = generation.matcher.slow_patterns().into_iter();
    names
        .map(|(record, pattern)| PatternName { record, pattern })
        .collect()
}

fn rejected(generation: &Generation) -> Vec<RejectedPattern> {
    let rejected = generation.rejected.iter().cloned();
    rejected
        .map(|rejected| RejectedPattern {
            record: rejected.id,
            pattern: rejected.pattern,
            reason: rejected.reason,
        })
        .collect()
}
