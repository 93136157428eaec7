//! Logging in and out, one's own account, the first administrator, the audit.

use peerless::store::{Role, Scope, Standing};
use reqwest::Method;
use serde_json::Value;
use time::Duration;

use crate::browser::{Browser, PASSWORD};
use crate::records::document;
use crate::test_app::{NOW, TestApp, json, problem};

const LOGIN: [(&str, &str); 2] = [("login", "ada"), ("password", PASSWORD)];

#[tokio::test]
async fn operators_read_nodes_in_the_browser() {
    let app = TestApp::start().await;
    app.person("ada", Role::Viewer, true).await;
    app.person("bob", Role::Editor, false).await;
    let nobody = Browser::new(&app).get("/nodes").await;
    assert_eq!(nobody.status(), 401);
    let page = nobody.text().await.unwrap();
    let (link, token) = ("/login?return_to=%2Fnodes", "Authorization: Bearer");
    let place = |text: &str| page.find(text).expect(text);
    assert!(
        place(&format!("class=\"button\" href=\"{link}\"")) < place(token),
        "{page}"
    );
    assert_eq!(app.browser("bob").await.get("/nodes").await.status(), 403);
    let ada = app.browser("ada").await;
    assert_eq!(ada.get("/nodes").await.status(), 200);
    assert_eq!(ada.get("/api/v1/nodes").await.status(), 200);
}

#[tokio::test]
async fn whoever_may_edit_is_led_to_the_pages_of_editors_from_everywhere() {
    let app = TestApp::start().await;
    app.person("ada", Role::Contributor, false).await;
    app.person("eve", Role::Viewer, true).await;
    let pages = [
        "/reviews",
        "/feedback",
        "/unmatched",
        "/workbench",
        "/records/new",
    ];
    let (ada, eve) = (app.browser("ada").await, app.browser("eve").await);
    for from in ["/", "/search", "/account"] {
        let (seen, other) = (ada.page(from).await, eve.page(from).await);
        for to in pages {
            let link = format!("href=\"{to}\"");
            assert!(seen.contains(&link), "{from} does not lead to {to}");
            assert!(
                !other.contains(&link),
                "{from} leads {to} whoever may not go there"
            );
        }
    }
    for to in pages {
        let here = format!("href=\"{to}\" aria-current=\"page\"");
        assert!(ada.page(to).await.contains(&here), "{to}");
    }
}

#[tokio::test]
async fn a_login_sets_a_cookie_and_leads_back() {
    let app = TestApp::start().await;
    app.person("Ada", Role::Viewer, false).await;
    let browser = Browser::new(&app);
    let page = browser.page("/search?q=x").await;
    assert!(page.contains("/login?return_to=%2Fsearch%3Fq%3Dx"), "{page}");
    let fields = [
        ("login", "aDA"),
        ("password", PASSWORD),
        ("return_to", "/search?q=x"),
    ];
    let answer = browser.form("/login", &fields).send().await.unwrap();
    assert_eq!(answer.status(), 303);
    assert_eq!(answer.headers()["location"], "/search?q=x");
    let cookie = answer.headers()["set-cookie"].to_str().unwrap();
    assert!(cookie.starts_with("peerless="), "{cookie}");
    assert!(cookie.ends_with("; Path=/; HttpOnly; SameSite=Lax"), "{cookie}");

    let mut browser = app.browser("ada").await;
    let answer = browser.get("/search?q=x").await;
    assert_eq!(answer.headers()["cache-control"], "private, no-cache");
    assert!(answer.headers().get("etag").is_none());
    let page = answer.text().await.unwrap();
    assert!(page.contains(">Ada</a>") && !page.contains("Log in"), "{page}");
    let old = browser.cookie.clone();
    let answer = browser.send("/logout", &[]).await;
    assert_eq!(answer.status(), 303);
    assert_eq!(browser.cookie, None);
    browser.cookie = old;
    assert!(browser.page("/search?q=x").await.contains("Log in"));
}

#[tokio::test]
async fn a_session_ends_idle_and_absolutely() {
    let app = TestApp::start().await;
    app.person("ada", Role::Viewer, false).await;
    let browser = app.browser("ada").await;
    for hours in [11, 22, 33] {
        app.clock.set(NOW + Duration::hours(hours));
        assert_eq!(browser.get("/account").await.status(), 200, "{hours}");
    }
    app.clock.set(NOW + Duration::hours(33 + 12));
    assert_eq!(browser.get("/account").await.status(), 401);
    app.clock.set(NOW);
    let browser = app.browser("ada").await;
    for hours in (0..168).step_by(8) {
        app.clock.set(NOW + Duration::hours(hours));
        assert_eq!(browser.get("/account").await.status(), 200, "{hours}");
    }
    app.clock.set(NOW + Duration::hours(168));
    assert_eq!(browser.get("/account").await.status(), 401);
}

