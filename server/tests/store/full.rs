//! A full disk: a clear refusal, nothing lost, and on it goes when there is room again.

use std::sync::Arc;

use kb_core::ids::Seq;
use peerless::store::{ConnectOptions, Expected, Store, StoreError, connect};

use crate::support::{Child, Engine, Place, child_value, draft, on, published, record_with};

/// A record whose document has about `kib` KiB.
fn large(name: &str, kib: usize) -> (String, String) {
    let text = "x".repeat(kib * 1024);
    record_with(
        name,
        "one",
        serde_json::json!({ "root_cause": text }),
        serde_json::json!({}),
    )
}

/// Saves and publishes until it is refused; the number of records that are published, and the refusal.
async fn fill(store: &dyn Store) -> (i64, StoreError) {
    for number in 0..200 {
        let name = format!("cuda/r{number}");
        let saved = store
            .save_head(draft(&name, large(&name, 200), Expected::Absent))
            .await;
        if let Err(error) = saved {
            return (number, error);
        }
        if let Err(error) = store.publish(crate::support::publish(&name, 1)).await {
            return (number, error);
        }
    }
    panic!("the database never filled up");
}

async fn nothing_is_lost(place: &Place, kept: i64) {
    let store = place.store().await;
    assert_eq!(store.head_seq().await.unwrap(), Seq(kept));
    let page = store.feed(Seq(0), 1000).await.unwrap();
    assert_eq!(page.changes.len(), usize::try_from(kept).unwrap());
    let more = published(&*store, "cuda/more", large("cuda/more", 200)).await;
    assert_eq!(more.seq, Seq(kept + 1));
}

#[test]
fn a_database_at_its_limit_says_full_and_loses_nothing() {
    on(Engine::Sqlite, |place| async move {
        let limit = ConnectOptions {
            sqlite_max_bytes: Some(4 << 20),
            ..ConnectOptions::default()
        };
        let store = connect(&place.url, &limit).await.unwrap();
        let (kept, error) = fill(&*store).await;
        assert!(matches!(error, StoreError::Full(_)), "{error:?}");
        assert!(kept > 0);
        drop(store);
        nothing_is_lost(&place, kept).await;
    });
}

/// The limit on file size that a shell's `ulimit -f` sets (`RLIMIT_FSIZE`): the system refuses the write.
#[test]
fn a_disk_that_takes_no_more_says_full_and_loses_nothing() {
    on(Engine::Sqlite, |place| async move {
        place.store().await.check_write().await.unwrap();
        let test = std::env::current_exe().unwrap();
        // Blocks of 1024 bytes; the signal that comes with the refusal is ignored, as a server would.
        let script = "trap '' XFSZ; ulimit -f 8192; exec \"$0\" \"$@\"";
        let mut child = Child::start("full::child_fills", &place.url, |command| {
            let arguments: Vec<_> = command.get_args().map(ToOwned::to_owned).collect();
            let mut shell = std::process::Command::new("bash");
            shell.args(["-c", script]).arg(&test).args(arguments);
            for (name, value) in command.get_envs() {
                if let Some(value) = value {
                    shell.env(name, value);
                }
            }
            shell.stdout(std::process::Stdio::piped());
            *command = shell;
        });
        let kept: i64 = child
            .line("kept ")
            .expect("the child says how many it kept")
            .parse()
            .unwrap();
        assert!(child.passed());
        assert!(kept > 0);
        nothing_is_lost(&place, kept).await;
    });
}

#[test]
#[ignore = "a part that another test starts"]
fn child_fills() {
    let Some(url) = child_value() else { return };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let store: Arc<dyn Store> = connect(&url, &ConnectOptions::default()).await.unwrap();
        let (kept, error) = fill(&*store).await;
        println!("kept {kept}");
        assert!(matches!(error, StoreError::Full(_)), "{error:?}");
    });
}

/// The same store, still open, on a small disk that fills up and then grows: SQLite has rolled back by itself by then.
#[test]
fn a_store_writes_again_when_there_is_room_again() {
    on(Engine::Sqlite, |place| async move {
        let test = std::env::current_exe().unwrap();
        let mut child = Child::start("full::child_fills_a_disk_that_grows", &place.url, |command| {
            let arguments: Vec<_> = command.get_args().map(ToOwned::to_owned).collect();
            let mut apart = std::process::Command::new("unshare");
            // A file system of its own: nothing stays mounted, whatever happens.
            apart
                .args(["--map-root-user", "--mount"])
                .arg(&test)
                .args(arguments);
            for (name, value) in command.get_envs() {
                if let Some(value) = value {
                    apart.env(name, value);
                }
            }
            apart.stdout(std::process::Stdio::piped());
            *command = apart;
        });
        let kept: Option<String> = child.line("kept ");
        assert!(child.passed());
        assert!(kept.is_some());
    });
}

#[test]
#[ignore = "a part that another test starts"]
fn child_fills_a_disk_that_grows() {
    let Some(url) = child_value() else { return };
    let folder = std::path::Path::new(url.strip_prefix("sqlite:").unwrap())
        .parent()
        .unwrap()
        .to_owned();
    std::fs::create_dir_all(&folder).unwrap();
    let mount = |options: &str| {
        let mut mount = std::process::Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(&folder);
        assert!(mount.status().unwrap().success(), "mount -o {options}");
    };
    mount("size=6m");
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let store: Arc<dyn Store> = connect(&url, &ConnectOptions::default()).await.unwrap();
        let (kept, error) = fill(&*store).await;
        println!("kept {kept}");
        assert!(matches!(error, StoreError::Full(_)), "{error:?}");
        // Still full, and said so each time.
        for _ in 0..3 {
            let again = store
                .save_head(draft("cuda/again", large("cuda/again", 200), Expected::Absent))
                .await;
            assert!(matches!(again, Err(StoreError::Full(_))), "{again:?}");
        }
        assert_eq!(store.head_seq().await.unwrap(), Seq(kept));
        mount("remount,size=64m");
        store.check_write().await.unwrap();
        let more = published(&*store, "cuda/more", large("cuda/more", 200)).await;
        assert_eq!(more.seq, Seq(kept + 1));
    });
}
