//! One log line and one metric for each request. Neither holds anything the client wrote: the route is named by
//! its pattern, and paths, query strings, bodies and error details stay out.

use std::time::Instant;

use actix_web::body::MessageBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::ConnectionType;
use actix_web::http::header::{HeaderName, HeaderValue};
use actix_web::middleware::Next;
use actix_web::{Error, web};

use super::error::Problem;
use super::headers;
use super::parameters::readable;
use super::state::AppState;

/// Name of the route for requests that reached none.
const NO_ROUTE: &str = "(none)";

/// Middleware: measures, logs, and sets the headers that every answer has.
pub(super) async fn observe(
    request: ServiceRequest,
    next: Next<impl MessageBody>,
) -> Result<ServiceResponse<impl MessageBody>, Error> {
    let began = Instant::now();
    let pattern = request.match_pattern();
    let route = readable(pattern.as_deref().unwrap_or(NO_ROUTE));
    let method = method_label(request.method().as_str());
    let state = request.app_data::<web::Data<AppState>>().cloned();
    let mut response = next.call(request).await?;

    let Some(state) = state else {
        return Ok(response);
    };
    let id = state.request_ids.next();
    let status = response.status().as_u16();
    let elapsed = began.elapsed();
    state.metrics.request(method, &route, status, elapsed);
    let problem = response.response().extensions().get::<Problem>().cloned();
    let code = problem.as_ref().map(|problem| problem.code().name());
    let latency_ms = elapsed.as_secs_f64() * 1e3;
    let cause = problem.as_ref().and_then(Problem::cause);
    if cause.is_some() {
        tracing::error!(
            request_id = id,
            method,
            route,
            status,
            code,
            latency_ms,
            cause,
            "request failed"
        );
    } else {
        tracing::info!(
            request_id = id,
            method,
            route,
            status,
            code,
            latency_ms,
            "request"
        );
    }
    if state.crowd.is_full() {
        let head = response.response_mut().head_mut();
        head.set_connection_type(ConnectionType::Close);
    }
    let headers = response.headers_mut();
    headers::secure(headers);
    if let Ok(value) = HeaderValue::from_str(&id) {
        headers.insert(HeaderName::from_static("x-request-id"), value);
    }
    Ok(response)
}

/// The usual methods by name, all others as one, so that a client cannot make labels.
fn method_label(method: &str) -> &'static str {
    match method {
        "GET" => "GET",
        "HEAD" => "HEAD",
        "POST" => "POST",
        "PUT" => "PUT",
        "DELETE" => "DELETE",
        "OPTIONS" => "OPTIONS",
        "PATCH" => "PATCH",
        _ => "other",
    }
}