#[tokio::test]
async fn a_change_of_role_and_a_shut_account_end_sessions_at_once() {
    let app = TestApp::start().await;
    let id = app.person("ada", Role::Editor, true).await;
    let browser = app.browser("ada").await;
    assert_eq!(browser.get("/nodes").await.status(), 200);
    let by = peerless::store::By::system("test");
    let viewer = Standing {
        role: Role::Viewer,
        operator: false,
    };
    app.store.set_role(&id, viewer, &by, NOW).await.unwrap();
    assert_eq!(browser.get("/nodes").await.status(), 401);
    let browser = app.browser("ada").await;
    assert_eq!(browser.get("/nodes").await.status(), 403);
    app.store.set_disabled(&id, true, &by, NOW).await.unwrap();
    assert_eq!(browser.get("/account").await.status(), 401);
    let answer = Browser::new(&app).form("/login", &LOGIN).send().await.unwrap();
    assert_eq!(answer.status(), 401);
}

#[tokio::test]
async fn people_make_tokens_with_no_more_than_their_role() {
    let app = TestApp::start().await;
    let id = app.person("ada", Role::Contributor, false).await;
    let mut browser = app.browser("ada").await;
    let order = |scope| [("name", "ci"), ("scope", scope), ("days", "30")];
    for scope in ["publish", "admin", "fleet", "report", "enrol"] {
        let answer = browser.send("/account/tokens", &order(scope)).await;
        assert_eq!(answer.status(), 422, "{scope}");
    }
    assert_eq!(app.store.tokens_of(&id).await.unwrap(), []);
    let answer = browser.send("/account/tokens", &order("edit")).await;
    assert_eq!(answer.status(), 200);
    let page = answer.text().await.unwrap();
    let token = page
        .split("<code>prl_")
        .nth(1)
        .unwrap()
        .split('<')
        .next()
        .unwrap();
    let token = format!("prl_{token}");
    let text = document("cuda/mine", "CUDA error: mine");
    let put = || {
        app.put("/api/v1/records/cuda/mine", &token)
            .header("if-none-match", "*")
            .body(text.clone())
            .send()
    };
    assert_eq!(put().await.unwrap().status(), 201);
    // What the owner may no longer do, the token may not do either.
    let by = peerless::store::By::system("test");
    let viewer = Standing {
        role: Role::Viewer,
        operator: false,
    };
    app.store.set_role(&id, viewer, &by, NOW).await.unwrap();
    problem(put().await.unwrap(), 403, "forbidden").await;
    app.store.set_disabled(&id, true, &by, NOW).await.unwrap();
    problem(put().await.unwrap(), 401, "unauthorized").await;
}

#[tokio::test]
async fn people_revoke_their_own_tokens_and_sessions_alone() {
    let app = TestApp::start().await;
    let ada = app.person("ada", Role::Editor, false).await;
    let bob = app.person("bob", Role::Editor, false).await;
    let mut of_ada = app.browser("ada").await;
    let mut of_bob = app.browser("bob").await;
    let order = [("name", "ci"), ("scope", "edit"), ("days", "30")];
    of_ada.send("/account/tokens", &order).await;
    let token = app.store.tokens_of(&ada).await.unwrap().remove(0);
    let answer = of_bob
        .send("/account/tokens/revoke", &[("id", &token.token.id)])
        .await;
    assert_eq!(answer.status(), 404);
    let session = app.store.sessions_of(&ada, NOW).await.unwrap().remove(0);
    let answer = of_bob.send("/account/sessions/end", &[("id", &session.id)]).await;
    assert_eq!(answer.status(), 404);
    assert_eq!(of_ada.get("/account").await.status(), 200);

    let answer = of_ada
        .send("/account/tokens/revoke", &[("id", &token.token.id)])
        .await;
    assert_eq!(answer.status(), 303);
    let token = app.store.tokens_of(&ada).await.unwrap().remove(0);
    assert!(token.revoked_at.is_some());
    let own = app.store.sessions_of(&bob, NOW).await.unwrap().remove(0);
    let other = app.browser("bob").await;
    let sessions = app.store.sessions_of(&bob, NOW).await.unwrap();
    assert_eq!(sessions.len(), 2);
    for session in sessions.into_iter().filter(|session| session.id != own.id) {
        of_bob.send("/account/sessions/end", &[("id", &session.id)]).await;
    }
    assert_eq!(other.get("/account").await.status(), 401);
}

