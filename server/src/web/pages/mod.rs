//! Pages for people: one file or folder per page, each with its template's struct beside its handler. Templates
//! stand in `templates/pages/` under the same name, escape everything, and decide nothing.

pub mod accounts;
pub mod api;
pub mod assets;
pub mod atom;
mod correct;
mod discovery;
pub mod edit;
pub mod evidence;
pub mod failure;
pub mod feedback;
pub(crate) mod filters;
mod former_id;
pub mod graph;
pub mod kept;
pub mod layout;
mod llms;
pub(in crate::web) mod locale;
pub mod lookup;
pub mod moves;
pub mod nodes;
pub mod problems;
pub mod record;
mod record_forms;
pub mod report;
pub mod reviews;
pub mod revisions;
pub mod search;
pub mod shared;
pub mod tab;
pub mod unmatched;
pub mod workbench;

#[cfg(test)]
mod tests;

use actix_web::HttpResponse;
use actix_web::http::{Method, header};
use askama::Template;
use kb_core::terminal::harmless_lines;

use super::auth::Access;
use super::error::Problem;
use super::routes::Routes;
use super::tab as module;
use crate::store::Scope;
use accounts::{account, audit, first_admin, login, openid, people};

pub fn declare(routes: &mut Routes) {
    routes.get("/", Access::Anyone, lookup::home);
    routes.get("/match", Access::Anyone, lookup::no_text);
    routes.post("/match", Access::Anyone, lookup::look_up);
    routes.get("/search", Access::Anyone, search::get);
    routes.get("/graph", Access::Anyone, graph::map::get);
    routes.get("/graph/between", Access::Anyone, graph::between::get);
    routes.get("/graph/path", Access::Anyone, graph::way::get);
    routes.get("/r/{id:.+}/-/graph", Access::Anyone, graph::around::get);
    routes.get("/r/{id:.+}/-/revisions", Access::Anyone, revisions::get);
    let edit = Access::Scope(Scope::Edit);
    routes.get("/r/{id:.+}/-/edit", edit, edit::get);
    routes.form("/r/{id:.+}/-/edit", edit, edit::send);
    routes.form("/r/{id:.+}/-/revisions", edit, revisions::steps::post);
    routes.form("/r/{id:.+}/-/feedback", Access::Feedback, feedback::send);
    routes.get("/feedback", edit, feedback::queue::get);
    routes.form("/feedback", edit, feedback::queue::post);
    routes.get("/reviews", edit, reviews::get);
    routes.get("/r/{id:.+}/-/split", edit, moves::split::get);
    routes.form("/r/{id:.+}/-/split", edit, moves::split::post);
    let publish = Access::Scope(Scope::Publish);
    routes.get("/r/{id:.+}/-/merge", publish, moves::merge::get);
    routes.form("/r/{id:.+}/-/merge", publish, moves::merge::post);
    routes.get("/r/{id:.+}/-/rename", publish, moves::rename::get);
    routes.form("/r/{id:.+}/-/rename", publish, moves::rename::post);
    routes.get("/records/new", edit, edit::begun::get);
    routes.form("/records/new", edit, edit::send_new);
    routes.get("/r/{id:.+}", Access::Anyone, record::get);
    routes.get("/nodes", Access::FleetReader, nodes::list::list);
    routes.get("/nodes/{id}", Access::FleetReader, nodes::one::get);
    routes.get("/fleet/facets", Access::FleetReader, nodes::facets::get);
    let operator = Access::Scope(Scope::Fleet);
    routes.form("/nodes/{id}/findings", operator, nodes::findings::send);
    routes.get("/reports/{id}", Access::FleetReader, report::get);
    let edit = Access::Scope(Scope::Edit);
    routes.get("/workbench", edit, workbench::get);
    routes.form("/workbench", edit, workbench::post);
    routes.form("/share", Access::Anyone, shared::preview);
    routes.form("/share/keep", Access::Anyone, shared::keep);
    routes.get("/a/{name}", Access::Anyone, shared::get);
    routes.post("/unknown", Access::Anyone, kept::show);
    routes.form("/unknown/keep", Access::Anyone, kept::keep);
    routes.get("/kept/{key}", Access::Anyone, kept::ask);
    routes.form("/kept/{key}", Access::Anyone, kept::delete);
    routes.get("/unmatched", edit, unmatched::list);
    routes.get("/unmatched/{id}", edit, unmatched::get);
    routes.form("/unmatched/{id}", edit, unmatched::post);
    routes.get("/login", Access::Anyone, login::get);
    routes.form("/login", Access::Anyone, login::post);
    routes.form("/logout", Access::SignedIn, login::log_out);
    routes.get("/first-admin", Access::Anyone, first_admin::get);
    routes.form("/first-admin", Access::Anyone, first_admin::post);
    routes.get("/account", Access::SignedIn, account::get);
    routes.form("/account/password", Access::SignedIn, account::change_password);
    routes.form("/account/tokens", Access::SignedIn, account::make_token);
    routes.form("/account/tokens/revoke", Access::SignedIn, account::revoke_token);
    routes.form("/account/sessions/end", Access::SignedIn, account::end_session);
    routes.get("/login/oidc", Access::Anyone, openid::begin);
    routes.get("/login/oidc/done", Access::Anyone, openid::done);
    let admin = Access::Scope(Scope::Admin);
    routes.get("/people", admin, people::get);
    routes.form("/people", admin, people::add);
    routes.form("/people/role", admin, people::set_role);
    routes.form("/people/disabled", admin, people::set_disabled);
    routes.form("/people/sessions/end", admin, people::end_sessions);
    routes.get("/audit", Access::Scope(Scope::Admin), audit::get);
    routes.get("/docs/api", Access::Anyone, api::get);
    routes.get("/docs/problems", Access::Anyone, problems::get);
    routes.get("/static/{file}", Access::Anyone, assets::get);
    routes.get("/tab", Access::Anyone, tab::get);
    routes.get("/tab/signatures", Access::Anyone, module::signatures);
    routes.get("/tab/{file}", Access::Anyone, module::file);
    routes.get("/feed.atom", Access::Anyone, atom::get);
    routes.get("/llms.txt", Access::Anyone, llms::get);
    routes.get("/robots.txt", Access::Anyone, discovery::robots);
    routes.get("/opensearch.xml", Access::Anyone, discovery::open_search);
    routes.get("/favicon.ico", Access::Anyone, assets::favicon);
}

