//! What others take away: downloads, feeds, and what they say of their licence.

use std::collections::BTreeMap;
use std::io::{Cursor, Read as _};

use peerless::store::Scope;
use reqwest::{Method, Response};
use serde_json::Value;

use crate::records::document;
use crate::test_app::{TestApp, problem};

const ATOM: &str = "http://www.w3.org/2005/Atom";
const PEER: &str = "cuda/peer-access-unsupported-by-hardware";

async fn put_and_publish(app: &TestApp, token: &str, id: &str, signature: &str) {
    let path = format!("/api/v1/records/{id}?publish=true");
    let answer = app
        .request(Method::PUT, &path)
        .bearer_auth(token)
        .header("if-none-match", "*")
        .header("content-type", "application/json")
        .body(document(id, signature))
        .send()
        .await
        .unwrap();
    assert!(answer.status().is_success(), "{:?}", answer.text().await);
}

async fn archive(response: Response) -> (Vec<u8>, BTreeMap<String, Vec<u8>>) {
    let bytes = response.bytes().await.unwrap().to_vec();
    let mut zip = zip::ZipArchive::new(Cursor::new(bytes.clone())).unwrap();
    let mut files = BTreeMap::new();
    for number in 0..zip.len() {
        let mut file = zip.by_index(number).unwrap();
        let mut content = Vec::new();
        file.read_to_end(&mut content).unwrap();
        let name = file.name().unwrap().into_owned();
        files.insert(name, content);
    }
    (bytes, files)
}

fn tag(response: &Response) -> String {
    response.headers()["etag"].to_str().unwrap().to_owned()
}

#[tokio::test]
async fn downloads_and_feeds_hold_what_is_published_and_say_when_it_changed() {
    let app = TestApp::start().await;
    let token = app.token(&[Scope::Edit, Scope::Publish]).await;
    let paths = [
        "/api/v1/export.zip",
        "/api/v1/export.ndjson",
        "/feed.atom",
        "/llms.txt",
    ];
    let mut tags = Vec::new();
    for path in paths {
        let first = app.get(path).await;
        assert_eq!(first.status(), 200, "{path}");
        let licence = first.headers()["link"].to_str().unwrap();
        assert!(
            licence.contains("creativecommons.org/licenses/by/4.0") && licence.contains("license"),
            "{path}"
        );
        tags.push(tag(&first));
        let known = app
            .request(Method::GET, path)
            .header("if-none-match", tag(&first));
        let known = known.send().await.unwrap();
        assert_eq!(known.status(), 304, "{path}");
        assert_eq!(tag(&known), tag(&first), "{path}");
        assert!(known.bytes().await.unwrap().is_empty(), "{path}");
    }

    let (bytes, files) = archive(app.get("/api/v1/export.zip").await).await;
    let (again, _) = archive(app.get("/api/v1/export.zip").await).await;
    assert_eq!(bytes, again, "the same state, the same bytes");
    let manifest: Value = serde_json::from_slice(&files["manifest.json"]).unwrap();
    assert_eq!(
        (&manifest["records"], &manifest["licence"]),
        (&2.into(), &"CC-BY-4.0".into())
    );
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(tags[0], format!("\"s{}-{version}\"", manifest["seq"]));
    let stored = app
        .get(&format!("/api/v1/records/{PEER}"))
        .await
        .bytes()
        .await
        .unwrap();
    assert_eq!(files[&format!("{PEER}.json")], stored);
    assert!(files.contains_key(&format!("{PEER}.ext.json")));

    put_and_publish(
        &app,
        &token,
        "made/here",
        "Bell \u{7} & <script>alert(1)</script> ]]> \u{FFFF} 显存",
    )
    .await;
    for (path, old) in paths.into_iter().zip(&tags) {
        let changed = app.request(Method::GET, path).header("if-none-match", old);
        assert_eq!(changed.send().await.unwrap().status(), 200, "{path}");
    }
    let (_, files) = archive(app.get("/api/v1/export.zip").await).await;
    assert!(files.contains_key("made/here.json"));

    let response = app.get("/feed.atom").await;
    assert_eq!(
        response.headers()["content-type"],
        "application/atom+xml; charset=utf-8"
    );
    let xml = response.text().await.unwrap();
    the_feed_is_atom(&app, &xml);

    let llms = app.get("/llms.txt").await.text().await.unwrap();
    for needed in [
        "/api/v1/match",
        "/mcp",
        "/api/v1/export.zip",
        "CC-BY-4.0",
        "3 records",
    ] {
        assert!(llms.contains(needed), "{needed} in {llms}");
    }
    for address in llms
        .split(|c: char| " ()`\n".contains(c))
        .filter(|word| word.starts_with(&app.url))
    {
        let path = address.strip_prefix(&app.url).unwrap();
        if path != "/api/v1/match" && path != "/mcp" {
            assert_eq!(app.get(path).await.status(), 200, "{path}");
        }
    }
}

