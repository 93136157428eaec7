//! A backup holds one moment of a database that others write meanwhile, or it is not there at all.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use kb_core::ids::{Revision, Seq};
use peerless::store::{BackupError, ConnectOptions, StoreError, backup, connect};

use crate::support::{Child, Engine, id, on, published, record};

/// Backups taken while the child publishes.
const BACKUPS: usize = 3;

#[test]
fn a_backup_of_a_database_in_use_opens_and_holds_what_was_acknowledged() {
    on(Engine::Sqlite, |place| async move {
        let folder = tempfile::tempdir().unwrap();
        let mut child = Child::start("crash::child_publishes", &place.url, |_| {});
        for number in 0..BACKUPS {
            let said = child
                .line("ack ")
                .expect("the child publishes until it is killed");
            let words: Vec<&str> = said.split(' ').collect();
            let (name, revision, seq) = (words[0], words[1].parse().unwrap(), words[2].parse().unwrap());

            let file = folder.path().join(format!("{number}.db"));
            let made = backup(&place.url, &file).await.unwrap();
            let metadata = file.metadata().unwrap();
            assert_eq!(made.bytes, metadata.len());
            assert_eq!(metadata.permissions().mode() & 0o777, 0o600);
            assert!(made.seq >= Seq(seq), "{made:?}, {seq} was said");

            // As a server would after a restore: nothing is left to migrate.
            let options = ConnectOptions {
                migrate: false,
                ..ConnectOptions::default()
            };
            let copy = connect(&file.to_string_lossy(), &options).await.unwrap();
            let status = copy.status(&id(name)).await.unwrap().unwrap();
            assert!(
                status.published >= Some(Revision(revision)),
                "{status:?}, {revision} was said"
            );
            assert_eq!(copy.head_seq().await.unwrap(), made.seq);
            let page = copy.feed(Seq(0), 10).await.unwrap();
            assert_eq!(page.changes.last().map(|change| change.seq), Some(made.seq));
        }
        child.kill("ack ");
    });
}

#[test]
fn a_backup_never_takes_the_place_of_a_file_and_leaves_nothing_behind() {
    on(Engine::Sqlite, |place| async move {
        let store = place.store().await;
        published(&*store, "cuda/a", record("cuda/a", "one")).await;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("kept.db");
        std::fs::write(&file, "precious").unwrap();
        let error = backup(&place.url, &file).await.unwrap_err();
        assert!(matches!(error, BackupError::Exists(_)), "{error}");
        assert_eq!(std::fs::read(&file).unwrap(), b"precious");

        let foreign = folder.path().join("foreign.db");
        std::fs::write(&foreign, "").unwrap();
        let new = folder.path().join("new.db");
        let error = backup(&foreign.to_string_lossy(), &new).await.unwrap_err();
        assert!(matches!(error, BackupError::Foreign(_)), "{error}");

        let missing = folder.path().join("missing.db");
        let error = backup(&missing.to_string_lossy(), &new).await.unwrap_err();
        assert!(
            matches!(
                error,
                BackupError::Store(
                    StoreError::Unavailable(_) | StoreError::Database(_) | StoreError::ReadOnly(_)
                )
            ),
            "{error}"
        );
        assert!(!missing.try_exists().unwrap(), "reading makes no database");

        let nowhere = folder.path().join("no-such-folder/new.db");
        let error = backup(&place.url, &nowhere).await.unwrap_err();
        assert!(matches!(error, BackupError::File { .. }), "{error}");
        assert_eq!(names(folder.path()), ["foreign.db", "kept.db"]);

        let no_text = folder.path().join(OsStr::from_bytes(b"caf\xe9"));
        std::fs::create_dir(&no_text).unwrap();
        let error = backup(&place.url, &no_text.join("new.db")).await.unwrap_err();
        assert!(matches!(error, BackupError::NotText(_)), "{error}");
        assert_eq!(names(&no_text), Vec::<String>::new());
    });
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[tokio::test]
async fn postgres_is_left_to_its_own_tools() {
    let error = backup("postgres://user:secret@127.0.0.1:1/db", Path::new("new.db"))
        .await
        .unwrap_err()
        .to_string();
    assert!(error.contains("pg_dump") && !error.contains("secret"), "{error}");
}
