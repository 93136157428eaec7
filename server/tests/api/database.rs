//! A PostgreSQL database for one test.

use std::sync::atomic::{AtomicU32, Ordering};

use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection};

/// Databases made by this process.
static NUMBER: AtomicU32 = AtomicU32::new(0);

/// A database of its own on the test server; dropped by [`Database::end`].
pub struct Database {
    server: String,
    name: String,
}

impl Database {
    pub async fn make() -> Self {
        let server = std::env::var("PEERLESS_TEST_POSTGRES").expect(
            "PEERLESS_TEST_POSTGRES is not set: run `cargo xtask test`, \
             or `cargo xtask postgres -- cargo nextest run -p peerless --test api`",
        );
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("peerless_api_{}_{number}", std::process::id());
        let database = Self { server, name };
        database
            .run(format!("DROP DATABASE IF EXISTS {}", database.name))
            .await;
        database
            .run(format!(
                "CREATE DATABASE {} TEMPLATE template0 ENCODING 'UTF8'",
                database.name
            ))
            .await;
        database
    }

    pub fn url(&self) -> String {
        let (authority, _) = self.server.rsplit_once('/').unwrap();
        format!("{authority}/{}", self.name)
    }

    pub async fn end(self) {
        self.run(format!("DROP DATABASE {} WITH (FORCE)", self.name))
            .await;
    }

    async fn run(&self, sql: String) {
        let mut connection = PgConnection::connect(&self.server).await.unwrap();
        connection.execute(AssertSqlSafe(sql)).await.unwrap();
        connection.close().await.unwrap();
    }
}
