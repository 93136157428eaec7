//! What a late report reads of the others of its node: by an index in the order in which runs ended, and no more than it asks for. A spool
//! of a thousand reports would else read each of them for each.

use std::sync::Arc;

use peerless::store::{LATEST_GOOD, PROOFS, REPORT_BEFORE, REPORTS_AFTER, migrate};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection, SqliteConnection};

use crate::support::{Engine, Place, on};

/// Statement, values for PostgreSQL, and the index.
const ALL: [(&str, &str, &str); 4] = [
    (REPORTS_AFTER, "'n1', true, now(), 9", "report_by_end"),
    (REPORT_BEFORE, "'n1', true, now()", "report_by_end"),
    (PROOFS, "'n1', true, 9", "report_proofs"),
    (LATEST_GOOD, "'n1', true", "report_good"),
];

#[test]
fn sqlite_reads_reports_in_the_order_of_their_runs() {
    on(Engine::Sqlite, |place: Arc<Place>| async move {
        migrate(&place.url).await.unwrap();
        let mut raw = SqliteConnection::connect(&place.url).await.unwrap();
        for (sql, _, index) in ALL {
            let sql = AssertSqlSafe(format!("EXPLAIN QUERY PLAN {sql}"));
            let rows: Vec<(i64, i64, i64, String)> = sqlx::query_as(sql).fetch_all(&mut raw).await.unwrap();
            let plan: Vec<String> = rows.into_iter().map(|row| row.3).collect();
            let plan = plan.join("; ");
            let by = format!("USING INDEX {index} (node_id=? AND simulated=?");
            assert!(plan.contains(&by) && !plan.contains("B-TREE"), "{plan}");
            // Of a time, the index leads to the first row that is asked for.
            assert!(index != "report_by_end" || plan.contains("AND <expr>"), "{plan}");
        }
    });
}

#[test]
fn postgres_reads_reports_in_the_order_of_their_runs() {
    on(Engine::Postgres, |place: Arc<Place>| async move {
        migrate(&place.url).await.unwrap();
        let mut raw = PgConnection::connect(&place.url).await.unwrap();
        // The table is empty, so that any plan is cheap.
        for off in ["enable_seqscan", "enable_bitmapscan", "enable_sort"] {
            raw.execute(AssertSqlSafe(format!("SET {off} = off")))
                .await
                .unwrap();
        }
        raw.execute("SET plan_cache_mode = force_generic_plan")
            .await
            .unwrap();
        for (number, (sql, values, index)) in ALL.into_iter().enumerate() {
            let prepare = format!("PREPARE p{number} AS {sql}");
            raw.execute(AssertSqlSafe(prepare)).await.unwrap();
            let sql = AssertSqlSafe(format!("EXPLAIN (COSTS OFF) EXECUTE p{number} ({values})"));
            let rows: Vec<(String,)> = sqlx::query_as(sql).fetch_all(&mut raw).await.unwrap();
            let plan: Vec<String> = rows.into_iter().map(|row| row.0).collect();
            let plan = plan.join("\n");
            assert!(plan.contains(index) && !plan.contains("Sort"), "{plan}");
            assert!(index == "report_proofs" || !plan.contains("Filter"), "{plan}");
        }
    });
}
