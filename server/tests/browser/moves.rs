//! Merging, renaming and splitting on a phone and a wide screen, in both languages, and a merge by clicks without scripts.

use peerless::store::Role;

use crate::driver::Browser;
use crate::pages::TOO_FAINT;
use crate::people::PASSWORD;
use crate::test_app::TestApp;

const ID: &str = "cuda/peer-access-unsupported-by-hardware";
const OTHER: &str = "tensorflow/gpu-peer-access-error";

async fn open(app: &TestApp, browser: &Browser) {
    app.person("ada", Role::Editor, false).await;
    browser.open(&format!("{}/login", app.url)).await;
    browser.type_into("[name=login]", "ada").await;
    browser.type_into("[name=password]", PASSWORD).await;
    browser.follow("main form button").await;
}

#[tokio::test]
async fn the_pages_fit_on_a_phone_in_both_languages() {
    let app = TestApp::start().await;
    let browser = Browser::start().await;
    open(&app, &browser).await;
    for scheme in ["light", "dark"] {
        for (width, lang) in [(360, "zh"), (1600, "en")] {
            browser.viewport(width, 900, scheme).await;
            for path in [
                "merge?".to_owned(),
                format!("merge?into={OTHER}&"),
                "rename?".to_owned(),
                "split?".to_owned(),
            ] {
                let path = format!("/r/{ID}/-/{path}lang={lang}");
                let place = format!("{path} at {width}, {scheme}");
                browser.open(&format!("{}{path}", app.url)).await;
                assert!(browser.sticks_out(width).await <= 0, "{place}");
                assert_eq!(browser.script(TOO_FAINT).await, serde_json::json!([]), "{place}");
                let without_label = "return [...document.querySelectorAll('main input:not([type=hidden])')]\
                    .filter(one => !one.labels.length).map(one => one.name)";
                let unlabelled = browser.script(without_label).await;
                assert_eq!(unlabelled, serde_json::json!([]), "{place}");
                assert_eq!(browser.complaints().await, Vec::<String>::new(), "{place}");
            }
        }
    }
}

#[tokio::test]
async fn a_merge_is_asked_for_by_clicks_without_scripts() {
    let app = TestApp::start().await;
    let browser = Browser::start_with(false).await;
    open(&app, &browser).await;
    browser.open(&format!("{}/r/{ID}/-/edit", app.url)).await;
    browser.follow(&format!("a[href='/r/{ID}/-/merge']")).await;
    browser.type_into("#which", OTHER).await;
    browser.follow("form[method=get] button").await;
    browser.type_into("#reason", "one fault").await;
    browser.follow("form[data-merge] button").await;
    let address = browser.address().await;
    assert!(address.ends_with(&format!("/r/{ID}/-/revisions")), "{address}");
    let asked = browser.text("main").await;
    assert!(asked.contains("one fault") && asked.contains(OTHER), "{asked}");
}
