//! What hinders the start is said in one line that says what to do; what hinders writing loses nothing.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt as _;
use std::process::Output;

use peerless::store::Scope;
use sqlx::{Connection as _, Executor as _};

use crate::process::{Server, folder, limited, peerless, run, token};
use crate::records::{P2P, document};
use crate::test_app::{TestApp, problem};

/// Asserts a failed start with one line that holds all of these.
fn refused(output: &Output, code: i32, parts: &[&str]) {
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{text}");
    let complaint = text
        .lines()
        .find(|line| line.starts_with("peerless: "))
        .unwrap_or_else(|| panic!("{text}"));
    for part in parts {
        assert!(complaint.contains(part), "{part:?} is missing in: {complaint}");
    }
}

#[test]
fn the_start_says_where_it_serves_and_what_to_do_next() {
    let (folder, data) = folder();
    let server = Server::start(&["--data-dir", &data], &folder.path().join("log"));
    let said = server.terminate();
    let records = format!("records   {} (seq", peerless::bundle::embedded().unwrap().len());
    for part in ["database", &records, "curl", "token create"] {
        assert!(said.contains(part), "{part:?} is missing in: {said}");
    }
}

#[test]
fn a_second_start_says_the_same_of_the_records() {
    let (folder, data) = folder();
    let said = ["first", "second"].map(|log| {
        let said = Server::start(&["--data-dir", &data], &folder.path().join(log)).terminate();
        let records = said.lines().find(|line| line.contains("records   "));
        records.unwrap_or_else(|| panic!("{said}")).to_owned()
    });
    assert_eq!(said[0], said[1]);
}

#[test]
fn a_base_of_ones_own_begins_empty() {
    let (folder, data) = folder();
    let arguments = ["--data-dir", data.as_str(), "--without-shipped"];
    let said = Server::start(&arguments, &folder.path().join("log")).terminate();
    assert!(said.contains("records   0 (seq 0)"), "{said}");
}

#[test]
fn a_port_in_use() {
    let (_folder, data) = folder();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    refused(
        &run(&["--listen", &address, "--data-dir", &data]),
        1,
        &[&address, "already in use", "--listen"],
    );
}

#[test]
fn too_few_addresses_are_told_at_once() {
    let (_folder, data) = folder();
    // Of 300 and of 1,200 MB, in KiB.
    for limit in ["-v 292968", "-v 1171875"] {
        let output = limited(limit)
            .args(["serve", "--data-dir", &data])
            .output()
            .unwrap();
        refused(&output, 1, &["address space", "ulimit -v", "LimitAS"]);
    }
}

#[test]
fn a_call_that_makes_no_sense() {
    assert_eq!(run(&["nonsense"]).status.code(), Some(64));
    assert_eq!(run(&["serve", "--rate-limit", "many"]).status.code(), Some(64));
    assert_eq!(run(&["--help"]).status.code(), Some(0));
    refused(&run(&["--listen", "nowhere"]), 1, &["nowhere", "--listen"]);
}

#[test]
fn a_folder_that_an_ordinary_user_may_not_write() {
    let (folder, data) = folder();
    std::fs::create_dir(&data).unwrap();
    std::fs::set_permissions(folder.path(), PermissionsExt::from_mode(0o755)).unwrap();
    std::fs::set_permissions(&data, PermissionsExt::from_mode(0o555)).unwrap();
    // Where the program was built, an ordinary user may have no way to.
    let program = folder.path().join("peerless");
    std::fs::copy(env!("CARGO_BIN_EXE_peerless"), &program).unwrap();
    let mut command = std::process::Command::new(&program);
    command
        .args(["--listen", "127.0.0.1:0", "--data-dir", &data])
        .current_dir("/");
    if std::fs::metadata(&data).is_ok_and(|it| std::os::unix::fs::MetadataExt::uid(&it) == 0) {
        /// `nobody` on Debian.
        const NOBODY: u32 = 65_534;
        command.uid(NOBODY).gid(NOBODY);
    }
    refused(
        &command.output().unwrap(),
        1,
        &[&data, "Permission denied", "--data-dir"],
    );
}

