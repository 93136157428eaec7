//! `POST /api/v1/join-tokens`, `GET /api/v1/join-tokens` and `POST /api/v1/join-tokens/{id}/revoke`: the tokens that nodes
//! join with.

use std::collections::BTreeMap;

use actix_web::web::{self, Payload};
use actix_web::{HttpRequest, HttpResponse};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::domain::join_tokens::{self, JoinTokenError, Wanted};
use crate::store::StoredToken;
use crate::web::api::records::get::rfc3339;
use crate::web::auth::Admin;
use crate::web::body::{self, each_once};
use crate::web::error::{Code, Problem, ProblemBody};
use crate::web::limits;
use crate::web::state::AppState;

/// Join tokens to make.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct JoinTokenOrder {
    /// Whom or what they are for; shown in lists.
    #[schema(example = "rack r17")]
    name: String,
    /// So many nodes may join with each; any number where it is not said.
    #[schema(example = 32, minimum = 1)]
    uses: Option<u32>,
    /// They are good for so long: a number and m, h, d or w. Without end where it is not said.
    #[schema(example = "7d")]
    expires_in: Option<String>,
    /// Labels of the nodes that join with them.
    #[serde(default, deserialize_with = "each_once")]
    labels: BTreeMap<String, String>,
    /// Nodes may enrol with them under an id whose credential another machine has: that one is revoked. It needs `uses` and
    /// `expires_in`.
    #[serde(default)]
    #[schema(required = false)]
    adopt: bool,
    /// How many tokens; 1 unless said.
    #[schema(example = 1, minimum = 1)]
    count: Option<u32>,
}

/// The tokens that were made.
#[derive(Debug, Serialize, ToSchema)]
pub struct MadeJoinTokens {
    /// Each is shown this once.
    tokens: Vec<MadeJoinToken>,
}

/// A token that was made.
#[derive(Debug, Serialize, ToSchema)]
pub struct MadeJoinToken {
    /// Its public part, as lists show it.
    id: String,
    /// The token.
    token: String,
}

/// All join tokens.
#[derive(Debug, Serialize, ToSchema)]
pub struct JoinTokenList {
    /// The oldest first, those that were revoked too.
    tokens: Vec<JoinToken>,
}

/// A join token.
#[derive(Debug, Serialize, ToSchema)]
pub struct JoinToken {
    /// Its public part.
    id: String,
    /// Whom or what it is for.
    name: String,
    /// Labels of the nodes that join with it.
    labels: BTreeMap<String, String>,
    /// Whether nodes may take over with it the id of another machine.
    adopt: bool,
    /// Nodes that may still join; null for any number.
    uses_left: Option<u32>,
    /// When it was made, RFC 3339.
    created_at: String,
    /// When it ends; null for never.
    expires_at: Option<String>,
    /// When it was taken back.
    revoked_at: Option<String>,
}

impl From<StoredToken> for JoinToken {
    fn from(stored: StoredToken) -> Self {
        let token = stored.token;
        Self {
            id: token.id,
            name: token.name,
            labels: token.bounds.labels,
            adopt: token.bounds.adopts,
            uses_left: token.bounds.uses_left,
            created_at: rfc3339(token.created_at),
            expires_at: token.expires_at.map(rfc3339),
            revoked_at: stored.revoked_at.map(rfc3339),
        }
    }
}

/// Makes join tokens, one or many at once: all, or none.
#[utoipa::path(
    post, path = "/api/v1/join-tokens", operation_id = "make_join_tokens", tag = "reports", security(("token" = ["admin"])),
    request_body = JoinTokenOrder,
    responses(
        (status = 201, description = "The tokens, shown this once", body = MadeJoinTokens),
        (status = 400, description = "The body cannot be read, or asks for what cannot be", body = ProblemBody),
        (status = 413, description = "Over the limit", body = ProblemBody),
        (status = 415, description = "Not JSON", body = ProblemBody),
    ),
)]
pub async fn post(
    admin: Admin,
    request: HttpRequest,
    payload: Payload,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let asked: JoinTokenOrder = body::json(&request, payload, limits::JOIN_TOKEN_BYTES).await?;
    let expires_in = asked.expires_in.as_deref().map(join_tokens::parse_duration);
    let wanted = Wanted {
        name: asked.name,
        uses: asked.uses,
        expires_in: expires_in
            .transpose()
            .map_err(|why| JoinTokenError::Wrong(format!("expires_in: {why}")))?,
        labels: asked.labels,
        adopts: asked.adopt,
        count: asked.count.unwrap_or(1),
    };
    let now = state.clock.now();
    let made = join_tokens::make(
        state.store.as_ref(),
        state.random.as_ref(),
        &wanted,
        &admin.0.by(),
        now,
    )
    .await?;
    tracing::info!(by = admin.0.name, count = made.len(), "join tokens made");
    let tokens = made.into_iter().map(|issued| MadeJoinToken {
        id: issued.token.id,
        token: issued.text,
    });
    Ok(HttpResponse::Created().json(MadeJoinTokens {
        tokens: tokens.collect(),
    }))
}

/// All join tokens, with what is left of each.
#[utoipa::path(
    get, path = "/api/v1/join-tokens", operation_id = "list_join_tokens", tag = "reports", security(("token" = ["admin"])),
    responses((status = 200, description = "The tokens", body = JoinTokenList)),
)]
pub async fn list(_: Admin, state: web::Data<AppState>) -> Result<HttpResponse, Problem> {
    let tokens = join_tokens::list(state.store.as_ref()).await?;
    Ok(HttpResponse::Ok().json(JoinTokenList {
        tokens: tokens.into_iter().map(JoinToken::from).collect(),
    }))
}

/// Takes a join token back. Nodes that have joined with it keep their credentials.
#[utoipa::path(
    post, path = "/api/v1/join-tokens/{id}/revoke", operation_id = "revoke_join_token", tag = "reports",
    security(("token" = ["admin"])), params(("id" = String, Path, description = "The public part of the token")),
    responses(
        (status = 204, description = "It is taken back"),
        (status = 404, description = "No such join token", body = ProblemBody),
    ),
)]
pub async fn revoke(
    admin: Admin,
    path: web::Path<String>,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    if !join_tokens::revoke(state.store.as_ref(), &path, &admin.0.by(), state.clock.now()).await? {
        return Err(Problem::new(
            Code::NotFound,
            "there is no such join token: GET /api/v1/join-tokens lists them",
        ));
    }
    tracing::info!(by = admin.0.name, id = %path, "join token revoked");
    Ok(HttpResponse::NoContent().finish())
}

impl From<JoinTokenError> for Problem {
    fn from(error: JoinTokenError) -> Self {
        match error {
            JoinTokenError::Wrong(why) => Self::new(Code::MalformedBody, why),
            JoinTokenError::Random(error) => Self::internal(&error),
            JoinTokenError::Store(error) => error.into(),
        }
    }
}
