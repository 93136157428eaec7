//! Nobody gets past the second person alone.

use kb_core::ids::{RecordId, Revision};
use peerless::store::{ActorKind, By, Expected, NewRevision, Role, Saved};
use reqwest::Method;
use serde_json::{Value, json};

use crate::browser::Browser;
use crate::records::P2P;
use crate::reviews::{call, post, save_annex};
use crate::test_app::{NOW, TestApp, json as body, problem};

const ID: &str = "cuda/peer-access-unsupported-by-hardware";

fn by(id: &str, name: &str) -> By {
    By {
        kind: ActorKind::Person,
        id: id.to_owned(),
        name: name.to_owned(),
        address: None,
    }
}

/// Saves revisions in which nothing changes that decides, up to the last.
async fn save_up_to(app: &TestApp, by: &By, last: u32) {
    let id: RecordId = ID.parse().unwrap();
    let mut head = app.store.status(&id).await.unwrap().unwrap().head;
    while head < Revision(last) {
        let texts = app.store.revision(&id, head).await.unwrap().unwrap();
        let mut annex: Value = serde_json::from_str(&texts.annex).unwrap();
        annex["asked_as"] = json!([format!("asked {head}")]);
        let saved = app.store.save_head(NewRevision {
            id: id.clone(),
            document: texts.document,
            annex: annex.to_string(),
            expected: Expected::Head(head),
            by: by.clone(),
            note: None,
            at: NOW,
        });
        let Saved::Saved(next) = saved.await.unwrap() else {
            panic!("somebody else saved");
        };
        head = next;
    }
}

#[tokio::test]
async fn nobody_hides_a_change_behind_many_revisions() {
    let app = TestApp::start().await;
    let con = by(&app.person("con", Role::Contributor, false).await, "con");
    let own = by(&app.person("edi", Role::Editor, false).await, "edi");
    app.person("root", Role::Admin, false).await;
    let (edi, root) = (app.browser("edi").await, app.browser("root").await);
    let publish = async |browser, revision: u32| {
        let path = format!("{P2P}/-/publish?revision={revision}");
        call(browser, Method::POST, &path, None).await
    };
    assert_eq!(save_annex(&edi, "severity", json!("info")).await, 2);
    save_up_to(&app, &con, 3).await;
    save_up_to(&app, &own, 103).await;
    problem(publish(&edi, 103).await, 409, "second_person_needed").await;
    save_up_to(&app, &own, 503).await;
    problem(publish(&edi, 2).await, 409, "second_person_needed").await;
    problem(publish(&edi, 503).await, 409, "second_person_needed").await;
    // Who saved none of them is a second person.
    let done = publish(&root, 503).await;
    assert_eq!(done.status(), 200, "{}", done.text().await.unwrap());
}

#[tokio::test]
async fn nobody_goes_back_alone_to_what_says_less() {
    let app = TestApp::start().await;
    app.person("con", Role::Contributor, false).await;
    app.person("edi", Role::Editor, false).await;
    app.person("root", Role::Admin, false).await;
    let (con, edi, root) = (
        app.browser("con").await,
        app.browser("edi").await,
        app.browser("root").await,
    );
    let publish = async |browser, revision: u32| {
        let path = format!("{P2P}/-/publish?revision={revision}");
        call(browser, Method::POST, &path, None).await
    };
    let revert = async |browser: &Browser, revision: u32, rest: Value| {
        let status = app.store.status(&ID.parse().unwrap()).await.unwrap().unwrap();
        let mut sent = json!({ "revision": revision });
        sent.as_object_mut()
            .unwrap()
            .extend(rest.as_object().unwrap().clone());
        let request = browser
            .request(Method::POST, &format!("{P2P}/-/revert"))
            .header("origin", &browser.url)
            .header("x-csrf-token", &browser.csrf)
            .header("content-type", "application/json")
            .header("accept", "application/json")
            .header("if-match", format!("\"{}\"", status.head));
        request.body(sent.to_string()).send().await.unwrap()
    };
    assert_eq!(save_annex(&con, "severity", json!("fatal")).await, 2);
    assert_eq!(publish(&edi, 2).await.status(), 200);
    // Both ways back, to what was published and to what never was.
    problem(publish(&edi, 1).await, 409, "second_person_needed").await;
    problem(revert(&edi, 1, json!({})).await, 409, "second_person_needed").await;
    assert_eq!(save_annex(&con, "severity", json!("info")).await, 3);
    assert_eq!(save_annex(&con, "severity", json!("fatal")).await, 4);
    assert_eq!(publish(&edi, 4).await.status(), 200);
    problem(publish(&edi, 3).await, 409, "second_person_needed").await;
    // Nor by asking oneself.
    let page = edi.page(&format!("/r/{ID}/-/revisions")).await;
    let asks = |revision| {
        page.contains(&format!(
            "value=\"ask\" aria-label=\"Ask for a review: r{revision}\""
        ))
    };
    assert!(asks(1) && asks(3) && !asks(4), "{page}");
    let ask = json!({"step": "ask", "revision": 1, "reason": "it is no more than an error"});
    assert_eq!(post(&edi, "review", ask.clone()).await.status(), 200);
    problem(publish(&edi, 1).await, 409, "second_person_needed").await;
    let back = json!({"step": "withdraw", "revision": 1, "reason": "alone"});
    assert_eq!(post(&edi, "review", back).await.status(), 200);
    // Somebody else asks for it.
    assert_eq!(post(&con, "review", ask).await.status(), 200);
    assert_eq!(publish(&edi, 1).await.status(), 200);
    assert_eq!(publish(&edi, 4).await.status(), 200, "an alarm more");
    let done = revert(&root, 1, json!({"force": "nobody is awake"})).await;
    assert_eq!(done.status(), 200, "{}", done.text().await.unwrap());
}

