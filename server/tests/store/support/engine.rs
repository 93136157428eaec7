//! A fresh database of one engine for each test.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use peerless::store::{ConnectOptions, Store, connect};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection, SqliteConnection};

/// The engines.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Engine {
    Sqlite,
    Postgres,
}

/// An empty database; every handle from [`Place::store`] is one more program that uses it.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) url: String,
    pub(crate) engine: Engine,
    // Removed with the place.
    _folder: Option<tempfile::TempDir>,
}

impl Place {
    /// A handle of its own: own connections, nothing shared but the database.
    pub(crate) async fn store(&self) -> Arc<dyn Store> {
        connect(&self.url, &ConnectOptions::default()).await.unwrap()
    }

    /// Runs statements beside the store: what an older build left there.
    pub(crate) async fn run(&self, sql: &'static str) {
        match self.engine {
            Engine::Sqlite => {
                let mut raw = SqliteConnection::connect(&self.url).await.unwrap();
                raw.execute(sql).await.unwrap();
            }
            Engine::Postgres => {
                let mut raw = PgConnection::connect(&self.url).await.unwrap();
                raw.execute(sql).await.unwrap();
            }
        }
    }
}

/// Runs a test on a fresh database, which goes when the test passes.
pub(crate) fn on<F: Future<Output = ()>>(engine: Engine, test: impl FnOnce(Arc<Place>) -> F) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        match engine {
            Engine::Sqlite => {
                let folder = tempfile::tempdir().unwrap();
                let url = format!("sqlite:{}", folder.path().join("data/peerless.db").display());
                test(Arc::new(Place {
                    url,
                    engine,
                    _folder: Some(folder),
                }))
                .await;
            }
            Engine::Postgres => {
                let server = std::env::var("PEERLESS_TEST_POSTGRES").expect(
                    "PEERLESS_TEST_POSTGRES is not set: run `cargo xtask test`, \
                     or `cargo xtask postgres -- cargo nextest run -p peerless --test store`",
                );
                let name = make_database(&server).await;
                let (authority, _) = server.rsplit_once('/').unwrap();
                let url = format!("{authority}/{name}");
                test(Arc::new(Place {
                    url,
                    engine,
                    _folder: None,
                }))
                .await;
                run(&server, format!("DROP DATABASE {name} WITH (FORCE)")).await;
            }
        }
    });
}

async fn make_database(server: &str) -> String {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let name = format!("peerless_test_{}_{number}", std::process::id());
    run(server, format!("DROP DATABASE IF EXISTS {name}")).await;
    run(
        server,
        format!("CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8'"),
    )
    .await;
    name
}

async fn run(server: &str, sql: String) {
    let mut connection = PgConnection::connect(server).await.unwrap();
    connection.execute(AssertSqlSafe(sql)).await.unwrap();
    connection.close().await.unwrap();
}
