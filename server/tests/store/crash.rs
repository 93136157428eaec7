//! What was acknowledged is there after SIGKILL.

use std::collections::BTreeMap;

use kb_core::ids::{Revision, Seq};
use peerless::store::{ConnectOptions, Expected, Saved, Store, connect};

use crate::support::{Child, Engine, child_value, draft, id, on, publish, record_with};

/// Kills by default; `PEERLESS_STORE_TEST_KILLS` says how many otherwise.
const KILLS: u32 = 25;

fn kills() -> u32 {
    match std::env::var("PEERLESS_STORE_TEST_KILLS") {
        Ok(text) => text.parse().expect("PEERLESS_STORE_TEST_KILLS is a number"),
        Err(_) => KILLS,
    }
}

#[test]
fn nothing_acknowledged_is_lost_by_a_kill() {
    on(Engine::Sqlite, |place| async move {
        let mut acknowledged: BTreeMap<&str, (u32, i64)> = BTreeMap::new();
        let names = ["cuda/a", "cuda/b"];
        for kill in 0..kills() {
            let mut child = Child::start("crash::child_publishes", &place.url, |_| {});
            // At a moment that moves through the writes from kill to kill.
            for _ in 0..=kill % 7 {
                let line = child
                    .line("ack ")
                    .expect("the child publishes until it is killed");
                note(&mut acknowledged, &names, &line);
            }
            spin(kill);
            for line in child.kill("ack ") {
                note(&mut acknowledged, &names, &line);
            }

            let store = place.store().await;
            for (name, (revision, seq)) in &acknowledged {
                let status = store.status(&id(name)).await.unwrap().unwrap();
                assert!(
                    status.published >= Some(Revision(*revision)),
                    "{name}: {status:?}, {revision} was said"
                );
                assert!(
                    status.seq >= Some(Seq(*seq)),
                    "{name}: {status:?}, {seq} was said"
                );
                let published = status.published.unwrap();
                let texts = store.revision(&id(name), published).await.unwrap().unwrap();
                assert!(
                    texts.document.contains(&format!("round {}.", published.0)),
                    "{}",
                    texts.document
                );
                // The old or the new, with all that belongs to it.
                let code = format!("E {}", published.0);
                assert!(store.records_by_code(&code).await.unwrap().contains(&id(name)));
            }
            let head = store.head_seq().await.unwrap();
            let page = store.feed(Seq(0), 10).await.unwrap();
            assert_eq!(page.changes.last().map(|change| change.seq), Some(head));
        }
        assert!(
            acknowledged.values().all(|(revision, _)| *revision > 1),
            "{acknowledged:?}"
        );
    });
}

fn note<'n>(acknowledged: &mut BTreeMap<&'n str, (u32, i64)>, names: &[&'n str], line: &str) {
    let words: Vec<&str> = line.split(' ').collect();
    let name = names.iter().find(|name| **name == words[0]).unwrap();
    acknowledged.insert(name, (words[1].parse().unwrap(), words[2].parse().unwrap()));
}

/// Some microseconds that differ from kill to kill, so that kills fall on different places of a write.
fn spin(kill: u32) {
    let mut value = u64::from(kill) + 1;
    for _ in 0..(kill % 11) * 20_000 {
        value = std::hint::black_box(value.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
    }
}

#[test]
#[ignore = "a part that another test starts"]
fn child_publishes() {
    let Some(url) = child_value() else { return };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let store = connect(&url, &ConnectOptions::default()).await.unwrap();
        loop {
            for name in ["cuda/a", "cuda/b"] {
                next_round(&*store, name).await;
            }
        }
    });
}

async fn next_round(store: &dyn Store, name: &str) {
    let status = store.status(&id(name)).await.unwrap();
    let head = status.map_or(0, |status| status.head.0);
    let round = head + 1;
    let codes = serde_json::json!({ "codes": [format!("E {round}")] });
    let texts = record_with(name, &format!("round {round}."), serde_json::json!({}), codes);
    let expected = if head == 0 {
        Expected::Absent
    } else {
        Expected::Head(Revision(head))
    };
    let saved = store.save_head(draft(name, texts, expected)).await.unwrap();
    assert_eq!(saved, Saved::Saved(Revision(round)));
    let published = store.publish(publish(name, round)).await.unwrap();
    println!("ack {name} {round} {}", published.seq);
}
