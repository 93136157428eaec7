//! kill -9 at random moments under writes over HTTP: nothing that was acknowledged is lost.

use std::time::Duration;

use serde_json::Value;

use crate::process::{Server, folder, token};
use crate::records::document;
use crate::test_app::client;

/// Kills, unless `PEERLESS_TEST_KILLS` says otherwise.
const KILLS: u32 = 120;
/// The latest moment of a kill after the first write, in milliseconds.
const LATEST: u64 = 400;

/// Numbers without an order that are the same in every run (the constants of PCG's generator).
pub struct Chance(pub u64);

impl Chance {
    pub fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// Publishes one revision after the other until the server is gone; gives the last that was acknowledged.
async fn write(
    client: reqwest::Client,
    url: String,
    token: String,
    mut tag: Option<String>,
) -> Option<String> {
    let record = format!("{url}/api/v1/records/cuda/durable?publish=true");
    let mut acknowledged = None;
    for number in 0.. {
        let text = document("cuda/durable", &format!("CUDA error: durable {number}"));
        let put = client
            .put(&record)
            .bearer_auth(&token)
            .header("content-type", "application/json");
        let put = match &tag {
            Some(tag) => put.header("if-match", tag),
            None => put.header("if-none-match", "*"),
        };
        let Ok(response) = put.body(text).send().await else {
            break;
        };
        assert!(
            response.status().is_success(),
            "{}",
            response.text().await.unwrap()
        );
        tag = Some(response.headers()["etag"].to_str().unwrap().to_owned());
        acknowledged.clone_from(&tag);
    }
    acknowledged
}

fn number(tag: &str) -> u64 {
    tag.trim_matches(|character: char| !character.is_ascii_digit())
        .parse()
        .unwrap()
}

#[tokio::test]
async fn what_was_acknowledged_survives_kills() {
    let kills = std::env::var("PEERLESS_TEST_KILLS").map_or(KILLS, |text| text.parse().unwrap());
    let (folder, data) = folder();
    let arguments = ["--data-dir", data.as_str()];
    let token = token(&arguments, &["edit", "publish"]);
    let client = client();
    let mut chance = Chance(20_260_101);
    let mut acknowledged: Option<String> = None;
    let mut writes = 0;
    // What is written is this test's own: reading some hundred other records at each start would prove nothing.
    let serving = ["--data-dir", data.as_str(), "--without-shipped"];
    for kill in 0..kills {
        let mut server = Server::start(&serving, &folder.path().join("log"));
        let record = format!("{}/api/v1/records/cuda/durable", server.url);
        let head = client
            .get(format!("{record}?revision=head&view=full"))
            .bearer_auth(&token)
            .send()
            .await
            .unwrap();
        let tag = head
            .headers()
            .get("etag")
            .map(|tag| tag.to_str().unwrap().to_owned());
        if let Some(acknowledged) = &acknowledged {
            let tag = tag.as_ref().expect("the record is gone");
            assert!(
                number(tag) >= number(acknowledged),
                "kill {kill}: {acknowledged} was acknowledged, {tag} is there"
            );
            let published: Value = client
                .get(format!("{record}?view=full"))
                .send()
                .await
                .unwrap()
                .json()
                .await
                .unwrap();
            let published = published["revision"].as_u64().unwrap();
            assert!(
                published >= number(acknowledged),
                "kill {kill}: {acknowledged} was published"
            );
        }
        let before = acknowledged.as_deref().map_or(0, number);
        let writing = tokio::spawn(write(client.clone(), server.url.clone(), token.clone(), tag));
        tokio::time::sleep(Duration::from_millis(chance.below(LATEST))).await;
        server.kill();
        acknowledged = writing.await.unwrap().or(acknowledged);
        writes += acknowledged.as_deref().map_or(0, number) - before;
    }
    println!("{kills} kills, {writes} acknowledged writes, none lost");
    assert!(
        writes > u64::from(kills) / 4,
        "only {writes} writes in {kills} kills: nothing was tried"
    );
}
