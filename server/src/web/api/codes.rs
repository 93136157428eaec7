//! `GET /api/v1/codes/{code}`: the records of a code. Codes are many-to-many, so this is always a list.

use actix_web::{HttpResponse, web};
use serde::Serialize;
use utoipa::ToSchema;

use crate::domain::records;
use crate::search::KnowledgeStamp;
use crate::web::auth::Anyone;
use crate::web::error::Problem;
use crate::web::state::AppState;

/// The records of a code.
#[derive(Debug, Serialize, ToSchema)]
pub struct CodeAnswer {
    /// The code as asked for.
    code: String,
    /// Records that carry it, by id; none when nobody does.
    records: Vec<CodeRecord>,
    /// Which state of the knowledge answered.
    kb: KnowledgeStamp,
}

/// A record of a code.
#[derive(Debug, Serialize, ToSchema)]
pub struct CodeRecord {
    /// Its id.
    id: String,
    /// Its published revision.
    revision: u32,
    /// Its signature.
    signature: String,
    /// All its codes.
    codes: Vec<String>,
}

/// Records that carry a code, compared without case and with runs of blanks as one.
#[utoipa::path(get, path = "/api/v1/codes/{code}", tag = "records",
    params(("code" = String, Path, description = "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, Xid 79, error 217")),
    responses((status = 200, description = "A list, perhaps empty", body = CodeAnswer)))]
pub async fn code(
    _: Anyone,
    path: web::Path<String>,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let code = path.into_inner();
    let generation = state.knowledge.current();
    let carriers = records::by_code(&generation, &code);
    let records = carriers.iter().map(|published| CodeRecord {
        id: published.id().to_string(),
        revision: published.revision.0,
        signature: published.record.document.signature.clone(),
        codes: published.codes.clone(),
    });
    Ok(HttpResponse::Ok().json(CodeAnswer {
        records: records.collect(),
        code,
        kb: KnowledgeStamp { seq: generation.seq },
    }))
}
