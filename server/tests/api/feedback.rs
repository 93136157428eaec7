//! Votes and suggestions on the page of a record, and the queue of editors.

use kb_core::ids::Revision;
use kb_core::record::Record;
use peerless::store::{ActionKind, FeedbackState, NewOutcome, Role, VoteOutcome, Voter, VoterKind};
use reqwest::Method;
use serde_json::{Value, json};

use crate::browser::Browser;
use crate::page_form::PageForm;
use crate::test_app::{NOW, TestApp, json as body, problem};

const RECORD: &str = "cuda/peer-access-unsupported-by-hardware";
const PAGE: &str = "/r/cuda/peer-access-unsupported-by-hardware";

/// Ten people, of whom the first workaround helped so many.
async fn ten_people(app: &TestApp, helped: usize) {
    let id = RECORD.parse().unwrap();
    let texts = app.store.revision(&id, Revision(1)).await.unwrap().unwrap();
    let record = Record::parse(&texts.document, &texts.annex).unwrap();
    for person in 0..10 {
        let saved = app.store.save_outcome(NewOutcome {
            record: id.clone(),
            revision: Revision(1),
            kind: ActionKind::Workaround,
            action: record.document.workarounds[0].action.clone(),
            position: 0,
            environment: "{}".to_owned(),
            model: "h200".to_owned(),
            driver: String::new(),
            voter: Voter {
                kind: VoterKind::Person,
                id: format!("person {person}"),
            },
            outcome: if person < helped {
                VoteOutcome::Worked
            } else {
                VoteOutcome::DidNotHelp
            },
            at: NOW,
        });
        saved.await.unwrap();
    }
}

async fn refresh(app: &TestApp) {
    app.state.shares.refresh(app.store.as_ref()).await.unwrap();
}

#[tokio::test]
async fn a_share_stands_beside_what_the_record_claims() {
    let app = TestApp::start().await;
    let before = app.get(PAGE).await.text().await.unwrap();
    assert!(!before.contains("class=\"votes"), "{before}");
    ten_people(&app, 3).await;
    refresh(&app).await;
    let page = app.get(PAGE).await.text().await.unwrap();
    assert!(page.contains("Helped 3 of 10 people (11–60 %)."), "{page}");
    assert!(page.contains("h200: 3 of 10 (11–60 %)"), "{page}");
    // Who is not logged in has no button unless the operator allows it.
    assert!(!page.contains("did_not_help"), "{page}");
    let chinese = app.get(&format!("{PAGE}?lang=zh")).await.text().await.unwrap();
    assert!(chinese.contains("10 人中 3 人觉得有效"), "{chinese}");
}

/// A page in somebody's browser may give this server a name of its own (DNS rebinding).
#[tokio::test]
async fn under_a_strange_name_nothing_is_taken_without_a_login() {
    let app = TestApp::start_with(|options| options.settings.anonymous_writing = true).await;
    let path = format!("/api/v1/records/{RECORD}/-/suggestions");
    let sent = app
        .post(&path)
        .header("host", "evil.example")
        .json(&json!({"text": "x"}));
    assert_eq!(sent.send().await.unwrap().status(), 403);
    let waiting = app.store.feedback(FeedbackState::Waiting, None, 10).await;
    assert!(waiting.unwrap().is_empty());
}

/// What another server on the same database has taken.
#[tokio::test]
async fn votes_of_elsewhere_are_seen_soon() {
    let app = TestApp::start().await;
    ten_people(&app, 3).await;
    let patience = std::time::Instant::now() + std::time::Duration::from_secs(30);
    while !app
        .get(PAGE)
        .await
        .text()
        .await
        .unwrap()
        .contains("Helped 3 of 10")
    {
        assert!(std::time::Instant::now() < patience, "no share is shown");
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    }
}

