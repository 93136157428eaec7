//! From a pasted log to the record that explains it, with and without script.

use crate::driver::Browser;
use crate::test_app::TestApp;

/// A log with seed 000's own line in it.
const LOG: &str = "Nov 21 03:02:11 gpu07 python[4121]: INFO starting rank 1 of 8\n\
    Nov 21 03:02:14 gpu07 python[4121]: [rank1]: RuntimeError: CUDA error: peer access is not supported between these \
    two devices\nNov 21 03:02:15 gpu07 python[4121]: INFO bye\n";
const SPAN: &str = "peer access is not supported between these two devices";
const RECORD: &str = "/r/cuda/peer-access-unsupported-by-hardware";

async fn paste_to_record(browser: &Browser, app: &TestApp) {
    browser.open(&app.url).await;
    browser.type_into("#text", LOG).await;
    browser.follow(".box button[type=submit]").await;
    assert_eq!(browser.text(".log mark").await, SPAN);
    assert_eq!(browser.text("h1").await, "1 known error");
    let line = browser.text(".log .hit").await;
    assert!(line.contains('2') && line.contains("[rank1]"), "{line}");
    let address = browser.address().await;
    let known = ["", "?answer=1"].map(|which| format!("{}/match{which}", app.url));
    assert!(
        known.contains(&address),
        "pasted text must not stand in an address: {address}"
    );

    browser.follow("#match-1-title a").await;
    let dead_ends = browser.text(".record .advice.dead").await;
    assert!(
        dead_ends.contains("Rebooting the system does not change GPU topology"),
        "{dead_ends}"
    );
    assert!(
        dead_ends.contains("90 %") && dead_ends.contains("AI-generated, unverified"),
        "{dead_ends}"
    );
    assert_eq!(browser.address().await, format!("{}{RECORD}", app.url));
}

#[tokio::test]
async fn a_pasted_log_leads_to_its_record_and_back() {
    let app = TestApp::start().await;
    let browser = Browser::start().await;
    paste_to_record(&browser, &app).await;
    assert_eq!(browser.complaints().await, Vec::<String>::new());
    browser.back().await;
    assert_eq!(
        browser.text(".log mark").await,
        SPAN,
        "the answer must survive the way back"
    );
}

#[tokio::test]
async fn everything_works_without_script() {
    let app = TestApp::start().await;
    let browser = Browser::start_with(false).await;
    browser.open(&app.url).await;
    let pick_is_hidden = browser
        .script("return document.querySelector('[data-pick]').hidden")
        .await;
    assert_eq!(
        pick_is_hidden, true,
        "a button that needs script must not show without it"
    );
    paste_to_record(&browser, &app).await;
}

#[tokio::test]
async fn words_in_the_box_and_in_the_search_find_records() {
    let app = TestApp::start().await;
    let browser = Browser::start().await;
    browser.open(&app.url).await;
    browser.type_into("#text", "nvlink topology").await;
    browser.follow(".box button[type=submit]").await;
    let heading = browser.text("h1").await;
    assert!(heading.starts_with("No known error"), "{heading}");
    let found = browser.text("section[aria-labelledby=hits] mark").await;
    assert_eq!(found.to_lowercase(), "topology");

    browser.open(&format!("{}/search", app.url)).await;
    browser.type_into("#q", "217").await;
    browser.follow(".row-form button").await;
    browser.follow(".results a").await;
    assert_eq!(browser.address().await, format!("{}{RECORD}", app.url));

    browser.open(&format!("{}{RECORD}?lang=zh", app.url)).await;
    assert_eq!(
        browser.script("return document.documentElement.lang").await,
        "zh-Hans"
    );
    assert_eq!(browser.text("h1").await, "这两块 GPU 之间不支持点对点访问（P2P）");
    assert!(browser.text("article .sig").await.starts_with("运行时错误"));
}

#[tokio::test]
async fn a_file_is_sent_as_it_is_and_shown_in_place() {
    let app = TestApp::start().await;
    let browser = Browser::start().await;
    let file = app.folder.path().join("train.log");
    std::fs::write(&file, LOG).unwrap();
    browser.open(&app.url).await;
    // A hidden field takes no files from a driver, as from no user.
    browser
        .script("document.querySelector('[data-file]').hidden = false")
        .await;
    browser.type_into("[data-file]", file.to_str().unwrap()).await;
    assert_eq!(browser.text(".log mark").await, SPAN);
    assert_eq!(browser.complaints().await, Vec::<String>::new());
}

#[tokio::test]
async fn a_text_without_a_known_error_gets_a_proper_answer() {
    let app = TestApp::start().await;
    let browser = Browser::start().await;
    browser.open(&app.url).await;
    browser
        .type_into("#text", "the weather is fine\nand the train is late\n")
        .await;
    browser.follow(".box button[type=submit]").await;
    assert_eq!(browser.text("h1").await, "No known error");
    assert!(
        browser
            .text(".note")
            .await
            .contains("does not mean that nothing is wrong")
    );
}
