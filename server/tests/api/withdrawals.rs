//! Taking away a record that decides how nodes are judged: no one person does.

use peerless::store::Role;
use reqwest::{Method, Response};
use serde_json::{Value, json};

use crate::browser::Browser;
use crate::page_form::PageForm;
use crate::test_app::{TestApp, json as body, problem};

const LOST: &str = "[6781741.548779] NVRM: Xid (PCI:0000:91:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.";
pub const ID: &str = "xid/79-gpu-has-fallen-off-the-bus";
const XID: &str = "/api/v1/records/xid/79-gpu-has-fallen-off-the-bus";
pub const OTHER: &str = "xid/48-double-bit-ecc";

/// A server with what decides about two Xids, and two editors and an administrator.
pub async fn start() -> (TestApp, Browser, Browser, Browser) {
    let app = TestApp::start_with(|options| {
        options.seeds = peerless::bundle::embedded().unwrap();
        options
            .seeds
            .retain(|seed| [ID, OTHER].contains(&seed.id.as_str()));
        assert_eq!(options.seeds.len(), 2);
    })
    .await;
    app.person("edi", Role::Editor, false).await;
    app.person("eva", Role::Editor, false).await;
    app.person("root", Role::Admin, false).await;
    let (edi, eva, root) = (
        app.browser("edi").await,
        app.browser("eva").await,
        app.browser("root").await,
    );
    (app, edi, eva, root)
}

async fn post(browser: &Browser, step: &str, sent: Option<Value>) -> Response {
    let request = browser
        .request(Method::POST, &format!("{XID}/-/{step}"))
        .header("origin", &browser.url)
        .header("x-csrf-token", &browser.csrf)
        .header("accept", "application/json");
    let request = match sent {
        Some(sent) => request
            .header("content-type", "application/json")
            .body(sent.to_string()),
        None => request,
    };
    request.send().await.unwrap()
}

/// Whether the message of a lost GPU has an explanation.
async fn is_explained(app: &TestApp) -> bool {
    let asked = app.post("/api/v1/match").json(&json!({ "text": LOST }));
    let answer = body(asked.send().await.unwrap()).await;
    let matches = answer["matches"].as_array().unwrap();
    matches
        .iter()
        .any(|found| found["id"].as_str().unwrap().starts_with("xid/79-"))
}

#[tokio::test]
async fn what_decides_is_withdrawn_by_two_persons() {
    let (app, edi, eva, _) = start().await;
    assert!(is_explained(&app).await);
    // Who decides is told why.
    problem(post(&edi, "withdraw", None).await, 409, "second_person_needed").await;
    let asked = post(&edi, "withdraw?reason=bogus", None).await;
    assert_eq!(asked.status(), 202);
    let asked = body(asked).await;
    assert_eq!(asked["review"]["withdraws"], true, "{asked}");
    assert_eq!(asked["published"], Value::Null, "{asked}");
    // Asking twice is not two persons.
    assert_eq!(post(&edi, "withdraw?reason=bogus", None).await.status(), 202);
    let approve = json!({"step": "approve", "revision": 1});
    problem(
        post(&edi, "review", Some(approve.clone())).await,
        409,
        "second_person_needed",
    )
    .await;
    assert!(is_explained(&app).await);
    let waiting = eva.page("/reviews").await;
    assert!(
        waiting.contains("withdraw the record") && waiting.contains("bogus"),
        "{waiting}"
    );
    let done = post(&eva, "review", Some(approve)).await;
    assert_eq!(done.status(), 200, "{}", done.text().await.unwrap());
    assert!(!is_explained(&app).await);
    let full = app.get_json(&format!("{XID}?view=full")).await;
    assert_eq!(
        (&full["state"], &full["withdrawn_reason"]),
        (&json!("withdrawn"), &json!("bogus"))
    );
    let reviews = app.store.reviews(&ID.parse().unwrap(), 9).await.unwrap();
    assert_eq!(reviews[0].state.as_str(), "approved");
}

