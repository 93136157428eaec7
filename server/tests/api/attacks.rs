//! What somebody tries who wants to act as another.

use peerless::store::{Role, Scope};
use peerless::web::auth::Access;
use peerless::web::routes;
use reqwest::{Method, Response};
use time::Duration;

use crate::browser::{Browser, PASSWORD, csrf_of};
use crate::test_app::{NOW, TestApp, problem};

const EVIL: &str = "https://evil.example";

fn login(password: &str) -> [(&str, &str); 2] {
    [("login", "ada"), ("password", password)]
}

/// A path that fits a pattern.
fn path_of(pattern: &str) -> String {
    pattern.replace("{id:.+}", "cuda/x").replace("{id}", "x")
}

async fn refused_as_foreign(answer: Response) {
    let place = answer.url().clone();
    assert_eq!(answer.status(), 403, "{place}");
    let text = answer.text().await.unwrap();
    assert!(text.contains("csrf"), "{place}: {text}");
}

#[tokio::test]
async fn a_session_that_another_planted_is_not_gone_on_with() {
    let app = TestApp::start().await;
    for login in ["ada", "mallory"] {
        app.person(login, Role::Editor, false).await;
    }
    let planted = app.browser("mallory").await;
    let mut victim = Browser::new(&app);
    for cookie in [
        planted.cookie.clone().unwrap(),
        format!("peerless={}", "ab".repeat(32)),
    ] {
        victim.cookie = Some(cookie.clone());
        let answer = victim.send("/login", &login(PASSWORD)).await;
        assert_eq!(answer.status(), 303);
        assert_ne!(victim.cookie, Some(cookie));
        assert!(victim.page("/account").await.contains("<dd>ada</dd>"));
    }
    // The planted session ended with the login.
    assert_eq!(planted.get("/account").await.status(), 401);
}

#[tokio::test]
async fn no_form_is_taken_from_another_site() {
    let app = TestApp::start().await;
    for login in ["ada", "eve"] {
        app.person(login, Role::Admin, true).await;
    }
    let browser = app.browser("ada").await;
    let other = app.browser("eve").await;
    let mut seen = 0;
    for route in routes().table().iter().filter(|route| route.is_form) {
        seen += 1;
        let path = path_of(route.pattern);
        let send = |origin: Option<&'static str>, csrf: &str| {
            let mut request = browser
                .request(Method::POST, &path)
                .header("content-type", "application/x-www-form-urlencoded")
                .body(format!("csrf={csrf}"));
            if let Some(origin) = origin {
                request = request.header("origin", origin);
            }
            request.send()
        };
        let own = browser.csrf.as_str();
        for origin in [None, Some(EVIL), Some("null"), Some("http://127.0.0.1:1")] {
            refused_as_foreign(send(origin, own).await.unwrap()).await;
        }
        // A form for everybody is sent by whoever logs in, who has no session to prove.
        let wrong = ["", "00", &other.csrf, &"00".repeat(64)].map(str::to_owned);
        for csrf in wrong.iter().filter(|_| route.access != Access::Anyone) {
            let mut foreign = browser.form(&path, &[]);
            foreign = foreign.body(format!("csrf={csrf}"));
            refused_as_foreign(foreign.send().await.unwrap()).await;
        }
        // Nor from a browser that is not logged in: the login itself could be another's.
        let nobody = Browser::new(&app).request(Method::POST, &path);
        let nobody = nobody
            .header("content-type", "application/x-www-form-urlencoded")
            .header("origin", EVIL)
            .body("login=eve")
            .send()
            .await
            .unwrap();
        assert!(nobody.status() == 403 || nobody.status() == 401, "{path}");
    }
    assert!(seen > 8, "{seen}");
}