#[tokio::test]
async fn somebody_who_is_logged_in_votes_on_the_page() {
    let app = TestApp::start().await;
    app.person("ada", Role::Viewer, false).await;
    let mut ada = app.browser("ada").await;
    let page = ada.page(PAGE).await;
    let form = PageForm::of(&page, "value=\"/workarounds/0\"");
    assert!(!page.contains("value=\"came_back\""), "{page}");
    let sent = form.send(&mut ada, ("outcome", "worked")).await;
    assert_eq!(sent.status(), 303, "{}", sent.text().await.unwrap());
    let back = sent.headers()["location"].to_str().unwrap().to_owned();
    let page = ada.page(&back).await;
    assert!(page.contains("Your vote counts."), "{page}");
    assert!(page.contains("You said that it worked."), "{page}");
    // A week later.
    let form = PageForm::of(&page, "value=\"/workarounds/0\"");
    form.send(&mut ada, ("outcome", "came_back")).await;
    assert!(
        ada.page(PAGE)
            .await
            .contains("You said that it came back within a week.")
    );
    let votes = app.store.votes(&RECORD.parse().unwrap()).await.unwrap();
    assert_eq!((votes.len(), votes[0].outcome), (1, VoteOutcome::CameBack));
    let strange = form.send(&mut ada, ("outcome", "helped")).await;
    assert_eq!(strange.status(), 400);
}

#[tokio::test]
async fn what_came_back_is_the_vote_that_it_was() {
    let app = TestApp::start().await;
    app.person("ada", Role::Viewer, false).await;
    let mut ada = app.browser("ada").await;
    let mut form = PageForm::of(&ada.page(PAGE).await, "value=\"/workarounds/0\"");
    form.set("driver", "550.54.14");
    form.set("gpu_model", "H100");
    let sent = form.send(&mut ada, ("outcome", "worked")).await;
    assert_eq!(sent.status(), 303, "{}", sent.text().await.unwrap());
    // The form holds where it was tried.
    let form = PageForm::of(&ada.page(PAGE).await, "value=\"/workarounds/0\"");
    let sent = form.send(&mut ada, ("outcome", "came_back")).await;
    assert_eq!(sent.status(), 303);
    let votes = app.store.votes(&RECORD.parse().unwrap()).await.unwrap();
    assert_eq!(votes.len(), 1, "{votes:?}");
    assert_eq!(votes[0].outcome, VoteOutcome::CameBack);
    assert_eq!(
        (votes[0].model.as_str(), votes[0].driver.as_str()),
        ("h100", "550.54.14")
    );
}

#[tokio::test]
async fn a_vote_stays_with_its_action_when_the_record_is_edited() {
    let app = TestApp::start().await;
    app.person("ada", Role::Admin, false).await;
    let mut ada = app.browser("ada").await;
    let form = PageForm::of(&ada.page(PAGE).await, "value=\"/workarounds/0\"");
    form.send(&mut ada, ("outcome", "worked")).await;
    // Another workaround is put in front.
    let id = RECORD.parse().unwrap();
    let texts = app.store.revision(&id, Revision(1)).await.unwrap().unwrap();
    let mut document: serde_json::Value = serde_json::from_str(&texts.document).unwrap();
    let first = serde_json::json!({ "action": "Look at the cable first." });
    document["workarounds"].as_array_mut().unwrap().insert(0, first);
    let token = app.token(&[peerless::store::Scope::Admin]).await;
    let path = format!("/api/v1/records/{RECORD}");
    let saved = app
        .put(&path, &token)
        .header("if-match", "\"r1\"")
        .body(document.to_string())
        .send();
    assert!(saved.await.unwrap().status().is_success());
    let publish = app
        .post(&format!("{path}/-/publish?revision=2"))
        .bearer_auth(&token)
        .send();
    let published = publish.await.unwrap();
    assert!(
        published.status().is_success(),
        "{}",
        published.text().await.unwrap()
    );
    let page = ada.page(PAGE).await;
    let said = page.find("You said that it worked.").expect("the vote");
    let after = PageForm::of(&page[said..], "value=\"/workarounds/");
    assert_eq!(after.get("tried"), "/workarounds/1");
    // A form of the older revision names the action that stood there.
    let sent = form.send(&mut ada, ("outcome", "did_not_help")).await;
    assert_eq!(sent.status(), 303);
    let votes = app.store.votes(&id).await.unwrap();
    assert_eq!((votes.len(), votes[0].outcome), (1, VoteOutcome::DidNotHelp));
}

