//! Several processes on one SQLite file.

use std::time::{Duration, Instant};

use kb_core::ids::Seq;
use peerless::store::{ConnectOptions, connect};

use crate::support::{Child, Engine, child_value, on, published, record};

/// Deadline of "within a second by every server on that database".
const WITHIN: Duration = Duration::from_secs(1);

#[test]
fn another_process_sees_a_change_within_a_second() {
    on(Engine::Sqlite, |place| async move {
        let store = place.store().await;
        published(&*store, "cuda/a", record("cuda/a", "one")).await;
        let mut child = Child::start("processes::child_watches", &place.url, |_| {});
        assert_eq!(child.line("head ").as_deref(), Some("1"));
        let before = Instant::now();
        published(&*store, "cuda/a", record("cuda/a", "two")).await;
        assert_eq!(child.line("head ").as_deref(), Some("2"));
        assert!(before.elapsed() < WITHIN, "{:?}", before.elapsed());
        assert!(child.passed());
        // And the other way.
        assert_eq!(store.head_seq().await.unwrap(), Seq(3));
    });
}

/// Says the head when it starts and when it has changed, then publishes a record of its own.
#[test]
#[ignore = "a part that another test starts"]
fn child_watches() {
    let Some(url) = child_value() else { return };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let store = connect(&url, &ConnectOptions::default()).await.unwrap();
        let first = store.head_seq().await.unwrap();
        println!("head {first}");
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            let now = store.head_seq().await.unwrap();
            if now != first {
                println!("head {now}");
                break;
            }
            assert!(Instant::now() < deadline, "nothing changed");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        published(&*store, "cuda/b", record("cuda/b", "one")).await;
    });
}

#[test]
fn two_processes_write_at_once() {
    on(Engine::Sqlite, |place| async move {
        let store = place.store().await;
        let mut children = ["x", "y"].map(|name| {
            Child::start(
                "processes::child_writes",
                &format!("{name} {}", place.url),
                |_| {},
            )
        });
        for number in 0..20 {
            let name = format!("own/r{number}");
            published(&*store, &name, record(&name, "one")).await;
        }
        for child in &mut children {
            assert_eq!(child.line("done"), Some(String::new()));
        }
        assert!(children.into_iter().all(Child::passed));
        assert_eq!(store.head_seq().await.unwrap(), Seq(60));
        assert_eq!(store.feed(Seq(0), 100).await.unwrap().changes.len(), 60);
    });
}

#[test]
#[ignore = "a part that another test starts"]
fn child_writes() {
    let Some(value) = child_value() else { return };
    let (domain, url) = value.split_once(' ').unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let store = connect(url, &ConnectOptions::default()).await.unwrap();
        for number in 0..20 {
            let name = format!("{domain}/r{number}");
            published(&*store, &name, record(&name, "one")).await;
        }
        println!("done");
    });
}