#[tokio::test]
async fn an_approved_withdrawal_keeps_its_reason_and_successor() {
    let (app, edi, eva, _) = start().await;
    let ask = format!("withdraw?reason=the+same&replaced_by={OTHER}");
    assert_eq!(post(&edi, &ask, None).await.status(), 202);
    for path in ["/reviews".to_owned(), format!("/r/{ID}/-/revisions")] {
        let page = eva.page(&path).await;
        assert!(
            page.contains("Readers are led to") && page.contains(OTHER),
            "{page}"
        );
    }
    let approve = json!({"step": "approve", "revision": 1, "reason": "I compared them"});
    let done = post(&eva, "review", Some(approve)).await;
    assert_eq!(done.status(), 200, "{}", done.text().await.unwrap());
    let full = app.get_json(&format!("{XID}?view=full")).await;
    assert_eq!(full["replaced_by"], OTHER);
    assert_eq!(full["withdrawn_reason"], "the same (I compared them)");
}

#[tokio::test]
async fn a_question_that_is_asked_again_otherwise_takes_the_place_of_the_first() {
    let (app, edi, eva, root) = start().await;
    let ask = async |who: &Browser, query: &str| post(who, &format!("withdraw?{query}"), None).await;
    assert_eq!(ask(&edi, "reason=the+same").await.status(), 202);
    let again = body(ask(&edi, &format!("reason=the+same&replaced_by={OTHER}")).await).await;
    assert_eq!(
        (&again["review"]["n"], &again["review"]["replaced_by"]),
        (&json!(2), &json!(OTHER))
    );
    let again = body(ask(&edi, &format!("reason=better+said&replaced_by={OTHER}")).await).await;
    assert_eq!(
        (&again["review"]["n"], &again["review"]["note"]),
        (&json!(3), &json!("better said"))
    );
    // Without anything new it stays.
    let again = body(ask(&edi, &format!("reason=better+said&replaced_by={OTHER}")).await).await;
    assert_eq!(again["review"]["n"], 3);
    let page = eva.page(&format!("/r/{ID}/-/revisions")).await;
    assert!(
        page.contains("withdraw the record, taken back")
            && page.contains(&format!(
                "withdraw the record (Readers are led to: {OTHER}), taken back"
            )),
        "{page}"
    );
    let audit = body(root.get("/api/v1/audit?action=review").await).await;
    assert!(
        audit.to_string().contains("\"instead\":3,\"n\":2") && audit.to_string().contains(OTHER),
        "{audit}"
    );
    // Another person who asks for something else is no second one.
    let otherwise = problem(ask(&eva, "reason=the+same").await, 409, "wrong_state").await;
    assert!(
        otherwise["detail"]
            .as_str()
            .unwrap()
            .contains("edi asks for something else"),
        "{otherwise}"
    );
    problem(ask(&eva, "").await, 409, "second_person_needed").await;
    problem(
        post(&eva, &format!("merge?into={OTHER}"), None).await,
        409,
        "second_person_needed",
    )
    .await;
    assert!(is_explained(&app).await);
    assert_eq!(
        ask(&eva, &format!("reason=yes&replaced_by={OTHER}"))
            .await
            .status(),
        200
    );
}