/// What is read at night of an error that stops a node.
#[tokio::test]
async fn nobody_calls_a_fatal_error_harmless_alone() {
    let app = TestApp::start().await;
    app.person("con", Role::Contributor, false).await;
    app.person("edi", Role::Editor, false).await;
    let (con, edi) = (app.browser("con").await, app.browser("edi").await);
    assert_eq!(save_annex(&con, "severity", json!("fatal")).await, 2);
    let publish = async |revision: u32| {
        let path = format!("{P2P}/-/publish?revision={revision}");
        call(&edi, Method::POST, &path, None).await
    };
    assert_eq!(publish(2).await.status(), 200);
    let full = body(call(&edi, Method::GET, &format!("{P2P}?view=full"), None).await).await;
    let mut disputes = full["ext"]["disputes"].as_array().cloned().unwrap();
    disputes.push(json!({
        "pointer": "/root_cause", "why": "It is harmless.", "source": "https://example.org/",
    }));
    let revision = save_annex(&edi, "disputes", json!(disputes)).await;
    let told = problem(publish(revision).await, 409, "second_person_needed").await;
    assert!(
        told["detail"].as_str().unwrap().starts_with("disputes "),
        "{told}"
    );
    let mut document = full["document"].clone();
    document["root_cause"] = json!("This message is harmless and needs no step.");
    document["dead_ends"][0]["why_fails"] = json!("It is harmless.");
    let sent = json!({ "document": document, "ext": full["ext"] });
    let saved = edi
        .request(Method::PUT, &format!("{P2P}?view=full"))
        .header("origin", &edi.url)
        .header("x-csrf-token", &edi.csrf)
        .header("content-type", "application/json")
        .header("if-match", format!("\"r{revision}\""))
        .body(sent.to_string());
    let saved = body(saved.send().await.unwrap()).await;
    assert_eq!(saved["revision"], revision + 1, "{saved}");
    let told = problem(publish(revision + 1).await, 409, "second_person_needed").await;
    let detail = told["detail"].as_str().unwrap();
    assert!(detail.starts_with("root_cause, dead_ends "), "{detail}");
}

#[tokio::test]
async fn an_administrators_reason_says_something_and_is_shown() {
    let app = TestApp::start().await;
    app.person("con", Role::Contributor, false).await;
    app.person("root", Role::Admin, false).await;
    let (con, mut root) = (app.browser("con").await, app.browser("root").await);
    assert_eq!(save_annex(&root, "severity", json!("fatal")).await, 2);
    post(&con, "review", json!({"step": "ask"})).await;
    let history = format!("/r/{ID}/-/revisions");
    let long = "x".repeat(501);
    for alone in ["", " ", &long] {
        let mut approve = json!({"step": "approve", "revision": 2, "reason": "the sources say so"});
        approve["alone"] = json!(alone);
        problem(post(&root, "review", approve).await, 400, "malformed_body").await;
    }
    let mut fields = vec![
        ("do", "approve"),
        ("revision", "2"),
        ("review", "1"),
        ("reason", "the sources say so"),
    ];
    fields.push(("alone", &long));
    assert_eq!(root.send(&history, &fields).await.status(), 400);
    *fields.last_mut().unwrap() = ("alone", "nobody else is awake");
    assert_eq!(root.send(&history, &fields).await.status(), 303);
    let forced = async || app.get_json(&format!("{P2P}?view=full")).await["forced"].clone();
    assert_eq!(forced().await, "without a second person: nobody else is awake");
    let back = [
        ("do", "revert"),
        ("revision", "1"),
        ("head", "2"),
        ("alone", "it was wrong"),
    ];
    assert_eq!(root.send(&history, &back).await.status(), 303);
    assert_eq!(forced().await, "without a second person: it was wrong");
}

#[tokio::test]
async fn a_rule_that_drains_nodes_goes_at_once() {
    let app = TestApp::start().await;
    app.person("con", Role::Contributor, false).await;
    app.person("edi", Role::Editor, false).await;
    let (con, edi) = (app.browser("con").await, app.browser("edi").await);
    let publish = async |revision: u32| {
        let path = format!("{P2P}/-/publish?revision={revision}");
        call(&edi, Method::POST, &path, None).await.status()
    };
    let full = app.get_json(&format!("{P2P}?view=full")).await;
    let mut rules = full["ext"]["probe"].as_array().cloned().unwrap();
    rules.push(json!({"id": "any-gpu", "scope": "report", "when": "size(report.gpus) > 0"}));
    save_annex(&con, "probe", json!(rules)).await;
    save_annex(&con, "action", json!("reboot_node")).await;
    assert_eq!(publish(3).await, 200);
    assert_eq!(publish(1).await, 200);
}
