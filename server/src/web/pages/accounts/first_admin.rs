//! `/first-admin`: whoever has the link that the server prints at its first start becomes its administrator.

use actix_web::http::StatusCode;
use actix_web::web::{Data, Query};
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use serde::Deserialize;

use super::login::hand_over;
use super::{browser, refuse_open_way, see_other, told};
use crate::domain::accounts::people;
use crate::domain::accounts::sessions::{self, Word};
use crate::render::i18n::Locale;
use crate::render::i18n::account::Words;
use crate::web::auth::Anyone;
use crate::web::error::Problem;
use crate::web::pages::layout::{Layout, Section};
use crate::web::pages::{html_not_shared, locale};
use crate::web::session::{self, Form};
use crate::web::state::AppState;

#[derive(Debug, Template)]
#[template(path = "pages/first_admin.html")]
pub struct FirstAdminPage {
    pub(in crate::web::pages) layout: Layout,
    pub(in crate::web::pages) words: &'static Words,
    /// Absent where the link is not good.
    pub(in crate::web::pages) key: Option<String>,
    pub(in crate::web::pages) login: String,
    pub(in crate::web::pages) name: String,
    pub(in crate::web::pages) refusal: Option<String>,
}

impl FirstAdminPage {
    pub(in crate::web::pages) fn new(locale: Locale, key: Option<String>) -> Self {
        let words = Words::of(locale.language);
        Self {
            layout: Layout::new(format!("{} · Peerless", words.first_admin), Section::Account).spoken(locale),
            words,
            key,
            login: String::new(),
            name: String::new(),
            refusal: None,
        }
    }
}

#[derive(Debug, Deserialize)]
pub struct LinkQuery {
    #[serde(default)]
    key: String,
}

pub async fn get(
    _: Anyone,
    request: HttpRequest,
    query: Query<LinkQuery>,
    state: Data<AppState>,
) -> Result<HttpResponse, Problem> {
    let (_, way) = browser(&request, &state);
    refuse_open_way(way, &state)?;
    let is_good = people::is_first_admin_key(state.store.as_ref(), &query.key, state.clock.now()).await?;
    let page = FirstAdminPage::new(locale::of(&request), is_good.then(|| query.key.clone()));
    let mut response = html_not_shared(&page)?;
    if !is_good {
        *response.status_mut() = StatusCode::GONE;
    }
    Ok(response)
}

pub async fn post(
    _: Anyone,
    request: HttpRequest,
    form: Form,
    state: Data<AppState>,
) -> Result<HttpResponse, Problem> {
    form.only(&["key", "login", "name", "password", "again"])?;
    let (browser, way) = browser(&request, &state);
    refuse_open_way(way, &state)?;
    let key = form.get("key");
    let mut page = FirstAdminPage::new(locale::of(&request), Some(key.to_owned()));
    form.get("login").clone_into(&mut page.login);
    form.get("name").clone_into(&mut page.name);
    if form.get("password") != form.get("again") {
        page.refusal = Some(page.words.not_again.to_owned());
        return refused(&page);
    }
    let now = state.clock.now();
    let random = state.random.as_ref();
    let typed = (key, form.get("login"), form.get("name"), form.get("password"));
    let address = browser.address.map(|address| address.to_string());
    let how = (&state.passwords, random);
    let made = people::add_first_admin(state.store.as_ref(), how, typed, address, now).await;
    let person = match made {
        Ok(person) => person,
        Err(error) => {
            page.refusal = Some(told::people(error, page.words)?);
            return refused(&page);
        }
    };
    let secret = sessions::start(state.store.as_ref(), random, &person, &browser, Word::Login, now).await;
    let secret = secret.map_err(|error| Problem::internal(&error))?;
    let mut response = see_other(&page.layout.locale.href("/account"));
    hand_over(&mut response, &session::set(&secret, way));
    Ok(response)
}

fn refused(page: &FirstAdminPage) -> Result<HttpResponse, Problem> {
    let mut response = html_not_shared(page)?;
    *response.status_mut() = StatusCode::UNPROCESSABLE_ENTITY;
    Ok(response)
}
