//! `/account`: one's own sessions, tokens and password.

use actix_web::http::StatusCode;
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use time::OffsetDateTime;

use super::login::{door, hand_over};
use super::{browser, see_other, told};
use crate::domain::accounts::{own_tokens, sessions};
use crate::render::i18n::account::Words;
use crate::render::words::moment;
use crate::store::{NewSession, Scope, StoredToken};
use crate::web::error::{Code, Problem};
use crate::web::pages::html_not_shared;
use crate::web::pages::layout::{Layout, Section};
use crate::web::session::{self, Form, Session};
use crate::web::state::AppState;

#[derive(Debug, Template)]
#[template(path = "pages/account.html")]
pub struct AccountPage {
    pub(in crate::web::pages) layout: Layout,
    pub(in crate::web::pages) words: &'static Words,
    pub(in crate::web::pages) csrf: String,
    pub(in crate::web::pages) login: String,
    pub(in crate::web::pages) role: String,
    pub(in crate::web::pages) has_password: bool,
    pub(in crate::web::pages) is_admin: bool,
    pub(in crate::web::pages) sessions: Vec<SessionRow>,
    pub(in crate::web::pages) tokens: Vec<TokenRow>,
    pub(in crate::web::pages) scopes: Vec<ScopeChoice>,
    /// The token that was made, shown this once.
    pub(in crate::web::pages) made: Option<String>,
    pub(in crate::web::pages) refusal: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRow {
    pub id: String,
    pub made_at: String,
    pub seen_at: String,
    pub address: String,
    pub browser: String,
    pub is_this: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenRow {
    pub id: String,
    pub name: String,
    pub scopes: String,
    pub state: String,
    pub is_good: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScopeChoice {
    pub word: &'static str,
    pub means: &'static str,
}

pub(in crate::web::pages) fn page(
    session: &Session,
    sessions: &[NewSession],
    tokens: &[StoredToken],
    now: OffsetDateTime,
) -> AccountPage {
    let words = Words::of(session.locale.language);
    let standing = session.person.standing;
    let role = words.role(standing.role);
    AccountPage {
        layout: Layout::new(format!("{} · Peerless", session.person.name), Section::Account)
            .spoken(session.locale)
            .in_both("/account"),
        words,
        csrf: session.csrf.clone(),
        login: session.person.login.clone(),
        role: if standing.operator {
            words.role_and_operator(role)
        } else {
            role.to_owned()
        },
        has_password: session.person.password_hash.is_some(),
        is_admin: standing.role == crate::store::Role::Admin,
        sessions: sessions
            .iter()
            .map(|other| session_row(other, &session.session.id))
            .collect(),
        tokens: tokens.iter().map(|token| token_row(token, words, now)).collect(),
        scopes: own_tokens::grantable(standing)
            .into_iter()
            .map(|scope| ScopeChoice {
                word: scope.as_str(),
                means: words.scope(scope),
            })
            .collect(),
        made: None,
        refusal: None,
    }
}

fn session_row(session: &NewSession, this: &str) -> SessionRow {
    SessionRow {
        id: session.id.clone(),
        made_at: moment(session.made_at),
        seen_at: moment(session.seen_at),
        address: session.address.clone().unwrap_or_default(),
        browser: session.user_agent.clone().unwrap_or_default(),
        is_this: session.id == this,
    }
}

fn token_row(stored: &StoredToken, words: &Words, now: OffsetDateTime) -> TokenRow {
    let scopes: Vec<_> = stored.token.scopes.iter().copied().map(Scope::as_str).collect();
    let (state, is_good) = match (stored.revoked_at, stored.token.expires_at) {
        (Some(at), _) => (words.revoked(&moment(at)), false),
        (None, Some(at)) if at <= now => (words.expired(&moment(at)), false),
        (None, Some(at)) => (words.good_until(&moment(at)), true),
        (None, None) => (words.good.to_owned(), true),
    };
    TokenRow {
        id: stored.token.id.clone(),
        name: stored.token.name.clone(),
        scopes: scopes.join(", "),
        state,
        is_good,
    }
}

async fn made(session: &Session, state: &AppState) -> Result<AccountPage, Problem> {
    let now = state.clock.now();
    let store = &state.store;
    let sessions = store.sessions_of(&session.person.id, now).await?;
    let tokens = store.tokens_of(&session.person.id).await?;
    Ok(page(session, &sessions, &tokens, now))
}

pub async fn get(session: Session, state: Data<AppState>) -> Result<HttpResponse, Problem> {
    html_not_shared(&made(&session, &state).await?)
}

async fn refused(session: &Session, state: &AppState, refusal: String) -> Result<HttpResponse, Problem> {
    let mut page = made(session, state).await?;
    page.refusal = Some(refusal);
    let mut response = html_not_shared(&page)?;
    *response.status_mut() = StatusCode::UNPROCESSABLE_ENTITY;
    Ok(response)
}

pub async fn change_password(
    session: Session,
    request: HttpRequest,
    form: Form,
    state: Data<AppState>,
) -> Result<HttpResponse, Problem> {
    form.only(&["old", "new", "again"])?;
    let words = Words::of(session.locale.language);
    if form.get("new") != form.get("again") {
        return refused(&session, &state, words.not_again.to_owned()).await;
    }
    let (browser, way) = browser(&request, &state);
    let typed = (form.get("old"), form.get("new"));
    match sessions::change_password(door(&state), &session.person, typed, &browser).await {
        Ok(secret) => {
            let mut response = see_other(&session.locale.href("/account"));
            hand_over(&mut response, &session::set(&secret, way));
            Ok(response)
        }
        Err(error) => refused(&session, &state, told::change(error, words)?).await,
    }
}

pub async fn make_token(
    session: Session,
    form: Form,
    state: Data<AppState>,
) -> Result<HttpResponse, Problem> {
    form.only(&["name", "scope[]", "days"])?;
    let words = Words::of(session.locale.language);
    let unknown = |word: &str| Problem::new(Code::MalformedBody, format!("there is no scope {word:?}"));
    let scopes = form
        .all("scope")
        .map(|word| Scope::from_word(word).ok_or_else(|| unknown(word)));
    let scopes = scopes.collect::<Result<Vec<_>, _>>()?;
    let days = form.get("days").trim().parse().unwrap_or(0);
    let wanted = (form.get("name"), scopes, days);
    let (by, now) = (session.by(), state.clock.now());
    let random = state.random.as_ref();
    let issued = own_tokens::make(state.store.as_ref(), random, &session.person, wanted, &by, now).await;
    match issued {
        Ok(issued) => {
            let mut page = made(&session, &state).await?;
            page.made = Some(issued.text);
            html_not_shared(&page)
        }
        Err(error) => refused(&session, &state, told::own_token(error, words)?).await,
    }
}

pub async fn revoke_token(
    session: Session,
    form: Form,
    state: Data<AppState>,
) -> Result<HttpResponse, Problem> {
    form.only(&["id"])?;
    let (by, now) = (session.by(), state.clock.now());
    let person = &session.person.id;
    let revoked = own_tokens::revoke(state.store.as_ref(), person, form.get("id"), &by, now);
    if !revoked.await? {
        return Err(Problem::new(Code::NotFound, "you have no token with this id"));
    }
    Ok(see_other(&session.locale.href("/account")))
}

pub async fn end_session(
    session: Session,
    request: HttpRequest,
    form: Form,
    state: Data<AppState>,
) -> Result<HttpResponse, Problem> {
    form.only(&["id"])?;
    let (by, now) = (session.by(), state.clock.now());
    let (person, id) = (&session.person.id, form.get("id"));
    if !sessions::end(state.store.as_ref(), person, id, (&by, "session.end"), now).await? {
        return Err(Problem::new(Code::NotFound, "you have no session with this id"));
    }
    if id != session.session.id {
        return Ok(see_other(&session.locale.href("/account")));
    }
    let (_, way) = browser(&request, &state);
    let mut response = see_other(&session.locale.href("/"));
    hand_over(&mut response, &session::cleared(way));
    Ok(response)
}
