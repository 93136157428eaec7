//! The module with which a reader's browser looks through a log itself. Its worker may ask for nothing: what it needs comes from
//! the page, and its own policy forbids every request.

use actix_web::http::StatusCode;
use actix_web::http::header::{self, ContentType};
use actix_web::web;
use actix_web::{HttpRequest, HttpResponse};

use super::compute::{ALL_RECORDS, Desk};
use super::error::{Code, Problem};
use super::etag;
use super::pages::assets::FOR_EVER;
use super::shared::in_pieces;
use super::state::AppState;
use super::tab_module::TabModule;
use crate::domain::tab::pack;

/// What the worker may do: run the module, and nothing else.
const WORKER_POLICY: &str = "default-src 'none'; script-src 'wasm-unsafe-eval'";
pub(super) fn here(state: &AppState) -> Result<&TabModule, Problem> {
    state.tab.as_ref().ok_or_else(|| {
        Problem::new(
            Code::NotFound,
            "this server has no module for browsers: send the text to /api/v1/match, or start the server with --tab DIR",
        )
    })
}

/// `GET /tab/signatures`: what the module needs of the records.
pub(super) async fn signatures(
    request: HttpRequest,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    here(&state)?;
    let generation = state.knowledge.current();
    let tag = etag::of_seq_as(generation.seq, "tab");
    let mut response = HttpResponse::Ok();
    response.insert_header((header::ETAG, tag.clone()));
    response.insert_header((header::CACHE_CONTROL, "no-cache"));
    let known = etag::read(request.headers(), &header::IF_NONE_MATCH)?;
    if known.is_some_and(|known| known.hold(&tag)) {
        return Ok(response.status(StatusCode::NOT_MODIFIED).finish());
    }
    let shared = state.tab_signatures.clone();
    let made = move || shared.get(generation.number, || pack(&generation));
    let pack = Desk::of(&request).compute(ALL_RECORDS, made).await?;
    let pack = pack.map_err(|error| Problem::internal(&error))?;
    Ok(response.content_type(ContentType::json()).body(in_pieces(pack)))
}

/// `GET /tab/{file}`: the worker's script and the module.
pub(super) async fn file(
    file: web::Path<String>,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let tab = here(&state)?;
    let asked = format!("/tab/{file}");
    let mut response = HttpResponse::Ok();
    response.insert_header((header::CACHE_CONTROL, FOR_EVER));
    if asked == tab.worker.href {
        response
            .insert_header((header::CONTENT_TYPE, "text/javascript; charset=utf-8"))
            .insert_header((header::CONTENT_SECURITY_POLICY, WORKER_POLICY));
        return Ok(response.body(in_pieces(tab.worker.body.clone())));
    }
    if asked == tab.module.href {
        response.insert_header((header::CONTENT_TYPE, "application/wasm"));
        return Ok(response.body(in_pieces(tab.module.body.clone())));
    }
    Err(Problem::new(
        Code::NotFound,
        "no such file is part of this version: load the page again",
    ))
}
