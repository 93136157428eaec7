//! From a draft to what readers see, with a second person.

use peerless::store::{Role, Scope};
use reqwest::Method;
use serde_json::{Value, json};

use crate::browser::Browser;
use crate::page_form::PageForm;
use crate::records::P2P;
use crate::test_app::{TestApp, json as body, problem};

pub(crate) async fn call(
    browser: &Browser,
    method: Method,
    path: &str,
    sent: Option<Value>,
) -> reqwest::Response {
    let request = browser
        .request(method, path)
        .header("origin", &browser.url)
        .header("x-csrf-token", &browser.csrf);
    let request = match sent {
        Some(sent) => request
            .header("content-type", "application/json")
            .body(sent.to_string()),
        None => request,
    };
    request.header("accept", "application/json").send().await.unwrap()
}

pub(crate) async fn post(browser: &Browser, step: &str, sent: Value) -> reqwest::Response {
    call(browser, Method::POST, &format!("{P2P}/-/{step}"), Some(sent)).await
}

/// Saves a revision in which a key of the annex has another value.
pub(crate) async fn save_annex(browser: &Browser, key: &str, value: Value) -> u32 {
    let path = format!("{P2P}?view=full&revision=head");
    let full = body(call(browser, Method::GET, &path, None).await).await;
    let mut ext = full["ext"].clone();
    ext[key] = value;
    let sent = json!({ "document": full["document"], "ext": ext });
    let answer = browser
        .request(Method::PUT, &format!("{P2P}?view=full"))
        .header("origin", &browser.url)
        .header("x-csrf-token", &browser.csrf)
        .header("content-type", "application/json")
        .header("if-match", format!("\"r{}\"", full["head_revision"]))
        .body(sent.to_string())
        .send();
    let answer = body(answer.await.unwrap()).await;
    u32::try_from(answer["revision"].as_u64().unwrap_or_else(|| panic!("{answer}"))).unwrap()
}

async fn people(app: &TestApp) -> (Browser, Browser, Browser) {
    app.person("con", Role::Contributor, false).await;
    app.person("edi", Role::Editor, false).await;
    app.person("root", Role::Admin, false).await;
    (
        app.browser("con").await,
        app.browser("edi").await,
        app.browser("root").await,
    )
}

#[tokio::test]
async fn a_proposal_is_approved_by_a_second_person() {
    let app = TestApp::start().await;
    let (con, edi, _) = people(&app).await;
    let revision = save_annex(&con, "severity", json!("info")).await;
    let asked = body(post(&con, "review", json!({"step": "ask", "reason": "please look"})).await).await;
    assert_eq!(asked["review"]["revision"], revision);
    assert_eq!(asked["review"]["state"], "open");
    let waiting = body(call(&edi, Method::GET, "/api/v1/reviews", None).await).await;
    assert_eq!(waiting["reviews"][0]["asked_by"], "con");
    let of_record = call(&edi, Method::GET, &format!("{P2P}/-/reviews"), None).await;
    let of_record = body(of_record).await;
    assert_eq!(of_record["outlook"]["nodes"]["deciding"], json!(["severity"]));

    let approve = json!({"step": "approve", "revision": revision});
    assert_eq!(post(&con, "review", approve.clone()).await.status(), 403);
    let mut with_reason = approve;
    with_reason["reason"] = json!("the sources say so");
    let done = body(post(&edi, "review", with_reason.clone()).await).await;
    assert_eq!(done["published"]["revision"], revision, "{done}");
    let reviews = body(call(&edi, Method::GET, &format!("{P2P}/-/reviews"), None).await).await;
    assert_eq!(reviews["reviews"][0]["state"], "approved");
    assert_eq!(reviews["reviews"][0]["reason"], "the sources say so");
    // It is decided.
    problem(post(&edi, "review", with_reason).await, 409, "wrong_state").await;
}

