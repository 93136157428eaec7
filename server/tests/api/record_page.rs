//! A record's page: the verdict and what works before what does not, other forms at its address, and what programs read.

use crate::test_app::TestApp;

const PAGE: &str = "/r/cuda/peer-access-unsupported-by-hardware";

/// A page for somebody who has the one with this tag.
async fn known(app: &TestApp, path: &str, tag: &str) -> reqwest::Response {
    let request = app.request(reqwest::Method::GET, path);
    request.header("if-none-match", tag).send().await.unwrap()
}

#[tokio::test]
async fn verdict_and_what_works_stand_before_what_does_not() {
    let app = TestApp::start().await;
    let page = app.get(PAGE).await.text().await.unwrap();
    let order = [
        "<h1 lang=\"en\">Peer access (P2P) is not supported",
        "id=\"verdict\"",
        "Can be fixed",
        "Who acts",
        "Do first:",
        "id=\"workarounds\"",
        "id=\"dead-ends\"",
        "id=\"cause\"",
        "Sources",
    ];
    let places: Vec<_> = order.iter().map(|part| page.find(part)).collect();
    assert!(
        places.iter().all(Option::is_some) && places.is_sorted(),
        "{places:?}\n{page}"
    );
    assert!(page.contains("ai-dynamo/dynamo#1229</a>"), "{page}");
    assert!(page.contains("avoids the error, the cause stays"), "{page}");
}

#[tokio::test]
async fn neighbours_that_state_it_themselves_are_told_of_once() {
    let records = [
        "xid/79-gpu-has-fallen-off-the-bus",
        "nvml/gpu-is-lost",
        "driver/modeset-waits-for-gpu",
    ];
    let app = TestApp::start_with(|options| {
        options.seeds = peerless::bundle::embedded().unwrap();
        options.seeds.retain(|seed| records.contains(&seed.id.as_str()));
    })
    .await;
    let page = app.get("/r/xid/79-gpu-has-fallen-off-the-bus").await;
    let page = page.text().await.unwrap();
    let leads_to = page.split(">Leads to</h2>").nth(1).unwrap();
    let leads_to = leads_to.split("</section>").next().unwrap();
    assert_eq!(
        leads_to.matches("As those records state it:").count(),
        1,
        "{leads_to}"
    );
    let (_, stated) = leads_to.split_once("As those records state it:").unwrap();
    assert!(
        stated.contains("nvml/gpu-is-lost") && stated.contains("driver/modeset-waits-for-gpu"),
        "{stated}"
    );
}

#[tokio::test]
async fn the_record_is_there_as_markdown_and_as_json() {
    let app = TestApp::start().await;
    let response = app.get(&format!("{PAGE}.md")).await;
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["content-type"], "text/markdown; charset=utf-8");
    let text = response.text().await.unwrap();
    let order = [
        "# Peer access (P2P)",
        "## What works",
        "## Do not waste time on",
        "## Sources",
    ];
    let places: Vec<_> = order.iter().map(|part| text.find(part)).collect();
    assert!(
        places.iter().all(Option::is_some) && places.is_sorted(),
        "{places:?}\n{text}"
    );
    assert!(text.contains(&format!("{}{PAGE}\n", app.url)), "{text}");
    let chinese = app.get(&format!("{PAGE}.md?lang=zh")).await.text().await.unwrap();
    assert!(chinese.contains("## 有效的做法"), "{chinese}");

    let json = app.get(&format!("{PAGE}.json")).await;
    assert_eq!(json.status(), 302);
    let location = json.headers()["location"].to_str().unwrap().to_owned();
    assert_eq!(app.get(&location).await.status(), 200);
    for absent in [
        "/r/cuda/no-such-record.md",
        "/r/cuda/no-such-record.json",
        "/r/.md",
        "/r/cuda/x.txt",
    ] {
        let status = app.get(absent).await.status();
        assert!(status == 404 || status == 400, "{absent} {status}");
    }
}

#[tokio::test]
async fn programs_read_one_address_a_description_and_a_tag() {
    let app = TestApp::start().await;
    let response = app.get(PAGE).await;
    let tag = response.headers()["etag"].clone();
    let page = response.text().await.unwrap();
    for part in [
        format!("<link rel=\"canonical\" href=\"{}{PAGE}\">", app.url),
        "<meta property=\"og:title\" content=\"Peer access (P2P) is not supported".to_owned(),
        "<meta property=\"og:description\" content=\"".to_owned(),
    ] {
        assert!(page.contains(&part), "{part} is not in {page}");
    }
    let again = known(&app, PAGE, tag.to_str().unwrap()).await;
    assert_eq!(again.status(), 304);
    assert!(again.text().await.unwrap().is_empty());
    let chinese = known(&app, &format!("{PAGE}?lang=zh"), tag.to_str().unwrap()).await;
    assert_eq!(chinese.status(), 200);
    let malformed = known(&app, PAGE, "no-tag").await;
    assert_eq!(malformed.status(), 400);
}