#[tokio::test]
async fn no_call_is_taken_from_another_site() {
    let app = TestApp::start().await;
    app.person("ada", Role::Admin, true).await;
    let browser = app.browser("ada").await;
    let table = routes().table();
    let changing = |route: &&peerless::web::routes::Declared| route.method != "GET" && !route.is_form;
    for route in table.iter().filter(changing) {
        let method = Method::from_bytes(route.method.as_str().as_bytes()).unwrap();
        for (origin, csrf) in [
            (EVIL, browser.csrf.as_str()),
            (app.url.as_str(), ""),
            (app.url.as_str(), "x"),
        ] {
            let answer = browser
                .request(method.clone(), &path_of(route.pattern))
                .header("origin", origin)
                .header("x-csrf-token", csrf)
                .header("content-type", "text/plain")
                .body("{}")
                .send()
                .await
                .unwrap();
            if route.access != Access::Anyone {
                refused_as_foreign(answer).await;
            }
        }
    }
    // What is for everybody is done, for nobody in particular.
    let answer = browser
        .request(Method::POST, "/match")
        .header("origin", EVIL)
        .header("content-type", "application/x-www-form-urlencoded")
        .body("text=hello")
        .send()
        .await
        .unwrap();
    assert_eq!(answer.status(), 200);
}

#[tokio::test]
async fn a_login_leads_to_no_other_site() {
    let app = TestApp::start().await;
    app.person("ada", Role::Viewer, false).await;
    for elsewhere in [
        EVIL,
        "//evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "javascript:alert(1)",
        "/\t/evil.example",
        "/x\r\nset-cookie: a=b",
        "%2f%2fevil.example",
    ] {
        let fields = [("login", "ada"), ("password", PASSWORD), ("return_to", elsewhere)];
        let answer = Browser::new(&app).form("/login", &fields).send().await.unwrap();
        assert_eq!(answer.headers()["location"], "/", "{elsewhere:?}");
        assert_eq!(answer.headers().get_all("set-cookie").iter().count(), 1);
        let encoded = peerless::render::words::encoded(elsewhere);
        let page = Browser::new(&app)
            .page(&format!("/login?return_to={encoded}"))
            .await;
        assert!(page.contains("name=\"return_to\" value=\"/\""), "{elsewhere:?}");
        let signed_in = app.browser("ada").await;
        let answer = signed_in.get(&format!("/login?return_to={encoded}")).await;
        assert_eq!(answer.headers()["location"], "/", "{elsewhere:?}");
    }
}

#[tokio::test]
async fn guesses_have_to_wait_and_nobody_is_kept_out_for_good() {
    let app = TestApp::start().await;
    app.person("ada", Role::Viewer, false).await;
    let browser = Browser::new(&app);
    let attempt = |password: &'static str| browser.form("/login", &login(password)).send();
    for _ in 0..5 {
        assert_eq!(attempt("wrong wrong").await.unwrap().status(), 401);
    }
    let hashed = app.state.passwords.hashed();
    for _ in 0..20 {
        let answer = attempt(PASSWORD).await.unwrap();
        assert_eq!(answer.status(), 429);
        assert_eq!(answer.headers()["retry-after"], "2");
    }
    assert_eq!(
        app.state.passwords.hashed(),
        hashed,
        "an attempt that waits costs nothing"
    );
    app.clock.set(NOW + Duration::seconds(1));
    assert_eq!(attempt(PASSWORD).await.unwrap().status(), 303);
}

#[tokio::test]
async fn many_guesses_at_once_are_no_way_around() {
    let app = TestApp::start().await;
    app.person("ada", Role::Viewer, false).await;
    let browser = Browser::new(&app);
    let before = app.state.passwords.hashed();
    let all = (0..30).map(|_| browser.form("/login", &login("wrong wrong")).send());
    let answers = futures_util::future::join_all(all).await;
    let tried = answers
        .into_iter()
        .filter(|answer| answer.as_ref().unwrap().status() == 401)
        .count();
    assert_eq!(tried, 5);
    assert_eq!(app.state.passwords.hashed() - before, 5);
}

