//! Nobody gets past the second person alone.

use kb_core::ids::{RecordId, Revision};
use peerless::store::{ActorKind, By, Expected, NewRevision, Role, Saved};
use reqwest::Method;
use serde_json::{Value, json};

use crate::records::P2P;
use crate::reviews::{call, post, save_annex};
use crate::test_app::{NOW, TestApp, problem};

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
