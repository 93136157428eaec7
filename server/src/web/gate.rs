//! The gate every request passes: rate, who calls, and whether the route was opened to them. A route that was
//! registered without being declared stays shut.

use actix_web::body::{BoxBody, EitherBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::Method;
use actix_web::http::header::{self, HeaderMap, HeaderValue};
use actix_web::http::uri::PathAndQuery;
use actix_web::middleware::Next;
use actix_web::{Error, HttpMessage, web};

use super::auth::{Access, Caller, Known};
use super::compute::Desk;
use super::error::{Code, Problem};
use super::held::hold;
use super::host;
use super::routes::Found;
use super::session::visitor::{self, Visitor};
use super::session::{SignedIn, is_own_origin, proves, read_form};
use super::state::AppState;
use crate::domain::accounts::roles;
use crate::store::Scope;

/// Longest address that a login leads back to, in bytes.
const LONGEST_WAY_BACK: usize = 1000;

/// Middleware: lets a request through or refuses it.
pub(super) async fn gate<B: MessageBody + 'static>(
    mut request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<EitherBody<BoxBody>>, Error> {
    // Requests that wait behind each other on one connection are taken in one go where none has to wait for anything: the
    // other connections of this thread have their turn in between.
    tokio::task::yield_now().await;
    match admit(&mut request).await {
        Ok(caller) => {
            request.extensions_mut().insert(caller);
            let state = request.app_data::<web::Data<AppState>>().cloned();
            let visitor = request.extensions().get::<Visitor>().cloned();
            let is_personal = request.extensions().get::<SignedIn>().is_some();
            if is_personal && !changes_something(request.method()) && !request.path().starts_with("/api/") {
                // A page that was kept from before the login shows nobody's name.
                request.headers_mut().remove(header::IF_NONE_MATCH);
            }
            let mut response = visitor::scope(visitor.unwrap_or_default(), next.call(request)).await?;
            answer_of_one(response.headers_mut(), is_personal);
            let Some(state) = state else {
                return Ok(response.map_into_boxed_body().map_into_left_body());
            };
            Ok(hold(response, &state.answers).map_into_left_body())
        }
        // As a response: an error that leaves a middleware takes the request's traces with it.
        Err(problem) => Ok(request.error_response(problem).map_into_right_body()),
    }
}

async fn admit(request: &mut ServiceRequest) -> Result<Caller, Problem> {
    let Some(state) = request.app_data::<web::Data<AppState>>().cloned() else {
        return Err(Problem::new(
            Code::Undeclared,
            "the server was put together without its state",
        ));
    };
    let client = state.limiter.client(request.peer_addr(), request.headers());
    state.limiter.check(client)?;
    let has_index = state.knowledge.current().index.is_built();
    request
        .extensions_mut()
        .insert(Desk::new(&state.queue, client, has_index));
    let Some(pattern) = request.match_pattern() else {
        // Nothing is registered for this path: actix answers 404, and an answer needs no caller.
        return Ok(Caller::default());
    };
    match state.routes.look_up(request.method(), &pattern) {
        Found::Open { access, is_form } => {
            let Known {
                mut caller,
                mut session,
            } = match access {
                Access::Anyone => Known::of_anyone(request, &state).await?,
                _ => Known::of(request, &state).await?,
            };
            note_visitor(request, session.as_ref());
            access.check(&caller, state.settings.opened())?;
            // Of these somebody else's page could make use, by a name that it gives to this server.
            if matches!(access, Access::FleetReader | Access::Feedback) && caller.0.is_none() {
                host::check(request.headers(), state.settings.public_url.as_deref())?;
            }
            let query = request.query_string();
            state.parameters.check(request.method(), &pattern, query)?;
            if changes_something(request.method()) {
                let is_proven = check_source(request, &state, session.as_ref(), (access, is_form)).await?;
                if !is_proven {
                    // The route is for everybody: it is answered as without a login.
                    caller = Caller::default();
                    session = None;
                }
            }
            if let Some(session) = session {
                request.extensions_mut().insert(session);
            }
            Ok(caller)
        }
        Found::OtherMethods(methods) => Err(wrong_method(&methods)),
        Found::Undeclared => Err(Problem::new(
            Code::Undeclared,
            "this route has not been opened to anyone",
        )),
    }
}

fn changes_something(method: &Method) -> bool {
    !matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

/// Refuses what a page of another server makes a browser send. Programs that send a token are no browsers. False where the route is
/// for everybody and the request does not prove that the person who is logged in sent it.
async fn check_source(
    request: &mut ServiceRequest,
    state: &AppState,
    session: Option<&SignedIn>,
    (access, is_form): (Access, bool),
) -> Result<bool, Problem> {
    if session.is_none() && !is_form {
        return Ok(true);
    }
    let is_own = is_own_origin(request.headers(), state.settings.public_url.as_deref());
    if !is_own && (is_form || access != Access::Anyone) {
        let detail = "the header Origin does not name this server: send the form from its own page";
        return Err(Problem::new(Code::Csrf, detail));
    }
    let form = if is_form {
        Some(read_form(request).await?)
    } else {
        None
    };
    let is_proven = is_own
        && session.is_none_or(|SignedIn(live)| proves(&live.session, request.headers(), form.as_ref()));
    if !is_proven && access != Access::Anyone {
        let detail = "the proof of the session is missing or of another one: load the page again, and send the form from \
                      it; a program sends it as x-csrf-token";
        return Err(Problem::new(Code::Csrf, detail));
    }
    if let Some(form) = form {
        request.extensions_mut().insert(form);
    }
    Ok(is_proven)
}

/// Who the head of the page names, and where it sends somebody to log in.
fn note_visitor(request: &ServiceRequest, session: Option<&SignedIn>) {
    let name = session.map(|SignedIn(live)| live.person.name.clone());
    let path = request.uri().path_and_query().map(PathAndQuery::as_str);
    let back = path.filter(|path| request.method() == Method::GET && path.len() <= LONGEST_WAY_BACK);
    let state = request.app_data::<web::Data<AppState>>();
    let is_demo = state.is_some_and(|state| state.settings.demo);
    let edits = session.is_some_and(|SignedIn(live)| {
        let held = roles::scopes(live.person.standing);
        roles::allow(&held, Scope::Edit)
    });
    let visitor = Visitor::new(name, back).who_edits(edits).of_demo(is_demo);
    request.extensions_mut().insert(visitor);
}

/// What is answered to somebody who is logged in is kept by no cache between, and pages name who is.
fn answer_of_one(headers: &mut HeaderMap, is_personal: bool) {
    let is_page = headers
        .get(header::CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"));
    if is_page || is_personal {
        headers.append(header::VARY, HeaderValue::from_static("Cookie"));
    }
    if is_personal {
        headers.insert(
            header::CACHE_CONTROL,
            HeaderValue::from_static("private, no-cache"),
        );
        if is_page {
            headers.remove(header::ETAG);
        }
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
