//! Published records that may say the same as what is being written.

use peerless::store::{Role, Scope};
use serde_json::{Value, json as object};

use crate::page_form::PageForm;
use crate::records::document;
use crate::test_app::{TestApp, json};

const ID: &str = "cuda/peer-access-unsupported-by-hardware";
const SIGNATURE: &str = "CUDA error: peer access is not supported between these two devices";

#[tokio::test]
async fn the_form_names_records_alike_with_the_reason_and_refuses_nothing() {
    let app = TestApp::start().await;
    app.person("bob", Role::Contributor, false).await;
    let mut bob = app.browser("bob").await;
    let mut form = PageForm::of(&bob.page("/records/new?id=cuda/made-by-hand").await, "data-edit");
    form.set("d:/category", "runtime_error")
        .set("d:/root_cause", "A test.")
        .set("d:/signature", "Something else entirely")
        .set("a:/title", "An error that was made by hand");
    let answer = form.send(&mut bob, ("do", "check")).await;
    let page = answer.text().await.unwrap();
    assert!(!page.contains("may say the same"), "{page}");
    form.set("a:/codes", "cuda_error_peer_access_unsupported")
        .set("a:/examples/0/text", SIGNATURE);
    let answer = form.send(&mut bob, ("do", "check")).await;
    assert_eq!(answer.status(), 200);
    let page = answer.text().await.unwrap();
    // It stands where the script puts what a live check finds.
    let (_, told) = page.split_once("data-general").unwrap();
    let (told, _) = told.split_once("</section>").unwrap();
    for shown in [
        "may say the same",
        &format!("<a href=\"/r/{ID}\">"),
        "the code cuda_error_peer_access_unsupported in the same domain",
        "takes example 1 of this record",
    ] {
        assert!(told.contains(shown), "{shown}: {told}");
    }
    let answer = form.send(&mut bob, ("do", "save")).await;
    assert_eq!(answer.status(), 303);
    // A record is not alike itself, and its merge page offers those that are.
    let own = bob.page(&format!("/r/{ID}/-/edit?lang=zh")).await;
    let (_, told) = own.split_once("data-general").unwrap();
    let (told, _) = told.split_once("</section>").unwrap();
    assert!(!told.contains(&format!("href=\"/r/{ID}")), "{told}");
}

#[tokio::test]
async fn a_tool_that_sends_a_draft_is_told_what_is_alike() {
    let app = TestApp::start().await;
    let token = app.token(&[Scope::Edit]).await;
    let ask = async |body: Value| {
        let sent = app.post("/api/v1/workbench").bearer_auth(&token).json(&body);
        let answer = sent.send().await.unwrap();
        assert_eq!(answer.status(), 200);
        json(answer).await
    };
    let published = app.get_json(&format!("/api/v1/records/{ID}")).await;
    let signature = published["signature"].as_str().unwrap();
    let draft: Value = serde_json::from_str(&document("cuda/new", &signature.to_uppercase())).unwrap();
    let answer = ask(object!({"record": {"document": draft}})).await;
    let first = &answer["alike"][0];
    assert_eq!(
        (&first["record"], &first["why"][0]["kind"]),
        (&object!(ID), &object!("signature")),
        "{answer}"
    );
    let lines = ask(object!({"lines": [SIGNATURE]})).await;
    assert_eq!(lines.get("alike"), None, "{lines}");
}
