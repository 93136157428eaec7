//! `GET /api/v1/signatures`: all that recognises records, for agents that match on their node.

use actix_web::http::StatusCode;
use actix_web::http::header;
use actix_web::{HttpRequest, HttpResponse, web};
use kb_core::record::signature_set;
use kb_core::signature::RecordSignatures;
use serde::Serialize;
use utoipa::ToSchema;

use crate::search::KnowledgeStamp;
use crate::web::auth::Anyone;
use crate::web::error::Problem;
use crate::web::etag;
use crate::web::state::AppState;

/// All that recognises records.
#[derive(Debug, Serialize, ToSchema)]
pub struct SignaturesAnswer {
    /// One entry for each published record.
    #[schema(value_type = Vec<Object>)]
    records: Vec<RecordSignatures>,
    /// Which state of the knowledge this is; the entity tag says the same.
    kb: KnowledgeStamp,
}

/// Patterns, codes and edges of all published records.
#[utoipa::path(get, path = "/api/v1/signatures", tag = "records", responses(
    (status = 200, description = "All signatures", body = SignaturesAnswer),
    (status = 304, description = "Nothing changed"),
))]
pub async fn signatures(
    _: Anyone,
    request: HttpRequest,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let generation = state.knowledge.current();
    let tag = etag::of_seq(generation.seq);
    let mut response = HttpResponse::Ok();
    response.insert_header((header::ETAG, tag.clone()));
    response.insert_header((header::CACHE_CONTROL, "no-cache"));
    let known = etag::read(request.headers(), &header::IF_NONE_MATCH)?;
    if known.is_some_and(|known| known.hold(&tag)) {
        return Ok(response.status(StatusCode::NOT_MODIFIED).finish());
    }
    let published = generation
        .records()
        .map(|published| (&published.record, published.revision));
    Ok(response.json(SignaturesAnswer {
        records: signature_set(published),
        kb: KnowledgeStamp { seq: generation.seq },
    }))
}
