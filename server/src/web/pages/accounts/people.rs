//! `/people`: accounts, for administrators.

use actix_web::http::StatusCode;
use actix_web::web::Data;
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;

use super::{see_other, told};
use crate::domain::accounts::people::{self, PeopleError, Wanted};
use crate::domain::accounts::sessions;
use crate::render::i18n::Locale;
use crate::render::i18n::account::Words;
use crate::render::words::moment;
use crate::store::{Person, Role, Standing};
use crate::web::auth::Admin;
use crate::web::error::{Code, Problem};
use crate::web::pages::layout::{Layout, Section};
use crate::web::pages::{html_not_shared, locale};
use crate::web::session::{Form, Session};
use crate::web::state::AppState;

#[derive(Debug, Template)]
#[template(path = "pages/people.html")]
pub struct PeoplePage {
    pub(in crate::web::pages) layout: Layout,
    pub(in crate::web::pages) words: &'static Words,
    pub(in crate::web::pages) csrf: String,
    pub(in crate::web::pages) people: Vec<PersonRow>,
    pub(in crate::web::pages) roles: Vec<RoleChoice>,
    pub(in crate::web::pages) refusal: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PersonRow {
    pub id: String,
    pub login: String,
    pub name: String,
    pub roles: Vec<RoleChoice>,
    pub operator: bool,
    pub disabled: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoleChoice {
    pub word: &'static str,
    pub means: &'static str,
    pub is_held: bool,
}

pub(in crate::web::pages) fn page(people: Vec<Person>, csrf: String, locale: Locale) -> PeoplePage {
    let words = Words::of(locale.language);
    PeoplePage {
        layout: Layout::new(format!("{} · Peerless", words.people), Section::Account)
            .spoken(locale)
            .in_both("/people"),
        words,
        csrf,
        people: people.into_iter().map(|person| row(person, words)).collect(),
        roles: roles(Role::Viewer, words),
        refusal: None,
    }
}

fn row(person: Person, words: &Words) -> PersonRow {
    PersonRow {
        id: person.id,
        login: person.login,
        name: person.name,
        roles: roles(person.standing.role, words),
        operator: person.standing.operator,
        disabled: person.disabled_at.map(|at| words.disabled(&moment(at))),
    }
}

fn roles(held: Role, words: &Words) -> Vec<RoleChoice> {
    let choice = |role: Role| RoleChoice {
        word: role.as_str(),
        means: words.role(role),
        is_held: role == held,
    };
    Role::ALL.map(choice).into()
}

async fn made(session: Option<&Session>, locale: Locale, state: &AppState) -> Result<PeoplePage, Problem> {
    let csrf = session.map_or_else(String::new, |session| session.csrf.clone());
    Ok(page(state.store.persons().await?, csrf, locale))
}

pub async fn get(
    _: Admin,
    session: Option<Session>,
    request: HttpRequest,
    state: Data<AppState>,
) -> Result<HttpResponse, Problem> {
    html_not_shared(&made(session.as_ref(), locale::of(&request), &state).await?)
}

pub async fn add(
    admin: Admin,
    session: Option<Session>,
    request: HttpRequest,
    form: Form,
    state: Data<AppState>,
) -> Result<HttpResponse, Problem> {
    form.only(&["login", "name", "password", "role", "operator"])?;
    let wanted = Wanted {
        login: form.get("login"),
        name: form.get("name"),
        password: Some(form.get("password")).filter(|password| !password.is_empty()),
        standing: standing(&form)?,
    };
    let how = (&state.passwords, state.random.as_ref());
    let (by, now) = (admin.0.by(), state.clock.now());
    let added = people::add(state.store.as_ref(), how, &wanted, &by, now).await;
    done(added.map(|_| ()), session.as_ref(), &request, &state).await
}

pub async fn set_role(
    admin: Admin,
    session: Option<Session>,
    request: HttpRequest,
    form: Form,
    state: Data<AppState>,
) -> Result<HttpResponse, Problem> {
    form.only(&["id", "role", "operator"])?;
    let (by, now) = (admin.0.by(), state.clock.now());
    let standing = standing(&form)?;
    let changed = people::set_role(state.store.as_ref(), form.get("id"), standing, &by, now).await;
    done(changed, session.as_ref(), &request, &state).await
}

pub async fn set_disabled(
    admin: Admin,
    session: Option<Session>,
    request: HttpRequest,
    form: Form,
    state: Data<AppState>,
) -> Result<HttpResponse, Problem> {
    form.only(&["id", "disabled"])?;
    let disabled = match form.get("disabled") {
        "yes" => true,
        "no" => false,
        other => {
            let detail = format!("disabled is yes or no, not {other:?}");
            return Err(Problem::new(Code::MalformedBody, detail));
        }
    };
    let (by, now) = (admin.0.by(), state.clock.now());
    let changed = people::set_disabled(state.store.as_ref(), form.get("id"), disabled, &by, now).await;
    done(changed, session.as_ref(), &request, &state).await
}

pub async fn end_sessions(
    admin: Admin,
    request: HttpRequest,
    form: Form,
    state: Data<AppState>,
) -> Result<HttpResponse, Problem> {
    form.only(&["id"])?;
    let (by, now) = (admin.0.by(), state.clock.now());
    sessions::end_all(state.store.as_ref(), form.get("id"), &by, now).await?;
    Ok(see_other(&locale::of(&request).href("/people")))
}

fn standing(form: &Form) -> Result<Standing, Problem> {
    let word = form.get("role");
    let unknown = || Problem::new(Code::MalformedBody, format!("there is no role {word:?}"));
    Ok(Standing {
        role: Role::from_word(word).ok_or_else(unknown)?,
        operator: form.get("operator") == "yes",
    })
}

async fn done(
    outcome: Result<(), PeopleError>,
    session: Option<&Session>,
    request: &HttpRequest,
    state: &AppState,
) -> Result<HttpResponse, Problem> {
    let locale = locale::of(request);
    let Err(error) = outcome else {
        return Ok(see_other(&locale.href("/people")));
    };
    let mut page = made(session, locale, state).await?;
    page.refusal = Some(told::people(error, page.words)?);
    let mut response = html_not_shared(&page)?;
    *response.status_mut() = StatusCode::UNPROCESSABLE_ENTITY;
    Ok(response)
}
