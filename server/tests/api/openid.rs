//! Logging in at a provider of OpenID Connect, which runs in this process and lies where a test wants it to.

use std::net::TcpListener;
use std::process::Command;
use std::sync::{Arc, Mutex};

use actix_web::{App, HttpResponse, HttpServer, web};
use openidconnect::core::{
    CoreHmacKey, CoreJsonWebKeySet, CoreJwsSigningAlgorithm, CoreRsaPrivateSigningKey,
};
use openidconnect::{JsonWebKeyId, PkceCodeChallenge, PkceCodeVerifier, PrivateSigningKey};
use peerless::config::OidcArgs;
use peerless::store::Role;
use reqwest::Response;
use serde_json::{Value, json};
use time::Duration;

use crate::test_app::{NOW, TestApp};

const CLIENT: &str = "peerless-test";
const SECRET: &str = "the secret of the client";

/// How the ID token is signed.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Signed {
    Well,
    ByAnother,
    Hmac,
    None,
}

struct Told {
    claims: Value,
    signed: Signed,
    /// What the browser brought: the challenge of PKCE.
    challenge: String,
}

struct Provider {
    url: String,
    told: Arc<Mutex<Told>>,
}

fn key() -> CoreRsaPrivateSigningKey {
    let made = Command::new("openssl")
        .args(["genrsa", "-traditional", "2048"])
        .output()
        .expect("openssl");
    let pem = String::from_utf8(made.stdout).unwrap();
    CoreRsaPrivateSigningKey::from_pem(&pem, Some(JsonWebKeyId::new("k1".to_owned()))).unwrap()
}

fn base64url(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let number = three.iter().enumerate().fold(0_u32, |number, (at, byte)| {
            number | u32::from(*byte) << (16 - 8 * at)
        });
        for at in 0..=three.len() {
            let letter = (number >> (18 - 6 * at)) & 63;
            text.push(char::from(LETTERS[letter as usize]));
        }
    }
    text
}

fn id_token(told: &Told, own: &CoreRsaPrivateSigningKey, other: &CoreRsaPrivateSigningKey) -> String {
    let (alg, kid) = match told.signed {
        Signed::Well | Signed::ByAnother => ("RS256", true),
        Signed::Hmac => ("HS256", false),
        Signed::None => ("none", false),
    };
    let mut header = json!({"alg": alg});
    if kid {
        header["kid"] = "k1".into();
    }
    let text = format!(
        "{}.{}",
        base64url(header.to_string().as_bytes()),
        base64url(told.claims.to_string().as_bytes())
    );
    let rs256 = CoreJwsSigningAlgorithm::RsaSsaPkcs1V15Sha256;
    let signature = match told.signed {
        Signed::Well => own.sign(&rs256, text.as_bytes()).unwrap(),
        Signed::ByAnother => other.sign(&rs256, text.as_bytes()).unwrap(),
        Signed::Hmac => CoreHmacKey::new(SECRET)
            .sign(&CoreJwsSigningAlgorithm::HmacSha256, text.as_bytes())
            .unwrap(),
        Signed::None => Vec::new(),
    };
    format!("{text}.{}", base64url(&signature))
}

