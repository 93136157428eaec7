//! Both engines have the same migrations, which lead to the same tables.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use kb_core::ids::Seq;
use peerless::store::{
    By, ConnectOptions, Migrated, Role, StoreError, VoteOutcome, VoterKind, connect, migrate,
};
use sqlx::{Connection as _, PgConnection, SqliteConnection};

use crate::contract::persons::person;
use crate::contract::sessions::session;
use crate::support::{Engine, Place, at, on};

/// Table, column, may be null.
type Column = (String, String, bool);

fn files(engine: &str) -> BTreeSet<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../migrations")
        .join(engine);
    let entries = std::fs::read_dir(folder).unwrap();
    entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect()
}

async fn columns(place: &Place) -> BTreeSet<Column> {
    let rows: Vec<Column> = match place.engine {
        Engine::Sqlite => {
            let sql = "SELECT t.name, c.name, c.\"notnull\" = 0 FROM sqlite_schema t, pragma_table_info(t.name) c \
                WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%' AND t.name <> '_sqlx_migrations'";
            let mut raw = SqliteConnection::connect(&place.url).await.unwrap();
            sqlx::query_as(sql).fetch_all(&mut raw).await.unwrap()
        }
        Engine::Postgres => {
            let sql = "SELECT table_name::text, column_name::text, is_nullable = 'YES' \
                FROM information_schema.columns \
                WHERE table_schema = 'public' AND table_name <> '_sqlx_migrations'";
            let mut raw = PgConnection::connect(&place.url).await.unwrap();
            sqlx::query_as(sql).fetch_all(&mut raw).await.unwrap()
        }
    };
    rows.into_iter().collect()
}

#[test]
fn both_folders_hold_the_same_files() {
    let sqlite = files("sqlite");
    assert!(sqlite.contains("0001_records.sql"), "{sqlite:?}");
    assert_eq!(sqlite, files("postgres"));
}

#[test]
fn both_engines_end_with_the_same_columns() {
    on(Engine::Sqlite, |sqlite| async move {
        migrate(&sqlite.url).await.unwrap();
        let from_sqlite = columns(&sqlite).await;
        assert!(
            from_sqlite.contains(&("record".to_owned(), "seq".to_owned(), true)),
            "{from_sqlite:?}"
        );
        // A runtime within a runtime is refused, so the other engine is asked on another thread.
        let from_postgres = std::thread::spawn(|| {
            let (send, receive) = std::sync::mpsc::channel();
            on(Engine::Postgres, |postgres| async move {
                migrate(&postgres.url).await.unwrap();
                send.send(columns(&postgres).await).unwrap();
            });
            receive.recv().unwrap()
        });
        assert_eq!(from_sqlite, from_postgres.join().unwrap());
    });
}

async fn migrates_once(place: Arc<Place>) {
    let behind = ConnectOptions {
        migrate: false,
        ..ConnectOptions::default()
    };
    let error = connect(&place.url, &behind).await.unwrap_err();
    assert!(
        matches!(error, StoreError::OlderDatabase { found: 0, .. }),
        "{error}"
    );

    let numbers = files("sqlite");
    let numbers = numbers
        .iter()
        .filter_map(|file| file.split('_').next()?.parse::<i64>().ok());
    let newest = numbers.max().unwrap();
    assert_eq!(
        migrate(&place.url).await.unwrap(),
        Migrated { from: 0, to: newest }
    );
    assert_eq!(
        migrate(&place.url).await.unwrap(),
        Migrated {
            from: newest,
            to: newest
        }
    );
    connect(&place.url, &behind)
        .await
        .unwrap()
        .check_write()
        .await
        .unwrap();
}

#[test]
fn sqlite_migrates_once() {
    on(Engine::Sqlite, migrates_once);
}

#[test]
fn postgres_migrates_once() {
    on(Engine::Postgres, migrates_once);
}

async fn many_may_migrate_at_once(place: Arc<Place>) {
    let start = || {
        let place = Arc::clone(&place);
        tokio::spawn(async move { place.store().await.check_write().await.unwrap() })
    };
    for program in [start(), start(), start(), start()] {
        program.await.unwrap();
    }
}

