//! The REST interface, version 1: one file for each call or small group of calls.

pub mod audit;
pub mod batch;
pub mod codes;
pub mod enrol;
pub mod export;
pub mod feedback;
mod forms;
pub mod graph;
pub mod health;
pub mod join_tokens;
mod match_draft;
pub mod match_text;
mod match_view;
pub mod metrics;
pub mod openapi;
mod page;
pub mod people;
pub mod policy;
pub mod policy_replay;
pub mod records;
pub mod reports;
pub mod search;
pub mod signatures;
pub mod unmatched;
pub mod workbench;

use super::auth::Access;
use super::routes::Routes;
use crate::store::Scope;

/// Declares every route of the interface. A record's id has slashes, so its sub-resources stand behind `/-/`, which
/// no id can hold, and are tried before the record itself.
pub fn declare(routes: &mut Routes) {
    routes.get("/healthz", Access::Anyone, health::healthz);
    routes.get("/readyz", Access::Anyone, health::readyz);
    routes.get("/metrics", Access::Anyone, metrics::metrics);
    routes.get("/api/v1/openapi.json", Access::Anyone, openapi::openapi);

    routes.post("/api/v1/match", Access::Anyone, match_text::match_text);
    routes.post("/api/v1/match/batch", Access::Anyone, batch::batch);
    routes.get("/api/v1/search", Access::Anyone, search::search);

    routes.get("/api/v1/records", Access::Anyone, records::list::list);
    routes.get(
        "/api/v1/records/{id:.+}/-/graph",
        Access::Anyone,
        records::graph::graph,
    );
    routes.get(
        "/api/v1/records/{id:.+}/-/revisions",
        Access::Anyone,
        records::revisions::revisions,
    );
    routes.get(
        "/api/v1/records/{id:.+}/-/outcomes",
        Access::Anyone,
        records::outcomes::get,
    );
    routes.post(
        "/api/v1/records/{id:.+}/-/outcomes",
        Access::Feedback,
        records::outcomes::post,
    );
    declare_feedback(routes);
    declare_reviews(routes);
    routes.post(
        "/api/v1/records/{id:.+}/-/publish",
        Access::Scope(Scope::Publish),
        records::publish::publish,
    );
    routes.post(
        "/api/v1/records/{id:.+}/-/withdraw",
        Access::Scope(Scope::Publish),
        records::publish::withdraw,
    );
    declare_moves(routes);
    routes.get("/api/v1/records/{id:.+}", Access::Anyone, records::get::get);
    routes.put(
        "/api/v1/records/{id:.+}",
        Access::Scope(Scope::Edit),
        records::put::put,
    );

    routes.post("/api/v1/workbench", Access::Scope(Scope::Edit), workbench::post);
    let edit = Access::Scope(Scope::Edit);
    routes.get("/api/v1/unmatched", edit, unmatched::list);
    routes.get("/api/v1/unmatched/{id}", edit, unmatched::get);
    routes.post("/api/v1/unmatched/{id}", edit, unmatched::change);
    routes.get("/api/v1/codes", Access::Anyone, codes::codes);
    routes.get("/api/v1/codes/{code:.+}", Access::Anyone, codes::code);
    routes.get("/api/v1/signatures", Access::Anyone, signatures::signatures);
    routes.get("/api/v1/policy", Access::Scope(Scope::Report), policy::get);
    routes.post(
        "/api/v1/policy/replay",
        Access::Scope(Scope::Fleet),
        policy_replay::post,
    );
    routes.get("/api/v1/graph", Access::Anyone, graph::whole::whole);
    routes.get("/api/v1/graph/path", Access::Anyone, graph::path::path);
    declare_administration(routes);
    routes.post("/api/v1/enrol", Access::Scope(Scope::Enrol), enrol::post);
    routes.post(
        "/api/v1/reports",
        Access::Scope(Scope::Report),
        reports::post::post,
    );
    routes.post(
        "/api/v1/reports/batch",
        Access::Scope(Scope::Report),
        reports::batch::post,
    );
    routes.get("/api/v1/reports", Access::FleetReader, reports::list::list);
    routes.get("/api/v1/reports/{id}", Access::FleetReader, reports::get::get);
    routes.get("/api/v1/fleet", Access::FleetReader, reports::fleet::get);
    routes.get("/api/v1/fleet/facets", Access::FleetReader, reports::facets::get);
    routes.get("/api/v1/nodes", Access::FleetReader, reports::nodes::list);
    routes.get("/api/v1/nodes/{id}", Access::FleetReader, reports::nodes::get);
    let operator = Access::Scope(Scope::Fleet);
    routes.post("/api/v1/nodes/{id}/findings", operator, reports::findings::change);
    routes.get(
        "/api/v1/nodes/{id}/measurements",
        Access::FleetReader,
        reports::measurements::get,
    );
    routes.get("/api/v1/nodes/{id}/case", Access::FleetReader, reports::case::get);
    routes.get(
        "/api/v1/nodes/{id}/changes",
        Access::FleetReader,
        reports::changes::get,
    );
    routes.get("/api/v1/export.ndjson", Access::Anyone, export::export);
    routes.get("/api/v1/export.zip", Access::Anyone, export::export_zip);
}

