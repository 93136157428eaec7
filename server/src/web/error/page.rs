//! The error page for people.

use actix_web::HttpResponse;
use actix_web::http::header;

use super::Problem;
use crate::web::pages::{failure, rendered};

/// The problem as a page; as plain text should the template fail.
pub(super) fn render(problem: &Problem, asked: failure::Asked) -> HttpResponse {
    let code = problem.code();
    let page = failure::page(code, problem.detail(), asked);
    let (content_type, body) = match rendered(&page) {
        Ok(html) => ("text/html; charset=utf-8", html),
        Err(_) => ("text/plain; charset=utf-8", problem.to_string()),
    };
    HttpResponse::build(code.status())
        .insert_header((header::CONTENT_TYPE, content_type))
        .append_header((header::VARY, "Accept-Language"))
        .body(body)
}