#[tokio::test]
async fn where_no_record_is_none_is_named() {
    let app = TestApp::start_with(|options| options.seeds.clear()).await;
    let llms = app.get("/llms.txt").await.text().await.unwrap();
    assert!(llms.contains("0 records"), "{llms}");
    assert!(!llms.contains("/api/v1/records/"), "{llms}");
}

/// What RFC 4287 asks of a feed and its entries.
fn the_feed_is_atom(app: &TestApp, xml: &str) {
    let feed = roxmltree::Document::parse(xml).unwrap();
    let root = feed.root_element();
    assert!(root.has_tag_name((ATOM, "feed")));
    let one = |node: roxmltree::Node<'_, '_>, name: &str| -> String {
        let found: Vec<_> = node
            .children()
            .filter(|child| child.has_tag_name((ATOM, name)))
            .collect();
        assert_eq!(found.len(), 1, "{name}");
        found[0].text().unwrap_or_default().to_owned()
    };
    let entries: Vec<_> = root
        .children()
        .filter(|node| node.has_tag_name((ATOM, "entry")))
        .collect();
    assert_eq!(entries.len(), 3);
    assert!(root.children().any(|node| node.has_tag_name((ATOM, "author"))));
    assert!(one(root, "rights").contains("CC-BY-4.0"));
    let mut ids = vec![one(root, "id")];
    for node in std::iter::once(root).chain(entries.iter().copied()) {
        one(node, "title");
        let updated = one(node, "updated");
        let format = &time::format_description::well_known::Rfc3339;
        assert!(time::OffsetDateTime::parse(&updated, format).is_ok(), "{updated}");
        let links = node.children().filter(|child| child.has_tag_name((ATOM, "link")));
        for link in links.filter(|link| link.attribute("rel") != Some("license")) {
            assert!(link.attribute("href").unwrap().starts_with(&app.url));
        }
    }
    ids.extend(entries.iter().map(|entry| one(*entry, "id")));
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 4, "each has an id of its own");
    assert_eq!(
        one(entries[0], "title"),
        "Bell \u{FFFD} & <script>alert(1)</script> ]]> \u{FFFD} 显存",
        "the newest first"
    );
}

#[tokio::test]
async fn changes_are_listed_newest_first() {
    let app = TestApp::start().await;
    let token = app.token(&[Scope::Edit, Scope::Publish]).await;
    put_and_publish(&app, &token, "made/one", "CUDA error: one").await;
    put_and_publish(&app, &token, "made/two", "CUDA error: two").await;
    let withdraw = app.request(Method::POST, "/api/v1/records/made/one/-/withdraw");
    assert!(
        withdraw
            .bearer_auth(&token)
            .send()
            .await
            .unwrap()
            .status()
            .is_success()
    );
    let mut listed = Vec::new();
    let mut path = "/api/v1/records?sort=modified&limit=2".to_owned();
    loop {
        let page = app.get_json(&path).await;
        let records = page["records"].as_array().unwrap().clone();
        listed.extend(records.iter().map(|record| {
            let id = record["id"].as_str().unwrap().to_owned();
            (
                id,
                record["state"].as_str().unwrap().to_owned(),
                record["seq"].as_i64().unwrap(),
            )
        }));
        match page["next_cursor"].as_str() {
            Some(cursor) => path = format!("/api/v1/records?sort=modified&limit=2&cursor={cursor}"),
            None => break,
        }
    }
    let names: Vec<_> = listed
        .iter()
        .take(2)
        .map(|(id, state, _)| (id.as_str(), state.as_str()))
        .collect();
    assert_eq!(names, [("made/one", "withdrawn"), ("made/two", "published")]);
    assert_eq!(listed.len(), 4);
    assert!(listed.windows(2).all(|pair| pair[0].2 > pair[1].2));
    for bad in ["sort=modified&since=0", "sort=modified&cursor=x", "sort=age"] {
        problem(app.get(&format!("/api/v1/records?{bad}")).await, 400, "bad_query").await;
    }
}
