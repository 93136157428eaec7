//! Logging in at a provider that others wrote, `oidc-provider-mock` on Authlib. `cargo xtask oidc` installs it and runs these tests.

mod provider;

use peerless::store::Role;
use reqwest::{Response, StatusCode, Url};

use crate::test_app::TestApp;
use provider::{ADA, EVE, PUBLIC, Provider, Registered};

/// A login that was begun: the provider's page, and what the browser keeps meanwhile.
struct Begun {
    address: Url,
    cookie: String,
}

impl Begun {
    fn parameter(&self, name: &str) -> String {
        parameter(&self.address, name)
    }
}

fn parameter(address: &Url, name: &str) -> String {
    let found = address.query_pairs().find(|(field, _)| field == name);
    found.unwrap().1.into_owned()
}

fn code(back: &str) -> String {
    parameter(&Url::parse(PUBLIC).unwrap().join(back).unwrap(), "code")
}

fn cookie(answer: &Response) -> String {
    let set = answer.headers()["set-cookie"].to_str().unwrap();
    set.split(';').next().unwrap().to_owned()
}

/// Follows the link of the login page.
async fn begin(app: &TestApp) -> Begun {
    let page = app.get("/login?return_to=/nodes").await.text().await.unwrap();
    let link = "/login/oidc?return_to=%2Fnodes";
    assert!(page.contains(&format!("href=\"{link}\"")), "{page}");
    let answer = app.get(link).await;
    let status = answer.status();
    assert_eq!(status, 303, "{}", answer.text().await.unwrap());
    Begun {
        address: Url::parse(answer.headers()["location"].to_str().unwrap()).unwrap(),
        cookie: cookie(&answer),
    }
}

async fn come_back(app: &TestApp, begun: &Begun, path: &str) -> Response {
    let request = app
        .request(reqwest::Method::GET, path)
        .header("accept", "text/html");
    request.header("cookie", &begun.cookie).send().await.unwrap()
}

async fn assert_nobody(app: &TestApp, answer: Response, status: u16, says: &str) {
    assert!(answer.headers().get("set-cookie").is_none());
    let found = answer.status().as_u16();
    let page = answer.text().await.unwrap();
    assert_eq!(found, status, "{page}");
    assert!(page.contains(says), "{page}");
    assert_eq!(app.store.persons().await.unwrap(), []);
}

#[tokio::test]
#[ignore = "needs a provider: `cargo xtask oidc` runs it"]
async fn a_real_provider_lets_somebody_in_with_the_role_of_the_claim() {
    let provider = Provider::start();
    let app = provider.app(&provider.register().await).await;
    let begun = begin(&app).await;
    let back = provider.agrees(&begun, ADA).await;
    let answer = come_back(&app, &begun, &back).await;
    let status = answer.status();
    assert_eq!(
        answer.headers().get("location").map(|to| to.to_str().unwrap()),
        Some("/nodes"),
        "{status}"
    );
    let session = cookie(&answer);
    let read = async |path: &str| {
        let request = app.request(reqwest::Method::GET, path).header("cookie", &session);
        request.header("accept", "text/html").send().await.unwrap()
    };
    let nodes = read("/nodes").await;
    assert_eq!(nodes.status(), 200);
    assert!(nodes.text().await.unwrap().contains(">Ada Lovelace</a>"));
    assert_eq!(read("/workbench").await.status(), 200);
    assert_eq!(read("/people").await.status(), 403);
    let ada = app.store.person_by_login("ada").await.unwrap().unwrap();
    assert_eq!((ada.standing.role, ada.standing.operator), (Role::Editor, true));
    assert_eq!(ada.subject, Some((provider.url.clone(), ADA.to_owned())));

    // Somebody whose groups mean nothing here reads, and no more.
    let begun = begin(&app).await;
    let back = provider.agrees(&begun, EVE).await;
    assert_eq!(come_back(&app, &begun, &back).await.status(), 303);
    let eve = app.store.person_by_login("eve").await.unwrap().unwrap();
    assert_eq!((eve.standing.role, eve.standing.operator), (Role::Viewer, false));
}

#[tokio::test]
#[ignore = "needs a provider: `cargo xtask oidc` runs it"]
async fn codes_and_states_of_a_real_provider_are_good_once() {
    let provider = Provider::start();
    let app = provider.app(&provider.register().await).await;
    let first = begin(&app).await;
    let back = provider.agrees(&first, ADA).await;
    assert_eq!(come_back(&app, &first, &back).await.status(), 303);
    // The same address again, in the browser that still has its cookie.
    let again = come_back(&app, &first, &back).await;
    assert_eq!(again.status(), StatusCode::FORBIDDEN);
    assert!(again.headers().get("set-cookie").is_none());
    assert!(again.text().await.unwrap().contains("it was finished before"));
    // The code that was used, with the state of a new login.
    let second = begin(&app).await;
    let spent = format!(
        "/login/oidc/done?code={}&state={}",
        code(&back),
        second.parameter("state")
    );
    let spent = come_back(&app, &second, &spent).await;
    assert_eq!(spent.status(), StatusCode::FORBIDDEN);
    assert!(spent.headers().get("set-cookie").is_none());
}

