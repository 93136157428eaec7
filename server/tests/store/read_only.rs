//! Files that cannot be used, each with a refusal that says what and where.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;

use peerless::store::{ConnectOptions, StoreError, connect};

use crate::support::{Child, Engine, child_value, on};

async fn refusal(url: &str) -> StoreError {
    connect(url, &ConnectOptions::default()).await.unwrap_err()
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn the_folder_is_made_for_its_owner_only() {
    on(Engine::Sqlite, |place| async move {
        let store = place.store().await;
        store.check_write().await.unwrap();
        let file = Path::new(place.url.strip_prefix("sqlite:").unwrap());
        assert_eq!(mode(file.parent().unwrap()), 0o700);
        for entry in fs::read_dir(file.parent().unwrap()).unwrap() {
            let path = entry.unwrap().path();
            assert_eq!(mode(&path), 0o600, "{}", path.display());
        }
    });
}

#[test]
fn a_file_that_is_no_database_is_left_alone() {
    on(Engine::Sqlite, |_| async move {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.txt");
        let text = "these are my notes, and there are quite a lot of them\n".repeat(200);
        fs::write(&path, &text).unwrap();
        let error = refusal(path.to_str().unwrap()).await;
        assert!(matches!(error, StoreError::Open { .. }), "{error:?}");
        assert!(error.to_string().contains("notes.txt"), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), text);

        let error = refusal(folder.path().to_str().unwrap()).await;
        assert!(matches!(error, StoreError::Open { .. }), "{error:?}");
    });
}

#[test]
fn another_programs_database_is_left_alone() {
    use sqlx::{Connection as _, Executor as _};
    on(Engine::Sqlite, |_| async move {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("music.db");
        let url = format!("sqlite:{}?mode=rwc", path.display());
        let mut other = sqlx::SqliteConnection::connect(&url).await.unwrap();
        other.execute("CREATE TABLE song (name TEXT)").await.unwrap();
        other.close().await.unwrap();
        let error = refusal(path.to_str().unwrap()).await;
        assert!(error.to_string().contains("another program"), "{error}");
    });
}

/// As an ordinary user: root may write anywhere.
#[test]
fn a_read_only_folder_is_named() {
    on(Engine::Sqlite, |place| async move {
        drop(place.store().await);
        let file = Path::new(place.url.strip_prefix("sqlite:").unwrap());
        let folder = file.parent().unwrap();
        let whole = folder.parent().unwrap();

        // Where the user may look: the program and the folders above.
        let program = whole.join("test");
        fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
        fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
        fs::set_permissions(whole, Permissions::from_mode(0o755)).unwrap();
        let try_it = |file_mode, folder_mode, value: &str| {
            fs::set_permissions(file, Permissions::from_mode(file_mode)).unwrap();
            fs::set_permissions(folder, Permissions::from_mode(folder_mode)).unwrap();
            let mut child = Child::start_program(&program, "read_only::child_opens", value, |command| {
                if is_root() {
                    command.uid(NOBODY).gid(NOBODY);
                }
                command.current_dir("/");
            });
            let said = child.line("refused ").expect("the child says why it was refused");
            assert!(child.passed());
            fs::set_permissions(folder, Permissions::from_mode(0o755)).unwrap();
            said
        };
        let shown = folder.display().to_string();
        // A file that may be written in a folder that may not: the log beside it cannot be made.
        let said = try_it(0o666, 0o555, &place.url);
        assert!(said.starts_with("ReadOnly") && said.contains(&shown), "{said}");
        let said = try_it(0o444, 0o555, &place.url);
        assert!(said.starts_with("ReadOnly") && said.contains(&shown), "{said}");
        // Nothing there yet, neither file nor folder.
        let said = try_it(0o666, 0o555, &format!("sqlite:{shown}/new.db"));
        assert!(said.starts_with("ReadOnly") && said.contains("new.db"), "{said}");
        let said = try_it(0o666, 0o555, &format!("sqlite:{shown}/deeper/new.db"));
        assert!(said.starts_with("ReadOnly") && said.contains("deeper"), "{said}");
    });
}

/// User and group without rights.
const NOBODY: u32 = 65_534;

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt as _;
    fs::metadata("/proc/self").unwrap().uid() == 0
}

#[test]
#[ignore = "a part that another test starts"]
fn child_opens() {
    let Some(url) = child_value() else { return };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let error = runtime.block_on(refusal(&url));
    println!("refused {error:?}");
}