/// Parameters of each page, besides its language.
pub(in crate::web) const PARAMETERS: &[(Method, &str, &[&str])] = &[
    (Method::GET, "/", &[]),
    (Method::GET, "/match", &["answer"]),
    (Method::POST, "/match", &lookup::form::COMPONENTS),
    (
        Method::GET,
        "/search",
        &[
            "q", "domain", "category", "tag", "tier", "locale", "cursor", "typing",
        ],
    ),
    (Method::GET, "/graph", &[]),
    (Method::GET, "/graph/between", &["from", "to", "kind"]),
    (Method::GET, "/graph/path", &["from", "to"]),
    (Method::GET, "/r/{id}/-/graph", &["depth", "kinds"]),
    (Method::GET, "/r/{id}/-/revisions", &["from", "to"]),
    (Method::GET, "/r/{id}/-/edit", &["at", "read"]),
    (Method::POST, "/r/{id}/-/edit", &[]),
    (Method::POST, "/r/{id}/-/revisions", &[]),
    (Method::GET, "/r/{id}/-/split", &[]),
    (Method::POST, "/r/{id}/-/split", &[]),
    (Method::GET, "/r/{id}/-/merge", &["into"]),
    (Method::POST, "/r/{id}/-/merge", &[]),
    (Method::GET, "/r/{id}/-/rename", &[]),
    (Method::POST, "/r/{id}/-/rename", &[]),
    (Method::GET, "/feedback", &["state", "before"]),
    (Method::POST, "/feedback", &[]),
    (Method::GET, "/reviews", &[]),
    (Method::GET, "/records/new", &["id", "unmatched"]),
    (Method::POST, "/records/new", &[]),
    (Method::POST, "/r/{id}/-/feedback", &[]),
    (Method::GET, "/r/{id}", &["told"]),
    (
        Method::GET,
        "/nodes",
        &[
            "after",
            "q",
            "verdict",
            "action",
            "record",
            "model",
            "driver",
            "label",
            "silent_hours",
            "simulated",
            "sort",
        ],
    ),
    (Method::GET, "/fleet/facets", &["simulated", "about", "skip"]),
    (Method::POST, "/nodes/{id}/findings", &[]),
    (Method::GET, "/nodes/{id}", &["before", "id"]),
    (Method::GET, "/reports/{id}", &["node"]),
    (Method::GET, "/workbench", &[]),
    (Method::POST, "/workbench", &[]),
    (
        Method::GET,
        "/unmatched",
        &["state", "assignee", "node", "q", "sort", "skip"],
    ),
    (Method::POST, "/share", &[]),
    (Method::POST, "/share/keep", &[]),
    (Method::GET, "/a/{name}", &[]),
    (Method::POST, "/unknown", &[]),
    (Method::POST, "/unknown/keep", &[]),
    (Method::GET, "/kept/{key}", &[]),
    (Method::POST, "/kept/{key}", &[]),
    (Method::GET, "/unmatched/{id}", &[]),
    (Method::POST, "/unmatched/{id}", &[]),
    (Method::GET, "/login", &["return_to"]),
    (Method::POST, "/login", &[]),
    (Method::POST, "/logout", &[]),
    (Method::GET, "/first-admin", &["key"]),
    (Method::POST, "/first-admin", &[]),
    (Method::GET, "/account", &[]),
    (Method::POST, "/account/password", &[]),
    (Method::POST, "/account/tokens", &[]),
    (Method::POST, "/account/tokens/revoke", &[]),
    (Method::POST, "/account/sessions/end", &[]),
    (Method::GET, "/login/oidc", &["return_to"]),
    (Method::GET, "/people", &[]),
    (Method::POST, "/people", &[]),
    (Method::POST, "/people/role", &[]),
    (Method::POST, "/people/disabled", &[]),
    (Method::POST, "/people/sessions/end", &[]),
    (Method::GET, "/audit", &["actor", "action", "subject", "before"]),
    (Method::GET, "/tab", &[]),
    (Method::GET, "/docs/api", &[]),
    (Method::GET, "/docs/problems", &[]),
];

