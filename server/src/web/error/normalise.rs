//! The outermost layer: whatever goes wrong inside leaves as a [`Problem`], as JSON or as a page.

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::{StatusCode, header};
use actix_web::middleware::Next;
use actix_web::{Error, HttpMessage as _, HttpResponse, ResponseError, web};

use super::asked::asked;
use super::{Code, Problem, meant, page};
use crate::web::pages::failure::Asked;
use crate::web::session::visitor::{self, Visitor};
use crate::web::state::AppState;

/// Middleware: gives every error its one form.
pub async fn normalise(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let wants_page = is_for_people(&request);
    let response = next.call(request).await?.map_into_boxed_body();
    let status = response.status();
    if !status.is_client_error() && !status.is_server_error() {
        return Ok(response);
    }
    let known = response.response().extensions().get::<Problem>().cloned();
    let problem = match (known, response.response().error()) {
        (Some(problem), _) => problem,
        (None, Some(error)) => problem_of(error),
        // A handler that made its own body for this status, or a bare status of actix.
        (None, None) if has_body(&response) => return Ok(response),
        (None, None) => bare(status),
    };
    if let Some(leads) = meant::lead(response.request(), &problem) {
        let (request, _) = response.into_parts();
        return Ok(ServiceResponse::new(request, leads));
    }
    let replacement = if wants_page {
        let asked = asked(response.request(), &problem).await;
        let visitor = response.request().extensions().get::<Visitor>().cloned();
        // A request that is refused before it is known who asks.
        let state = response.request().app_data::<web::Data<AppState>>();
        let is_demo = state.is_some_and(|state| state.settings.demo);
        let unknown = || Visitor::default().of_demo(is_demo);
        visitor::with(visitor.unwrap_or_else(unknown), || {
            page_with_headers(&problem, asked)
        })
    } else {
        problem.error_response()
    };
    Ok(replace(response, replacement, problem))
}

/// Puts `replacement` in the response's place and keeps the headers that only the old one had.
fn replace(
    response: ServiceResponse<BoxBody>,
    mut replacement: HttpResponse,
    problem: Problem,
) -> ServiceResponse<BoxBody> {
    let (request, old) = response.into_parts();
    for (name, value) in old.headers() {
        let about_the_old_body = [
            header::CONTENT_TYPE,
            header::CONTENT_LENGTH,
            header::CONTENT_ENCODING,
        ]
        .contains(name);
        if !about_the_old_body && !replacement.headers().contains_key(name) {
            replacement.headers_mut().append(name.clone(), value.clone());
        }
    }
    replacement.extensions_mut().insert(problem);
    ServiceResponse::new(request, replacement)
}

fn page_with_headers(problem: &Problem, asked: Asked) -> HttpResponse {
    let mut response = page::render(problem, asked);
    for (name, value) in &problem.headers {
        response.headers_mut().insert(name.clone(), value.clone());
    }
    response
}

fn has_body(response: &ServiceResponse<BoxBody>) -> bool {
    response.response().headers().contains_key(header::CONTENT_TYPE)
}

fn problem_of(error: &Error) -> Problem {
    if let Some(problem) = error.as_error::<Problem>() {
        return problem.clone();
    }
    let status = error.as_response_error().status_code();
    let text = error.to_string();
    match status {
        StatusCode::NOT_FOUND => Problem::new(Code::NotFound, text),
        StatusCode::PAYLOAD_TOO_LARGE => Problem::new(Code::TooLarge, text),
        StatusCode::REQUEST_TIMEOUT => Problem::new(Code::RequestTimeout, text),
        StatusCode::METHOD_NOT_ALLOWED => Problem::new(Code::MethodNotAllowed, text),
        StatusCode::UNSUPPORTED_MEDIA_TYPE => Problem::new(Code::UnsupportedType, text),
        // Path, query and payload errors of actix: their texts name the field, and hold no body text.
        status
            if status.is_client_error()
                && error.as_error::<actix_web::error::QueryPayloadError>().is_some() =>
        {
            Problem::new(Code::BadQuery, text)
        }
        status if status.is_client_error() => Problem::new(Code::MalformedBody, text),
        _ => {
            let mut problem = Problem::new(
                Code::Internal,
                "the cause is in the server's log under this answer's x-request-id",
            );
            problem.cause = Some(format!("{error:?}"));
            problem
        }
    }
}

fn bare(status: StatusCode) -> Problem {
    match status {
        StatusCode::NOT_FOUND => Problem::new(Code::NotFound, "there is no such address on this server"),
        StatusCode::METHOD_NOT_ALLOWED => Problem::new(Code::MethodNotAllowed, "try another method"),
        StatusCode::NOT_ACCEPTABLE => Problem::new(
            Code::NotAcceptable,
            "accept-encoding must allow identity, gzip, deflate or zstd",
        ),
        StatusCode::PAYLOAD_TOO_LARGE => Problem::new(Code::TooLarge, "the body is over the limit"),
        StatusCode::REQUEST_TIMEOUT => {
            Problem::new(Code::RequestTimeout, "the request did not arrive in time")
        }
        status if status.is_client_error() => Problem::new(Code::MalformedBody, "the request cannot be read"),
        _ => Problem::new(Code::Internal, "the cause is in the server's log"),
    }
}

/// True for a browser that asks for a page; programs get JSON, and everything under `/api` does.
fn is_for_people(request: &ServiceRequest) -> bool {
    if request.path().starts_with("/api/") {
        return false;
    }
    request
        .headers()
        .get(header::ACCEPT)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|accept| accept.contains("text/html"))
}