fn declare_moves(routes: &mut Routes) {
    routes.post(
        "/api/v1/records/{id:.+}/-/merge",
        Access::Scope(Scope::Publish),
        records::moves::merge,
    );
    routes.post(
        "/api/v1/records/{id:.+}/-/rename",
        Access::Scope(Scope::Publish),
        records::moves::rename,
    );
    routes.post(
        "/api/v1/records/{id:.+}/-/split",
        Access::Scope(Scope::Edit),
        records::split::split,
    );
}

fn declare_administration(routes: &mut Routes) {
    let admin = Access::Scope(Scope::Admin);
    routes.post("/api/v1/join-tokens", admin, join_tokens::post);
    routes.get("/api/v1/join-tokens", admin, join_tokens::list);
    routes.post("/api/v1/join-tokens/{id}/revoke", admin, join_tokens::revoke);
    routes.get("/api/v1/people", admin, people::list);
    routes.post("/api/v1/people", admin, people::add);
    routes.post("/api/v1/people/{id}/role", admin, people::set_role);
    routes.post("/api/v1/people/{id}/disable", admin, people::disable);
    routes.post("/api/v1/people/{id}/enable", admin, people::enable);
    routes.post("/api/v1/people/{id}/end-sessions", admin, people::end_sessions);
    routes.get("/api/v1/audit", admin, audit::list);
    routes.get("/api/v1/audit.ndjson", admin, audit::export);
}

fn declare_feedback(routes: &mut Routes) {
    routes.post(
        "/api/v1/records/{id:.+}/-/suggestions",
        Access::Feedback,
        feedback::suggest,
    );
    let edit = Access::Scope(Scope::Edit);
    routes.get("/api/v1/feedback", edit, feedback::list);
    routes.post("/api/v1/feedback/{n}", edit, feedback::decide);
    routes.get("/api/v1/disagreements", edit, feedback::disagreements);
}

fn declare_reviews(routes: &mut Routes) {
    routes.get(
        "/api/v1/records/{id:.+}/-/diff",
        Access::Anyone,
        records::compare::diff,
    );
    routes.get(
        "/api/v1/records/{id:.+}/-/blame",
        Access::Anyone,
        records::compare::blame,
    );
    let edit = Access::Scope(Scope::Edit);
    routes.get("/api/v1/records/{id:.+}/-/reviews", edit, records::reviews::list);
    routes.post("/api/v1/records/{id:.+}/-/review", edit, records::reviews::step);
    routes.get(
        "/api/v1/records/{id:.+}/-/comments",
        edit,
        records::comments::list,
    );
    routes.post(
        "/api/v1/records/{id:.+}/-/comments",
        edit,
        records::comments::make,
    );
    routes.get("/api/v1/reviews", edit, records::reviews::open);
    routes.post(
        "/api/v1/records/{id:.+}/-/revert",
        Access::Scope(Scope::Publish),
        records::compare::revert,
    );
}
