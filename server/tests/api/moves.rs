//! Records that become another: merged, or given another id. Whoever has a former address finds what is there now.

use peerless::store::Scope;
use reqwest::{Method, Response};
use serde_json::json as object;

use crate::records::P2P;
use crate::test_app::{TestApp, json, problem};

const ID: &str = "cuda/peer-access-unsupported-by-hardware";
const OTHER: &str = "tensorflow/gpu-peer-access-error";

async fn step(app: &TestApp, token: &str, id: &str, step: &str) -> Response {
    let path = format!("/api/v1/records/{id}/-/{step}");
    app.post(&path).bearer_auth(token).send().await.unwrap()
}

/// Where an address leads; nothing where it is the right one.
async fn location(app: &TestApp, path: &str) -> Option<String> {
    let response = app.request(Method::GET, path).send().await.unwrap();
    let status = response.status();
    let location = response.headers().get("location");
    assert_eq!(location.is_some(), status == 308, "{path} {status}");
    location.map(|location| location.to_str().unwrap().to_owned())
}

#[tokio::test]
async fn addresses_and_votes_of_a_merged_record_lead_to_the_other() {
    let app = TestApp::start().await;
    let publisher = app.token(&[Scope::Publish]).await;
    let admin = app.token(&[Scope::Admin]).await;
    let refused = step(&app, &publisher, ID, &format!("merge?into={ID}")).await;
    problem(refused, 400, "malformed_body").await;
    let refused = step(&app, &publisher, ID, "merge?into=cuda/nowhere").await;
    problem(refused, 400, "malformed_body").await;
    let refused = step(&app, &publisher, ID, "merge?into=NO").await;
    problem(refused, 400, "bad_id").await;
    let refused = step(&app, &publisher, "cuda/nowhere", &format!("merge?into={ID}")).await;
    problem(refused, 404, "not_found").await;
    let editor = app.token(&[Scope::Edit]).await;
    let refused = step(&app, &editor, ID, &format!("merge?into={OTHER}")).await;
    problem(refused, 403, "forbidden").await;

    let vote = object!({"tried": "/workarounds/0", "worked": true});
    let reporter = app.token(&[Scope::Report]).await;
    let sent = app
        .post(&format!("{P2P}/-/outcomes"))
        .bearer_auth(&reporter)
        .json(&vote);
    assert_eq!(sent.send().await.unwrap().status(), 200);

    let merged = step(
        &app,
        &publisher,
        ID,
        &format!("merge?into={OTHER}&reason=one+error"),
    )
    .await;
    assert_eq!(merged.status(), 200);
    let there = format!("/api/v1/records/{OTHER}");
    assert_eq!(location(&app, P2P).await, Some(there.clone()));
    assert_eq!(
        location(&app, &format!("{P2P}/-/outcomes")).await,
        Some(format!("{there}/-/outcomes"))
    );
    assert_eq!(
        location(&app, &format!("/r/{ID}")).await,
        Some(format!("/r/{OTHER}"))
    );
    let votes = app.store.votes(&OTHER.parse().unwrap()).await.unwrap();
    assert_eq!(votes.len(), 1, "{votes:?}");
    let again = step(&app, &publisher, ID, &format!("merge?into={OTHER}")).await;
    problem(again, 409, "wrong_state").await;
    // There is nothing left that could be withdrawn.
    let withdrawn = step(&app, &publisher, ID, "withdraw?reason=twice").await;
    let told = problem(withdrawn, 409, "wrong_state").await;
    assert!(told["detail"].as_str().unwrap().contains(OTHER), "{told}");
    assert_eq!(location(&app, P2P).await, Some(there.clone()));
    let rows = json(app.get_with("/api/v1/audit?action=record.merge", &admin).await).await;
    assert_eq!(rows["entries"][0]["subject"], ID, "{rows}");

    // It is not gone: publishing it again brings it back.
    assert_eq!(step(&app, &publisher, ID, "publish").await.status(), 200);
    assert_eq!(location(&app, P2P).await, None);
    assert_eq!(location(&app, &format!("/r/{ID}")).await, None);
}

#[tokio::test]
async fn a_renamed_record_keeps_its_text_and_its_former_address() {
    let app = TestApp::start().await;
    let publisher = app.token(&[Scope::Publish]).await;
    let before = app.get(P2P).await.text().await.unwrap();
    for (query, status, code) in [
        (format!("rename?new_id={OTHER}"), 409, "alias_taken"),
        (format!("rename?new_id={ID}"), 409, "alias_taken"),
        ("rename?new_id=UPPER".to_owned(), 400, "bad_id"),
        ("rename".to_owned(), 400, "bad_query"),
    ] {
        problem(step(&app, &publisher, ID, &query).await, status, code).await;
    }
    let new = "cuda/no-peer-access";
    let renamed = step(&app, &publisher, ID, &format!("rename?new_id={new}")).await;
    assert_eq!(renamed.status(), 200);
    assert_eq!(location(&app, P2P).await, Some(format!("/api/v1/records/{new}")));
    assert_eq!(
        location(&app, &format!("/r/{ID}?lang=zh")).await,
        Some(format!("/r/{new}?lang=zh"))
    );
    for form in [".md", ".json", ".md?lang=zh"] {
        let there = format!("/r/{new}{form}");
        assert_eq!(location(&app, &format!("/r/{ID}{form}")).await, Some(there));
    }
    let after = app
        .get(&format!("/api/v1/records/{new}"))
        .await
        .text()
        .await
        .unwrap();
    assert_eq!(after, before.replacen(ID, new, 1));
    let found = app
        .get_json("/api/v1/codes/CUDA_ERROR_PEER_ACCESS_UNSUPPORTED")
        .await;
    assert!(found.to_string().contains(new), "{found}");

    let back = step(&app, &publisher, new, &format!("rename?new_id={ID}")).await;
    assert_eq!(back.status(), 200, "{}", back.text().await.unwrap());
    assert_eq!(location(&app, P2P).await, None);
    assert_eq!(
        location(&app, &format!("/r/{new}")).await,
        Some(format!("/r/{ID}"))
    );
    assert_eq!(app.get(P2P).await.text().await.unwrap(), before);
}

#[tokio::test]
async fn what_has_a_draft_is_not_moved() {
    let app = TestApp::start().await;
    let token = app.token(&[Scope::Edit, Scope::Publish]).await;
    let text = app.get(P2P).await.text().await.unwrap();
    let draft = format!("{text}\n");
    let saved = app.put(P2P, &token).header("if-match", "\"r1\"").body(draft);
    assert!(saved.send().await.unwrap().status().is_success());
    for query in [format!("merge?into={OTHER}"), "rename?new_id=cuda/new".to_owned()] {
        problem(step(&app, &token, ID, &query).await, 409, "wrong_state").await;
    }
}
