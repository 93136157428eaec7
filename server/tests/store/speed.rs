//! Seeding and loading 1,000 records: measured, and held to a bound that only a lost index or a statement for each
//! row would break (this runs in debug builds too, on busy machines).

use std::time::{Duration, Instant};

use kb_core::ids::Seq;
use peerless::store::{SeedRecord, SeedSource};
use serde_json::json;

use crate::support::{Engine, Place, at, on, record_with, seed};

/// Bound for each step: a debug build on a machine that is busy with other things.
const BOUND: Duration = Duration::from_secs(30);

/// Records of the size of the given seeds (about 5 KB), with codes, an alias and two edges each.
fn seeds(word: &str) -> Vec<SeedRecord> {
    let one = |number: usize| {
        let name = format!("cuda/r{number}");
        let text = "The two GPUs do not support direct access to each other's memory. ".repeat(12);
        let step = |key: &str| json!({"action": text, key: text, "condition": "", "sources": []});
        let document = json!({
            "root_cause": text,
            "aliases": [format!("cuda/old-{number}")],
            "dead_ends": [step("why_fails"), step("why_fails")],
            "workarounds": [step("how")],
            "transition_graph": {
                "leads_to": [{"error_id": format!("cuda/r{}", number + 1), "probability": 0.5}],
                "frequently_confused_with": [{"error_id": "cuda/none", "distinction": "none"}],
            },
        });
        let annex = json!({"codes": [format!("Xid {number}"), format!("CUDA_ERROR_{number}"), "error 217"]});
        seed(
            &name,
            record_with(&name, &format!("{word} {number}"), document, annex),
        )
    };
    (0..1_000).map(one).collect()
}

async fn timed<T>(what: &str, engine: Engine, work: impl Future<Output = T>) -> T {
    let start = Instant::now();
    let result = work.await;
    let took = start.elapsed();
    println!("{engine:?}: {what}: {:.1} ms", took.as_secs_f64() * 1000.0);
    assert!(took < BOUND, "{what} took {took:?}");
    result
}

async fn seeding_and_loading(place: std::sync::Arc<Place>) {
    let engine = place.engine;
    let store = timed("open and migrate", engine, place.store()).await;
    let first = timed(
        "seed 1,000",
        engine,
        store.seed(SeedSource::Program, seeds("one").into(), at(1)),
    )
    .await
    .unwrap();
    assert_eq!(first.added.len(), 1_000);
    let again = timed(
        "seed 1,000 unchanged",
        engine,
        store.seed(SeedSource::Program, seeds("one").into(), at(2)),
    )
    .await
    .unwrap();
    assert_eq!(again.unchanged, 1_000);
    let changed = timed(
        "seed 1,000 changed",
        engine,
        store.seed(SeedSource::Program, seeds("two").into(), at(3)),
    )
    .await
    .unwrap();
    assert_eq!(changed.updated.len(), 1_000);
    let page = timed("feed(0)", engine, store.feed(Seq(0), 10_000))
        .await
        .unwrap();
    assert_eq!((page.changes.len(), page.more), (1_000, false));
    let head = timed("head_seq", engine, store.head_seq()).await.unwrap();
    assert_eq!(head, Seq(2_000));
}

#[test]
fn sqlite_seeds_and_loads_fast() {
    on(Engine::Sqlite, seeding_and_loading);
}

#[test]
fn postgres_seeds_and_loads_fast() {
    on(Engine::Postgres, seeding_and_loading);
}