impl Provider {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let told = Arc::new(Mutex::new(Told {
            claims: json!({}),
            signed: Signed::Well,
            challenge: String::new(),
        }));
        let keys = Arc::new((key(), key()));
        let (shared, base) = (told.clone(), url.clone());
        let server = HttpServer::new(move || {
            let (told, keys, base, public) = (shared.clone(), keys.clone(), base.clone(), keys.clone());
            let described = move || {
                let base = base.clone();
                async move {
                    HttpResponse::Ok().json(json!({
                        "issuer": base,
                        "authorization_endpoint": format!("{base}/authorize"),
                        "token_endpoint": format!("{base}/token"),
                        "jwks_uri": format!("{base}/keys"),
                        "response_types_supported": ["code"],
                        "subject_types_supported": ["public"],
                        "id_token_signing_alg_values_supported": ["RS256", "HS256", "none"],
                    }))
                }
            };
            let token = move |form: web::Form<Vec<(String, String)>>| {
                let (told, keys) = (told.clone(), keys.clone());
                async move {
                    let field = |name: &str| {
                        let found = form.iter().find(|(field, _)| field == name);
                        found.map(|(_, value)| value.clone()).unwrap_or_default()
                    };
                    let told = told.lock().unwrap();
                    let verifier = PkceCodeVerifier::new(field("code_verifier"));
                    let challenge = PkceCodeChallenge::from_code_verifier_sha256(&verifier);
                    if challenge.as_str() != told.challenge || field("code") != "good" {
                        return HttpResponse::BadRequest().json(json!({"error": "invalid_grant"}));
                    }
                    HttpResponse::Ok().json(json!({
                        "access_token": "a",
                        "token_type": "Bearer",
                        "id_token": id_token(&told, &keys.0, &keys.1),
                    }))
                }
            };
            let jwks = move || {
                let set = CoreJsonWebKeySet::new(vec![public.0.as_verification_key()]);
                async move { HttpResponse::Ok().json(set) }
            };
            App::new()
                .route("/.well-known/openid-configuration", web::get().to(described))
                .route("/token", web::post().to(token))
                .route("/keys", web::get().to(jwks))
        })
        .workers(1)
        .disable_signals()
        .listen(listener)
        .unwrap()
        .run();
        tokio::spawn(server);
        Self { url, told }
    }

    async fn app(&self) -> TestApp {
        let issuer = self.url.clone();
        let app = TestApp::start_with(move |options| {
            let secret = options.settings.data.data_dir.join("secret");
            std::fs::write(&secret, SECRET).unwrap();
            options.settings.public_url = Some("http://127.0.0.1:1".to_owned());
            options.settings.oidc = OidcArgs {
                issuer: Some(issuer),
                client_id: Some(CLIENT.to_owned()),
                client_secret_file: Some(secret),
                role_claim: Some("groups".to_owned()),
                ..OidcArgs::default()
            };
        });
        app.await
    }

    /// The claims of a good token.
    fn claims(&self, nonce: &str) -> Value {
        json!({
            "iss": self.url,
            "aud": CLIENT,
            "sub": "subject-1",
            "nonce": nonce,
            "iat": NOW.unix_timestamp(),
            "exp": NOW.unix_timestamp() + 300,
            "preferred_username": "ada",
            "name": "Ada Lovelace",
            "groups": ["editor", "operator"],
        })
    }
}

/// A login that was begun: what the browser keeps, and what it brings to the provider.
struct Begun {
    cookie: String,
    state: String,
    nonce: String,
}

async fn begin(app: &TestApp, provider: &Provider) -> Begun {
    let answer = app.get("/login/oidc?return_to=/nodes").await;
    assert_eq!(answer.status(), 303);
    let address = answer.headers()["location"].to_str().unwrap();
    let address = reqwest::Url::parse(address).unwrap();
    assert!(
        address
            .as_str()
            .starts_with(&format!("{}/authorize?", provider.url))
    );
    let value = |name: &str| {
        let found = address.query_pairs().find(|(field, _)| field == name);
        found.unwrap().1.into_owned()
    };
    assert_eq!(value("code_challenge_method"), "S256");
    assert_eq!(value("redirect_uri"), "http://127.0.0.1:1/login/oidc/done");
    provider.told.lock().unwrap().challenge = value("code_challenge");
    let cookie = answer.headers()["set-cookie"].to_str().unwrap();
    assert!(
        cookie.contains("; HttpOnly; SameSite=Lax; Max-Age=600"),
        "{cookie}"
    );
    Begun {
        cookie: cookie.split(';').next().unwrap().to_owned(),
        state: value("state"),
        nonce: value("nonce"),
    }
}

async fn finish(app: &TestApp, begun: &Begun, state: &str, code: &str) -> Response {
    let path = format!("/login/oidc/done?state={state}&code={code}&session_state=x");
    let request = app.request(reqwest::Method::GET, &path);
    request.header("cookie", &begun.cookie).send().await.unwrap()
}

fn assert_refused(answer: &Response, what: &str) {
    assert_eq!(answer.status(), 403, "{what}");
    assert!(answer.headers().get("set-cookie").is_none(), "{what}");
}

#[tokio::test]
async fn who_comes_back_from_the_provider_is_let_in_with_its_role() {
    let provider = Provider::start();
    let app = provider.app().await;
    let page = app.get("/login?return_to=/nodes").await.text().await.unwrap();
    assert!(page.contains("href=\"/login/oidc?return_to=%2Fnodes\""), "{page}");
    let begun = begin(&app, &provider).await;
    provider.told.lock().unwrap().claims = provider.claims(&begun.nonce);
    let answer = finish(&app, &begun, &begun.state, "good").await;
    let status = answer.status();
    assert_eq!(
        answer.headers().get("location").map(|to| to.to_str().unwrap()),
        Some("/nodes"),
        "{status}"
    );
    let ada = app.store.person_by_login("ada").await.unwrap().unwrap();
    assert_eq!((ada.standing.role, ada.standing.operator), (Role::Editor, true));
    assert_eq!(ada.subject, Some((provider.url.clone(), "subject-1".to_owned())));
    assert_eq!(ada.name, "Ada Lovelace");
    let session = answer.headers()["set-cookie"]
        .to_str()
        .unwrap()
        .split(';')
        .next()
        .unwrap();
    let nodes = app
        .request(reqwest::Method::GET, "/nodes")
        .header("cookie", session);
    assert_eq!(nodes.send().await.unwrap().status(), 200);

    // The same subject later: another role, the same account.
    let begun = begin(&app, &provider).await;
    let mut claims = provider.claims(&begun.nonce);
    claims["groups"] = "contributor".into();
    claims["preferred_username"] = "somebody-else".into();
    provider.told.lock().unwrap().claims = claims;
    assert_eq!(finish(&app, &begun, &begun.state, "good").await.status(), 303);
    let people = app.store.persons().await.unwrap();
    assert_eq!(people.len(), 1);
    assert_eq!(people[0].standing.role, Role::Contributor);
}