#[tokio::test]
async fn nobody_approves_another_request_than_the_one_that_was_shown() {
    let (app, edi, mut eva, _) = start().await;
    let ask =
        async |query: &str| assert_eq!(post(&edi, &format!("withdraw?{query}"), None).await.status(), 202);
    ask("reason=the+same").await;
    let history = format!("/r/{ID}/-/revisions");
    let shown = PageForm::of(&eva.page(&history).await, "value=\"approve\"");
    ask(&format!("reason=the+same&replaced_by={OTHER}")).await;
    for button in ["approve", "send-back"] {
        let mut shown = PageForm::of(&eva.page(&history).await, "value=\"approve\"");
        shown.set("review", "1").set("reason", "seen");
        let stale = shown.send(&mut eva, ("do", button)).await;
        assert_eq!(stale.status(), 409, "{button}");
    }
    let stale = shown.send(&mut eva, ("do", "approve")).await;
    assert_eq!(stale.status(), 409);
    let told = stale.text().await.unwrap();
    assert!(
        told.contains("edi asks to withdraw the record (the same)")
            && told.contains(&format!("to lead readers to {OTHER} (the same)")),
        "{told}"
    );
    let approve = |n: Value| Some(json!({"step": "approve", "revision": 1, "n": n}));
    let stale = problem(post(&eva, "review", approve(json!(1))).await, 409, "wrong_state").await;
    assert_eq!(
        (&stale["shown"]["replaced_by"], &stale["open"]["replaced_by"]),
        (&Value::Null, &json!(OTHER))
    );
    // By the revision alone it is not clear which of both was read.
    let unclear = problem(
        post(&eva, "review", approve(Value::Null)).await,
        409,
        "wrong_state",
    )
    .await;
    assert_eq!(unclear["open"]["n"], 2, "{unclear}");
    assert!(is_explained(&app).await);
    let shown = PageForm::of(&eva.page(&history).await, "value=\"approve\"");
    assert_eq!(shown.send(&mut eva, ("do", "approve")).await.status(), 303);
    let full = app.get_json(&format!("{XID}?view=full")).await;
    assert_eq!(full["replaced_by"], OTHER);
}

#[tokio::test]
async fn the_review_that_published_a_revision_is_no_other_way_to_withdraw_it() {
    let (app, edi, eva, _) = start().await;
    let full = app.get_json(&format!("{XID}?view=full")).await;
    let mut ext = full["ext"].clone();
    ext["title"] = json!("The GPU has fallen off the bus");
    let saved = edi
        .request(Method::PUT, &format!("{XID}?view=full"))
        .header("origin", &edi.url)
        .header("x-csrf-token", &edi.csrf)
        .header("content-type", "application/json")
        .header("if-match", "\"r1\"")
        .body(json!({ "document": full["document"], "ext": ext }).to_string());
    let saved = saved.send().await.unwrap();
    assert_eq!(saved.status(), 200, "{}", saved.text().await.unwrap());
    let asked = post(&edi, "review", Some(json!({"step": "ask"}))).await;
    assert!(asked.status().is_success(), "{}", asked.text().await.unwrap());
    let approve = json!({"step": "approve", "revision": 2, "reason": "I read it"});
    let done = post(&eva, "review", Some(approve.clone())).await;
    assert_eq!(done.status(), 200, "{}", done.text().await.unwrap());
    assert_eq!(post(&edi, "withdraw?reason=bogus", None).await.status(), 202);
    let done = post(&eva, "review", Some(approve)).await;
    assert_eq!(done.status(), 200, "{}", done.text().await.unwrap());
    assert!(!is_explained(&app).await);
}

#[tokio::test]
async fn a_second_person_sees_on_the_page_what_is_asked_and_sends_it_back() {
    let (app, edi, mut eva, _) = start().await;
    assert_eq!(post(&edi, "withdraw?reason=bogus", None).await.status(), 202);
    let history = format!("/r/{ID}/-/revisions");
    let page = eva.page(&history).await;
    assert!(
        page.contains("asks to withdraw") && page.contains("Approve and withdraw"),
        "{page}"
    );
    let page = eva.page(&format!("{history}?lang=zh")).await;
    assert!(page.contains("批准并撤下此记录"), "{page}");
    let mut back = PageForm::of(&page, "value=\"send-back\"");
    back.set("reason", "it is right");
    assert_eq!(back.send(&mut eva, ("do", "send-back")).await.status(), 303);
    assert!(is_explained(&app).await);
    // With the question gone the second person is the first again.
    assert_eq!(post(&eva, "withdraw?reason=really", None).await.status(), 202);
    assert!(is_explained(&app).await);
    assert_eq!(post(&edi, "withdraw?reason=really", None).await.status(), 200);
    assert!(!is_explained(&app).await);
}