#[tokio::test]
async fn without_a_login_nothing_is_taken_unless_the_operator_allows_it() {
    let app = TestApp::start().await;
    let nobody = Browser::new(&app);
    let suggestion = [("do", "suggest"), ("text", "The cause is another one.")];
    let vote = [
        ("do", "vote"),
        ("tried", "/workarounds/0"),
        ("revision", "1"),
        ("outcome", "worked"),
    ];
    for fields in [&suggestion[..], &vote[..]] {
        let sent = nobody.form(&format!("{PAGE}/-/feedback"), fields).send();
        assert_eq!(sent.await.unwrap().status(), 401);
    }
    assert!(
        app.store
            .feedback(FeedbackState::Waiting, None, 10)
            .await
            .unwrap()
            .is_empty()
    );
}

#[tokio::test]
async fn suggestions_and_votes_of_nobody_are_read_by_an_editor() {
    let app = TestApp::start_with(|options| options.settings.anonymous_writing = true).await;
    app.person("edi", Role::Editor, false).await;
    let mut nobody = Browser::new(&app);
    let page = nobody.page(PAGE).await;
    let mut form = PageForm::of(&page, "value=\"suggest\"");
    form.set("text", "The cause is <b>another</b> one.")
        .set("source", "https://example.org/why");
    let sent = form.send(&mut nobody, ("lang", "en")).await;
    assert_eq!(sent.status(), 303, "{}", sent.text().await.unwrap());
    let mut form = PageForm::of(&page, "value=\"/dead_ends/0\"");
    form.set("gpu_model", "NVIDIA H200");
    assert_eq!(form.send(&mut nobody, ("outcome", "worked")).await.status(), 303);
    let empty = nobody.form(&format!("{PAGE}/-/feedback"), &[("do", "suggest"), ("text", " ")]);
    assert_eq!(empty.send().await.unwrap().status(), 400);
    // Nothing of it is on the page of the record.
    let page = nobody.page(PAGE).await;
    assert!(!page.contains("another") && !page.contains("Helped"), "{page}");

    assert_eq!(nobody.get("/feedback").await.status(), 401);
    let mut edi = app.browser("edi").await;
    let queue = edi.page("/feedback").await;
    assert!(queue.contains("The cause is &#60;b&#62;another"), "{queue}");
    assert!(queue.contains("https://example.org/why"), "{queue}");
    assert!(queue.contains("gpu_model NVIDIA H200"), "{queue}");
    let form = PageForm::of(&queue, "value=\"take\"");
    // To ignore needs a reason.
    assert_eq!(form.send(&mut edi, ("do", "ignore")).await.status(), 400);
    assert_eq!(form.send(&mut edi, ("do", "take")).await.status(), 303);
    assert_eq!(form.send(&mut edi, ("do", "take")).await.status(), 409);
    let queue = edi.page("/feedback").await;
    let mut form = PageForm::of(&queue, "value=\"ignore\"");
    form.set("reason", "spam");
    assert_eq!(form.send(&mut edi, ("do", "ignore")).await.status(), 303);
    assert!(edi.page("/feedback").await.contains("Nothing is here."));
    assert!(edi.page("/feedback?state=ignored").await.contains("spam"));
}

#[tokio::test]
async fn where_claims_and_outcomes_disagree_is_listed() {
    let app = TestApp::start().await;
    app.person("edi", Role::Editor, false).await;
    let edi = app.browser("edi").await;
    assert!(edi.page("/feedback").await.contains("No outcome disagrees"));
    ten_people(&app, 0).await;
    refresh(&app).await;
    let queue = edi.page("/feedback").await;
    assert!(queue.contains("0 / 10 (0–28 %)"), "{queue}");
    assert!(edi.page("/feedback?lang=zh").await.contains("差距"));
}

