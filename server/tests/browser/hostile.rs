//! Text from logs and records is text, whatever it looks like.

use peerless::store::SeedRecord;

use crate::driver::Browser;
use crate::test_app::TestApp;

const PROBES: &str = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">";

/// Seed 000 with probes in every text that a page shows.
fn hostile_record() -> SeedRecord {
    let seeds = peerless::bundle::embedded().unwrap();
    let seed = seeds
        .into_iter()
        .find(|seed| seed.id.as_str() == "cuda/peer-access-unsupported-by-hardware")
        .unwrap();
    let mut document: serde_json::Value = serde_json::from_str(&seed.document).unwrap();
    let mut annex: serde_json::Value = serde_json::from_str(&seed.annex).unwrap();
    for pointer in [
        "/signature_zh",
        "/root_cause",
        "/root_cause_zh",
        "/dead_ends/0/why_fails",
        "/dead_ends/0/action",
        "/workarounds/0/action",
        "/workarounds/0/how",
        "/versions/0/version",
    ] {
        let text = document.pointer_mut(pointer).unwrap();
        *text = format!("{} {PROBES}", text.as_str().unwrap()).into();
    }
    annex["codes"][0] = PROBES.into();
    annex["near_misses"][0]["why"] = PROBES.into();
    SeedRecord {
        document: document.to_string(),
        annex: annex.to_string(),
        ..seed
    }
}

async fn assert_harmless(browser: &Browser, place: &str) {
    assert_no_probe(browser, place).await;
    assert_eq!(browser.complaints().await, Vec::<String>::new(), "{place}");
}

async fn assert_no_probe(browser: &Browser, place: &str) {
    assert!(browser.title().await != "owned", "{place}: a probe ran");
    let planted = "return document.querySelectorAll('main script, main img, main [onerror]').length";
    assert_eq!(
        browser.script(planted).await,
        0,
        "{place}: a probe became an element"
    );
}

#[tokio::test]
async fn markup_in_logs_and_records_stays_text() {
    let app = TestApp::start_with(|options| options.seeds = vec![hostile_record()]).await;
    let browser = Browser::start().await;
    let log = format!("{PROBES} peer access is not supported between these two devices {PROBES}");
    browser.open(&app.url).await;
    browser.type_into("#text", &log).await;
    browser.follow(".box button[type=submit]").await;
    let line = browser.text(".log code").await;
    assert!(line.contains(PROBES), "{line}");
    assert_harmless(&browser, "result").await;

    for path in [
        "/r/cuda/peer-access-unsupported-by-hardware",
        "/r/cuda/peer-access-unsupported-by-hardware?lang=zh",
        "/r/cuda/peer-access-unsupported-by-hardware/-/revisions",
        "/search?q=%3Cscript%3Epeer%22%27%3E",
        "/search?q=peer",
    ] {
        browser.open(&format!("{}{path}", app.url)).await;
        assert_harmless(&browser, path).await;
    }
    // No record has this tag: the page that says so is a 400, of which the browser complains.
    let unknown = "/search?q=peer&tag=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E";
    browser.open(&format!("{}{unknown}", app.url)).await;
    assert_no_probe(&browser, unknown).await;
    browser
        .open(&format!("{}/r/cuda/peer-access-unsupported-by-hardware", app.url))
        .await;
    let dead_ends = browser.text(".advice.dead").await;
    assert!(dead_ends.contains(PROBES), "{dead_ends}");
}
