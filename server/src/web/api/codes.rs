//! `GET /api/v1/codes/{code}`: the records of a code, always a list (codes are many-to-many). `GET /api/v1/codes`: all codes.

use actix_web::{HttpResponse, web};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::page;
use crate::domain::records;
use crate::web::auth::Anyone;
use crate::web::error::{Problem, ProblemBody};
use crate::web::state::AppState;
use peerless_search::KnowledgeStamp;

/// The records of a code.
#[derive(Debug, Serialize, ToSchema)]
pub struct CodeAnswer {
    /// The code as asked for.
    code: String,
    /// Records that carry it, by id; none when no record does.
    records: Vec<CodeRecord>,
    /// Which state of the knowledge answered.
    kb: KnowledgeStamp,
}

/// A record of a code.
#[derive(Debug, Serialize, ToSchema)]
pub struct CodeRecord {
    /// Its id.
    id: String,
    /// What the code is one of: a number means different things as an Xid and as a CUDA error.
    domain: String,
    /// Its published revision.
    revision: u32,
    /// Its signature.
    signature: String,
    /// All its codes.
    codes: Vec<String>,
}

/// Records that carry a code. Case does not matter; a blank before the number may be `+`, `-`, `_` or missing; a
/// number alone finds every code that ends with it.
#[utoipa::path(get, path = "/api/v1/codes/{code}", operation_id = "find_records_of_code", tag = "records",
    params(("code" = String, Path, description = "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, Xid 79, xid+79, 79")),
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
        domain: published.record.document.domain.clone(),
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

/// Which codes to list.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct CodesQuery {
    /// Entries of a page, 50 unless said, at most 200.
    limit: Option<u32>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
}

/// A page of codes.
#[derive(Debug, Serialize, ToSchema)]
pub struct CodesPage {
    /// The codes, in the order of their lower-case forms.
    codes: Vec<CodeEntry>,
    /// Ask with it for the next page; absent on the last.
    next_cursor: Option<String>,
    /// Which state of the knowledge answered.
    kb: KnowledgeStamp,
}

/// A code in a list.
#[derive(Debug, Serialize, ToSchema)]
pub struct CodeEntry {
    /// The code as people write it.
    #[schema(example = "Xid 79")]
    code: String,
    /// Ids of the records that carry it.
    records: Vec<String>,
}

/// All codes that records carry.
#[utoipa::path(get, path = "/api/v1/codes", operation_id = "list_codes", tag = "records", params(CodesQuery), responses(
    (status = 200, description = "A page of codes", body = CodesPage),
    (status = 400, description = "A parameter is wrong", body = ProblemBody),
))]
pub async fn codes(
    _: Anyone,
    query: web::Query<CodesQuery>,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let limit = page::size(query.limit)? as usize;
    let generation = state.knowledge.current();
    let begin = query.cursor.as_deref().map(code_of).transpose()?;
    let mut after = generation.codes_after(begin);
    let codes: Vec<CodeEntry> = after
        .by_ref()
        .take(limit)
        .map(|carriers| CodeEntry {
            code: carriers.code.clone(),
            records: carriers.records.iter().map(ToString::to_string).collect(),
        })
        .collect();
    let next_cursor = after
        .next()
        .and_then(|_| codes.last().map(|last| cursor_after(&last.code)));
    Ok(HttpResponse::Ok().json(CodesPage {
        codes,
        next_cursor,
        kb: KnowledgeStamp { seq: generation.seq },
    }))
}

/// What a cursor begins with. A cursor is not held against the codes that there are: one may be gone before the next page is asked
/// for, and another server of the same database may not have read it yet.
const MARK: &str = "after:";

fn cursor_after(code: &str) -> String {
    format!("{MARK}{code}")
}

fn code_of(cursor: &str) -> Result<&str, Problem> {
    let code = cursor.strip_prefix(MARK).filter(|code| !code.is_empty());
    code.ok_or_else(page::bad_cursor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_leads_to_its_code_whether_a_record_has_it_or_not() {
        assert_eq!(code_of(&cursor_after("Xid 79")).ok(), Some("Xid 79"));
        for cursor in ["", "Xid 79", "after:"] {
            assert!(code_of(cursor).is_err(), "{cursor}");
        }
    }
}