#[tokio::test]
async fn a_login_that_nobody_has_looks_and_costs_the_same() {
    let app = TestApp::start().await;
    let id = app.person("ada", Role::Viewer, false).await;
    app.person("without", Role::Viewer, false).await;
    let by = peerless::store::By::system("test");
    app.person("root", Role::Admin, false).await;
    app.store.set_disabled(&id, true, &by, NOW).await.unwrap();
    let browser = Browser::new(&app);
    let mut pages = Vec::new();
    for login in ["without", "ada", "nobody"] {
        let before = app.state.passwords.hashed();
        let fields = [("login", login), ("password", "wrong wrong")];
        let answer = browser.form("/login", &fields).send().await.unwrap();
        assert_eq!(answer.status(), 401, "{login}");
        assert_eq!(app.state.passwords.hashed() - before, 1, "{login}");
        pages.push(answer.text().await.unwrap().replace(login, "…"));
    }
    assert_eq!(pages[0], pages[1]);
    assert_eq!(pages[1], pages[2]);
}

#[tokio::test]
async fn a_form_sets_nothing_but_its_fields() {
    let app = TestApp::start().await;
    let id = app.person("ada", Role::Contributor, false).await;
    let browser = app.browser("ada").await;
    for (path, fields) in [
        (
            "/login",
            vec![("login", "ada"), ("password", PASSWORD), ("role", "admin")],
        ),
        (
            "/account/tokens",
            vec![
                ("name", "x"),
                ("scope", "edit"),
                ("days", "3"),
                ("person", "root"),
            ],
        ),
        (
            "/account/password",
            vec![("old", PASSWORD), ("new", "x"), ("again", "x"), ("id", "root")],
        ),
        ("/account/sessions/end", vec![("id", "x"), ("id", "y")]),
        ("/logout", vec![("return_to", EVIL)]),
    ] {
        let request = browser.form(path, &fields).header("accept", "application/json");
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status(), 400, "{path}: {}", answer.text().await.unwrap());
    }
    let token = app.token(&[Scope::Admin]).await;
    let body = serde_json::json!({"login": "eve", "role": "viewer", "id": id, "password_hash": "x"});
    let made = app.post("/api/v1/people").bearer_auth(token).json(&body);
    problem(made.send().await.unwrap(), 400, "malformed_body").await;
    let person = app.store.person(&id).await.unwrap().unwrap();
    assert_eq!(person.standing.role, Role::Contributor);
}

#[tokio::test]
async fn names_are_text_on_every_page() {
    let app = TestApp::start().await;
    let name = "<script>alert(1)</script>\"'";
    let wanted = peerless::domain::accounts::people::Wanted {
        login: "ada",
        name,
        password: Some(PASSWORD),
        standing: peerless::store::Standing {
            role: Role::Admin,
            operator: true,
        },
    };
    let random = peerless::clock::SystemRandom;
    let how = (&app.state.passwords, &random as &dyn peerless::clock::Random);
    let by = peerless::store::By::system("<b>x</b>");
    peerless::domain::accounts::people::add(app.store.as_ref(), how, &wanted, &by, NOW)
        .await
        .unwrap();
    let mut browser = app.browser("ada").await;
    browser
        .headers
        .insert("user-agent", "<img src=x>".parse().unwrap());
    let mut again = Browser::new(&app);
    again.headers = browser.headers.clone();
    again.send("/login", &login(PASSWORD)).await;
    for path in ["/", "/account", "/people", "/audit", "/nodes", "/nowhere"] {
        let page = again.get(path).await.text().await.unwrap();
        for raw in ["<script>alert", "<b>x", "<img src=x"] {
            assert!(!page.contains(raw), "{path}");
        }
    }
}

