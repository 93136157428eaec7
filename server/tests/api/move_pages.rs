//! Merging and renaming in the browser, without script.

use peerless::store::{Role, Scope};
use reqwest::Response;

use crate::browser::Browser;
use crate::page_form::PageForm;
use crate::records::{P2P, document};
use crate::test_app::TestApp;
use crate::withdrawals;

const ID: &str = "cuda/peer-access-unsupported-by-hardware";
const OTHER: &str = "tensorflow/gpu-peer-access-error";

async fn editor(app: &TestApp) -> Browser {
    app.person("ada", Role::Editor, false).await;
    app.browser("ada").await
}

fn location(response: &Response) -> &str {
    response.headers()["location"].to_str().unwrap()
}

#[tokio::test]
async fn an_editor_merges_a_record_into_one_that_was_searched_for() {
    let app = TestApp::start().await;
    let mut ada = editor(&app).await;
    // One that decides nothing, so that one person is enough.
    let (goes, stays) = ("cuda/widget-infarction", ID);
    let token = app.token(&[Scope::Edit, Scope::Publish]).await;
    let made = app
        .put(&format!("/api/v1/records/{goes}?publish=true"), &token)
        .header("if-none-match", "*")
        .body(document(goes, "widget infarction of the third kind"));
    assert_eq!(made.send().await.unwrap().status(), 201);
    let edit = ada.page(&format!("/r/{goes}/-/edit")).await;
    assert!(edit.contains(&format!("href=\"/r/{goes}/-/merge\"")), "{edit}");
    let found = ada
        .page(&format!(
            "/r/{goes}/-/merge?into=CUDA_ERROR_PEER_ACCESS_UNSUPPORTED"
        ))
        .await;
    let link = format!("/r/{goes}/-/merge?into={}", stays.replace('/', "%2F"));
    assert!(found.contains(&format!("href=\"{link}\"")), "{found}");
    let itself = ada.page(&format!("/r/{goes}/-/merge?into={goes}")).await;
    assert!(!itself.contains("data-merge"), "{itself}");

    let both = ada.page(&link).await;
    for shown in [
        goes,
        stays,
        "widget infarction of the third kind",
        "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED",
        "0 votes",
    ] {
        assert!(both.contains(shown), "{shown}: {both}");
    }
    let mut form = PageForm::of(&both, "data-merge");
    let refused = form.set("reason", " ").send_plain(&mut ada).await;
    assert_eq!(refused.status(), 422);
    let page = refused.text().await.unwrap();
    assert!(page.contains("Say why."), "{page}");
    let merged = form.set("reason", "one <b>error</b>").send_plain(&mut ada).await;
    assert_eq!(merged.status(), 303);
    assert_eq!(location(&merged), format!("/r/{stays}"));
    let old = app.get(&format!("/r/{goes}")).await;
    assert_eq!(
        (old.status().as_u16(), location(&old)),
        (308, format!("/r/{stays}").as_str())
    );
    // The page of what is merged away leads on, and its form does nothing any more.
    let page = ada.get(&format!("/r/{goes}/-/merge")).await;
    assert_eq!(page.status(), 308);
    assert_eq!(location(&page), format!("/r/{stays}/-/merge"));
    assert_eq!(form.send_plain(&mut ada).await.status(), 409);
}

#[tokio::test]
async fn an_editor_gives_a_record_another_id() {
    let app = TestApp::start().await;
    let mut ada = editor(&app).await;
    let page = ada.page(&format!("/r/{ID}/-/rename?lang=zh")).await;
    assert!(page.contains("新 ID"), "{page}");
    let mut form = PageForm::of(&page, "data-rename");
    for (wanted, status, said) in [
        ("NO", 422, "这不是记录 ID。"),
        (OTHER, 409, "已有记录使用"),
        ("", 422, "这不是记录 ID。"),
    ] {
        let refused = form.set("new_id", wanted).send_plain(&mut ada).await;
        assert_eq!(refused.status(), status, "{wanted}");
        let page = refused.text().await.unwrap();
        assert!(page.contains(said), "{wanted}: {page}");
    }
    let renamed = form
        .set("new_id", "cuda/no-peer-access")
        .send_plain(&mut ada)
        .await;
    assert_eq!(renamed.status(), 303);
    assert_eq!(location(&renamed), "/r/cuda/no-peer-access?lang=zh");
    let old = app.get(&format!("/r/{ID}")).await;
    assert_eq!(
        (old.status().as_u16(), location(&old)),
        (308, "/r/cuda/no-peer-access")
    );
}