#[tokio::test]
async fn a_token_that_is_not_good_lets_nobody_in() {
    let provider = Provider::start();
    let app = provider.app().await;
    let now = NOW.unix_timestamp();
    for (what, name, value, signed) in [
        ("issuer", "iss", json!("http://evil.example"), Signed::Well),
        ("audience", "aud", json!("another"), Signed::Well),
        ("audiences", "aud", json!([CLIENT, "another"]), Signed::Well),
        ("nonce", "nonce", json!("another"), Signed::Well),
        ("no nonce", "nonce", json!(null), Signed::Well),
        ("expired", "exp", json!(now - 1), Signed::Well),
        ("algorithm none", "sub", json!("subject-1"), Signed::None),
        ("another key", "sub", json!("subject-1"), Signed::ByAnother),
        ("hmac with the secret", "sub", json!("subject-1"), Signed::Hmac),
    ] {
        let begun = begin(&app, &provider).await;
        {
            let mut told = provider.told.lock().unwrap();
            told.claims = provider.claims(&begun.nonce);
            told.claims[name] = value;
            told.signed = signed;
        }
        assert_refused(&finish(&app, &begun, &begun.state, "good").await, what);
    }
    assert_eq!(app.store.persons().await.unwrap(), []);
}

#[tokio::test]
async fn a_login_is_finished_once_and_in_its_own_browser() {
    let provider = Provider::start();
    let app = provider.app().await;
    let begun = begin(&app, &provider).await;
    provider.told.lock().unwrap().claims = provider.claims(&begun.nonce);
    assert_refused(&finish(&app, &begun, "another", "good").await, "state");
    assert_refused(&finish(&app, &begun, "", "good").await, "no state");
    let other = Begun {
        cookie: "a=b".to_owned(),
        state: begun.state.clone(),
        nonce: String::new(),
    };
    assert_refused(
        &finish(&app, &other, &begun.state, "good").await,
        "another browser",
    );
    let answer = finish(&app, &begun, &begun.state, "good").await;
    assert_eq!(answer.status(), 303);
    let cleared = answer.headers().get_all("set-cookie").iter();
    assert!(
        cleared
            .map(|value| value.to_str().unwrap())
            .any(|value| value.starts_with("peerless-login=;") && value.ends_with("Max-Age=0"))
    );
    assert_refused(&finish(&app, &begun, &begun.state, "good").await, "replay");

    let begun = begin(&app, &provider).await;
    assert_refused(&finish(&app, &begun, &begun.state, "stolen").await, "code");
    // A code of another login, whose verifier this browser does not have.
    let first = begin(&app, &provider).await;
    begin(&app, &provider).await;
    assert_refused(&finish(&app, &first, &first.state, "good").await, "PKCE");
    let late = begin(&app, &provider).await;
    app.clock.set(NOW + Duration::minutes(11));
    assert_refused(&finish(&app, &late, &late.state, "good").await, "late");
}

#[tokio::test]
async fn a_login_here_is_not_taken_over_from_there() {
    let provider = Provider::start();
    let app = provider.app().await;
    app.person("ada", Role::Admin, false).await;
    let begun = begin(&app, &provider).await;
    provider.told.lock().unwrap().claims = provider.claims(&begun.nonce);
    let answer = finish(&app, &begun, &begun.state, "good").await;
    assert_eq!(answer.status(), 409);
    assert!(answer.headers().get("set-cookie").is_none());
}

#[tokio::test]
async fn without_a_provider_there_is_no_such_login() {
    let app = TestApp::start().await;
    assert_eq!(app.get("/login/oidc").await.status(), 404);
    assert!(
        !app.get("/login")
            .await
            .text()
            .await
            .unwrap()
            .contains("/login/oidc")
    );
}
