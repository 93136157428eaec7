//! `/api/v1/people`: accounts, for administrators.

use actix_web::web::{self, Payload};
use actix_web::{HttpRequest, HttpResponse};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::domain::accounts::people::{self, PeopleError, Wanted};
use crate::domain::accounts::sessions;
use crate::store::{Person, Role, Standing};
use crate::web::api::records::get::rfc3339;
use crate::web::auth::Admin;
use crate::web::body;
use crate::web::error::{Code, Problem, ProblemBody};
use crate::web::limits;
use crate::web::state::AppState;

/// An account to make.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewAccount {
    /// What the person logs in with: letters, digits, and . _ - + @
    #[schema(example = "ada")]
    login: String,
    /// What readers see; the login unless said.
    name: Option<String>,
    /// At least 10 characters. Absent where the person logs in at a proxy or a provider.
    password: Option<String>,
    /// `viewer`, `contributor`, `editor` or `admin`.
    #[schema(example = "editor")]
    role: String,
    /// Whether the person runs nodes, too.
    #[serde(default)]
    operator: bool,
}

/// What an account may do.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewRole {
    /// `viewer`, `contributor`, `editor` or `admin`.
    #[schema(example = "contributor")]
    role: String,
    /// Whether the person runs nodes, too.
    operator: bool,
}

/// All accounts.
#[derive(Debug, Serialize, ToSchema)]
pub struct PeopleList {
    /// By login.
    people: Vec<Account>,
}

/// An account.
#[derive(Debug, Serialize, ToSchema)]
pub struct Account {
    /// Its id.
    id: String,
    /// What the person logs in with.
    login: String,
    /// What readers see.
    name: String,
    /// `viewer`, `contributor`, `editor` or `admin`.
    role: &'static str,
    /// Whether the person runs nodes, too.
    operator: bool,
    /// Whether it has a password here.
    has_password: bool,
    /// Issuer of OpenID Connect, where the person logs in there.
    issuer: Option<String>,
    /// When it was made, RFC 3339.
    created_at: String,
    /// When it was shut out; null where it was not.
    disabled_at: Option<String>,
}

impl From<Person> for Account {
    fn from(person: Person) -> Self {
        Self {
            id: person.id,
            login: person.login,
            name: person.name,
            role: person.standing.role.as_str(),
            operator: person.standing.operator,
            has_password: person.password_hash.is_some(),
            issuer: person.subject.map(|(issuer, _)| issuer),
            created_at: rfc3339(person.created_at),
            disabled_at: person.disabled_at.map(rfc3339),
        }
    }
}

/// An account that was made.
#[derive(Debug, Serialize, ToSchema)]
pub struct MadeAccount {
    /// Its id.
    id: String,
}

/// All accounts.
#[utoipa::path(get, path = "/api/v1/people", operation_id = "list_people", tag = "operation",
    security(("token" = ["admin"])),
    responses((status = 200, description = "The accounts", body = PeopleList)))]
pub async fn list(_: Admin, state: web::Data<AppState>) -> Result<HttpResponse, Problem> {
    let people = state.store.persons().await?;
    Ok(HttpResponse::Ok().json(PeopleList {
        people: people.into_iter().map(Account::from).collect(),
    }))
}

/// Makes an account.
#[utoipa::path(post, path = "/api/v1/people", operation_id = "add_person", tag = "operation",
    security(("token" = ["admin"])), request_body = NewAccount,
    responses(
        (status = 201, description = "It is there", body = MadeAccount),
        (status = 400, description = "The body cannot be read, or the login or the password is not taken", body = ProblemBody),
        (status = 409, description = "Another account has the login", body = ProblemBody),
    ))]
pub async fn add(
    admin: Admin,
    request: HttpRequest,
    payload: Payload,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let asked: NewAccount = body::json(&request, payload, limits::PEOPLE_BYTES).await?;
    let wanted = Wanted {
        login: &asked.login,
        name: asked.name.as_deref().unwrap_or_default(),
        password: asked.password.as_deref(),
        standing: standing(&asked.role, asked.operator)?,
    };
    let how = (&state.passwords, state.random.as_ref());
    let (by, now) = (admin.0.by(), state.clock.now());
    let id = people::add(state.store.as_ref(), how, &wanted, &by, now).await?;
    Ok(HttpResponse::Created().json(MadeAccount { id }))
}