#[tokio::test]
async fn nobody_publishes_alone_what_decides_a_verdict() {
    let app = TestApp::start().await;
    let (_, edi, root) = people(&app).await;
    for (key, value) in [("severity", json!("info")), ("action", json!("reboot_node"))] {
        let revision = save_annex(&edi, key, value).await;
        let publish = format!("{P2P}/-/publish?revision={revision}");
        let refused = call(&edi, Method::POST, &publish, None).await;
        problem(refused, 409, "second_person_needed").await;
        post(&edi, "review", json!({"step": "ask"})).await;
        let approve = json!({"step": "approve", "revision": revision, "reason": "mine"});
        problem(post(&edi, "review", approve).await, 409, "second_person_needed").await;
    }
    // A later revision by somebody else is no second pair of eyes for who wrote the first.
    let typo = save_annex(&root, "asked_as", json!(["p2p does not work"])).await;
    let publish = format!("{P2P}/-/publish?revision={typo}");
    problem(
        call(&edi, Method::POST, &publish, None).await,
        409,
        "second_person_needed",
    )
    .await;
    let done = call(&root, Method::POST, &publish, None).await;
    assert_eq!(done.status(), 200, "{}", done.text().await.unwrap());
}

#[tokio::test]
async fn an_administrator_alone_gives_a_reason_that_is_shown() {
    let app = TestApp::start().await;
    let (_, edi, root) = people(&app).await;
    let revision = save_annex(&root, "severity", json!("info")).await;
    post(&root, "review", json!({"step": "ask"})).await;
    let mut approve = json!({"step": "approve", "revision": revision, "reason": "warnings are known"});
    problem(
        post(&root, "review", approve.clone()).await,
        409,
        "second_person_needed",
    )
    .await;
    approve["alone"] = json!("nobody else is awake");
    assert_eq!(post(&edi, "review", approve.clone()).await.status(), 403);
    let done = post(&root, "review", approve).await;
    assert_eq!(done.status(), 200, "{}", done.text().await.unwrap());
    let page = app.get("/r/cuda/peer-access-unsupported-by-hardware").await;
    assert!(page.text().await.unwrap().contains("nobody else is awake"));
}

#[tokio::test]
async fn a_proposal_is_sent_back_with_a_reason_and_comments() {
    let app = TestApp::start().await;
    let (con, edi, _) = people(&app).await;
    let revision = save_annex(&con, "asked_as", json!(["p2p does not work"])).await;
    post(&con, "review", json!({"step": "ask"})).await;
    let back = json!({"step": "send_back", "revision": revision});
    problem(post(&edi, "review", back).await, 400, "malformed_body").await;
    let comment = json!({"part": "annex", "pointer": "/asked_as/0", "body": "who asks so?"});
    let comments = body(post(&edi, "comments", comment).await).await;
    assert_eq!(comments["comments"][0]["author"], "edi");
    let nowhere = json!({"part": "annex", "pointer": "/asked_as/7", "body": "x"});
    problem(post(&edi, "comments", nowhere).await, 400, "malformed_body").await;
    let back = json!({"step": "send_back", "revision": revision, "reason": "say where"});
    assert_eq!(post(&edi, "review", back).await.status(), 200);
    let reviews = body(call(&con, Method::GET, &format!("{P2P}/-/reviews"), None).await).await;
    assert_eq!(reviews["reviews"][0]["state"], "sent_back");
    let done = body(post(&con, "comments", json!({"resolve": 1})).await).await;
    assert_eq!(done["comments"][0]["resolved_by"], "con");
    problem(
        post(&con, "comments", json!({"resolve": 1})).await,
        404,
        "not_found",
    )
    .await;
    // None of this is for readers.
    for path in ["/-/reviews", "/-/comments"] {
        assert_eq!(app.get(&format!("{P2P}{path}")).await.status(), 401);
    }
}

