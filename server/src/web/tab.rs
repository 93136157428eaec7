//! The module with which a reader's browser looks through a log itself. Its worker may ask for nothing: what it needs comes from
//! the page, and its own policy forbids every request.

use actix_web::http::header::{self, ContentType};
use actix_web::web;
use actix_web::{HttpRequest, HttpResponse};

use super::compute::{ALL_RECORDS, Desk};
use super::error::{Code, Problem};
use super::etag;
use super::fresh::{Fresh, begin};
use super::pages::assets::FOR_EVER;
use super::shared::in_pieces;
use super::state::AppState;
use super::tab_module::TabModule;
use crate::domain::tab::{ENGINE, pack};

/// What the worker may do: run the module, and nothing else.
pub(crate) const WORKER_POLICY: &str = "default-src 'none'; script-src 'wasm-unsafe-eval'";

pub(super) fn module_of(state: &AppState) -> Result<&TabModule, Problem> {
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
    module_of(&state)?;
    let generation = state.knowledge.current();
    let mut response = match begin(&request, etag::of_seq_as(generation.seq, ENGINE))? {
        Fresh::Known(response) => return Ok(response),
        Fresh::Needed(response) => response,
    };
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
    let tab = module_of(&state)?;
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