#[tokio::test]
async fn an_administrator_withdraws_alone_with_a_reason_that_is_shown() {
    let (app, edi, _, root) = start().await;
    assert_eq!(post(&root, "withdraw?reason=bogus", None).await.status(), 202);
    let alone = "withdraw?reason=bogus&alone=nobody+is+awake";
    problem(post(&edi, alone, None).await, 403, "forbidden").await;
    assert_eq!(post(&root, alone, None).await.status(), 200);
    assert!(!is_explained(&app).await);
    let page = app.get(&format!("/r/{ID}")).await.text().await.unwrap();
    assert!(
        page.contains("bogus") && page.contains("nobody is awake"),
        "{page}"
    );
}

#[tokio::test]
async fn what_decides_is_not_merged_away_by_one_person() {
    let (app, edi, eva, _) = start().await;
    let merge = format!("merge?into={OTHER}");
    problem(post(&edi, &merge, None).await, 409, "second_person_needed").await;
    assert!(is_explained(&app).await);
    let asked = post(&edi, &format!("{merge}&reason=the+same"), None).await;
    assert_eq!(asked.status(), 202);
    let asked = body(asked).await;
    assert_eq!(asked["review"]["replaced_by"], OTHER, "{asked}");
    problem(post(&edi, &merge, None).await, 409, "second_person_needed").await;
    assert_eq!(post(&eva, &merge, None).await.status(), 200);
    assert!(!is_explained(&app).await);
}

#[tokio::test]
async fn a_record_decides_under_another_id_as_before() {
    let (app, edi, _, _) = start().await;
    let renamed = post(&edi, "rename?new_id=xid/79-gpu-has-fallen-off-renamed", None).await;
    assert_eq!(renamed.status(), 200, "{}", renamed.text().await.unwrap());
    assert!(is_explained(&app).await);
}

#[tokio::test]
async fn what_decides_does_not_forget_its_message_by_one_person() {
    let (app, edi, eva, _) = start().await;
    let full = app.get_json(&format!("{XID}?view=full")).await;
    let mut ext = full["ext"].clone();
    for key in ["codes", "patterns", "phrases", "examples", "near_misses"] {
        ext[key] = json!([]);
    }
    let mut document = full["document"].clone();
    document["regex"] = json!("never printed by anything");
    let saved = edi
        .request(Method::PUT, &format!("{XID}?view=full"))
        .header("origin", &edi.url)
        .header("x-csrf-token", &edi.csrf)
        .header("content-type", "application/json")
        .header("if-match", "\"r1\"")
        .body(json!({ "document": document, "ext": ext }).to_string());
    let saved = saved.send().await.unwrap();
    assert_eq!(saved.status(), 200, "{}", saved.text().await.unwrap());
    problem(post(&edi, "publish", None).await, 409, "second_person_needed").await;
    assert!(is_explained(&app).await);
    assert_eq!(post(&eva, "publish", None).await.status(), 200);
}

#[tokio::test]
async fn a_reason_that_is_too_long_is_refused_however_it_comes() {
    let (app, edi, _, root) = start().await;
    let long = "x".repeat(4_001);
    for (who, rest) in [(&edi, ""), (&root, "&alone=nobody+is+here")] {
        let asked = post(who, &format!("withdraw?reason={long}{rest}"), None).await;
        problem(asked, 400, "malformed_body").await;
    }
    assert!(is_explained(&app).await);
    // What an administrator adds does not count.
    let full = "x".repeat(4_000);
    let done = post(
        &root,
        &format!("withdraw?reason={full}&alone=nobody+is+here"),
        None,
    )
    .await;
    assert_eq!(done.status(), 200);
    assert!(!is_explained(&app).await);
}
