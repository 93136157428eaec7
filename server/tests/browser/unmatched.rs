//! Unknown lines on a phone and a wide screen, in both languages, and from a line to a record that is begun, by clicks alone.

use peerless::store::{Role, UnmatchedSeen};
use time::OffsetDateTime;

use crate::driver::Browser;
use crate::pages::TOO_FAINT;
use crate::people::PASSWORD;
use crate::test_app::TestApp;

const ID: &str = "0123456789abcdef";

async fn open(app: &TestApp, browser: &Browser) {
    let seen = UnmatchedSeen {
        id: ID.to_owned(),
        tokens: vec![
            "zorgblat:".to_owned(),
            " link".to_owned(),
            " <number>".to_owned(),
            " failed".to_owned(),
        ],
        is_wider: false,
        examples: vec![
            "zorgblat: link 3 failed".to_owned(),
            "zorgblat: link 4 failed".to_owned(),
        ],
        node: "node-1".to_owned(),
        count: 2,
    };
    let at = OffsetDateTime::UNIX_EPOCH + time::Duration::days(20_000);
    app.store.note_unmatched(&[seen], at).await.unwrap();
    app.person("ada", Role::Contributor, false).await;
    browser
        .open(&format!("{}/login?return_to=%2Funmatched", app.url))
        .await;
    browser.type_into("[name=login]", "ada").await;
    browser.type_into("[name=password]", PASSWORD).await;
    browser.follow("main form button").await;
    assert!(browser.address().await.ends_with("/unmatched"));
}

#[tokio::test]
async fn the_pages_fit_on_a_phone_in_both_languages() {
    let app = TestApp::start().await;
    let browser = Browser::start().await;
    open(&app, &browser).await;
    for scheme in ["light", "dark"] {
        for (width, lang) in [(360, "zh"), (1600, "en")] {
            for path in ["/unmatched".to_owned(), format!("/unmatched/{ID}")] {
                let place = format!("{path} at {width}, {scheme}");
                browser.viewport(width, 900, scheme).await;
                browser.open(&format!("{}{path}?lang={lang}", app.url)).await;
                assert!(browser.sticks_out(width).await <= 0, "{place}");
                assert_eq!(browser.script(TOO_FAINT).await, serde_json::json!([]), "{place}");
                let without_label = "return [...document.querySelectorAll('main input:not([type=hidden]), main select')]\
                    .filter(one => !one.labels.length).map(one => one.name)";
                assert_eq!(
                    browser.script(without_label).await,
                    serde_json::json!([]),
                    "{place}"
                );
                assert_eq!(browser.complaints().await, Vec::<String>::new(), "{place}");
            }
        }
    }
}

#[tokio::test]
async fn a_record_is_begun_from_a_line_without_scripts() {
    let app = TestApp::start().await;
    let browser = Browser::start_with(false).await;
    open(&app, &browser).await;
    browser.follow("main tbody a").await;
    browser.type_into("#id", "cuda/zorgblat-link").await;
    browser.follow("form[action='/records/new'] button").await;
    let title = browser.text("h1").await;
    assert!(title.contains("cuda/zorgblat-link"), "{title}");
}
