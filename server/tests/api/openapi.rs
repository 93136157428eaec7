//! The description of the interface, and that it describes what is there.

use std::collections::BTreeSet;

use peerless::web::routes;

use crate::test_app::TestApp;

#[tokio::test]
async fn the_description_is_this_one() {
    let app = TestApp::start().await;
    insta::assert_json_snapshot!(app.get_json("/api/v1/openapi.json").await, { ".info.version" => "…" });
}

#[tokio::test]
async fn every_route_of_the_interface_is_described() {
    let app = TestApp::start().await;
    let description = app.get_json("/api/v1/openapi.json").await;
    let mut described = BTreeSet::new();
    for (path, methods) in description["paths"].as_object().unwrap() {
        for method in methods.as_object().unwrap().keys() {
            described.insert((method.to_uppercase(), path.clone()));
        }
    }
    let operation = ["/healthz", "/readyz", "/metrics"];
    let declared: BTreeSet<_> = routes()
        .table()
        .iter()
        .filter(|route| route.pattern.starts_with("/api/v1") || operation.contains(&route.pattern))
        .map(|route| (route.method.to_string(), route.pattern.replace(":.+", "")))
        .collect();
    assert_eq!(described, declared);
}
