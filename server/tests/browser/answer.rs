//! The answer to a log with six faults: all of it in a screen, the text with its marks beside the records, with and without
//! script.

use peerless::store::SeedRecord;
use serde_json::json;

use crate::driver::Browser;
use crate::pages::TOO_FAINT;
use crate::test_app::TestApp;

/// 31 lines of two nodes: a GPU is lost, and the job ends by it.
const LOG: &str = include_str!("../data/six-faults.log");
const RECORDS: [&str; 6] = [
    "xid/74-nvlink-error",
    "xid/79-gpu-has-fallen-off-the-bus",
    "cuda/launch-failure",
    "nccl/ib-completion-error-12",
    "pytorch/watchdog-collective-timeout",
    "pytorch/communicator-aborted",
];

fn seeds() -> Vec<SeedRecord> {
    let mut seeds = peerless::bundle::embedded().unwrap();
    seeds.retain(|seed| RECORDS.contains(&seed.id.as_str()));
    assert_eq!(seeds.len(), RECORDS.len());
    seeds
}

async fn answered(browser: &Browser, app: &TestApp, query: &str) {
    browser.open(&format!("{}/{query}", app.url)).await;
    browser.type_into("#text", LOG).await;
    browser.follow(".box .actions button[type=submit]").await;
}

async fn count(browser: &Browser, selector: &str) -> i64 {
    let script = format!(
        "return [...document.querySelectorAll('{selector}')].filter((one) => one.getClientRects().length).length"
    );
    browser.script(&script).await.as_i64().unwrap()
}

#[tokio::test]
async fn six_faults_stand_in_the_first_screen() {
    let app = TestApp::start_with(|options| options.seeds = seeds()).await;
    let browser = Browser::start().await;
    for (scheme, query) in [("light", ""), ("dark", "?lang=zh")] {
        browser.viewport(1280, 720, scheme).await;
        answered(&browser, &app, query).await;
        assert_eq!(count(&browser, ".faults li").await, 6);
        let bottom = "return document.querySelector('.faults').getBoundingClientRect().bottom";
        assert!(browser.script(bottom).await.as_f64().unwrap() <= 720.0);
        let height = browser
            .script("return document.documentElement.scrollHeight")
            .await;
        assert!(height.as_i64().unwrap() < 2_500, "{height}");
        assert_eq!(browser.script(TOO_FAINT).await, json!([]), "{scheme}");
        let loaded = "const all = performance.getEntriesByType('resource').concat(performance.getEntriesByType('navigation'));\
            return [all.length, all.reduce((sum, one) => sum + one.encodedBodySize, 0),\
            all.filter((one) => one.name.endsWith('.js')).reduce((sum, one) => sum + one.encodedBodySize, 0)]";
        let loaded = browser.script(loaded).await;
        let loaded: Vec<i64> = serde_json::from_value(loaded).unwrap();
        assert!(
            loaded[0] <= 5 && loaded[1] < 60_000 && loaded[2] < 20_000,
            "{loaded:?}"
        );
        browser.viewport(360, 800, scheme).await;
        assert!(browser.sticks_out(360).await <= 0);
        assert_eq!(browser.complaints().await, Vec::<String>::new());
    }
}

#[tokio::test]
async fn the_summary_says_what_came_first_and_what_is_not_known() {
    let app = TestApp::start_with(|options| options.seeds = seeds()).await;
    let browser = Browser::start().await;
    answered(&browser, &app, "").await;
    let told = browser.text("[data-answer] p").await;
    for part in [
        "31 lines",
        "first cause is “NVLink of an Ampere or Hopper GPU fails (Xid 74)” on line 8 (Nov 21 03:02:11, gpu07, GPU 0000:3b:00)",
        "no record explains them (first on lines 17, 20,",
    ] {
        assert!(told.contains(part), "{part} is not in {told}");
    }
    let row = browser.text(".faults li:nth-child(2)").await;
    for part in [
        "GPU has fallen off the bus",
        "line 9",
        "×7",
        "gpu07",
        "fatal",
        "To act: your admin",
    ] {
        assert!(row.contains(part), "{part} is not in {row}");
    }
}

#[tokio::test]
async fn the_text_folds_repeats_and_leads_from_mark_to_mark() {
    let app = TestApp::start_with(|options| options.seeds = seeds()).await;
    let browser = Browser::start().await;
    browser.viewport(1280, 720, "light").await;
    answered(&browser, &app, "").await;
    let gaps = browser.text(".log.whole .gap").await;
    assert!(gaps.contains("5 more lines like this"), "{gaps}");
    assert!(count(&browser, ".map rect").await > 6);
    browser
        .script("document.querySelector('#log a:last-of-type').click()")
        .await;
    browser
        .until("return location.hash === '#line-25' && document.querySelector('#line-25').matches(':target')")
        .await;
    browser
        .script("document.querySelector('#line-8 .next').click()")
        .await;
    browser.until("return location.hash === '#line-9'").await;
    let address = browser.address().await;
    assert!(!address.contains("Xid"), "{address}");
}