#[tokio::test]
async fn a_draft_is_in_the_way_and_another_revision_is_told() {
    let app = TestApp::start().await;
    let mut ada = editor(&app).await;
    let pages = [
        (format!("/r/{ID}/-/rename"), "data-rename", "new_id", "cuda/new"),
        (
            format!("/r/{ID}/-/merge?into={OTHER}"),
            "data-merge",
            "reason",
            "the same",
        ),
    ];
    let mut forms = Vec::new();
    for (path, mark, field, value) in &pages {
        let mut form = PageForm::of(&ada.page(path).await, mark);
        form.set(field, value);
        forms.push(form);
    }
    let mut edit = PageForm::of(&ada.page(&format!("/r/{ID}/-/edit")).await, "data-edit");
    edit.set("d:/subcategory", "drafted");
    assert_eq!(edit.send(&mut ada, ("do", "save")).await.status(), 303);
    for ((path, mark, ..), form) in pages.iter().zip(&mut forms) {
        assert_eq!(form.send_plain(&mut ada).await.status(), 412, "{path}");
        let page = ada.page(path).await;
        assert!(page.contains("has a draft") && !page.contains(mark), "{page}");
        let sent = form.set("head", "2").send_plain(&mut ada).await;
        assert_eq!(sent.status(), 409, "{path}");
    }
    assert_eq!(app.get(P2P).await.status(), 200);
}

#[tokio::test]
async fn who_may_not_publish_moves_nothing() {
    let app = TestApp::start().await;
    let mut ada = editor(&app).await;
    app.person("bob", Role::Contributor, false).await;
    let bob = app.browser("bob").await;
    for step in ["merge", "rename"] {
        let path = format!("/r/{ID}/-/{step}");
        assert_eq!(app.get(&path).await.status(), 401, "{path}");
        assert_eq!(bob.get(&path).await.status(), 403, "{path}");
        assert_eq!(ada.get(&format!("/r/cuda/nowhere/-/{step}")).await.status(), 404);
    }
    let edit = bob.page(&format!("/r/{ID}/-/edit")).await;
    assert!(!edit.contains("/-/merge"), "{edit}");
    let mut form = PageForm::of(&ada.page(&format!("/r/{ID}/-/rename")).await, "data-rename");
    form.set("new_id", "cuda/new");
    ada.csrf.clear();
    assert_eq!(form.send_plain(&mut ada).await.status(), 403);
    assert_eq!(app.get(P2P).await.status(), 200);
}

#[tokio::test]
async fn a_merge_of_what_decides_waits_for_a_second_person_who_approves_it() {
    let (app, mut edi, mut eva, _) = withdrawals::start().await;
    let (id, other) = (withdrawals::ID, withdrawals::OTHER);
    let path = format!("/r/{id}/-/merge?into={other}");
    let page = edi.page(&path).await;
    assert!(page.contains("a second person is needed"), "{page}");
    let mut form = PageForm::of(&page, "data-merge");
    let asked = form.set("reason", "one fault").send_plain(&mut edi).await;
    assert_eq!(asked.status(), 303);
    assert_eq!(location(&asked), format!("/r/{id}/-/revisions"));
    assert_eq!(
        app.get(&format!("/r/{id}")).await.status(),
        200,
        "nothing is done"
    );
    let waits = edi.page(&path).await;
    assert!(waits.contains("waits in review"), "{waits}");
    // Another person sees what is asked, and may do it here or approve it there.
    let page = eva.page(&path).await;
    assert!(
        page.contains("edi asks to take this record away") && !page.contains("a second person is needed"),
        "{page}"
    );
    let waiting = eva.page("/reviews").await;
    assert!(waiting.contains("merge the record"), "{waiting}");
    let history = eva.page(&format!("/r/{id}/-/revisions")).await;
    assert!(history.contains("Approve and merge"), "{history}");
    let approve = PageForm::of(&history, "value=\"approve\"");
    assert_eq!(approve.send(&mut eva, ("do", "approve")).await.status(), 303);
    let gone = app.get(&format!("/r/{id}")).await;
    assert_eq!(
        (gone.status().as_u16(), location(&gone)),
        (308, format!("/r/{other}").as_str())
    );
    let status = app.store.status(&id.parse().unwrap()).await.unwrap().unwrap();
    assert_eq!(status.withdrawn_reason.as_deref(), Some("one fault"));
}