/// Gives an account another role. Its sessions end.
#[utoipa::path(post, path = "/api/v1/people/{id}/role", operation_id = "set_role", tag = "operation",
    security(("token" = ["admin"])), params(("id" = String, Path, description = "Id of the account")), request_body = NewRole,
    responses(
        (status = 204, description = "It has the role"),
        (status = 400, description = "The body cannot be read", body = ProblemBody),
        (status = 404, description = "No such account", body = ProblemBody),
        (status = 409, description = "Nobody would be left who may administer", body = ProblemBody),
    ))]
pub async fn set_role(
    admin: Admin,
    path: web::Path<String>,
    request: HttpRequest,
    payload: Payload,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let asked: NewRole = body::json(&request, payload, limits::PEOPLE_BYTES).await?;
    let standing = standing(&asked.role, asked.operator)?;
    let (by, now) = (admin.0.by(), state.clock.now());
    people::set_role(state.store.as_ref(), &path, standing, &by, now).await?;
    Ok(HttpResponse::NoContent().finish())
}

/// Shuts an account out, with its sessions and tokens.
#[utoipa::path(post, path = "/api/v1/people/{id}/disable", operation_id = "disable_person", tag = "operation",
    security(("token" = ["admin"])), params(("id" = String, Path, description = "Id of the account")),
    responses(
        (status = 204, description = "It is shut out"),
        (status = 404, description = "No such account", body = ProblemBody),
        (status = 409, description = "Nobody would be left who may administer", body = ProblemBody),
    ))]
pub async fn disable(
    admin: Admin,
    path: web::Path<String>,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    set_disabled(&admin, &path, true, &state).await
}

/// Lets an account in again.
#[utoipa::path(post, path = "/api/v1/people/{id}/enable", operation_id = "enable_person", tag = "operation",
    security(("token" = ["admin"])), params(("id" = String, Path, description = "Id of the account")),
    responses(
        (status = 204, description = "It is let in"),
        (status = 404, description = "No such account", body = ProblemBody),
    ))]
pub async fn enable(
    admin: Admin,
    path: web::Path<String>,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    set_disabled(&admin, &path, false, &state).await
}

/// Ends all sessions of an account.
#[utoipa::path(post, path = "/api/v1/people/{id}/end-sessions", operation_id = "end_sessions", tag = "operation",
    security(("token" = ["admin"])), params(("id" = String, Path, description = "Id of the account")),
    responses(
        (status = 204, description = "There are none"),
        (status = 404, description = "No such account", body = ProblemBody),
    ))]
pub async fn end_sessions(
    admin: Admin,
    path: web::Path<String>,
    state: web::Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let (by, now) = (admin.0.by(), state.clock.now());
    sessions::end_all(state.store.as_ref(), &path, &by, now).await?;
    Ok(HttpResponse::NoContent().finish())
}

async fn set_disabled(
    admin: &Admin,
    id: &str,
    disabled: bool,
    state: &AppState,
) -> Result<HttpResponse, Problem> {
    let (by, now) = (admin.0.by(), state.clock.now());
    people::set_disabled(state.store.as_ref(), id, disabled, &by, now).await?;
    Ok(HttpResponse::NoContent().finish())
}

fn standing(role: &str, operator: bool) -> Result<Standing, Problem> {
    let unknown = || {
        let detail = format!("role: {role:?} is none; write viewer, contributor, editor or admin");
        Problem::new(Code::MalformedBody, detail)
    };
    Ok(Standing {
        role: Role::from_word(role).ok_or_else(unknown)?,
        operator,
    })
}

impl From<PeopleError> for Problem {
    fn from(error: PeopleError) -> Self {
        let code = match error {
            PeopleError::Wrong(_) | PeopleError::Weak(_) => Code::MalformedBody,
            PeopleError::LoginTaken => Code::LoginTaken,
            PeopleError::NoPerson => Code::NotFound,
            PeopleError::LastAdmin => Code::LastAdmin,
            PeopleError::Link => Code::Forbidden,
            PeopleError::Password(error) => return Self::internal(&error),
            PeopleError::Store(error) => return error.into(),
        };
        Self::new(code, error.to_string())
    }
}
