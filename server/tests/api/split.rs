//! One record becomes two drafts, over REST and in the browser.

use peerless::store::{RecordState, Role, Scope};
use reqwest::Response;
use serde_json::{Value, json as object};

use crate::page_form::PageForm;
use crate::test_app::{TestApp, json, problem};

const ID: &str = "cuda/peer-access-unsupported-by-hardware";
const NEW: &str = "cuda/peer-access-in-a-container";

async fn texts(app: &TestApp, id: &str) -> (u32, Value, Value, String) {
    let id = id.parse().unwrap();
    let head = app.store.status(&id).await.unwrap().unwrap().head;
    let texts = app.store.revision(&id, head).await.unwrap().unwrap();
    (
        head.0,
        serde_json::from_str(&texts.document).unwrap(),
        serde_json::from_str(&texts.annex).unwrap(),
        texts.document,
    )
}

fn wanted(places: &[&str]) -> Value {
    object!({"new_id": NEW, "revision": 1, "signature": "peer access in a container", "move": places})
}

async fn send(app: &TestApp, token: &str, id: &str, body: &Value) -> Response {
    let path = format!("/api/v1/records/{id}/-/split");
    app.post(&path)
        .bearer_auth(token)
        .json(body)
        .send()
        .await
        .unwrap()
}

#[tokio::test]
async fn what_is_named_goes_to_a_new_draft_and_readers_see_nothing_of_it() {
    let app = TestApp::start().await;
    let token = app.token(&[Scope::Edit]).await;
    let path = format!("/api/v1/records/{ID}");
    let seen = app.get(&path).await.text().await.unwrap();
    let text = seen.clone();
    let edges = "\"leads_to\": [{\"error_id\": \"xid/79\"}, {\"error_id\": \"xid/48\"}]";
    let text = text.replacen("\"leads_to\": []", edges, 1);
    let drafted = app.put(&path, &token).header("if-match", "\"r1\"").body(text);
    assert_eq!(drafted.send().await.unwrap().status(), 200);
    let (_, document, annex, text) = texts(&app, ID).await;
    let places = [
        "annex:/patterns/1",
        "annex:/patterns/0",
        "annex:/codes/1",
        "annex:/examples/0",
        "document:/transition_graph/leads_to/0",
        "document:/regex",
    ];
    let mut body = wanted(&places);
    body["revision"] = object!(2);
    let answer = send(&app, &token, ID, &body).await;
    assert_eq!(answer.status(), 201, "{}", answer.text().await.unwrap());
    assert_eq!(
        answer.headers()["location"].to_str().unwrap(),
        format!("/api/v1/records/{NEW}")
    );
    let told = json(answer).await;
    assert_eq!(
        (&told["old"]["revision"], &told["new"]["revision"]),
        (&object!(3), &object!(1))
    );

    let (_, new, new_annex, _) = texts(&app, NEW).await;
    for key in ["domain", "category", "root_cause", "regex"] {
        assert_eq!(new[key], document[key], "{key}");
    }
    assert_eq!(new["signature"], "peer access in a container");
    let leads_to = |document: &Value| document["transition_graph"]["leads_to"].clone();
    assert_eq!(leads_to(&new), object!([leads_to(&document)[0]]));
    assert_eq!(
        new_annex["patterns"],
        object!([annex["patterns"][0], annex["patterns"][1]])
    );
    assert_eq!(new_annex["codes"], object!([annex["codes"][1]]));
    assert_eq!(new_annex["examples"], object!([annex["examples"][0]]));
    assert_eq!(new_annex.get("severity"), None, "what decides is not copied");

    let (head, old, old_annex, old_text) = texts(&app, ID).await;
    assert_eq!((head, &old["regex"]), (3, &Value::Null));
    let rest = |list: &Value, gone: &[usize]| -> Vec<Value> {
        let items = list.as_array().unwrap().iter().enumerate();
        let kept = items.filter(|(at, _)| !gone.contains(at));
        kept.map(|(_, item)| item.clone()).collect()
    };
    assert_eq!(old_annex["patterns"], object!(rest(&annex["patterns"], &[0, 1])));
    assert_eq!(old_annex["codes"], object!(rest(&annex["codes"], &[1])));
    assert_eq!(old_annex["examples"], object!(rest(&annex["examples"], &[0])));
    assert_eq!(leads_to(&old), object!(rest(&leads_to(&document), &[0])));
    // Every other byte is as it was.
    let cause = |text: &str| {
        text.split_once("\"root_cause\"")
            .unwrap()
            .1
            .split_once("\"transition_graph\"")
            .unwrap()
            .0
            .to_owned()
    };
    assert_eq!(cause(&old_text), cause(&text));

    assert_eq!(app.get(&path).await.text().await.unwrap(), seen);
    let status = app.store.status(&NEW.parse().unwrap()).await.unwrap().unwrap();
    assert_eq!((status.state, status.published), (RecordState::Draft, None));
    let admin = app.token(&[Scope::Admin]).await;
    let rows = json(app.get_with("/api/v1/audit?action=record.split", &admin).await).await;
    assert_eq!(rows["entries"][0]["subject"], ID, "{rows}");
}

