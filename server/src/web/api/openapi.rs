//! `GET /api/v1/openapi.json`: the interface, described from the handlers themselves.

use actix_web::HttpResponse;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::{Modify, OpenApi};

use super::{
    batch, codes, export, graph_path, health, match_text, metrics, records, reports, search, signatures,
};
use crate::web::auth::Anyone;

/// The description.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Peerless",
        description = "Explains GPU errors: matching, search, records, graph and agent reports.",
        license(name = "Apache-2.0", identifier = "Apache-2.0"),
    ),
    modifiers(&Token),
    paths(
        match_text::match_text, batch::batch, search::search,
        records::list::list, records::get::get, records::put::put, records::revisions::revisions,
        records::publish::publish, records::publish::withdraw, records::graph::graph,
        reports::post::post,
        reports::list::list,
        reports::get::get,
        reports::nodes::list,
        reports::nodes::get,
        codes::code, signatures::signatures, export::export, graph_path::path,
        health::healthz, health::readyz, metrics::metrics, openapi,
    ),
)]
pub struct Description;

struct Token;

impl Modify for Token {
    fn modify(&self, description: &mut utoipa::openapi::OpenApi) {
        let scheme = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
        description
            .components
            .get_or_insert_default()
            .add_security_scheme("token", scheme);
    }
}

/// This description.
#[utoipa::path(get, path = "/api/v1/openapi.json", tag = "operation",
    responses((status = 200, description = "OpenAPI 3.1", body = Object)))]
pub async fn openapi(_: Anyone) -> HttpResponse {
    HttpResponse::Ok().json(Description::openapi())
}
