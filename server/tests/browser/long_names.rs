//! Names and values without a blank, as long as they may be: on a phone they break, and neither the page nor a list of cards gets wider.

use peerless::store::Scope;

use crate::driver::Browser;
use crate::fleet::{app_with_fleet, report};

const PHONE: u32 = 360;

/// What of the page goes beyond the window, and lists of cards that scroll to the side.
const WIDE: &str = "return [...document.querySelectorAll('main .frame:has(table.cards), main .frame:has(th.grow), .facts, .facets, .row-form, h1:not(.unseen), h2, .note')] \
    .filter((one) => one.scrollWidth > one.clientWidth + 1) \
    .map((one) => one.tagName + '.' + one.className + ' ' + one.scrollWidth + ': ' + one.textContent.trim().slice(0, 60))";

#[tokio::test]
async fn long_names_and_values_break_on_a_phone() {
    let app = app_with_fleet().await;
    let long = |length: usize| "gpunode0123456789".repeat(20)[..length].to_owned();
    let node = long(64);
    let mut sent = report();
    sent["report_id"] = format!("run-{}", long(60)).into();
    sent["node"]["id"] = node.clone().into();
    sent["node"]["hostname"] = long(250).into();
    sent["host"]["driver.version"]["value"] = format!("550.54.14-{}", long(120)).into();
    for gpu in sent["gpus"].as_array_mut().unwrap() {
        gpu["name"]["value"] = long(200).into();
    }
    sent["pairs"][0]["verdict"]["reason"] = long(300).into();
    sent["conclusion"]["reason"] = long(300).into();
    let token = app.token(&[Scope::Report]).await;
    let kept = app.post("/api/v1/reports").bearer_auth(token).json(&sent);
    let kept = kept.send().await.unwrap();
    assert_eq!(kept.status(), 201, "{}", kept.text().await.unwrap());

    let browser = Browser::start().await;
    browser.viewport(PHONE, 800, "light").await;
    for path in [
        "/nodes".to_owned(),
        format!("/nodes?model={}", long(200)),
        format!("/nodes/{node}"),
        format!("/reports/run-{}?node={node}", long(60)),
        format!("/fleet/facets?about={}&simulated=true", long(200)),
    ] {
        for lang in ["en", "zh"] {
            let join = if path.contains('?') { '&' } else { '?' };
            browser.open(&format!("{}{path}{join}lang={lang}", app.url)).await;
            assert_eq!(browser.sticks_out(PHONE).await, 0, "{path} {lang}");
            let wide = browser.script(WIDE).await;
            assert_eq!(wide, serde_json::json!([]), "{path} {lang}");
        }
    }
    // Such names do stick out where they may not break.
    browser
        .script("document.body.style.overflowWrap = 'normal'")
        .await;
    assert!(browser.sticks_out(PHONE).await > 0);
}