#[tokio::test]
async fn a_database_of_a_newer_version() {
    let (_folder, data) = folder();
    assert!(run(&["migrate", "--data-dir", &data]).status.success());
    let mut database = sqlx::SqliteConnection::connect(&format!("sqlite://{data}/peerless.db"))
        .await
        .unwrap();
    let sql = "INSERT INTO _sqlx_migrations (version, description, installed_on, success, checksum, execution_time) \
               VALUES (9999, 'from tomorrow', '2030-01-01', true, x'00', 1)";
    database.execute(sql).await.unwrap();
    database.close().await.unwrap();
    let output = run(&["--listen", "127.0.0.1:0", "--data-dir", &data]);
    refused(&output, 1, &["9999", "install a newer peerless"]);
}

#[tokio::test]
async fn a_full_disk_loses_nothing() {
    let app = TestApp::start_with(|options| options.settings.data.sqlite_max_bytes = Some(2 << 20)).await;
    let token = app.token(&[Scope::Edit]).await;
    let mut kept = Vec::new();
    let mut refused = None;
    for number in 0..100 {
        let id = format!("cuda/filler-{number}");
        let text = document(&id, &format!("CUDA error: filler {number}"))
            .replace("made for", &"long ".repeat(20_000));
        let path = format!("/api/v1/records/{id}");
        let response = app
            .put(&path, &token)
            .header("if-none-match", "*")
            .body(text.clone())
            .send()
            .await
            .unwrap();
        if response.status() != 201 {
            refused = Some(response);
            break;
        }
        kept.push((path, text));
    }
    problem(refused.expect("the limit was never reached"), 507, "storage_full").await;
    assert!(kept.len() > 3);
    for (path, text) in kept {
        assert_eq!(app.get_with(&path, &token).await.text().await.unwrap(), text);
    }
    assert_eq!(app.get(P2P).await.status(), 200);
    app.wait_for_index();
    assert_eq!(app.get("/readyz").await.status(), 200);
}

#[test]
fn a_full_disk_under_the_program() {
    let (folder, data) = folder();
    assert!(run(&["migrate", "--data-dir", &data]).status.success());
    // 64 blocks of 512 bytes: less than the records that ship with the program need.
    let script = "trap '' XFSZ; ulimit -f 64; exec \"$0\" --listen 127.0.0.1:0 --data-dir \"$1\"";
    let output = std::process::Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_peerless"), &data])
        .output()
        .unwrap();
    refused(&output, 1, &["cannot grow"]);
    // With room again it starts on the same file.
    Server::start(&["--data-dir", &data], &folder.path().join("log")).terminate();
}

#[test]
fn the_command_line_explains_a_file() {
    let (folder, data) = folder();
    let file = folder.path().join("log.txt");
    std::fs::write(
        &file,
        "CUDA error: peer access is not supported between these two devices\n",
    )
    .unwrap();
    let file = file.to_str().unwrap();
    let found = run(&["match", file, "--data-dir", &data]);
    assert_eq!(found.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&found.stdout).contains("cuda/peer-access-unsupported-by-hardware"));
    assert!(
        !std::path::Path::new(&data).try_exists().unwrap(),
        "matching makes no database"
    );
    std::fs::write(file, "all is well\n").unwrap();
    assert_eq!(run(&["match", file, "--data-dir", &data]).status.code(), Some(1));
    assert_eq!(
        run(&["match", "/no/such/file", "--data-dir", &data])
            .status
            .code(),
        Some(2)
    );
}

#[test]
fn tokens_are_made_listed_and_revoked() {
    let (_folder, data) = folder();
    let text = token(&["--data-dir", &data], &["edit", "publish"]);
    let id = text.split('_').nth(1).unwrap();
    let listed = run(&["token", "list", "--data-dir", &data]);
    let listed = String::from_utf8(listed.stdout).unwrap();
    assert!(
        listed.contains(id) && listed.contains("edit,publish") && !listed.contains(&text),
        "{listed}"
    );
    assert!(
        run(&["token", "revoke", id, "--data-dir", &data])
            .status
            .success()
    );
    assert_eq!(
        run(&["token", "revoke", "none", "--data-dir", &data])
            .status
            .code(),
        Some(1)
    );
    let listed = run(&["token", "list", "--data-dir", &data]);
    assert!(String::from_utf8(listed.stdout).unwrap().contains("revoked"));
}

