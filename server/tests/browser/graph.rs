//! The graph pages: drawn on the server, reached by the keyboard, within their frame on a phone.

use serde_json::{Value, json};

use crate::driver::Browser;
use crate::test_app::TestApp;

const HUB: &str = "xid/74-nvlink-error";

/// All records that come with the program: graphs of the two given ones are empty.
async fn app() -> TestApp {
    TestApp::start_with(|options| options.seeds = peerless::bundle::embedded().unwrap()).await
}

/// Ends of texts that reach beyond the box they belong to, and boxes that lie on each other or outside the drawing.
const MISPLACED: &str = r#"
const wrong = [];
const svg = document.querySelector(".graph svg"), whole = svg.getBoundingClientRect();
const boxes = [...svg.querySelectorAll("rect")];
const rects = boxes.map((box) => box.getBoundingClientRect());
boxes.forEach((box, i) => {
  const r = rects[i];
  if (r.left < whole.left || r.right > whole.right || r.top < whole.top || r.bottom > whole.bottom) wrong.push("outside " + i);
  for (const text of box.parentElement.querySelectorAll("text")) {
    const t = text.getBoundingClientRect();
    if (t.right > r.right || t.left < r.left || t.bottom > r.bottom || t.top < r.top) wrong.push("text " + text.textContent);
  }
  rects.slice(i + 1).forEach((o) => {
    if (r.left < o.right && o.left < r.right && r.top < o.bottom && o.top < r.bottom) wrong.push("overlap " + i);
  });
});
return [boxes.length, wrong];
"#;

fn pages() -> [(String, u64); 5] {
    [
        (format!("/r/{HUB}/-/graph"), 30),
        (format!("/r/{HUB}/-/graph?depth=3&lang=zh"), 50),
        (format!("/r/{HUB}"), 20),
        ("/graph".to_owned(), 20),
        (
            "/graph/path?from=xid/79-gpu-has-fallen-off-the-bus&to=nvml/gpu-is-lost".to_owned(),
            2,
        ),
    ]
}

#[tokio::test]
async fn drawings_are_whole_and_stay_in_their_frame_without_a_script() {
    let app = app().await;
    let browser = Browser::start_with(false).await;
    for scheme in ["light", "dark"] {
        for width in [360, 1280] {
            browser.viewport(width, 900, scheme).await;
            for (path, least) in pages() {
                let place = format!("{path} at {width}, {scheme}");
                browser.open(&format!("{}{path}", app.url)).await;
                assert!(browser.sticks_out(width).await <= 0, "{place}");
                let found = browser.script(MISPLACED).await;
                assert!(found[0].as_u64().unwrap() >= least, "{place}: {found}");
                assert_eq!(found[1], json!([]), "{place}");
                let scrolls =
                    "const f = document.querySelector('.graph'); return getComputedStyle(f).overflowX";
                assert_eq!(browser.script(scrolls).await, "auto", "{place}");
                assert_eq!(
                    browser.script(crate::pages::TOO_FAINT).await,
                    json!([]),
                    "{place}"
                );
                assert_eq!(browser.complaints().await, Vec::<String>::new(), "{place}");
            }
        }
    }
}

const FOCUSED: &str = r#"
const a = document.activeElement;
return [a.getAttribute("href"), a.closest("svg") !== null, getComputedStyle(a.querySelector("rect") || a).strokeWidth];
"#;

#[tokio::test]
async fn the_keyboard_walks_the_drawing_from_causes_to_effects() {
    let app = app().await;
    let browser = Browser::start().await;
    browser.viewport(1280, 900, "light").await;
    browser
        .open(&format!(
            "{}/r/xid/79-gpu-has-fallen-off-the-bus/-/graph",
            app.url
        ))
        .await;
    let boxes = "return [...document.querySelectorAll('.graph svg a:not([tabindex])')].map((a) => a.getAttribute('href'))";
    let Value::Array(expected) = browser.script(boxes).await else {
        panic!("no list")
    };
    assert!(expected.len() > 3);
    browser.script("document.querySelector('.graph').focus()").await;
    for href in &expected {
        browser.press("\u{e004}").await;
        assert_eq!(browser.script(FOCUSED).await, json!([href, true, "3px"]));
    }
    let lefts =
        "return [...document.querySelectorAll('.graph svg rect')].map((r) => r.getBoundingClientRect().left)";
    let lefts: Vec<f64> = serde_json::from_value(browser.script(lefts).await).unwrap();
    let columns: Vec<f64> = lefts.iter().map(|left| (left / 100.0).floor()).collect();
    assert!(columns.is_sorted(), "{lefts:?}");
    browser.press("\u{e007}").await;
    let last = expected.last().unwrap().as_str().unwrap();
    browser
        .until(&format!("return location.href.endsWith({last:?})"))
        .await;
}

#[tokio::test]
async fn a_chain_leads_from_the_log_to_the_graph() {
    let app = app().await;
    let browser = Browser::start().await;
    let log = "NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, name=python, GPU has fallen off the bus.\n\
        Unable to determine the device handle for GPU0000:3B:00.0: GPU is lost.  Reboot the system to recover this GPU\n";
    browser.open(&app.url).await;
    browser.type_into("textarea", log).await;
    browser.follow("form[action='/match'] button[type=submit]").await;
    browser
        .until("const chain = document.querySelector('.chained'); chain.closest('details').open = true; return true")
        .await;
    let chain = browser.text("ol.chain").await;
    assert!(chain.contains("xid/79"), "{chain}");
    browser.follow(".chained p a").await;
    assert_eq!(browser.text("h1").await, "From first cause to symptom");
    assert!(browser.script(MISPLACED).await[0].as_u64().unwrap() >= 2);
}
