//! `/llms.txt`: what this server is and how a program that reads pages best asks it (llmstxt.org).

use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;

use super::rendered;
use crate::bundle::licence;
use crate::web::api::export::{not_modified, unless_known};
use crate::web::error::Problem;
use crate::web::links::base_url;
use crate::web::state::AppState;

#[derive(Debug, Template)]
#[template(path = "pages/llms.txt", escape = "none")]
struct Llms {
    records: usize,
    example: Option<String>,
    base: String,
    licence_name: &'static str,
    licence_id: &'static str,
    licence_url: &'static str,
}

pub(super) async fn get(request: HttpRequest, state: Data<AppState>) -> Result<HttpResponse, Problem> {
    let generation = state.knowledge.current();
    let Some(mut response) = unless_known(&request, generation.seq)? else {
        return Ok(not_modified(generation.seq));
    };
    let page = Llms {
        records: generation.len(),
        example: generation
            .records()
            .next()
            .map(|published| published.id().to_string()),
        base: base_url(&request, &state),
        licence_name: licence::NAME,
        licence_id: licence::ID,
        licence_url: licence::URL,
    };
    let body = rendered(&page).map_err(|error| Problem::internal(&error))?;
    Ok(response.content_type("text/plain; charset=utf-8").body(body))
}