#[tokio::test]
async fn pages_tell_other_sites_nothing() {
    let app = TestApp::start().await;
    app.person("ada", Role::Viewer, false).await;
    let browser = app.browser("ada").await;
    let answer = browser.get("/account").await;
    assert_eq!(answer.headers()["referrer-policy"], "same-origin");
    assert_eq!(answer.headers()["cache-control"], "private, no-cache");
    let policy = answer.headers()["content-security-policy"].to_str().unwrap();
    assert!(policy.contains("form-action 'self'") && policy.contains("frame-ancestors 'none'"));
    let vary: Vec<_> = answer.headers().get_all("vary").iter().collect();
    assert!(vary.iter().any(|value| *value == "Cookie"), "{vary:?}");
    let page = answer.text().await.unwrap();
    let secret = browser.cookie.as_deref().unwrap().split_once('=').unwrap().1;
    assert!(!page.contains(secret));
    assert_ne!(csrf_of(&page), browser.csrf, "written anew for each page");
}

#[tokio::test]
async fn a_password_is_asked_for_only_where_nobody_reads_it() {
    let app = TestApp::start_with(|options| {
        options.settings.trusted_proxies = vec!["127.0.0.1".parse().unwrap()];
    })
    .await;
    app.person("ada", Role::Viewer, false).await;
    let from = |address: &'static str, proto: Option<&'static str>| {
        let mut browser = Browser::new(&app);
        browser
            .headers
            .insert("x-forwarded-for", address.parse().unwrap());
        if let Some(proto) = proto {
            browser
                .headers
                .insert("x-forwarded-proto", proto.parse().unwrap());
        }
        browser
    };
    let plain = from("203.0.113.9", None);
    let page = plain.page("/login").await;
    assert!(
        page.contains("--insecure-login") && !page.contains("type=\"password\""),
        "{page}"
    );
    let before = app.state.passwords.hashed();
    let answer = plain.form("/login", &login(PASSWORD)).send().await.unwrap();
    assert_eq!(answer.status(), 403);
    assert!(answer.headers().get("set-cookie").is_none());
    assert_eq!(app.state.passwords.hashed(), before);
    let answer = from("203.0.113.9", Some("https"))
        .form("/login", &login(PASSWORD))
        .send()
        .await
        .unwrap();
    let cookie = answer.headers()["set-cookie"].to_str().unwrap().to_owned();
    assert!(cookie.starts_with("__Host-peerless="), "{cookie}");
    assert!(
        cookie.ends_with("; Path=/; Secure; HttpOnly; SameSite=Lax"),
        "{cookie}"
    );
    // The session of one way is none on another.
    let pair = cookie.split(';').next().unwrap();
    let mut secure = from("203.0.113.9", Some("https"));
    secure.cookie = Some(pair.to_owned());
    assert_eq!(secure.get("/account").await.status(), 200);
    let mut open = from("203.0.113.9", None);
    open.cookie = Some(pair.replace("__Host-", ""));
    assert_eq!(open.get("/account").await.status(), 401);
}

#[tokio::test]
async fn who_is_no_trusted_proxy_says_nothing_of_the_way() {
    let app = TestApp::start().await;
    app.person("ada", Role::Viewer, false).await;
    let mut browser = Browser::new(&app);
    browser
        .headers
        .insert("x-forwarded-proto", "https".parse().unwrap());
    let answer = browser.form("/login", &login(PASSWORD)).send().await.unwrap();
    let cookie = answer.headers()["set-cookie"].to_str().unwrap();
    assert!(cookie.starts_with("peerless="), "{cookie}");
    // A proxy on this machine that is not named: nobody knows where the request was before.
    browser
        .headers
        .insert("x-forwarded-for", "203.0.113.9".parse().unwrap());
    let answer = browser.form("/login", &login(PASSWORD)).send().await.unwrap();
    assert_eq!(answer.status(), 403);
    let insecure = TestApp::start_with(|options| options.settings.insecure_login = true).await;
    insecure.person("ada", Role::Viewer, false).await;
    browser.url.clone_from(&insecure.url);
    let answer = browser.form("/login", &login(PASSWORD)).send().await.unwrap();
    assert_eq!(answer.status(), 303);
}
