//! What a browser does with cookies and forms, as far as tests need it.

use peerless::clock::SystemRandom;
use peerless::domain::accounts::people;
use peerless::store::{By, Role, Standing};
use reqwest::header::{COOKIE, HeaderMap, ORIGIN, SET_COOKIE};
use reqwest::{Method, RequestBuilder, Response};

use crate::test_app::{NOW, TestApp, client};

/// The password of every person in tests.
pub const PASSWORD: &str = "tramway oxide lantern";

impl TestApp {
    /// Makes a person with this login and role; the password is [`PASSWORD`].
    pub async fn person(&self, login: &str, role: Role, operator: bool) -> String {
        let wanted = people::Wanted {
            login,
            name: "",
            password: Some(PASSWORD),
            standing: Standing { role, operator },
        };
        let how = (
            &self.state.passwords,
            &SystemRandom as &dyn peerless::clock::Random,
        );
        let by = By::system("test");
        let added = people::add(self.store.as_ref(), how, &wanted, &by, NOW).await;
        added.unwrap()
    }

    /// A browser in which this person is logged in.
    pub async fn browser(&self, login: &str) -> Browser {
        let mut browser = Browser::new(self);
        let answer = browser
            .send("/login", &[("login", login), ("password", PASSWORD)])
            .await;
        assert_eq!(answer.status(), 303, "{}", answer.text().await.unwrap());
        browser
    }
}

pub struct Browser {
    client: reqwest::Client,
    pub url: String,
    /// `name=value`, as the server set it.
    pub cookie: Option<String>,
    /// What forms carry.
    pub csrf: String,
    /// Sent with each request.
    pub headers: HeaderMap,
}

impl Browser {
    pub fn new(app: &TestApp) -> Self {
        Self {
            client: client(),
            url: app.url.clone(),
            cookie: None,
            csrf: String::new(),
            headers: HeaderMap::new(),
        }
    }

    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self
            .client
            .request(method, format!("{}{path}", self.url))
            .headers(self.headers.clone())
            .header("accept", "text/html");
        match &self.cookie {
            Some(cookie) => request.header(COOKIE, cookie),
            None => request,
        }
    }

    pub async fn get(&self, path: &str) -> Response {
        self.request(Method::GET, path).send().await.unwrap()
    }

    pub async fn page(&self, path: &str) -> String {
        let response = self.get(path).await;
        assert_eq!(response.status(), 200, "{path}");
        response.text().await.unwrap()
    }

    /// A form of a page of the server, without sending it.
    pub fn form(&self, path: &str, fields: &[(&str, &str)]) -> RequestBuilder {
        let mut body = url_encoded(fields);
        if !self.csrf.is_empty() {
            body.push_str("&csrf=");
            body.push_str(&self.csrf);
        }
        self.request(Method::POST, path)
            .header("content-type", "application/x-www-form-urlencoded")
            .header(ORIGIN, &self.url)
            .body(body)
    }

    /// Sends a form as its page does, keeps the cookie that comes back, and reads what the next form will carry.
    pub async fn send(&mut self, path: &str, fields: &[(&str, &str)]) -> Response {
        let response = self.form(path, fields).send().await.unwrap();
        self.keep(&response);
        if self.cookie.is_some() && response.status() == 303 {
            let page = self.get("/account").await;
            if page.status() == 200 {
                self.csrf = csrf_of(&page.text().await.unwrap());
            }
        }
        response
    }

    fn keep(&mut self, response: &Response) {
        for line in response.headers().get_all(SET_COOKIE) {
            let line = line.to_str().unwrap();
            let pair = line.split(';').next().unwrap();
            self.cookie = Some(pair.to_owned()).filter(|pair| !pair.ends_with('='));
        }
    }
}

/// What the forms of a page carry.
pub fn csrf_of(page: &str) -> String {
    let (_, rest) = page.split_once("name=\"csrf\" value=\"").expect("a form");
    rest.split('"').next().unwrap().to_owned()
}

pub fn url_encoded(fields: &[(&str, &str)]) -> String {
    let encoded = |text: &str| peerless::render::words::encoded(text);
    let pairs: Vec<String> = fields
        .iter()
        .map(|(name, value)| format!("{}={}", encoded(name), encoded(value)))
        .collect();
    pairs.join("&")
}
