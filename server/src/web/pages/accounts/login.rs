//! `/login` and `/logout`.

use actix_web::http::header;
use actix_web::http::{StatusCode, header::HeaderValue};
use actix_web::web::{Data, Query};
use actix_web::{HttpRequest, HttpResponse};
use askama::Template;
use serde::Deserialize;

use super::{browser, is_open_way, own_address, refuse_open_way, see_other, told};
use crate::domain::accounts::sessions::{self, Browser, Door, LoginError, Word};
use crate::domain::accounts::vouched::{self, Vouched, VouchedError};
use crate::render::i18n::Locale;
use crate::render::i18n::account::Words;
use crate::render::words::encoded;
use crate::web::auth::Anyone;
use crate::web::error::{Code, Problem};
use crate::web::pages::layout::{Layout, Section};
use crate::web::pages::{html_not_shared, locale};
use crate::web::session::{self, Form, Session, Way};
use crate::web::state::AppState;

#[derive(Debug, Template)]
#[template(path = "pages/login.html")]
pub struct LoginPage {
    pub(in crate::web::pages) layout: Layout,
    pub(in crate::web::pages) words: &'static Words,
    pub(in crate::web::pages) login: String,
    pub(in crate::web::pages) return_to: String,
    /// Why it was not taken.
    pub(in crate::web::pages) refusal: Option<String>,
    /// Where one logs in at a provider.
    pub(in crate::web::pages) openid: Option<String>,
    /// A password would be readable on its way here, so none is asked for.
    pub(in crate::web::pages) is_open_way: bool,
}

impl LoginPage {
    pub(in crate::web::pages) fn new(locale: Locale, return_to: &str) -> Self {
        let words = Words::of(locale.language);
        Self {
            layout: Layout::new(format!("{} · Peerless", words.log_in), Section::Account)
                .spoken(locale)
                .in_both("/login"),
            words,
            login: String::new(),
            return_to: own_address(return_to).to_owned(),
            refusal: None,
            openid: None,
            is_open_way: false,
        }
    }
}

impl LoginPage {
    /// A link, and no form: a form may not lead to another site.
    fn offer_openid(&mut self, state: &AppState) {
        let address = format!("/login/oidc?return_to={}", encoded(&self.return_to));
        self.openid = state.openid.is_some().then(|| self.layout.locale.href(address));
    }
}

#[derive(Debug, Deserialize)]
pub struct LoginQuery {
    #[serde(default)]
    return_to: String,
}

pub async fn get(
    caller: Anyone,
    request: HttpRequest,
    query: Query<LoginQuery>,
    state: Data<AppState>,
) -> Result<HttpResponse, Problem> {
    if caller.0.is_some() {
        return Ok(see_other(own_address(&query.return_to)));
    }
    let (browser, way) = browser(&request, &state);
    if let Some(Some(login)) = session::claimed(request.peer_addr(), request.headers(), &state) {
        return by_proxy(&login, &browser, way, &query.return_to, &state).await;
    }
    let mut page = LoginPage::new(locale::of(&request), &query.return_to);
    page.offer_openid(&state);
    page.is_open_way = is_open_way(way, &state);
    html_not_shared(&page)
}

async fn by_proxy(
    login: &str,
    browser: &Browser,
    way: Way,
    return_to: &str,
    state: &AppState,
) -> Result<HttpResponse, Problem> {
    refuse_open_way(way, state)?;
    let vouched = Vouched {
        by: "proxy",
        word: Word::Proxy,
        login,
        name: "",
        subject: None,
        standing: None,
    };
    let how = (state.store.as_ref(), state.random.as_ref());
    let secret = vouched::log_in(how, &vouched, browser, state.clock.now()).await?;
    let mut response = see_other(own_address(return_to));
    hand_over(&mut response, &session::set(&secret, way));
    Ok(response)
}

impl From<VouchedError> for Problem {
    fn from(error: VouchedError) -> Self {
        match error {
            VouchedError::Wrong(_) | VouchedError::Disabled => Self::new(Code::Forbidden, error.to_string()),
            VouchedError::LoginTaken(_) => Self::new(Code::LoginTaken, error.to_string()),
            VouchedError::Random(error) => Self::internal(&error),
            VouchedError::Store(error) => error.into(),
        }
    }
}

pub async fn post(
    _: Anyone,
    request: HttpRequest,
    form: Form,
    state: Data<AppState>,
) -> Result<HttpResponse, Problem> {
    form.only(&["login", "password", "return_to"])?;
    let (browser, way) = browser(&request, &state);
    refuse_open_way(way, &state)?;
    let typed = (form.get("login"), form.get("password"));
    match sessions::log_in(door(&state), typed, &browser).await {
        Ok(secret) => {
            let mut response = see_other(own_address(form.get("return_to")));
            hand_over(&mut response, &session::set(&secret, way));
            Ok(response)
        }
        Err(error) => refused(error, &request, &form, &state),
    }
}

pub(super) fn door(state: &AppState) -> Door<'_> {
    Door {
        store: state.store.as_ref(),
        passwords: &state.passwords,
        limiter: &state.logins,
        random: state.random.as_ref(),
        now: state.clock.now(),
    }
}

pub(super) fn hand_over(response: &mut HttpResponse, cookie: &str) {
    if let Ok(value) = HeaderValue::from_str(cookie) {
        response.headers_mut().append(header::SET_COOKIE, value);
    }
}

fn refused(
    error: LoginError,
    request: &HttpRequest,
    form: &Form,
    state: &AppState,
) -> Result<HttpResponse, Problem> {
    let wait = match &error {
        LoginError::Wait(wait) => Some(wait.as_secs() + 1),
        _ => None,
    };
    let mut page = LoginPage::new(locale::of(request), form.get("return_to"));
    page.offer_openid(state);
    page.refusal = Some(told::login(error, page.words)?);
    form.get("login").clone_into(&mut page.login);
    let mut response = html_not_shared(&page)?;
    *response.status_mut() = match wait {
        Some(_) => StatusCode::TOO_MANY_REQUESTS,
        None => StatusCode::UNAUTHORIZED,
    };
    if let Some(seconds) = wait {
        response
            .headers_mut()
            .insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    Ok(response)
}

pub async fn log_out(
    session: Session,
    request: HttpRequest,
    form: Form,
    state: Data<AppState>,
) -> Result<HttpResponse, Problem> {
    form.only(&[])?;
    let (_, way) = browser(&request, &state);
    let (by, now) = (session.by(), state.clock.now());
    let (person, id) = (&session.person.id, &session.session.id);
    sessions::end(state.store.as_ref(), person, id, (&by, "logout"), now).await?;
    let mut response = see_other(&session.locale.href("/"));
    hand_over(&mut response, &session::cleared(way));
    Ok(response)
}
