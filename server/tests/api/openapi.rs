//! The description of the interface, and that it describes what is there.

use std::collections::BTreeSet;

use peerless::web::routes;
use serde_json::Value;

use crate::test_app::TestApp;

#[tokio::test]
async fn the_description_is_this_one() {
    let app = TestApp::start().await;
    insta::assert_json_snapshot!(app.get_json("/api/v1/openapi.json").await, { ".info.version" => "…" });
}

/// Generators of clients name their functions by it.
#[tokio::test]
async fn every_operation_has_an_id_of_its_own() {
    let app = TestApp::start().await;
    let description = app.get_json("/api/v1/openapi.json").await;
    let mut seen = BTreeSet::new();
    for methods in description["paths"].as_object().unwrap().values() {
        for operation in methods.as_object().unwrap().values() {
            let id = operation["operationId"].as_str().unwrap();
            assert!(id.contains('_'), "{id} is a verb and what it is about");
            assert!(seen.insert(id.to_owned()), "{id} stands twice");
        }
    }
    assert!(seen.len() > 25);
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

/// Every `$ref` in `value`.
fn references(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            if let Some(Value::String(target)) = members.get("$ref") {
                found.insert(target.clone());
            }
            members.values().for_each(|member| references(member, found));
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        _ => {}
    }
}

#[tokio::test]
async fn every_reference_leads_somewhere() {
    let app = TestApp::start().await;
    let description = app.get_json("/api/v1/openapi.json").await;
    let mut found = BTreeSet::new();
    references(&description, &mut found);
    assert!(found.len() > 20);
    for target in found {
        let pointer = target.strip_prefix('#').unwrap();
        assert!(description.pointer(pointer).is_some(), "{target} leads nowhere");
    }
}

#[tokio::test]
async fn problems_are_described_as_they_are_sent() {
    let app = TestApp::start().await;
    let description = app.get_json("/api/v1/openapi.json").await;
    for (path, methods) in description["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let answers = operation["responses"].as_object().unwrap();
            assert!(answers.contains_key("default"), "{method} {path}");
            let is_shut = operation.get("security").is_some();
            assert!(!is_shut || answers.contains_key("401"), "{method} {path}");
            for (status, answer) in answers.iter().filter(|(status, _)| status.as_str() >= "4") {
                let types: Vec<_> = answer["content"].as_object().unwrap().keys().collect();
                assert_eq!(types, ["application/problem+json"], "{method} {path} {status}");
            }
        }
    }
}

#[tokio::test]
async fn the_link_of_a_problem_leads_to_its_code() {
    let app = TestApp::start().await;
    let response = app.get("/api/v1/records/no/such").await;
    let problem = crate::test_app::problem(response, 404, "not_found").await;
    let (page, anchor) = problem["type"].as_str().unwrap().split_once('#').unwrap();
    let response = app.get(page).await;
    assert_eq!(response.status(), 200);
    let page = response.text().await.unwrap();
    assert!(page.contains(&format!("id=\"{anchor}\"")), "{page}");
}
