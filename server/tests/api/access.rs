//! The route table, walked: every route called by everybody.

use peerless::store::{By, Role, Scope};
use peerless::web::auth::Access;
use peerless::web::routes;
use reqwest::Method;
use time::Duration;

use crate::test_app::{NOW, TestApp, problem};

const SCOPES: [Scope; 4] = [Scope::Edit, Scope::Publish, Scope::Report, Scope::Fleet];

/// A path that fits a pattern.
fn path_of(pattern: &str) -> String {
    let mut path = String::new();
    for (index, part) in pattern.split('{').enumerate() {
        if index == 0 {
            path.push_str(part);
        } else {
            let (name, rest) = part.split_once('}').unwrap();
            path.push_str(if name.starts_with("id:") { "cuda/x" } else { "x" });
            path.push_str(rest);
        }
    }
    path
}

#[tokio::test]
async fn every_route_is_shut_to_those_it_is_not_for() {
    let app = TestApp::start().await;
    let mut tokens = Vec::new();
    for scope in SCOPES {
        tokens.push((scope, app.token(&[scope]).await));
    }
    let expired = app
        .token_until(&[Scope::Admin], Some(NOW - Duration::seconds(1)))
        .await;
    let revoked = app.token(&[Scope::Admin]).await;
    let id = revoked.split('_').nth(1).unwrap();
    assert!(app.store.revoke_token(id, &By::system("ada"), NOW).await.unwrap());

    for route in routes().table().iter() {
        let path = path_of(route.pattern);
        let call = |token: Option<String>| {
            let method = Method::from_bytes(route.method.as_str().as_bytes()).unwrap();
            let request = app.request(method, &path);
            match token {
                Some(token) => request.bearer_auth(token),
                None => request,
            }
            .send()
        };
        for bad in [&expired, &revoked, &"prl_nonsense".to_owned()] {
            problem(call(Some(bad.clone())).await.unwrap(), 401, "unauthorized").await;
        }
        let needed = match route.access {
            Access::Anyone => {
                let status = call(None).await.unwrap().status();
                // A form is refused to whoever is not on its page.
                let refused = status == 401 || status == 403;
                assert_eq!(refused, route.is_form, "{path}: {status}");
                continue;
            }
            Access::SignedIn => {
                problem(call(None).await.unwrap(), 401, "unauthorized").await;
                for (_, token) in &tokens {
                    problem(call(Some(token.clone())).await.unwrap(), 403, "forbidden").await;
                }
                continue;
            }
            // People may, too: the pages' test has them.
            Access::Feedback => Scope::Report,
            Access::Scope(scope) => scope,
            Access::FleetReader => Scope::Fleet,
        };
        problem(call(None).await.unwrap(), 401, "unauthorized").await;
        for (scope, token) in &tokens {
            let response = call(Some(token.clone())).await.unwrap();
            if *scope == needed && route.is_form {
                // Whoever may, is not on the page of the form.
                problem(response, 403, "csrf").await;
            } else if *scope == needed {
                assert!(
                    response.status() != 401 && response.status() != 403,
                    "{path}: {}",
                    response.status()
                );
            } else {
                problem(response, 403, "forbidden").await;
            }
        }
    }
}

/// Everybody who can be logged in, and what each may do, said once more than the program says it.
const PEOPLE: [(Role, bool, &[Scope]); 8] = [
    (Role::Viewer, false, &[]),
    (Role::Viewer, true, OPERATOR),
    (Role::Contributor, false, &[Scope::Edit]),
    (
        Role::Contributor,
        true,
        &[Scope::Edit, Scope::Report, Scope::Enrol, Scope::Fleet],
    ),
    (Role::Editor, false, &[Scope::Edit, Scope::Publish]),
    (
        Role::Editor,
        true,
        &[
            Scope::Edit,
            Scope::Publish,
            Scope::Report,
            Scope::Enrol,
            Scope::Fleet,
        ],
    ),
    (Role::Admin, false, &Scope::ALL),
    (Role::Admin, true, &Scope::ALL),
];
const OPERATOR: &[Scope] = &[Scope::Report, Scope::Enrol, Scope::Fleet];

#[tokio::test]
async fn every_route_and_page_is_open_to_the_roles_that_it_is_for() {
    let app = TestApp::start().await;
    for (role, operator, scopes) in PEOPLE {
        let login = format!("{}-{operator}", role.as_str());
        app.person(&login, role, operator).await;
        let mut browser = app.browser(&login).await;
        for route in routes().table().iter() {
            let path = path_of(route.pattern);
            let method = Method::from_bytes(route.method.as_str().as_bytes()).unwrap();
            // The session ends by these alone.
            let ends = route.is_form && matches!(route.pattern, "/logout" | "/account/sessions/end");
            let request = if route.is_form {
                browser.form(&path, &[])
            } else {
                browser
                    .request(method, &path)
                    .header("x-csrf-token", &browser.csrf)
                    .header("origin", &app.url)
            };
            let response = request.header("accept", "application/json").send().await.unwrap();
            let status = response.status();
            let is_for = match route.access {
                Access::Anyone | Access::SignedIn | Access::Feedback => true,
                Access::Scope(scope) => scopes.contains(&scope),
                Access::FleetReader => scopes.contains(&Scope::Fleet),
            };
            // Enrolling and voting ask for a token, and say so in their own words.
            let refused = status == 403 && !response.text().await.unwrap().contains("token of");
            let own_words = matches!(route.pattern, "/api/v1/enrol");
            assert!(
                status != 401 || route.pattern == "/login",
                "{login} {} {path}: {status}",
                route.method
            );
            assert!(
                refused != is_for || own_words,
                "{login} {} {path}: {status}",
                route.method
            );
            if ends {
                browser = app.browser(&login).await;
            }
        }
    }
}

#[actix_web::test]
async fn a_route_that_nobody_declared_stays_shut() {
    let app = TestApp::start().await;
    let service = actix_web::test::init_service(peerless::web::app_with(app.state.clone(), |config| {
        config.route("/forgotten", actix_web::web::get().to(|| async { "secret" }));
    }))
    .await;
    let request = actix_web::test::TestRequest::get().uri("/forgotten").to_request();
    let response = actix_web::test::call_service(&service, request).await;
    assert_eq!(response.status(), 403);
    let body = actix_web::test::read_body(response).await;
    assert!(!body.windows(6).any(|part| part == b"secret"));
}
