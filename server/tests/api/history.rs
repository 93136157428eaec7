//! The page of a record's history, which nobody needs a token for.

use peerless::store::Scope;

use crate::records::P2P;
use crate::test_app::TestApp;

const PAGE: &str = "/r/cuda/peer-access-unsupported-by-hardware/-/revisions";

#[tokio::test]
async fn a_draft_is_shown_once_it_is_published() {
    let app = TestApp::start().await;
    let token = app.token(&[Scope::Edit, Scope::Publish]).await;
    let before = app.get(P2P).await.text().await.unwrap();
    let edited = before.replace("disabled P2P in the driver", "a word only the draft has");
    let saved = app
        .put(P2P, &token)
        .header("if-match", "\"r1\"")
        .body(edited)
        .send();
    assert_eq!(saved.await.unwrap().status(), 200);

    let page = app.get(PAGE).await.text().await.unwrap();
    assert!(page.contains("r1") && !page.contains("r2"), "{page}");
    let compared = app.get(&format!("{PAGE}?from=1&to=2")).await;
    assert_eq!(compared.status(), 404);
    assert!(!compared.text().await.unwrap().contains("only the draft has"));

    let publish = app
        .post(&format!("{P2P}/-/publish?revision=2"))
        .bearer_auth(&token);
    assert_eq!(publish.send().await.unwrap().status(), 200);
    let page = app.get(PAGE).await.text().await.unwrap();
    assert!(
        page.contains("r2") && page.contains("only the draft has"),
        "{page}"
    );
}
