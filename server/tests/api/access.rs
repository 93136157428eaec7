//! The route table, walked: every route called by everybody.

use peerless::store::{By, Scope};
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
                assert!(status != 401 && status != 403, "{path}: {status}");
                continue;
            }
            Access::Scope(scope) => scope,
            Access::FleetReader => Scope::Fleet,
        };
        problem(call(None).await.unwrap(), 401, "unauthorized").await;
        for (scope, token) in &tokens {
            let response = call(Some(token.clone())).await.unwrap();
            if *scope == needed {
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