#[tokio::test]
async fn another_password_ends_all_other_sessions() {
    let app = TestApp::start().await;
    app.person("ada", Role::Viewer, false).await;
    let mut browser = app.browser("ada").await;
    let other = app.browser("ada").await;
    let new = "quartz umbrella meadow";
    let fields = |old, new, again| [("old", old), ("new", new), ("again", again)];
    for (old, new, again) in [
        ("wrong password", new, new),
        (PASSWORD, new, "another one here"),
        (PASSWORD, "password123", "password123"),
        (PASSWORD, PASSWORD, PASSWORD),
    ] {
        let answer = browser.send("/account/password", &fields(old, new, again)).await;
        assert_eq!(answer.status(), 422, "{new}");
    }
    let before = browser.cookie.clone();
    let answer = browser
        .send("/account/password", &fields(PASSWORD, new, new))
        .await;
    assert_eq!(answer.status(), 303);
    assert_ne!(browser.cookie, before, "the session is another one");
    assert_eq!(browser.get("/account").await.status(), 200);
    assert_eq!(other.get("/account").await.status(), 401);
    let answer = Browser::new(&app).form("/login", &LOGIN).send().await.unwrap();
    assert_eq!(answer.status(), 401);
}

#[tokio::test]
async fn the_first_administrator_is_made_by_the_link_once() {
    let app = TestApp::start().await;
    let key = app.first_admin.clone().unwrap();
    let mut browser = Browser::new(&app);
    assert!(
        browser
            .page(&format!("/first-admin?key={key}"))
            .await
            .contains(&key)
    );
    assert_eq!(browser.get("/first-admin?key=x").await.status(), 410);
    let fields = |key| {
        [
            ("key", key),
            ("login", "root"),
            ("name", "Root"),
            ("password", PASSWORD),
            ("again", PASSWORD),
        ]
    };
    let answer = browser.send("/first-admin", &fields("x")).await;
    assert_eq!(answer.status(), 422);
    let answer = browser.send("/first-admin", &fields(&key)).await;
    assert_eq!(answer.status(), 303);
    assert_eq!(browser.get("/audit").await.status(), 200);
    let answer = Browser::new(&app).send("/first-admin", &fields(&key)).await;
    assert_eq!(answer.status(), 422);
    let folder = app.stop().await;
    let options = crate::test_app::Options::new(&folder);
    let again = TestApp::start_in(folder, options).await;
    assert_eq!(again.first_admin, None);
}

#[tokio::test]
async fn the_link_is_good_for_an_hour() {
    let app = TestApp::start().await;
    let key = app.first_admin.clone().unwrap();
    app.clock.set(NOW + Duration::hours(1));
    let browser = Browser::new(&app);
    assert_eq!(
        browser.get(&format!("/first-admin?key={key}")).await.status(),
        410
    );
}

#[tokio::test]
async fn a_session_edits_over_the_interface_with_its_proof() {
    let app = TestApp::start().await;
    app.person("ada", Role::Editor, false).await;
    let browser = app.browser("ada").await;
    let put = |csrf: Option<&str>, origin: Option<&str>| {
        let mut request = browser
            .request(Method::PUT, "/api/v1/records/cuda/mine")
            .header("content-type", "application/json")
            .header("if-none-match", "*")
            .body(document("cuda/mine", "CUDA error: mine"));
        if let Some(csrf) = csrf {
            request = request.header("x-csrf-token", csrf);
        }
        if let Some(origin) = origin {
            request = request.header("origin", origin);
        }
        request.send()
    };
    let (proof, here) = (Some(browser.csrf.as_str()), Some(app.url.as_str()));
    let elsewhere = Some("https://evil.example");
    let other = "00".repeat(64);
    for (csrf, origin) in [
        (None, None),
        (proof, None),
        (None, here),
        (proof, elsewhere),
        (Some(other.as_str()), here),
    ] {
        problem(put(csrf, origin).await.unwrap(), 403, "csrf").await;
    }
    assert_eq!(put(proof, here).await.unwrap().status(), 201);
}

