//! Accounts, as administrators see and change them; people whom a proxy signs on; `peerless user`.

use std::io::Write as _;
use std::process::{Command, Stdio};

use peerless::store::{Role, Scope};
use reqwest::Method;
use serde_json::json as object;

use crate::browser::{Browser, PASSWORD};
use crate::test_app::{NOW, Options, TestApp, json, problem};

#[tokio::test]
async fn administrators_make_and_change_accounts_on_the_page() {
    let app = TestApp::start().await;
    app.person("root", Role::Admin, false).await;
    let mut admin = app.browser("root").await;
    let order = |password| {
        [
            ("login", "bob"),
            ("name", "Bob"),
            ("password", password),
            ("role", "editor"),
            ("operator", "yes"),
        ]
    };
    assert_eq!(admin.send("/people", &order("short")).await.status(), 422);
    assert_eq!(admin.send("/people", &order(PASSWORD)).await.status(), 303);
    assert_eq!(
        admin.send("/people", &order(PASSWORD)).await.status(),
        422,
        "taken"
    );
    let bob = app.store.person_by_login("bob").await.unwrap().unwrap();
    assert_eq!((bob.standing.role, bob.standing.operator), (Role::Editor, true));
    let of_bob = app.browser("bob").await;
    let fields = [("id", bob.id.as_str()), ("role", "viewer")];
    assert_eq!(admin.send("/people/role", &fields).await.status(), 303);
    assert_eq!(of_bob.get("/account").await.status(), 401, "the session ended");
    let of_bob = app.browser("bob").await;
    assert_eq!(of_bob.get("/people").await.status(), 403);
    let end = [("id", bob.id.as_str())];
    assert_eq!(admin.send("/people/sessions/end", &end).await.status(), 303);
    assert_eq!(of_bob.get("/account").await.status(), 401);
    let shut = [("id", bob.id.as_str()), ("disabled", "yes")];
    assert_eq!(admin.send("/people/disabled", &shut).await.status(), 303);
    assert!(admin.page("/people").await.contains("shut out"));
    let root = app.store.person_by_login("root").await.unwrap().unwrap();
    let own = [("id", root.id.as_str()), ("role", "viewer")];
    assert_eq!(
        admin.send("/people/role", &own).await.status(),
        422,
        "the last one"
    );
}

