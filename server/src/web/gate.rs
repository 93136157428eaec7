//! The gate every request passes: rate, who calls, and whether the route was opened to them. A route that was
//! registered without being declared stays shut.

use actix_web::body::{BoxBody, EitherBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::Method;
use actix_web::http::header::{self, HeaderValue};
use actix_web::middleware::Next;
use actix_web::{Error, HttpMessage, web};

use super::auth::{Access, Caller};
use super::compute::Desk;
use super::error::{Code, Problem};
use super::held::hold;
use super::host;
use super::routes::Found;
use super::state::AppState;

/// Middleware: lets a request through or refuses it.
pub(super) async fn gate<B: MessageBody + 'static>(
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<EitherBody<BoxBody>>, Error> {
    // Requests that wait behind each other on one connection are taken in one go where none has to wait for anything: the
    // other connections of this thread have their turn in between.
    tokio::task::yield_now().await;
    match admit(&request).await {
        Ok(caller) => {
            request.extensions_mut().insert(caller);
            let state = request.app_data::<web::Data<AppState>>().cloned();
            let response = next.call(request).await?;
            let Some(state) = state else {
                return Ok(response.map_into_boxed_body().map_into_left_body());
            };
            Ok(hold(response, &state.answers).map_into_left_body())
        }
        // As a response: an error that leaves a middleware takes the request's traces with it.
        Err(problem) => Ok(request.error_response(problem).map_into_right_body()),
    }
}

async fn admit(request: &ServiceRequest) -> Result<Caller, Problem> {
    let Some(state) = request.app_data::<web::Data<AppState>>() else {
        return Err(Problem::new(
            Code::Undeclared,
            "the server was put together without its state",
        ));
    };
    let client = state.limiter.client(request.peer_addr(), request.headers());
    state.limiter.check(client)?;
    request.extensions_mut().insert(Desk::new(&state.queue, client));
    let Some(pattern) = request.match_pattern() else {
        // Nothing is registered for this path: actix answers 404, and an answer needs no caller.
        return Ok(Caller::default());
    };
    match state.routes.look_up(request.method(), &pattern) {
        Found::Access(access) => {
            let caller = match access {
                Access::Anyone => Caller::of_anyone(request.headers(), state).await?,
                _ => Caller::of(request.headers(), state).await?,
            };
            access.check(&caller, state.settings.public_fleet)?;
            if access == Access::FleetReader && caller.0.is_none() {
                host::check(request.headers(), state.settings.public_url.as_deref())?;
            }
            let query = request.query_string();
            state.parameters.check(request.method(), &pattern, query)?;
            Ok(caller)
        }
        Found::OtherMethods(methods) => Err(wrong_method(&methods)),
        Found::Undeclared => Err(Problem::new(
            Code::Undeclared,
            "this route has not been opened to anyone",
        )),
    }
}

fn wrong_method(methods: &[Method]) -> Problem {
    let allowed = methods.iter().map(Method::as_str).collect::<Vec<_>>().join(", ");
    let problem = Problem::new(Code::MethodNotAllowed, format!("allowed here: {allowed}"));
    match HeaderValue::from_str(&allowed) {
        Ok(value) => problem.with_header(header::ALLOW, value),
        Err(_) => problem,
    }
}
