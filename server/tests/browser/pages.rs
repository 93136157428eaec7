//! Every page on a phone and on a wide screen, light and dark: nothing sticks out, nothing is refused, and text can
//! be read.

use crate::driver::Browser;
use crate::fleet::{REPORT, app_with_fleet};

const PATHS: [&str; 17] = [
    "/login",
    "/login?lang=zh",
    "/",
    "/search?lang=zh",
    "/search?q=peer&domain=cuda",
    "/r/cuda/peer-access-unsupported-by-hardware",
    "/r/tensorflow/gpu-peer-access-error?lang=zh",
    "/r/cuda/peer-access-unsupported-by-hardware/-/revisions",
    "/graph",
    "/graph/path",
    "/r/cuda/peer-access-unsupported-by-hardware/-/graph?lang=zh",
    "/nodes",
    "/fleet/facets?lang=zh",
    "/nodes/gpu07?lang=zh",
    REPORT,
    "/docs/api",
    "/docs/problems",
];

/// Ratio of a text's colour to what it stands on, for every text of the page; gives those under WCAG's AA.
pub const TOO_FAINT: &str = r#"
const rgb = (text) => (text.match(/[\d.]+/g) || []).map(Number);
const channel = (v) => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
const light = (c) => 0.2126 * channel(c[0]) + 0.7152 * channel(c[1]) + 0.0722 * channel(c[2]);
const ground = (element) => {
  for (let e = element; e; e = e.parentElement) {
    const c = rgb(getComputedStyle(e).backgroundColor);
    if (c.length === 3 || c[3] > 0) return c;
  }
  return [255, 255, 255];
};
const faint = [];
for (const element of document.querySelectorAll("body *")) {
  const own = [...element.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim());
  if (!own || !element.getClientRects().length) continue;
  const a = light(rgb(getComputedStyle(element).color)), b = light(ground(element));
  const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  if (ratio < 4.5) faint.push(element.tagName + "." + element.className + " " + ratio.toFixed(2));
}
return faint;
"#;

#[tokio::test]
async fn every_page_fits_reads_well_and_loads_without_complaint() {
    let app = app_with_fleet().await;
    let browser = Browser::start().await;
    for scheme in ["light", "dark"] {
        for width in [360, 1600] {
            browser.viewport(width, 900, scheme).await;
            for path in PATHS {
                let place = format!("{path} at {width}, {scheme}");
                browser.open(&format!("{}{path}", app.url)).await;
                let sticks_out = browser.sticks_out(width).await;
                assert!(sticks_out <= 0, "{place}: {sticks_out} pixels stick out");
                assert_eq!(browser.script(TOO_FAINT).await, serde_json::json!([]), "{place}");
                assert_eq!(browser.complaints().await, Vec::<String>::new(), "{place}");
            }
        }
    }
}

#[tokio::test]
async fn colours_follow_the_system() {
    let app = app_with_fleet().await;
    let browser = Browser::start().await;
    let mut papers = Vec::new();
    for scheme in ["light", "dark"] {
        browser.viewport(1280, 900, scheme).await;
        browser.open(&app.url).await;
        papers.push(
            browser
                .script("return getComputedStyle(document.documentElement).backgroundColor")
                .await,
        );
    }
    assert_eq!(papers, ["rgb(244, 245, 246)", "rgb(15, 18, 21)"]);
}

#[tokio::test]
async fn the_keyboard_reaches_the_content_first() {
    let app = app_with_fleet().await;
    let browser = Browser::start().await;
    browser.open(&format!("{}/search", app.url)).await;
    browser.type_into("body", "\u{e004}").await;
    assert_eq!(
        browser.script("return document.activeElement.className").await,
        "skip"
    );
    let outline = browser
        .script("return getComputedStyle(document.activeElement).outlineStyle")
        .await;
    assert_eq!(outline, "solid", "what has the focus must show it");
}

#[tokio::test]
async fn a_private_fleet_says_how_to_get_in() {
    let app = crate::test_app::TestApp::start().await;
    let browser = Browser::start().await;
    browser.open(&format!("{}/nodes", app.url)).await;
    let page = browser.text("main").await;
    assert!(
        page.contains("--public-fleet") && page.contains("Authorization: Bearer"),
        "{page}"
    );
}

#[tokio::test]
async fn a_report_shows_verdict_matrix_and_findings() {
    let app = app_with_fleet().await;
    let browser = Browser::start().await;
    browser.open(&format!("{}{REPORT}", app.url)).await;
    assert_eq!(browser.text(".verdict h2").await, "Broken");
    assert_eq!(
        browser
            .text("table.matrix tbody tr:nth-child(1) td:nth-child(3)")
            .await,
        "⊘\nrefused"
    );
    assert_eq!(
        browser
            .text("table.matrix tbody tr:nth-child(3) td:nth-child(5)")
            .await,
        "✗\nbroken"
    );
    assert_eq!(
        browser
            .text("table.matrix tbody tr:nth-child(4) td:nth-child(4)")
            .await,
        "✓\nworks"
    );
    let page = browser.text("#main").await;
    for told in [
        "Simulated.",
        "35.5 s in all: opening 2.5 s, bench without access 3.5 s, bench 29.5 s, all else 2.0 ms.",
        "GPU to GPU, copy engine, written by the source, peer access on, 256 MiB 20.1 to 20.8 GB/s",
        "One to all, kernel, read by the destination, peer access on, 73.1 MiB 380.5 GB/s",
    ] {
        assert!(page.contains(told), "{told} is not in {page}");
    }
    browser
        .follow("section[aria-labelledby=findings] article p a.mono")
        .await;
    assert!(
        browser
            .address()
            .await
            .ends_with("/r/cuda/peer-access-unsupported-by-hardware")
    );
}