#[tokio::test]
async fn administrators_make_and_change_accounts_over_the_interface() {
    let app = TestApp::start().await;
    let token = app.token(&[Scope::Admin]).await;
    let post = |path: String, body: serde_json::Value| {
        let request = app.request(Method::POST, &path).bearer_auth(&token);
        async move { request.json(&body).send().await.unwrap() }
    };
    let people = || "/api/v1/people".to_owned();
    let made = post(
        people(),
        object!({"login": "ada", "password": PASSWORD, "role": "admin"}),
    )
    .await;
    assert_eq!(made.status(), 201);
    let id = json(made).await["id"].as_str().unwrap().to_owned();
    let again = post(people(), object!({"login": "ADA", "role": "viewer"})).await;
    problem(again, 409, "login_taken").await;
    for wrong in [
        object!({"login": "bob", "role": "owner"}),
        object!({"login": "b b", "role": "viewer"}),
        object!({"login": "bob", "role": "viewer", "password": "password123"}),
    ] {
        problem(post(people(), wrong).await, 400, "malformed_body").await;
    }
    let of = |call: &str| format!("/api/v1/people/{id}/{call}");
    let viewer = object!({"role": "viewer", "operator": false});
    problem(post(of("role"), viewer.clone()).await, 409, "last_admin").await;
    problem(post(of("disable"), object!({})).await, 409, "last_admin").await;
    post(people(), object!({"login": "root", "role": "admin"})).await;
    assert_eq!(post(of("role"), viewer.clone()).await.status(), 204);
    assert_eq!(post(of("disable"), object!({})).await.status(), 204);
    assert_eq!(post(of("enable"), object!({})).await.status(), 204);
    assert_eq!(post(of("end-sessions"), object!({})).await.status(), 204);
    for call in ["role", "disable", "enable", "end-sessions"] {
        let nobody = format!("/api/v1/people/x/{call}");
        problem(post(nobody, viewer.clone()).await, 404, "not_found").await;
    }
    let list = json(app.get_with("/api/v1/people", &token).await).await;
    assert_eq!(list["people"][0]["login"], "ada");
    assert_eq!(list["people"][0]["role"], "viewer");
    assert_eq!(list["people"][1]["has_password"], false);
    assert!(!list.to_string().contains("argon2"));
    let audit = json(app.get_with("/api/v1/audit?action=person", &token).await).await;
    let actions: Vec<_> = audit["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["action"].as_str().unwrap())
        .collect();
    assert_eq!(
        actions,
        [
            "person.enable",
            "person.disable",
            "person.role",
            "person.create",
            "person.create"
        ]
    );
}

async fn behind_a_proxy() -> TestApp {
    TestApp::start_with(|options| {
        options.settings.trusted_proxies = vec!["127.0.0.1".parse().unwrap()];
        options.settings.login_header = Some("x-remote-user".to_owned());
    })
    .await
}

fn signed_on(app: &TestApp, login: &str) -> Browser {
    let mut browser = Browser::new(app);
    for (name, value) in [
        ("x-forwarded-for", "203.0.113.9"),
        ("x-forwarded-proto", "https"),
        ("x-remote-user", login),
    ] {
        browser.headers.insert(name, value.parse().unwrap());
    }
    browser
}

/// The session that the server gave.
fn session_of(answer: &reqwest::Response) -> String {
    let cookie = answer.headers()["set-cookie"].to_str().unwrap();
    cookie.split(';').next().unwrap().to_owned()
}

#[tokio::test]
async fn whom_the_proxy_signed_on_is_let_in() {
    let app = behind_a_proxy().await;
    let mut browser = signed_on(&app, "ada");
    let answer = browser.get("/login?return_to=/account").await;
    assert_eq!(answer.status(), 303);
    assert_eq!(answer.headers()["location"], "/account");
    browser.cookie = Some(session_of(&answer));
    assert_eq!(browser.get("/account").await.status(), 200);
    let ada = app.store.person_by_login("ada").await.unwrap().unwrap();
    assert_eq!((ada.standing.role, ada.password_hash), (Role::Viewer, None));
    // Somebody else was signed on at the same browser, or nobody.
    browser.headers.insert("x-remote-user", "bob".parse().unwrap());
    assert_eq!(browser.get("/account").await.status(), 401);
    browser.headers.remove("x-remote-user");
    assert_eq!(browser.get("/account").await.status(), 401);
    browser.headers.insert("x-remote-user", "ada".parse().unwrap());
    assert_eq!(browser.get("/account").await.status(), 200);
    browser.headers.append("x-remote-user", "root".parse().unwrap());
    assert_eq!(browser.get("/account").await.status(), 401, "one of two lines");
    let by = peerless::store::By::system("test");
    app.store.set_disabled(&ada.id, true, &by, NOW).await.unwrap();
    assert_eq!(signed_on(&app, "ada").get("/login").await.status(), 403);
    for strange in ["a b", "<script>", "a/b"] {
        assert_eq!(
            signed_on(&app, strange).get("/login").await.status(),
            403,
            "{strange}"
        );
    }
}

#[tokio::test]
async fn what_a_proxy_began_counts_on_no_server_that_has_none() {
    let app = behind_a_proxy().await;
    let begun = session_of(&signed_on(&app, "ada").get("/login").await);
    let secret = begun.split_once('=').unwrap().1.to_owned();
    let folder = app.stop().await;
    let options = Options::new(&folder);
    let plain = TestApp::start_in(folder, options).await;
    for shown in [secret.as_str(), secret.trim_start_matches("proxy-")] {
        for login in ["ada", ""] {
            let mut browser = Browser::new(&plain);
            browser.cookie = Some(format!("peerless={shown}"));
            browser.headers.insert("x-remote-user", login.parse().unwrap());
            assert_eq!(browser.get("/account").await.status(), 401, "{shown} {login}");
        }
    }
}

#[tokio::test]
async fn a_client_cannot_sign_itself_on() {
    // Without the setting, and with it from an address that is no proxy.
    for proxy in ["127.0.0.1", "192.0.2.1"] {
        let app = TestApp::start_with(|options| {
            options.settings.trusted_proxies = vec![proxy.parse().unwrap()];
            if proxy != "127.0.0.1" {
                options.settings.login_header = Some("x-remote-user".to_owned());
            }
        })
        .await;
        app.person("root", Role::Admin, false).await;
        let answer = signed_on(&app, "root").get("/login").await;
        assert_eq!(answer.status(), 200, "the form");
        assert!(answer.headers().get("set-cookie").is_none());
        assert_eq!(signed_on(&app, "root").get("/audit").await.status(), 401);
    }
}

fn user(folder: &std::path::Path, arguments: &[&str], input: &str) -> (bool, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_peerless"))
        .arg("user")
        .args(arguments)
        .arg("--data-dir")
        .arg(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that refuses its arguments reads nothing.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(text).unwrap())
}

#[tokio::test]
async fn accounts_are_made_and_changed_on_the_command_line() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let run = |arguments: &[&str], input: &str| user(&data, arguments, input);
    let (good, text) = run(&["add", "ada", "--role", "admin"], PASSWORD);
    assert!(!good && text.contains("--init"), "{text}");
    let add = ["add", "ada", "--init", "--name", "Ada L.", "--role", "admin"];
    let (good, text) = run(&add, "password123\n");
    assert!(!good && text.contains("guessed first"), "{text}");
    let (good, text) = run(&add, "");
    assert!(!good && text.contains("standard input"), "{text}");
    let (good, text) = run(&add, &format!("{PASSWORD}\r\n"));
    assert!(good, "{text}");
    let (good, text) = run(&["add", "bob", "--operator", "--without-password"], "");
    assert!(good, "{text}");
    let (good, text) = run(&["add", "BOB", "--without-password"], "");
    assert!(!good && text.contains("already"), "{text}");
    let (good, text) = run(&["set-role", "bob", "editor"], "");
    assert!(good, "{text}");
    let (good, text) = run(&["set-role", "ada", "viewer"], "");
    assert!(!good && text.contains("last administrator"), "{text}");
    assert!(run(&["password", "bob"], "meadow quartz umbrella").0);
    assert!(run(&["disable", "bob"], "").0);
    assert!(!run(&["disable", "eve"], "").0);
    let (_, text) = run(&["list"], "");
    let rows: Vec<_> = text.lines().collect();
    assert!(
        rows[0].contains("ada") && rows[0].contains("Ada L.") && rows[0].contains("admin"),
        "{text}"
    );
    assert!(
        rows[1].contains("editor + operator") && rows[1].contains("disabled"),
        "{text}"
    );
    assert!(!text.contains("argon2"));
}