#[tokio::test]
async fn a_filter_of_the_audit_that_nothing_meets_is_told() {
    let app = TestApp::start().await;
    app.person("root", Role::Admin, false).await;
    let admin = app.browser("root").await;
    let read = |path: &'static str| {
        let request = admin.request(Method::GET, path);
        async move { request.send().await.unwrap() }
    };
    for (path, told) in [
        (
            "/api/v1/audit?action=record.publsh",
            "did you mean record.publish?",
        ),
        ("/api/v1/audit?action=recrd", "did you mean record?"),
        ("/api/v1/audit.ndjson?action=logn", "did you mean login?"),
    ] {
        let refused = problem(read(path).await, 400, "bad_query").await;
        let detail = refused["detail"].as_str().unwrap();
        assert!(detail.contains(told), "{path}: {detail}");
    }
    for (path, note) in [
        ("/api/v1/audit?actor=adda", "no row has the actor `adda`"),
        (
            "/api/v1/audit?subject=cuda/mien",
            "no row has the subject `cuda/mien`",
        ),
    ] {
        let page = json(read(path).await).await;
        assert_eq!(page["note"], note, "{page}");
        assert_eq!(page["entries"], serde_json::json!([]));
    }
    let page = json(read("/api/v1/audit").await).await;
    assert!(page.get("note").is_none(), "{page}");
    app.stop().await;
}

#[tokio::test]
async fn the_audit_tells_who_did_what_from_where() {
    let app = TestApp::start().await;
    app.person("root", Role::Admin, false).await;
    let ada = app.person("ada", Role::Editor, false).await;
    let wrong = [("login", "ada"), ("password", "wrong wrong wrong")];
    for fields in [wrong, [("login", "a-password-typed-here"), ("password", "x")]] {
        let answer = Browser::new(&app).form("/login", &fields).send().await.unwrap();
        assert_eq!(answer.status(), 401);
    }
    let browser = app.browser("ada").await;
    let answer = browser
        .request(Method::PUT, "/api/v1/records/cuda/mine?publish=true")
        .header("content-type", "application/json")
        .header("if-none-match", "*")
        .header("x-csrf-token", &browser.csrf)
        .header("origin", &app.url)
        .body(document("cuda/mine", "CUDA error: mine"))
        .send()
        .await
        .unwrap();
    assert_eq!(answer.status(), 201, "{}", answer.text().await.unwrap());
    let admin = app.browser("root").await;
    let read = |path: &'static str| {
        let request = admin.request(Method::GET, path);
        async move { request.send().await.unwrap() }
    };
    let page = json(read("/api/v1/audit?limit=4").await).await;
    let told: Vec<_> = page["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            (
                text(&entry["action"]),
                text(&entry["subject"]),
                text(&entry["actor"]["id"]),
                text(&entry["address"]),
            )
        })
        .collect();
    let row = |action: &str, subject: &str, actor: &str| {
        (
            action.to_owned(),
            subject.to_owned(),
            actor.to_owned(),
            "127.0.0.1".to_owned(),
        )
    };
    assert_eq!(told[1], row("record.publish", "cuda/mine", &ada));
    assert_eq!(told[2], row("record.save", "cuda/mine", &ada));
    assert_eq!(told[3], row("login", "ada", &ada));
    let cursor = page["next_cursor"].as_str().unwrap();
    let next = admin
        .request(
            Method::GET,
            &format!("/api/v1/audit?cursor={cursor}&action=login"),
        )
        .send()
        .await
        .unwrap();
    let next = json(next).await;
    assert_eq!(next["entries"][0]["subject"], "(nobody)");
    assert_eq!(next["entries"][1]["subject"], "ada");
    assert_eq!(next["entries"][1]["action"], "login.failed");

    let lines = read("/api/v1/audit.ndjson?action=record")
        .await
        .text()
        .await
        .unwrap();
    let lines: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines[0]["action"], "record.publish");
    assert_eq!(lines.last().unwrap()["action"], "record.import");
    let whole = read("/audit?actor=ada").await.text().await.unwrap();
    assert!(
        whole.contains("record.publish") && !whole.contains("record.import"),
        "{whole}"
    );
    assert!(!whole.contains("a-password-typed-here"));
    assert_eq!(browser.get("/audit").await.status(), 403);
    let token = app.token(&[Scope::Edit]).await;
    problem(app.get_with("/api/v1/audit", &token).await, 403, "forbidden").await;
}