#[test]
fn what_was_exported_is_imported() {
    let (folder, data) = folder();
    Server::start(&["--data-dir", &data], &folder.path().join("log")).terminate();
    let exported = run(&["export", "--data-dir", &data]);
    assert!(exported.status.success());
    let file = folder.path().join("records.ndjson");
    std::fs::write(&file, &exported.stdout).unwrap();
    let elsewhere = folder.path().join("elsewhere");
    let elsewhere = elsewhere.to_str().unwrap();
    let imported = peerless()
        .args(["import", file.to_str().unwrap(), "--data-dir", elsewhere])
        .output()
        .unwrap();
    let said = String::from_utf8(imported.stdout).unwrap();
    assert!(
        said.starts_with(&format!("{} added", peerless::bundle::embedded().unwrap().len())),
        "{said}{}",
        String::from_utf8_lossy(&imported.stderr)
    );
    assert_eq!(run(&["export", "--data-dir", elsewhere]).stdout, exported.stdout);
    assert!(
        run(&["check", concat!(env!("CARGO_MANIFEST_DIR"), "/../kb-seed")])
            .status
            .success()
    );
}

#[test]
fn a_reader_who_has_seen_enough_is_no_failure() {
    let (folder, data) = folder();
    let file = folder.path().join("log.txt");
    std::fs::write(&file, "all is well\n".repeat(10)).unwrap();
    for arguments in [
        vec!["match", file.to_str().unwrap(), "--json", "--data-dir", &data],
        vec!["check", concat!(env!("CARGO_MANIFEST_DIR"), "/../kb-seed")],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = peerless().args(&arguments).stdout(writer).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {text}");
        assert!(!text.contains("panicked"), "{text}");
    }
}

#[test]
fn a_mistaken_folder_is_not_made_a_database() {
    let (folder, data) = folder();
    let (log, copy) = (folder.path().join("log.txt"), folder.path().join("copy.db"));
    std::fs::write(&log, "all is well\n").unwrap();
    let [log, copy] = [&log, &copy].map(|path| path.to_str().unwrap());
    let named = format!("{data}/mistaken.db");
    let url = format!("sqlite://{named}");
    let only_there = [
        &["token", "list"][..],
        &["token", "revoke", "x"],
        &["export"],
        &["conflicts"],
        &["backup", copy],
    ];
    for command in only_there {
        let arguments = [command, &["--data-dir", &data]].concat();
        refused(
            &run(&arguments),
            1,
            &["there is no database", &data, "--data-dir"],
        );
        assert!(!std::path::Path::new(&data).try_exists().unwrap(), "{command:?}");
    }
    for command in [
        &only_there[..],
        &[&["match", log], &["record", "cuda/out-of-memory"]],
    ]
    .concat()
    {
        let output = run(&[command, &["--database", &url]].concat());
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{command:?}: {text}");
        assert!(
            text.contains("there is no database") && text.contains(&named),
            "{command:?}: {text}"
        );
        assert!(!std::path::Path::new(&data).try_exists().unwrap(), "{command:?}");
    }
    refused(
        &run(&["check", folder.path().to_str().unwrap()]),
        1,
        &["no records"],
    );
}

#[test]
fn a_damaged_database_is_named_once() {
    let (_folder, data) = folder();
    std::fs::create_dir(&data).unwrap();
    std::fs::write(format!("{data}/peerless.db"), "no database ".repeat(1000)).unwrap();
    let output = run(&["--listen", "127.0.0.1:0", "--data-dir", &data]);
    refused(&output, 1, &[&data, "not a SQLite database"]);
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(text.matches("not a SQLite database").count(), 1, "{text}");
}
