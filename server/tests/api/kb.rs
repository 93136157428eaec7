//! Records carried in a signed file: `peerless kb export` and `peerless kb update`.

use std::fs;
use std::path::PathBuf;
use std::process::Output;

use minisign::KeyPair;
use peerless::store::{Store, connect};
use tempfile::TempDir;

use crate::process::{peerless, run};
use crate::round_trip::{ANNEX, CATEGORY, CAUSE, edit, made, out, published, shown, write};

/// A database with the records of `ids`, one beside it that takes bundles, and a key.
struct Sites {
    folder: TempDir,
    public: String,
}

impl Sites {
    fn new(ids: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("own");
        for id in ids {
            write(&own, id, &made(id), ANNEX);
        }
        let sites = Self {
            public: key(folder.path().join("key")),
            folder,
        };
        let there = shown(&sites.path("there"));
        let brought = run(&["import", &shown(&own), "--data-dir", &there, "--without-shipped"]);
        assert!(brought.status.success(), "{}", out(&brought));
        sites
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn export(&self, name: &str) -> PathBuf {
        let (file, key, there) = (self.path(name), self.path("key"), self.path("there"));
        let (key, there) = (shown(&key), shown(&there));
        let made = run(&[
            "kb",
            "export",
            &shown(&file),
            "--sign-key",
            &key,
            "--data-dir",
            &there,
        ]);
        assert!(made.status.success(), "{}", out(&made));
        file
    }

    fn update(&self, file: &std::path::Path, arguments: &[&str]) -> Output {
        let (file, here) = (shown(file), shown(&self.path("here")));
        let call = [
            "kb",
            "update",
            &file,
            "--data-dir",
            &here,
            "--without-shipped",
            "--key",
            &self.public,
        ];
        run(&[&call, arguments].concat())
    }

    fn taken(&self, name: &str) {
        let done = self.update(&self.export(name), &[]);
        assert!(done.status.success(), "{}", out(&done));
    }

    async fn store(&self, name: &str) -> std::sync::Arc<dyn Store> {
        let database = format!("{}/peerless.db", shown(&self.path(name)));
        connect(&database, &peerless::store::ConnectOptions::default())
            .await
            .unwrap()
    }
}

fn key(path: PathBuf) -> String {
    let pair = KeyPair::generate_unencrypted_keypair().unwrap();
    fs::write(path, pair.sk.to_box(None).unwrap().into_string()).unwrap();
    pair.pk.to_base64()
}

#[tokio::test]
async fn a_bundle_brings_records_and_changes_of_both_sides_are_put_together_each_time() {
    let sites = Sites::new(&["local/a", "local/b", "local/gone"]);
    sites.taken("first");
    let (there, here) = (sites.store("there").await, sites.store("here").await);
    assert_eq!(published(here.as_ref(), "local/a").await, Some(made("local/a")));

    edit(here.as_ref(), "local/a", (CATEGORY, "edited_here"), true).await;
    edit(there.as_ref(), "local/a", (CAUSE, "found there"), true).await;
    edit(there.as_ref(), "local/b", (CAUSE, "found, too"), true).await;
    let by = peerless::store::By::system("editor");
    let gone = "local/gone".parse().unwrap();
    there.withdraw(&gone, &by, crate::test_app::NOW).await.unwrap();
    let second = sites.export("second");
    let dry = sites.update(&second, &["--dry-run"]);
    for would in [
        "would merge: local/a",
        "would update: local/b",
        "would withdraw: local/gone",
    ] {
        assert!(out(&dry).contains(would), "{}", out(&dry));
    }
    assert!(published(here.as_ref(), "local/gone").await.is_some());
    let done = sites.update(&second, &[]);
    assert!(
        out(&done).contains("1 merged, 1 updated, 1 withdrawn"),
        "{}",
        out(&done)
    );
    let merged = published(here.as_ref(), "local/a").await.unwrap();
    assert!(
        merged.contains("edited_here") && merged.contains("found there"),
        "{merged}"
    );
    assert_eq!(published(here.as_ref(), "local/gone").await, None);
    assert!(out(&sites.update(&second, &[])).contains("changed here alone"));

    // What was edited here is still known to be an edit.
    edit(there.as_ref(), "local/a", ("found there", "found again"), true).await;
    sites.taken("third");
    let merged = published(here.as_ref(), "local/a").await.unwrap();
    assert!(
        merged.contains("edited_here") && merged.contains("found again"),
        "{merged}"
    );
}

#[test]
fn a_dry_run_says_what_a_new_database_would_get_and_makes_none() {
    let sites = Sites::new(&["local/a"]);
    let told = sites.update(&sites.export("first"), &["--dry-run"]);
    assert!(told.status.success(), "{}", out(&told));
    assert!(out(&told).contains("would add: local/a"), "{}", out(&told));
    assert!(
        out(&told).contains("here/peerless.db has no records"),
        "{}",
        out(&told)
    );
    assert!(!sites.path("here").try_exists().unwrap());
}

#[tokio::test]
async fn a_contradiction_changes_nothing_until_somebody_decides() {
    let sites = Sites::new(&["local/a", "local/b"]);
    sites.taken("first");
    let (there, here) = (sites.store("there").await, sites.store("here").await);
    for id in ["local/a", "local/b"] {
        edit(here.as_ref(), id, (CAUSE, "found here"), true).await;
        edit(there.as_ref(), id, (CAUSE, "found there"), true).await;
    }
    let second = sites.export("second");
    let left = sites.update(&second, &[]);
    assert_eq!(left.status.code(), Some(1));
    let told = out(&left);
    assert!(
        told.contains("conflict: local/a: bundle and database changed the same"),
        "{told}"
    );
    assert!(told.contains("--take-bundle local/a"), "{told}");
    assert!(
        published(here.as_ref(), "local/a")
            .await
            .unwrap()
            .contains("found here")
    );

    let decided = ["--take-bundle", "local/a", "--take-database", "local/b"];
    let done = sites.update(&second, &decided);
    assert!(done.status.success(), "{}", out(&done));
    assert!(
        published(here.as_ref(), "local/a")
            .await
            .unwrap()
            .contains("found there")
    );
    assert!(
        published(here.as_ref(), "local/b")
            .await
            .unwrap()
            .contains("found here")
    );
    // Decided once: the same bundle asks no more.
    let again = sites.update(&second, &[]);
    assert!(again.status.success(), "{}", out(&again));
}

#[tokio::test]
async fn what_does_not_fit_is_refused_and_changes_nothing() {
    let sites = Sites::new(&["local/a"]);
    let first = sites.export("first");
    let there = sites.store("there").await;
    edit(there.as_ref(), "local/a", (CAUSE, "found there"), true).await;
    let second = sites.export("second");
    let taken = sites.update(&second, &[]);
    assert!(taken.status.success(), "{}", out(&taken));
    let here = sites.store("here").await;
    let before = here.head_seq().await.unwrap();

    let bytes = fs::read(&second).unwrap();
    let (cut, changed) = (sites.path("cut"), sites.path("changed"));
    fs::write(&cut, &bytes[..bytes.len() - 1]).unwrap();
    let mut other = bytes.clone();
    *other.last_mut().unwrap() ^= 1;
    fs::write(&changed, other).unwrap();
    let newer = sites.path("newer");
    let secret =
        minisign::SecretKeyBox::from_string(&fs::read_to_string(sites.path("key")).unwrap()).unwrap();
    let packed = zstd::encode_all(&b"{\"format\": 2}\n"[..], 1).unwrap();
    let signature = minisign::sign(
        None,
        &secret.into_unencrypted_secret_key().unwrap(),
        packed.as_slice(),
        Some("x"),
        Some("peerless records"),
    );
    let signature = signature.unwrap().into_string();
    fs::write(&newer, [signature.trim_end().as_bytes(), b"\n", &packed].concat()).unwrap();

    for (file, says) in [
        (&cut, "does not fit: the file was cut or changed"),
        (&changed, "does not fit: the file was cut or changed"),
        (&newer, "format 2, and this program reads format 1"),
        (&sites.path("key"), "this is no bundle of records"),
        (&first, "--older takes it all the same"),
    ] {
        let refused = sites.update(file, &[]);
        assert_eq!(refused.status.code(), Some(1), "{}", out(&refused));
        assert!(out(&refused).contains(says), "{}", out(&refused));
    }
    let stranger = key(sites.path("stranger"));
    let (second, here_dir) = (shown(&second), shown(&sites.path("here")));
    let call = [
        "kb",
        "update",
        &second,
        "--data-dir",
        &here_dir,
        "--key",
        &stranger,
    ];
    assert!(out(&run(&call)).contains("signed by the key"));
    assert_eq!(run(&call[..5]).status.code(), Some(64), "a key must be given");
    assert_eq!(here.head_seq().await.unwrap(), before);

    let older = sites.update(&first, &["--older"]);
    assert!(older.status.success(), "{}", out(&older));
    assert!(published(here.as_ref(), "local/a").await.unwrap().contains(CAUSE));
}

#[test]
fn a_bundle_older_than_the_program_is_refused_and_the_shipped_records_make_one() {
    let version = run(&["--version"]);
    let told = out(&version);
    let records = peerless::bundle::embedded_ids()
        .filter(|id| !id.as_str().is_empty())
        .count();
    let date = told
        .lines()
        .nth(1)
        .unwrap()
        .rsplit(' ')
        .next()
        .unwrap()
        .to_owned();
    assert!(told.contains(&format!("records: {records}, of {date}")), "{told}");
    assert_eq!(date.len(), "2026-11-29".len(), "{told}");

    // Without a database the records of the program are exported; a key may have a password.
    let folder = tempfile::tempdir().unwrap();
    let pair = KeyPair::generate_encrypted_keypair(Some("open sesame".to_owned())).unwrap();
    let (secret, file) = (folder.path().join("key"), folder.path().join("bundle"));
    fs::write(&secret, pair.sk.to_box(None).unwrap().into_string()).unwrap();
    let folder_of_data = shown(&folder.path().join("data"));
    let (secret, file) = (shown(&secret), shown(&file));
    let call = [
        "kb",
        "export",
        &file,
        "--sign-key",
        &secret,
        "--data-dir",
        &folder_of_data,
    ];
    let without = peerless()
        .args(call)
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    assert!(
        out(&without).contains("PEERLESS_SIGN_PASSWORD"),
        "{}",
        out(&without)
    );
    let made = peerless()
        .args(call)
        .env("PEERLESS_SIGN_PASSWORD", "open sesame")
        .output()
        .unwrap();
    assert!(
        out(&made).contains(&format!("{records} records")),
        "{}",
        out(&made)
    );
    let taken = run(&[
        "kb",
        "update",
        &file,
        "--key",
        &pair.pk.to_base64(),
        "--data-dir",
        &folder_of_data,
    ]);
    assert!(
        out(&taken).contains("the database has all of it"),
        "{}",
        out(&taken)
    );
}