#[tokio::test]
async fn one_host_is_shown_alone_at_once_and_without_script() {
    let app = TestApp::start_with(|options| options.seeds = seeds()).await;
    let browser = Browser::start().await;
    answered(&browser, &app, "").await;
    let choose = "const list = document.querySelector('[name=only_host]'); list.value = 'gpu08';\
        list.dispatchEvent(new Event('change', { bubbles: true }))";
    browser.script(choose).await;
    assert_eq!(count(&browser, ".faults li").await, 3);
    assert_eq!(count(&browser, "article.answer").await, 3);

    let browser = Browser::start_with(false).await;
    answered(&browser, &app, "").await;
    assert_eq!(count(&browser, "[data-copy-row]").await, 0);
    browser
        .script("document.querySelector('[name=only_host]').value = 'gpu08'")
        .await;
    browser.follow(".narrow button").await;
    assert_eq!(count(&browser, ".faults li").await, 3);
    assert!(browser.text("[data-answer]").await.contains("3 of 6 are shown."));
}

#[tokio::test]
async fn an_answer_is_copied_over_plain_http_too() {
    let app = TestApp::start_with(|options| options.seeds = seeds()).await;
    let browser = Browser::start().await;
    answered(&browser, &app, "").await;
    let listen = "Object.defineProperty(navigator, 'clipboard', { value: undefined });\
        document.addEventListener('copy', () => { window.copied = document.activeElement.value; })";
    browser.script(listen).await;
    browser.click("[data-copy-from=ticket-markdown]").await;
    browser
        .until("return document.querySelector('[data-copy-from=ticket-markdown]').textContent === '✓'")
        .await;
    let copied = browser.script("return window.copied").await;
    let copied = copied.as_str().unwrap();
    assert!(
        copied.starts_with("**6 known errors**") && copied.contains("/r/xid/79-gpu-has-fallen-off-the-bus"),
        "{copied}"
    );
}

#[tokio::test]
async fn a_record_shows_what_works_first_and_its_command_is_copied() {
    const PAGE: &str = "/r/cuda/launch-failure";
    let app = TestApp::start_with(|options| options.seeds = seeds()).await;
    let browser = Browser::start().await;
    let tops = "return ['.works', '.dead'].map((one) => document.querySelector('article ' + one).getBoundingClientRect().top)";
    for (width, is_beside) in [(1280, true), (360, false)] {
        browser.viewport(width, 800, "light").await;
        browser.open(&format!("{}{PAGE}", app.url)).await;
        let tops: Vec<f64> = serde_json::from_value(browser.script(tops).await).unwrap();
        let is_level = (tops[0] - tops[1]).abs() < 1.0;
        assert_eq!(is_level, is_beside, "{tops:?} at {width}");
        assert!(tops[0] <= tops[1], "{tops:?} at {width}");
        assert!(browser.sticks_out(width).await <= 0);
    }
    let listen = "Object.defineProperty(navigator, 'clipboard', { value: undefined });\
        document.addEventListener('copy', () => { window.copied = document.activeElement.value; })";
    browser.script(listen).await;
    let button = ".works [data-copy]:not([data-copy=''])";
    let command = browser
        .script(&format!("return document.querySelector(\"{button}\").title"))
        .await;
    browser.click(button).await;
    browser.until("return !!window.copied").await;
    assert_eq!(browser.script("return window.copied").await, command);
    assert_eq!(browser.complaints().await, Vec::<String>::new());
}

/// The tab keeps the answer: a form is not sent twice.
#[tokio::test]
async fn reload_and_back_never_lose_an_answer() {
    let app = TestApp::start_with(|options| options.seeds = seeds()).await;
    let browser = Browser::start().await;
    answered(&browser, &app, "?lang=zh").await;
    let lookups = async || {
        let metrics = app.get("/metrics").await.text().await.unwrap();
        let sent = metrics
            .lines()
            .filter(|line| line.contains("\"/match\"") && line.contains("\"POST\""));
        sent.map(str::to_owned).collect::<Vec<_>>()
    };
    let before = lookups().await;
    assert!(!before.is_empty());
    let is_whole = async |how: &str| {
        browser
            .until("return !window.old && document.querySelectorAll('.faults li').length === 6")
            .await;
        assert!(
            browser.address().await.contains("/match?answer=1&lang=zh"),
            "{how}"
        );
        let copies = "return [...document.querySelectorAll('[data-copy-row]')].every((row) => !row.hidden)";
        assert_eq!(browser.script(copies).await, json!(true), "{how}");
    };
    is_whole("answered").await;
    browser.script("window.old = true; location.reload()").await;
    is_whole("reload").await;
    browser.follow("#match-1-title a").await;
    browser.back().await;
    is_whole("back").await;
    // Another tab, or a link that was passed on, has nothing to put back.
    browser.open(&format!("{}/match?answer=7", app.url)).await;
    assert_eq!(count(&browser, ".faults li").await, 0);
    assert_eq!(count(&browser, "#text").await, 1);
    assert_eq!(lookups().await, before, "nothing was looked up again");
    assert_eq!(browser.complaints().await, Vec::<String>::new());
}