#[tokio::test]
async fn a_question_is_ended_by_who_asked_or_who_decides() {
    const HISTORY: &str = "/r/cuda/peer-access-unsupported-by-hardware/-/revisions";
    let app = TestApp::start().await;
    let (con, edi, _) = people(&app).await;
    let revision = save_annex(&con, "asked_as", json!(["p2p does not work"])).await;
    let ask = json!({"step": "ask"});
    assert_eq!(post(&con, "review", ask.clone()).await.status(), 200);
    let withdraw = format!("{P2P}/-/withdraw?reason=bogus");
    let instead = call(&edi, Method::POST, &withdraw, None).await;
    problem(instead, 409, "wrong_state").await;
    let back = json!({"step": "withdraw", "revision": revision, "reason": "later"});
    problem(post(&edi, "review", back.clone()).await, 403, "forbidden").await;
    let waiting = body(call(&edi, Method::GET, "/api/v1/reviews", None).await).await;
    assert_eq!(waiting["reviews"][0]["asked_by"], "con");
    let may_take_back = |page: String| page.contains("take-back");
    assert!(!may_take_back(edi.page(HISTORY).await));
    assert!(may_take_back(con.page(HISTORY).await));
    assert_eq!(post(&con, "review", back).await.status(), 200);
    let asked = call(&edi, Method::POST, &withdraw, None).await;
    assert_eq!(asked.status(), 202);
    // One's own question gives way.
    assert_eq!(post(&edi, "review", ask).await.status(), 200);
    let waiting = body(call(&edi, Method::GET, "/api/v1/reviews", None).await).await;
    assert_eq!(waiting["reviews"][0]["withdraws"], false, "{waiting}");
    assert_eq!(waiting["reviews"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn an_older_revision_is_brought_back_in_one_call() {
    let app = TestApp::start().await;
    let (con, edi, _) = people(&app).await;
    let first = app.get(P2P).await.text().await.unwrap();
    let revision = save_annex(&con, "severity", json!("info")).await;
    let publish = format!("{P2P}/-/publish?revision={revision}");
    assert_eq!(call(&edi, Method::POST, &publish, None).await.status(), 200);
    let without = post(&edi, "revert", json!({"revision": 1})).await;
    problem(without, 428, "precondition_required").await;
    let revert = |tag: &'static str| {
        edi.request(Method::POST, &format!("{P2P}/-/revert"))
            .header("origin", &edi.url)
            .header("x-csrf-token", &edi.csrf)
            .header("content-type", "application/json")
            .header("accept", "application/json")
            .header("if-match", tag)
            .body(json!({"revision": 1}).to_string())
            .send()
    };
    problem(revert("\"r1\"").await.unwrap(), 412, "stale_revision").await;
    let done = body(revert("\"r2\"").await.unwrap()).await;
    assert_eq!(done["published"]["revision"], 3, "{done}");
    assert_eq!(app.get(P2P).await.text().await.unwrap(), first);
    let diff = app.get_json(&format!("{P2P}/-/diff?from=1&to=3")).await;
    assert_eq!(diff["changes"], json!([]));
}

#[tokio::test]
async fn a_reviewer_sees_which_nodes_would_be_judged_otherwise() {
    let app = TestApp::start().await;
    let (con, edi, _) = people(&app).await;
    let sent = include_str!("../../../kb-core/tests/data/reports/h200-x2-healthy.json");
    let token = app.token(&[Scope::Report]).await;
    let report = app
        .post("/api/v1/reports")
        .bearer_auth(&token)
        .header("content-type", "application/json")
        .body(sent);
    assert!(report.send().await.unwrap().status().is_success());
    let full = app.get_json(&format!("{P2P}?view=full")).await;
    let mut rules = full["ext"]["probe"].as_array().cloned().unwrap_or_default();
    rules.push(json!({"id": "any-gpu", "scope": "report", "when": "size(report.gpus) > 0"}));
    save_annex(&con, "probe", json!(rules)).await;
    post(&con, "review", json!({"step": "ask"})).await;
    let path = format!("{P2P}/-/reviews");
    let outlook = body(call(&edi, Method::GET, &path, None).await).await["outlook"]["nodes"].clone();
    assert_eq!(outlook["deciding"], json!(["probe"]));
    assert_eq!(
        (&outlook["looked_at"], &outlook["complete"]),
        (&json!(1), &json!(true)),
        "{outlook}"
    );
    let told = outlook["nodes"][0]["after"].to_string();
    assert!(told.contains("any-gpu, report"), "{outlook}");
    // A report that cannot be read was not asked.
    app.keep_damaged_report("damaged", "run-1").await;
    let outlook = body(call(&edi, Method::GET, &path, None).await).await["outlook"]["nodes"].clone();
    assert_eq!(
        (&outlook["looked_at"], &outlook["complete"]),
        (&json!(1), &json!(false)),
        "{outlook}"
    );
    let page = edi
        .page("/r/cuda/peer-access-unsupported-by-hardware/-/revisions")
        .await;
    assert!(
        page.contains("any-gpu, report") && page.contains("/nodes/"),
        "{page}"
    );
}

#[tokio::test]
async fn the_history_has_what_an_editor_needs() {
    const HISTORY: &str = "/r/cuda/peer-access-unsupported-by-hardware/-/revisions";
    let app = TestApp::start().await;
    let (mut con, mut edi, _) = people(&app).await;
    save_annex(&con, "severity", json!("info")).await;
    let ask = PageForm::of(&con.page(HISTORY).await, "value=\"ask\"");
    assert_eq!(ask.send(&mut con, ("do", "ask")).await.status(), 303);
    let waiting = edi.page("/reviews").await;
    assert!(waiting.contains(HISTORY) && waiting.contains("con"), "{waiting}");
    let page = edi.page(&format!("{HISTORY}?lang=zh")).await;
    assert!(page.contains("严重程度") && page.contains("批准并发布"), "{page}");
    let page = edi.page(HISTORY).await;
    let mut comment = PageForm::of(&page, "value=\"comment\"");
    comment
        .set("pointer", "annex:/severity")
        .set("body", "<i>why</i>?");
    assert_eq!(comment.send(&mut edi, ("do", "comment")).await.status(), 303);
    let page = edi.page(HISTORY).await;
    assert!(
        page.contains("Severity") && page.contains("&#60;i&#62;why"),
        "{page}"
    );
    let mut approve = PageForm::of(&page, "value=\"approve\"");
    approve.set("reason", "the sources say so");
    let done = approve.send(&mut edi, ("do", "approve")).await;
    assert_eq!(done.status(), 303, "{}", done.text().await.unwrap());
    let page = edi.page(HISTORY).await;
    assert!(
        page.contains("approved") && page.contains("the sources say so"),
        "{page}"
    );
    let revert = PageForm::of(&page, "value=\"revert\"");
    assert_eq!(revert.send(&mut edi, ("do", "revert")).await.status(), 303);
    let full = app.get_json(&format!("{P2P}?view=full")).await;
    assert_eq!(full["published_revision"], 3);
    // Readers see the history and none of this.
    let public = app.get(HISTORY).await.text().await.unwrap();
    assert!(
        !public.contains("method=\"post\"") && !public.contains("why</i>"),
        "{public}"
    );
}

#[tokio::test]
async fn changes_are_told_by_field() {
    let app = TestApp::start().await;
    let (con, edi, _) = people(&app).await;
    save_annex(&con, "severity", json!("info")).await;
    // Drafts are for those who edit.
    let path = format!("{P2P}/-/diff?from=1&to=head");
    assert_eq!(app.get(&path).await.status(), 401);
    let diff = body(call(&edi, Method::GET, &path, None).await).await;
    let change = &diff["changes"][0];
    assert_eq!(
        (
            change["part"].as_str(),
            change["pointer"].as_str(),
            change["new"].as_str()
        ),
        (Some("annex"), Some("/severity"), Some("\"info\""))
    );
    assert_eq!(diff["changes"].as_array().unwrap().len(), 1);
    let of = |blame: &Value, pointer: &str| -> Value {
        let fields = blame["fields"].as_array().unwrap().clone();
        fields
            .into_iter()
            .find(|field| field["pointer"] == pointer)
            .unwrap_or_default()
    };
    let blame = body(call(&edi, Method::GET, &format!("{P2P}/-/blame"), None).await).await;
    assert_eq!(of(&blame, "/severity")["revision"], 2);
    assert_eq!(of(&blame, "/severity")["actor"], "con");
    assert_eq!(of(&blame, "/root_cause")["revision"], 1);
    let public = app.get_json(&format!("{P2P}/-/blame")).await;
    assert_eq!(of(&public, "/severity")["revision"], 1);
}

#[tokio::test]
async fn a_withdrawn_record_says_why_and_what_replaces_it() {
    let app = TestApp::start().await;
    let (_, edi, root) = people(&app).await;
    let withdraw = |query: &str| format!("{P2P}/-/withdraw?{query}");
    let nowhere = call(
        &edi,
        Method::POST,
        &withdraw("reason=x&replaced_by=cuda/nowhere"),
        None,
    )
    .await;
    problem(nowhere, 400, "malformed_body").await;
    let query = "reason=said+better&replaced_by=tensorflow/gpu-peer-access-error";
    for (browser, status) in [(&edi, 202), (&root, 200)] {
        let done = call(browser, Method::POST, &withdraw(query), None).await;
        assert_eq!(done.status(), status);
    }
    let full = app.get_json(&format!("{P2P}?view=full")).await;
    assert_eq!(full["withdrawn_reason"], "said better");
    assert_eq!(full["replaced_by"], "tensorflow/gpu-peer-access-error");
    let page = app.get("/r/cuda/peer-access-unsupported-by-hardware").await;
    let page = page.text().await.unwrap();
    assert!(
        page.contains("said better") && page.contains("/r/tensorflow/gpu-peer-access-error"),
        "{page}"
    );
}