/// Something in the database that this build cannot read.
#[derive(Debug, thiserror::Error)]
#[error("{what} cannot be read: {reason}")]
struct Unreadable {
    what: String,
    reason: String,
}

/// A page as an answer; which language it is in depends on what the browser prefers.
fn html(page: &impl Template) -> Result<HttpResponse, Problem> {
    rendered(page)
        .map(html_text)
        .map_err(|error| Problem::internal(&error))
}

/// As [`html`], of a page that is rendered already.
fn html_text(body: String) -> HttpResponse {
    HttpResponse::Ok()
        .insert_header((header::CONTENT_TYPE, "text/html; charset=utf-8"))
        .append_header((header::VARY, "Accept-Language"))
        .body(body)
}

/// A page as text. Templates hold no control character, and no mark that turns the direction of writing: what there is of
/// them came from outside, with a report, a record or a log, and is shown as an escape.
pub(in crate::web) fn rendered(page: &impl Template) -> askama::Result<String> {
    page.render().map(|text| harmless_lines(&text))
}

/// A page for one reader: caches between must not keep it. The reader's own browser may, for its "back".
fn html_not_shared(page: &impl Template) -> Result<HttpResponse, Problem> {
    html(page).map(not_shared)
}

fn not_shared(mut response: HttpResponse) -> HttpResponse {
    let private = header::HeaderValue::from_static("private, no-cache");
    response.headers_mut().insert(header::CACHE_CONTROL, private);
    response
}
