//! The workbench as one types, on a phone and a wide screen, light and dark, and without any script.

use peerless::store::Role;

use crate::driver::Browser;
use crate::pages::TOO_FAINT;
use crate::people::PASSWORD;
use crate::test_app::TestApp;

const LINE: &str = "RuntimeError: CUDA error: peer access is not supported between these two devices";
const ANSWERED: &str = "return document.querySelectorAll('[data-result] h2').length > 0";

async fn open_workbench(app: &TestApp, browser: &Browser) {
    app.person("ada", Role::Contributor, false).await;
    let login = format!("{}/login?return_to=%2Fworkbench", app.url);
    browser.open(&login).await;
    browser.type_into("[name=login]", "ada").await;
    browser.type_into("[name=password]", PASSWORD).await;
    browser.follow("main form button").await;
    assert!(browser.address().await.ends_with("/workbench"));
}

#[tokio::test]
async fn a_pattern_is_tried_while_one_types() {
    let app = TestApp::start().await;
    let browser = Browser::start().await;
    open_workbench(&app, &browser).await;
    for scheme in ["light", "dark"] {
        for (width, path) in [(360, "/workbench?lang=zh"), (1600, "/workbench")] {
            let place = format!("{path} at {width}, {scheme}");
            browser.viewport(width, 900, scheme).await;
            browser.open(&format!("{}{path}", app.url)).await;
            browser.type_into("#lines", LINE).await;
            browser.until(ANSWERED).await;
            let told = browser.text("[data-result]").await;
            assert!(
                told.contains("cuda/peer-access-unsupported-by-hardware"),
                "{place}: {told}"
            );
            browser.type_into("#pattern", "peer access (?P<what>is )").await;
            browser
                .until("return document.querySelector('[data-result]').textContent.includes('what')")
                .await;
            let focused = browser.script("return document.activeElement.id").await;
            assert_eq!(focused, "pattern", "the field keeps the focus");
            assert!(
                !browser.address().await.contains("peer"),
                "nothing gets into the address"
            );
            assert!(browser.sticks_out(width).await <= 0, "{place}");
            assert_eq!(browser.script(TOO_FAINT).await, serde_json::json!([]), "{place}");
            assert_eq!(browser.complaints().await, Vec::<String>::new(), "{place}");
        }
    }
}

#[tokio::test]
async fn without_scripts_the_buttons_do_the_same() {
    let app = TestApp::start().await;
    let browser = Browser::start_with(false).await;
    open_workbench(&app, &browser).await;
    browser.type_into("#lines", LINE).await;
    browser.follow("#workbench button").await;
    assert!(browser.text("[data-result]").await.contains("Proposed pattern"));
    browser.follow("[name=take]").await;
    let told = browser.text("[data-result]").await;
    assert!(
        !told.contains("Proposed pattern") && told.contains("Literal"),
        "{told}"
    );
}
