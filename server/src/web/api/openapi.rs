//! `GET /api/v1/openapi.json`: the interface, described from the handlers themselves.

use std::collections::BTreeMap;

use actix_web::HttpResponse;
use utoipa::openapi::response::{Response, ResponseBuilder};
use utoipa::openapi::schema::Schema;
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::{Content, Ref, RefOr};
use utoipa::{Modify, OpenApi};

use super::forms::Forms;
use super::{
    audit, batch, codes, enrol, export, feedback, graph, health, join_tokens, match_text, metrics, people,
    policy, policy_replay, records, reports, search, signatures, unmatched, workbench,
};
use crate::bundle::Line;
use crate::web::auth::Anyone;
use crate::web::error::PROBLEM_JSON;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Peerless",
        description = "Explains GPU errors: matching, search, records, graph and agent reports. The records \
            are licensed CC-BY-4.0 (https://creativecommons.org/licenses/by/4.0/); the licence below is the program's.",
        license(name = "Apache-2.0", identifier = "Apache-2.0"),
    ),
    modifiers(&Token, &Problems, &Forms),
    components(schemas(Line, records::get::View, records::get::TextLanguage, records::put::FullBody, feedback::FeedbackStateWord, records::revisions::Difference)),
    paths(
        match_text::match_text, batch::batch, search::search,
        records::list::list, records::get::get, records::put::put, records::revisions::revisions,
        records::publish::publish, records::publish::withdraw, records::moves::merge, records::moves::rename, records::split::split, records::graph::graph,
        records::outcomes::get, records::outcomes::post,
        feedback::suggest, feedback::list, feedback::decide, feedback::disagreements,
        records::compare::diff, records::compare::blame, records::compare::revert,
        records::reviews::open, records::reviews::list, records::reviews::step,
        records::comments::list, records::comments::make,
        join_tokens::post, join_tokens::list, join_tokens::revoke,
        enrol::post, reports::post::post, reports::batch::post,
        reports::list::list,
        reports::get::get,
        reports::fleet::get,
        reports::facets::get,
        reports::nodes::list,
        reports::nodes::get,
        reports::findings::change,
        reports::measurements::get,
        reports::case::get,
        reports::changes::get,
        codes::codes, codes::code, signatures::signatures, policy::get, policy_replay::post, export::export, export::export_zip,
        people::list, people::add, people::set_role, people::disable, people::enable, people::end_sessions,
        audit::list, audit::export,
        graph::whole::whole, graph::path::path, workbench::post,
        unmatched::list, unmatched::get, unmatched::change,
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

/// What holds for every operation: problems have their own media type, and which of them may come.
struct Problems;

impl Modify for Problems {
    fn modify(&self, description: &mut utoipa::openapi::OpenApi) {
        for item in description.paths.paths.values_mut() {
            let operations = [&mut item.get, &mut item.put, &mut item.post];
            for operation in operations.into_iter().flatten() {
                let answers = &mut operation.responses.responses;
                for answer in answers.values_mut() {
                    if let RefOr::T(answer) = answer {
                        name_media_type(answer);
                    }
                }
                if operation.security.is_some() {
                    add(
                        answers,
                        "401",
                        "Without a token, or with one that is not accepted",
                    );
                    add(answers, "403", "The token lacks the scope");
                }
                add(
                    answers,
                    "default",
                    "Any other problem: a parameter, the rate, the server",
                );
            }
        }
    }
}

/// Media type that utoipa gives to every body.
const JSON: &str = "application/json";

fn name_media_type(answer: &mut Response) {
    let is_problem = answer.content.get(JSON).is_some_and(
        |content| matches!(content, RefOr::T(content) if content.schema == Some(problem_schema())),
    );
    if !is_problem {
        return;
    }
    if let Some(content) = answer.content.shift_remove(JSON) {
        answer.content.insert(PROBLEM_JSON.to_owned(), content);
    }
}

fn add(answers: &mut BTreeMap<String, RefOr<Response>>, status: &str, meaning: &str) {
    let content = Content::new(Some(problem_schema()));
    answers.entry(status.to_owned()).or_insert_with(|| {
        RefOr::T(
            ResponseBuilder::new()
                .description(meaning)
                .content(PROBLEM_JSON, content)
                .build(),
        )
    });
}

fn problem_schema() -> RefOr<Schema> {
    RefOr::Ref(Ref::from_schema_name("ProblemBody"))
}

/// This description.
#[utoipa::path(get, path = "/api/v1/openapi.json", operation_id = "get_openapi", tag = "operation",
    responses((status = 200, description = "OpenAPI 3.1", body = Object)))]
pub async fn openapi(_: Anyone) -> HttpResponse {
    HttpResponse::Ok().json(Description::openapi())
}
