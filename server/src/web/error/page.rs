//! The error page for people.

use actix_web::HttpResponse;
use actix_web::http::header;
use askama::Template;

use super::Problem;

#[derive(Template)]
#[template(path = "error.html")]
struct ErrorPage<'a> {
    status: u16,
    title: &'a str,
    detail: &'a str,
}

/// The problem as a page; as plain text should the template fail.
pub(super) fn render(problem: &Problem) -> HttpResponse {
    let page = ErrorPage {
        status: problem.code().status().as_u16(),
        title: problem.code().title(),
        detail: problem.detail(),
    };
    let (content_type, body) = match page.render() {
        Ok(html) => ("text/html; charset=utf-8", html),
        Err(_) => ("text/plain; charset=utf-8", problem.to_string()),
    };
    HttpResponse::build(problem.code().status())
        .insert_header((header::CONTENT_TYPE, content_type))
        .body(body)
}
