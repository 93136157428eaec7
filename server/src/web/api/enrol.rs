//! `POST /api/v1/enrol`: a node gets a credential of its own.

use actix_web::web::{self, Payload};
use actix_web::{HttpRequest, HttpResponse};
use kb_core::ids::NodeId;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::domain::enrol::{self, EnrolError};
use crate::web::auth::Joiner;
use crate::web::body;
use crate::web::error::{Code, Problem, ProblemBody};
use crate::web::limits;
use crate::web::state::AppState;

/// A node that joins.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Enrolment {
    /// Its id, as it stands in its reports.
    #[schema(value_type = String, example = "node-17")]
    node: NodeId,
    /// What tells the machine from others and stays when it is installed anew, such as a hash of its machine id. Kept as a
    /// hash.
    #[schema(example = "0123456789abcdef")]
    machine: String,
}

/// The credential of a node.
#[derive(Debug, Serialize, ToSchema)]
pub struct EnrolAnswer {
    /// The node that it writes, and no other.
    node: String,
    /// The token, shown once.
    token: String,
    /// Its public part, as `peerless token list` shows it.
    id: String,
    /// True where the same machine had a credential, which is revoked now: it was installed anew, or asks for another.
    again: bool,
    /// True where others wrote reports of this node before: another machine, whose credential is revoked now, or tokens for any node.
    /// The node's page and the audit tell it.
    adopted: bool,
}

/// Enrols a node with a join token. The credential writes reports of this node alone; it has no end until it is revoked, or
/// the same machine enrols again.
#[utoipa::path(
    post, path = "/api/v1/enrol", operation_id = "enrol_node", tag = "reports", security(("token" = ["enrol"])),
    request_body = Enrolment,
    responses(
        (status = 201, description = "The credential", body = EnrolAnswer),
        (status = 400, description = "The body cannot be read", body = ProblemBody),
        (status = 409, description = "Another machine is enrolled with this id, or the token has no enrolment left", body = ProblemBody),
        (status = 413, description = "Over the limit", body = ProblemBody),
        (status = 415, description = "Not JSON", body = ProblemBody),
    ),
)]
pub async fn post(
    joiner: Joiner,
    request: HttpRequest,
    payload: Payload,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let asked: Enrolment = body::json(&request, payload, limits::ENROL_BYTES).await?;
    let credential = enrol::enrol(
        state.store.as_ref(),
        state.random.as_ref(),
        &joiner.0,
        (asked.node.clone(), &asked.machine),
        state.clock.now(),
    )
    .await?;
    tracing::info!(node = %asked.node, by = joiner.0.name, again = credential.again, adopted = credential.adopted, "enrolled");
    Ok(HttpResponse::Created().json(EnrolAnswer {
        node: asked.node.to_string(),
        token: credential.token.text,
        id: credential.token.token.id,
        again: credential.again,
        adopted: credential.adopted,
    }))
}

impl From<EnrolError> for Problem {
    fn from(error: EnrolError) -> Self {
        let code = match &error {
            EnrolError::Taken(_) => Code::NodeTaken,
            EnrolError::UsedUp | EnrolError::Over => Code::JoinTokenUsedUp,
            EnrolError::NoToken => Code::Forbidden,
            EnrolError::Machine => Code::MalformedBody,
            EnrolError::Random(_) => return Self::internal(&error),
            EnrolError::Store(_) => {
                return match error {
                    EnrolError::Store(error) => error.into(),
                    other => Self::internal(&other),
                };
            }
        };
        Self::new(code, error.to_string())
    }
}
