//! Votes and suggestions as one sends them, and the queue of editors, on a phone and a wide screen, without any script.

use peerless::store::Role;

use crate::driver::Browser;
use crate::pages::TOO_FAINT;
use crate::people::PASSWORD;
use crate::test_app::TestApp;

const PAGE: &str = "/r/cuda/peer-access-unsupported-by-hardware";

/// Fields without a name for those who hear the page, and buttons without a text.
const NAMELESS: &str = "return [...document.querySelectorAll('main input, main textarea, main button')]\
    .filter((e) => e.type !== 'hidden' && !(e.labels?.length || e.textContent.trim() || e.getAttribute('aria-label')))\
    .map((e) => e.name)";

async fn reads_well(browser: &Browser, app: &TestApp, path: &str) {
    for scheme in ["light", "dark"] {
        for width in [360, 1600] {
            let place = format!("{path} at {width}, {scheme}");
            browser.viewport(width, 900, scheme).await;
            browser.open(&format!("{}{path}", app.url)).await;
            browser
                .script("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
                .await;
            assert!(browser.sticks_out(width).await <= 0, "{place}");
            assert_eq!(browser.script(TOO_FAINT).await, serde_json::json!([]), "{place}");
            assert_eq!(browser.script(NAMELESS).await, serde_json::json!([]), "{place}");
            assert_eq!(browser.complaints().await, Vec::<String>::new(), "{place}");
        }
    }
}

#[tokio::test]
async fn feedback_is_given_and_read() {
    let app = TestApp::start_with(|options| options.settings.anonymous_writing = true).await;
    let browser = Browser::start().await;
    reads_well(&browser, &app, &format!("{PAGE}?lang=zh")).await;
    reads_well(&browser, &app, PAGE).await;
    browser.follow(".works .votes button[value=worked]").await;
    assert!(browser.text("main").await.contains("An editor reads it."));
    browser
        .script("document.querySelector('textarea[name=text]').closest('details').open = true")
        .await;
    browser
        .type_into("textarea[name=text]", "The cause is another one.")
        .await;
    browser
        .follow("section[aria-labelledby=suggest] form button")
        .await;
    assert!(browser.address().await.contains("told=queued"));

    app.person("edi", Role::Editor, false).await;
    browser
        .open(&format!("{}/login?return_to=%2Ffeedback", app.url))
        .await;
    browser.type_into("[name=login]", "edi").await;
    browser.type_into("[name=password]", PASSWORD).await;
    browser.follow("main form button").await;
    let queue = browser.text("main").await;
    assert!(queue.contains("The cause is another one."), "{queue}");
    for path in ["/feedback", "/feedback?lang=zh"] {
        reads_well(&browser, &app, path).await;
    }
    browser.open(&format!("{}/feedback", app.url)).await;
    browser.follow("main form button[value=take]").await;
    assert!(!browser.text("main").await.contains("The cause is another one."));
}