#[test]
fn many_may_migrate_sqlite_at_once() {
    on(Engine::Sqlite, many_may_migrate_at_once);
}

#[test]
fn many_may_migrate_postgres_at_once() {
    on(Engine::Postgres, many_may_migrate_at_once);
}

async fn a_newer_database_is_refused(place: Arc<Place>) {
    migrate(&place.url).await.unwrap();
    let newer = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
        VALUES (9999, 'from the future', TRUE, '', 0)";
    place.run(newer).await;
    for migrate in [true, false] {
        let options = ConnectOptions {
            migrate,
            ..ConnectOptions::default()
        };
        let error = connect(&place.url, &options).await.unwrap_err();
        assert!(
            matches!(error, StoreError::NewerDatabase { found: 9999, .. }),
            "{error}"
        );
    }
    assert!(matches!(
        migrate(&place.url).await,
        Err(StoreError::NewerDatabase { .. })
    ));
}

#[test]
fn a_newer_sqlite_database_is_refused() {
    on(Engine::Sqlite, a_newer_database_is_refused);
}

#[test]
fn a_newer_postgres_database_is_refused() {
    on(Engine::Postgres, a_newer_database_is_refused);
}

async fn a_changed_migration_is_refused(place: Arc<Place>) {
    migrate(&place.url).await.unwrap();
    place
        .run("UPDATE _sqlx_migrations SET checksum = '' WHERE version = 2")
        .await;
    let error = migrate(&place.url).await.unwrap_err();
    assert!(matches!(error, StoreError::Migration(_)), "{error}");
}

#[test]
fn a_changed_sqlite_migration_is_refused() {
    on(Engine::Sqlite, a_changed_migration_is_refused);
}

#[test]
fn a_changed_postgres_migration_is_refused() {
    on(Engine::Postgres, a_changed_migration_is_refused);
}

/// What stood in a database before records had `seq_at`: as it was published, with a newer draft, an older revision
/// brought back, and never published.
const BEFORE_SEQ_AT: &str = "\
    INSERT INTO record (id, state, head_revision, published_revision, seq, changed_at) VALUES \
        ('a/as-published', 'published', 1, 1, 1, '2026-01-02T00:00:05.000000Z'), \
        ('a/draft-since', 'published', 2, 1, 2, '2026-01-02T00:00:09.000000Z'), \
        ('a/older-back', 'published', 2, 1, 3, '2026-01-02T00:00:08.000000Z'), \
        ('a/never', 'draft', 1, NULL, NULL, '2026-01-02T00:00:07.000000Z'); \
    INSERT INTO revision (record_id, revision, document_sha256, annex_sha256, actor, made_at, document, annex) VALUES \
        ('a/as-published', 1, '', '', 'ada', '2026-01-02T00:00:01.000000Z', '', ''), \
        ('a/draft-since', 1, '', '', 'ada', '2026-01-02T00:00:02.000000Z', '', ''), \
        ('a/draft-since', 2, '', '', 'ada', '2026-01-02T00:00:09.000000Z', '', ''), \
        ('a/older-back', 1, '', '', 'ada', '2026-01-02T00:00:03.000000Z', '', ''), \
        ('a/older-back', 2, '', '', 'ada', '2026-01-02T00:00:04.000000Z', '', ''), \
        ('a/never', 1, '', '', 'ada', '2026-01-02T00:00:07.000000Z', '', '')";

async fn times_of_publishing_are_found_for_older_databases(place: Arc<Place>) {
    let store = place.store().await;
    place.run(BEFORE_SEQ_AT).await;
    let migration = match place.engine {
        Engine::Sqlite => include_str!("../../../migrations/sqlite/0005_seq_at.sql"),
        Engine::Postgres => include_str!("../../../migrations/postgres/0005_seq_at.sql"),
    };
    let (_, update) = migration.split_once("ADD COLUMN").unwrap();
    let (_, update) = update.split_once(';').unwrap();
    place.run(update).await;
    let page = store.feed(Seq(0), 10).await.unwrap();
    let seconds: Vec<(&str, u8)> = page
        .changes
        .iter()
        .map(|change| (change.id.as_str(), change.changed_at.second()))
        .collect();
    let expected = [("a/as-published", 5), ("a/draft-since", 2), ("a/older-back", 8)];
    assert_eq!(seconds, expected);
}