#[tokio::test]
#[ignore = "needs a provider: `cargo xtask oidc` runs it"]
async fn a_code_of_a_real_provider_is_for_the_login_that_it_was_made_in() {
    let provider = Provider::start();
    let app = provider.app(&provider.register().await).await;
    // Somebody puts the code of their own login into the browser of somebody else.
    let (theirs, own) = (begin(&app).await, begin(&app).await);
    let made = code(&provider.agrees(&own, EVE).await);
    let put = format!("/login/oidc/done?code={made}&state={}", theirs.parameter("state"));
    assert_nobody(
        &app,
        come_back(&app, &theirs, &put).await,
        403,
        "The login is not accepted",
    )
    .await;

    // A code that was made for another program.
    let other = provider.register().await;
    let begun = begin(&app).await;
    let mut address = begun.address.clone();
    let pairs: Vec<(String, String)> = begun.address.query_pairs().into_owned().collect();
    address.query_pairs_mut().clear().extend_pairs(
        pairs
            .iter()
            .map(|(name, value)| (name, if name == "client_id" { &other.id } else { value })),
    );
    let elsewhere = Begun {
        address,
        cookie: begun.cookie.clone(),
    };
    let back = provider.agrees(&elsewhere, ADA).await;
    assert_nobody(
        &app,
        come_back(&app, &begun, &back).await,
        403,
        "the provider does not accept the code",
    )
    .await;
}

#[tokio::test]
#[ignore = "needs a provider: `cargo xtask oidc` runs it"]
async fn a_code_of_another_real_provider_lets_nobody_in() {
    let (provider, other) = (Provider::start(), Provider::start());
    let app = provider.app(&provider.register().await).await;
    let theirs = other.app(&other.register().await).await;
    let made = code(&other.agrees(&begin(&theirs).await, ADA).await);
    let begun = begin(&app).await;
    let put = format!("/login/oidc/done?code={made}&state={}", begun.parameter("state"));
    assert_nobody(
        &app,
        come_back(&app, &begun, &put).await,
        403,
        "the provider does not accept the code",
    )
    .await;

    // A provider that names itself otherwise than the settings do.
    let registered = provider.register().await;
    let app = provider
        .app_with(&registered, |oidc| {
            oidc.issuer = Some(format!("{}/", provider.url));
        })
        .await;
    let answer = app.get("/login/oidc").await;
    assert_nobody(&app, answer, 503, "the log of this server says why").await;
}

#[tokio::test]
#[ignore = "needs a provider: `cargo xtask oidc` runs it"]
async fn a_real_provider_that_does_not_know_this_server_lets_nobody_in() {
    let provider = Provider::start();
    let registered = provider.register().await;
    let stranger = Registered {
        id: "stranger".to_owned(),
        ..registered.clone()
    };
    let app = provider.app(&stranger).await;
    let begun = begin(&app).await;
    let refused = provider.client.get(begun.address.clone()).send().await.unwrap();
    assert_eq!(refused.status(), 400, "the provider itself says so");

    // A wrong secret is a fault of the settings, and none of who logs in.
    let wrong = Registered {
        secret: "not the secret".to_owned(),
        ..registered
    };
    let app = provider.app(&wrong).await;
    let begun = begin(&app).await;
    let back = provider.agrees(&begun, ADA).await;
    assert_nobody(
        &app,
        come_back(&app, &begun, &back).await,
        503,
        "the log of this server says why",
    )
    .await;
}

#[tokio::test]
#[ignore = "needs a provider: `cargo xtask oidc` runs it"]
async fn who_says_no_at_a_real_provider_may_begin_again() {
    let provider = Provider::start();
    let app = provider.app(&provider.register().await).await;
    let begun = begin(&app).await;
    let back = provider.answers(&begun, ("action", "deny")).await;
    assert_nobody(
        &app,
        come_back(&app, &begun, &back).await,
        403,
        "the provider let nobody in",
    )
    .await;
    let begun = begin(&app).await;
    let back = provider.agrees(&begun, ADA).await;
    assert_eq!(come_back(&app, &begun, &back).await.status(), 303);
}

#[tokio::test]
#[ignore = "needs a provider: `cargo xtask oidc` runs it"]
async fn a_real_provider_may_exchange_its_keys() {
    let provider = Provider::lenient("0");
    let anything = Registered {
        id: "peerless".to_owned(),
        secret: "any".to_owned(),
    };
    let app = provider.app(&anything).await;
    let begun = begin(&app).await;
    let back = provider.agrees(&begun, ADA).await;
    assert_eq!(come_back(&app, &begun, &back).await.status(), 303);
    let port = provider.port();
    drop(provider);

    // It makes its keys at each start.
    let provider = Provider::lenient(&port);
    let begun = begin(&app).await;
    let back = provider.agrees(&begun, ADA).await;
    let answer = come_back(&app, &begun, &back).await;
    assert_eq!(answer.status(), 303, "{}", answer.text().await.unwrap());
}