#[tokio::test]
async fn a_page_of_another_server_casts_no_vote() {
    let app = TestApp::start_with(|options| options.settings.anonymous_writing = true).await;
    app.person("ada", Role::Viewer, false).await;
    let ada = app.browser("ada").await;
    let body = "do=vote&tried=%2Fworkarounds%2F0&revision=1&outcome=worked";
    let forged = |browser: &Browser, origin: &str| {
        browser
            .request(Method::POST, &format!("{PAGE}/-/feedback"))
            .header("content-type", "application/x-www-form-urlencoded")
            .header("origin", origin)
            .body(body)
    };
    let refused = forged(&ada, "https://evil.example").send().await.unwrap();
    assert_eq!(refused.status(), 403);
    // Nor is it one without the proof of her session.
    let unproven = forged(&ada, &ada.url).send().await.unwrap();
    assert_eq!(unproven.status(), 403);
    assert!(
        app.store
            .votes(&RECORD.parse().unwrap())
            .await
            .unwrap()
            .is_empty()
    );
}

#[tokio::test]
async fn the_queue_is_read_and_decided_over_rest() {
    let app = TestApp::start_with(|options| options.settings.anonymous_writing = true).await;
    let path = format!("/api/v1/records/{RECORD}/-/suggestions");
    let sent = json!({"text": "The cause is another one."});
    let answer = app.post(&path).json(&sent).send().await.unwrap();
    assert_eq!(answer.status(), 202);
    for (wrong, status, code) in [
        (json!({"text": " "}), 400, "malformed_body"),
        (json!({"text": "x".repeat(4_001)}), 400, "malformed_body"),
        (json!({"text": "x", "note": "y"}), 400, "malformed_body"),
        (json!({"text": "x".repeat(40_000)}), 413, "too_large"),
    ] {
        let refused = app.post(&path).json(&wrong).send().await.unwrap();
        problem(refused, status, code).await;
    }
    let nowhere = app.post("/api/v1/records/no/such/-/suggestions").json(&sent);
    problem(nowhere.send().await.unwrap(), 404, "not_found").await;

    problem(app.get("/api/v1/feedback").await, 401, "unauthorized").await;
    let token = app.token(&[peerless::store::Scope::Edit]).await;
    let queue = body(app.get_with("/api/v1/feedback", &token).await).await;
    let entry = &queue["entries"][0];
    assert_eq!(
        (&entry["from"], &entry["body"]["text"]),
        (&json!("anonymous"), &sent["text"])
    );
    let decide = |n: &str, sent: Value| {
        let request = app.post(&format!("/api/v1/feedback/{n}"));
        request.bearer_auth(&token).json(&sent).send()
    };
    let n = entry["n"].to_string();
    problem(
        decide(&n, json!({"decision": "ignore"})).await.unwrap(),
        400,
        "malformed_body",
    )
    .await;
    problem(
        decide("x", json!({"decision": "take"})).await.unwrap(),
        400,
        "bad_id",
    )
    .await;
    problem(
        decide("99", json!({"decision": "take"})).await.unwrap(),
        404,
        "not_found",
    )
    .await;
    let done = decide(&n, json!({"decision": "ignore", "reason": "spam"}))
        .await
        .unwrap();
    assert_eq!(done.status(), 204);
    let again = decide(&n, json!({"decision": "take"})).await.unwrap();
    problem(again, 409, "overtaken").await;
    let ignored = body(app.get_with("/api/v1/feedback?state=ignored", &token).await).await;
    assert_eq!(ignored["entries"][0]["reason"], "spam");

    ten_people(&app, 0).await;
    refresh(&app).await;
    let found = body(app.get_with("/api/v1/disagreements", &token).await).await;
    let first = &found["disagreements"][0];
    assert_eq!(
        (&first["record"], &first["tried"]),
        (&json!(RECORD), &json!("/workarounds/0"))
    );
    assert!(first["gap"].as_f64().unwrap() > 0.2, "{found}");
}