#[test]
fn sqlite_finds_times_of_publishing() {
    on(Engine::Sqlite, times_of_publishing_are_found_for_older_databases);
}

#[test]
fn postgres_finds_times_of_publishing() {
    on(
        Engine::Postgres,
        times_of_publishing_are_found_for_older_databases,
    );
}

/// Votes as they were kept by token: of two tokens of one person, and of one without an owner.
const VOTES_BY_TOKEN: &str = "\
    DROP TABLE feedback; DROP TABLE vote; DELETE FROM counter WHERE name IN ('vote', 'feedback'); \
    INSERT INTO person (id, login, login_folded, name, role, operator, created_at) VALUES \
        ('p1', 'ada', 'ada', 'Ada', 'viewer', $no, '2026-01-02T00:00:00.000000Z'); \
    INSERT INTO token (id, secret_sha256, name, scopes, created_at, person_id) VALUES \
        ('t1', '', 'one', 'report', '2026-01-02T00:00:00.000000Z', 'p1'), \
        ('t2', '', 'two', 'report', '2026-01-02T00:00:00.000000Z', 'p1'), \
        ('t3', '', 'three', 'report', '2026-01-02T00:00:00.000000Z', NULL); \
    INSERT INTO record (id, state, head_revision, changed_at) VALUES \
        ('a/b', 'draft', 1, '2026-01-02T00:00:05.000000Z'); \
    INSERT INTO outcome (record_id, action_sha256, model, reporter, kind, action, environment, revision, worked, \
        reported_at) VALUES \
        ('a/b', 'x', 'h200', 't1', 'workaround', 'do', '{\"driver\":\"550\"}', 1, $yes, '2026-01-02T00:00:01.000000Z'), \
        ('a/b', 'x', 'h200', 't2', 'workaround', 'do', '{}', 1, $no, '2026-01-02T00:00:02.000000Z'), \
        ('a/b', 'x', 'h200', 't3', 'workaround', 'do', '{\"driver\":\"550\"}', 1, $yes, '2026-01-02T00:00:03.000000Z')";

async fn votes_of_tokens_become_votes_of_voters(place: Arc<Place>) {
    let store = place.store().await;
    let (table, feedback, yes, no) = match place.engine {
        Engine::Sqlite => (
            include_str!("../../../migrations/sqlite/0007_votes.sql"),
            include_str!("../../../migrations/sqlite/0019_feedback.sql"),
            "1",
            "0",
        ),
        Engine::Postgres => (
            include_str!("../../../migrations/postgres/0007_votes.sql"),
            include_str!("../../../migrations/postgres/0019_feedback.sql"),
            "TRUE",
            "FALSE",
        ),
    };
    let (table, _) = table.split_once("INSERT").unwrap();
    place
        .run(table.replace("outcome_of_model", "outcome").leak())
        .await;
    let votes = VOTES_BY_TOKEN.replace("$yes", yes).replace("$no", no);
    place.run(votes.leak()).await;
    place.run(feedback).await;
    let votes = store.votes(&"a/b".parse().unwrap()).await.unwrap();
    let mut votes: Vec<_> = votes
        .into_iter()
        .map(|vote| (vote.voter.kind, vote.voter.id, vote.outcome, vote.driver))
        .collect();
    votes.sort_by(|left, right| left.1.cmp(&right.1));
    let expected = [
        // Of one person the latest.
        (
            VoterKind::Person,
            "p1".to_owned(),
            VoteOutcome::DidNotHelp,
            String::new(),
        ),
        (
            VoterKind::Token,
            "t3".to_owned(),
            VoteOutcome::Worked,
            "550".to_owned(),
        ),
    ];
    assert_eq!(votes, expected);
    assert_eq!(store.voted_since(0).await.unwrap().0.len(), 1);
}

