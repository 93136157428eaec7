//! `GET /api/v1/policy`: what codes and events mean on this site, as it is for one node.

use actix_web::http::header::{CACHE_CONTROL, ContentType, HeaderValue};
use actix_web::{HttpRequest, HttpResponse, web};
use kb_core::ids::NodeId;
use kb_core::policy::{Given, Policy, Rule, Stage};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::domain::enrol::Writer;
use crate::web::auth::Uploader;
use crate::web::error::{Code, Problem, ProblemBody};
use crate::web::etag;
use crate::web::fresh::{Fresh, begin};
use crate::web::state::AppState;

/// Whose policy.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PolicyQuery {
    /// The node; a credential of a node needs not say it.
    #[param(value_type = Option<String>)]
    node: Option<NodeId>,
}

/// The site's policy as it is for a node.
#[derive(Debug, Serialize, ToSchema)]
pub struct PolicyAnswer {
    /// `current`, or `candidate` where the node is one of those on which another policy is tried.
    #[schema(value_type = String, example = "current")]
    stage: Stage,
    /// Version of all that decides on this server: what records say of severity, action and fault, their rules, and the policy.
    rule_set: String,
    /// Version of the policy with all its rules; `none` where it has none.
    version: String,
    /// The rules that are for this node, in order: the first that fits decides. Each with its number in the policy.
    #[schema(value_type = Vec<Object>)]
    rules: Vec<Rule>,
}

/// The policy by which a node judges what it sees.
#[utoipa::path(get, path = "/api/v1/policy", operation_id = "get_policy", tag = "reports", security(("token" = ["report"])),
    params(PolicyQuery), responses(
        (status = 200, description = "The policy; without one it has no rules", body = PolicyAnswer),
        (status = 304, description = "Nothing changed"),
        (status = 400, description = "The node is not named", body = ProblemBody),
        (status = 403, description = "The credential is another node's", body = ProblemBody),
    ))]
pub async fn get(
    uploader: Uploader,
    query: web::Query<PolicyQuery>,
    request: HttpRequest,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let own = uploader.0.node.clone();
    let Some(node) = query.into_inner().node.or_else(|| own.clone()) else {
        return Err(Problem::new(
            Code::BadQuery,
            "name the node, as ?node=gpu-17: this token is no node's own",
        ));
    };
    let writer = Writer {
        node: own,
        enrol_only: false,
    };
    writer
        .may_write(&node)
        .map_err(|error| Problem::new(Code::OtherNode, error.to_string()))?;
    let generation = state.knowledge.current();
    let site = state
        .correlator
        .site(state.store.as_ref(), &generation, &node)
        .await?;
    let Given {
        stage,
        rule_set,
        policy: Policy { version, rules, .. },
    } = site.given();
    let answer = PolicyAnswer {
        stage,
        rule_set,
        version,
        rules,
    };
    let body = serde_json::to_vec(&answer).map_err(|error| Problem::internal(&error))?;
    let private = HeaderValue::from_static("private, no-cache");
    match begin(&request, etag::of_bytes(&body))? {
        Fresh::Known(mut response) => {
            response.headers_mut().insert(CACHE_CONTROL, private);
            Ok(response)
        }
        Fresh::Needed(mut response) => {
            response.insert_header((CACHE_CONTROL, private));
            Ok(response.content_type(ContentType::json()).body(body))
        }
    }
}
