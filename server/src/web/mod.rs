//! HTTP, and nothing but HTTP: routes, who may call them, how errors look, what is limited. Handlers read a
//! request, ask `domain` or `store`, and write an answer.
//!
//! From the outside in, a request passes: [`observe`] (log, metrics, headers), [`error::normalise`]
//! (one form for all errors), compression of the answer, [`gate`] (rate, caller, access), its handler.

mod accept;
mod access;
pub mod anonymous;
pub mod api;
mod approver;
mod asked_nodes;
pub mod auth;
pub mod body;
pub mod client;
pub mod compute;
pub mod crowd;
mod declared;
pub mod error;
mod etag;
mod feedback;
mod fresh;
mod gate;
mod headers;
mod held;
mod host;
pub mod kept_facets;
pub mod limits;
mod links;
mod lookup;
pub mod mcp;
mod observe;
pub mod openid;
pub mod pages;
pub mod parameters;
pub mod places;
pub mod routes;
mod secret_file;
pub mod session;
pub mod shared;
pub mod state;
mod tab;
pub mod tab_module;
pub mod token_outage;
pub mod webhook;
pub mod write_check;

use actix_web::body::MessageBody;
use actix_web::dev::{ServiceFactory, ServiceRequest, ServiceResponse};
use actix_web::middleware::{Compress, from_fn};
use actix_web::{App, Error, HttpResponse, web};

pub use declared::parameters;
use error::{Code, Problem};
pub(crate) use headers::POLICY;
use routes::Routes;
use state::AppState;
pub(crate) use tab::WORKER_POLICY;

/// Every route of the server, in the order in which patterns are tried.
pub fn routes() -> Routes {
    let mut routes = Routes::default();
    api::declare(&mut routes);
    mcp::declare(&mut routes);
    pages::declare(&mut routes);
    routes
}

pub fn app(
    state: web::Data<AppState>,
) -> App<
    impl ServiceFactory<
        ServiceRequest,
        Config = (),
        Response = ServiceResponse<impl MessageBody>,
        Error = Error,
        InitError = (),
    >,
> {
    app_with(state, |_| {})
}

/// The application with more services; what they register and nobody declared stays shut.
pub fn app_with(
    state: web::Data<AppState>,
    more: impl FnOnce(&mut web::ServiceConfig),
) -> App<
    impl ServiceFactory<
        ServiceRequest,
        Config = (),
        Response = ServiceResponse<impl MessageBody>,
        Error = Error,
        InitError = (),
    >,
> {
    App::new()
        .app_data(state)
        .configure(|config| routes().register(config))
        .configure(more)
        .default_service(web::to(nothing_here))
        .wrap(from_fn(gate::gate))
        .wrap(Compress::default())
        .wrap(from_fn(error::normalise))
        .wrap(from_fn(observe::observe))
}

async fn nothing_here() -> Result<HttpResponse, Problem> {
    Err(Problem::new(
        Code::NotFound,
        "there is no such address on this server",
    ))
}