#[tokio::test]
async fn a_split_that_cannot_be_leaves_everything_as_it_was() {
    let app = TestApp::start().await;
    let token = app.token(&[Scope::Edit]).await;
    let good = wanted(&["annex:/patterns/0"]);
    let with = |key: &str, value: Value| {
        let mut body = good.clone();
        body[key] = value;
        body
    };
    for (body, status, code) in [
        (wanted(&[]), 400, "malformed_body"),
        (wanted(&["annex:/patterns/99"]), 400, "malformed_body"),
        (wanted(&["annex:/severity"]), 400, "malformed_body"),
        (wanted(&["annex:/patterns/-"]), 400, "malformed_body"),
        (wanted(&["/patterns/0"]), 400, "malformed_body"),
        (with("new_id", object!("NO")), 400, "bad_id"),
        (with("new_id", object!(ID)), 409, "alias_taken"),
        (
            with("new_id", object!("tensorflow/gpu-peer-access-error")),
            409,
            "alias_taken",
        ),
        (with("revision", object!(2)), 412, "stale_revision"),
        (with("signature", object!(" ")), 422, "invalid_record"),
        (with("title", object!(" ")), 400, "malformed_body"),
        (with("more", object!(1)), 400, "malformed_body"),
    ] {
        let told = problem(send(&app, &token, ID, &body).await, status, code).await;
        assert_eq!(texts(&app, ID).await.0, 1, "{told}");
    }
    problem(send(&app, &token, "cuda/nowhere", &good).await, 404, "not_found").await;
    let publisher = app.token(&[Scope::Publish]).await;
    let renamed = app
        .post("/api/v1/records/tensorflow/gpu-peer-access-error/-/rename?new_id=tensorflow/renamed")
        .bearer_auth(&publisher);
    assert_eq!(renamed.send().await.unwrap().status(), 200);
    let elsewhere = send(&app, &token, "tensorflow/gpu-peer-access-error", &good).await;
    assert_eq!(elsewhere.status(), 308);
    let reader = app.token(&[Scope::Report]).await;
    problem(send(&app, &reader, ID, &good).await, 403, "forbidden").await;
    assert_eq!(app.store.status(&NEW.parse().unwrap()).await.unwrap(), None);
}

#[tokio::test]
async fn a_contributor_splits_a_record_on_its_page() {
    let app = TestApp::start().await;
    app.person("bob", Role::Contributor, false).await;
    let mut bob = app.browser("bob").await;
    let edit = bob.page(&format!("/r/{ID}/-/edit")).await;
    assert!(edit.contains(&format!("href=\"/r/{ID}/-/split\"")), "{edit}");
    let path = format!("/r/{ID}/-/split");
    assert_eq!(app.get(&path).await.status(), 401);
    assert_eq!(bob.get("/r/cuda/nowhere/-/split").await.status(), 404);
    let chinese = bob.page(&format!("{path}?lang=zh")).await;
    assert!(chinese.contains("新记录的签名"), "{chinese}");
    let page = bob.page(&path).await;
    assert!(page.contains("value=\"annex:/patterns/0\""), "{page}");
    let mut form = PageForm::of(&page, "data-split");
    form.set("new_id", NEW)
        .set("signature", "peer access in a container");
    let nothing = form.send_plain(&mut bob).await;
    assert_eq!(nothing.status(), 422);
    assert!(nothing.text().await.unwrap().contains("Tick what goes"));
    form.set("move", "annex:/patterns/0").set("new_id", ID);
    let taken = form.send_plain(&mut bob).await;
    assert_eq!(taken.status(), 409);
    let page = taken.text().await.unwrap();
    // What was ticked and written is still there.
    let mut again = PageForm::of(&page, "data-split");
    assert_eq!(again.get("move"), "annex:/patterns/0");
    assert_eq!(again.get("signature"), "peer access in a container");
    let done = again.set("new_id", NEW).send_plain(&mut bob).await;
    assert_eq!(done.status(), 303);
    let there = done.headers()["location"].to_str().unwrap();
    assert_eq!(there, format!("/r/{NEW}/-/edit"));
    let draft = PageForm::of(&bob.page(there).await, "data-edit");
    assert_eq!(draft.get("d:/signature"), "peer access in a container");
    assert!(!draft.get("a:/patterns/0/regex").is_empty());
}