#[test]
fn sqlite_keeps_votes_of_tokens() {
    on(Engine::Sqlite, votes_of_tokens_become_votes_of_voters);
}

#[test]
fn postgres_keeps_votes_of_tokens() {
    on(Engine::Postgres, votes_of_tokens_become_votes_of_voters);
}

/// Reviews as they were kept before it was said what they ask for: of what readers see, of a newer draft, and of a revision that
/// another one took the place of.
const REVIEWS_WITHOUT_QUESTION: &str = "\
    INSERT INTO record (id, state, head_revision, published_revision, changed_at) VALUES \
        ('a/seen', 'published', 1, 1, '2026-01-02T00:00:05.000000Z'), \
        ('a/newer', 'published', 2, 1, '2026-01-02T00:00:05.000000Z'), \
        ('a/older', 'published', 2, 2, '2026-01-02T00:00:05.000000Z'), \
        ('a/draft', 'draft', 1, NULL, '2026-01-02T00:00:05.000000Z'); \
    INSERT INTO review (record_id, n, revision, state, asked_kind, asked_id, asked_name, asked_at) VALUES \
        ('a/seen', 1, 1, 'open', 'person', 'p', 'p', '2026-01-02T00:00:01.000000Z'), \
        ('a/newer', 1, 2, 'open', 'person', 'p', 'p', '2026-01-02T00:00:02.000000Z'), \
        ('a/older', 1, 1, 'open', 'person', 'p', 'p', '2026-01-02T00:00:03.000000Z'), \
        ('a/draft', 1, 1, 'open', 'person', 'p', 'p', '2026-01-02T00:00:04.000000Z')";

async fn older_reviews_say_what_they_ask(place: Arc<Place>) {
    let store = place.store().await;
    place.run(REVIEWS_WITHOUT_QUESTION).await;
    let migration = match place.engine {
        Engine::Sqlite => include_str!("../../../migrations/sqlite/0023_review_asks.sql"),
        Engine::Postgres => include_str!("../../../migrations/postgres/0023_review_asks.sql"),
    };
    let (_, updates) = migration.split_once("ADD COLUMN replaced_by").unwrap();
    let (_, updates) = updates.split_once(';').unwrap();
    place.run(updates).await;
    let open = store.open_reviews(10).await.unwrap();
    let open: Vec<_> = open
        .iter()
        .map(|review| (review.record.as_str(), review.asks.as_str()))
        .collect();
    let expected = [
        ("a/seen", "withdraw"),
        ("a/newer", "publish"),
        ("a/draft", "publish"),
    ];
    assert_eq!(open, expected);
}

#[test]
fn sqlite_knows_what_older_reviews_ask() {
    on(Engine::Sqlite, older_reviews_say_what_they_ask);
}

#[test]
fn postgres_knows_what_older_reviews_ask() {
    on(Engine::Postgres, older_reviews_say_what_they_ask);
}

async fn older_sessions_end(place: Arc<Place>) {
    let store = place.store().await;
    let ada = By::system("ada");
    let kept = person("p1", "ada", Role::Editor);
    assert!(store.create_person(kept, &ada).await.unwrap());
    let begun = session("s1", "p1", Role::Editor);
    store.start_session(begun, None, (&ada, "login")).await.unwrap();
    assert!(store.session("s1", at(5)).await.unwrap().is_some());
    let sqlite = include_str!("../../../migrations/sqlite/0024_sessions_end.sql");
    let postgres = include_str!("../../../migrations/postgres/0024_sessions_end.sql");
    let migration = match place.engine {
        Engine::Sqlite => sqlite,
        Engine::Postgres => postgres,
    };
    place.run(migration).await;
    assert_eq!(store.session("s1", at(5)).await.unwrap(), None);
}

#[test]
fn sqlite_ends_older_sessions() {
    on(Engine::Sqlite, older_sessions_end);
}

#[test]
fn postgres_ends_older_sessions() {
    on(Engine::Postgres, older_sessions_end);
}
