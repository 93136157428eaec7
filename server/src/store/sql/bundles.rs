//! Bundles of records that were taken in, by SQL.

use async_trait::async_trait;
use serde_json::json;

use super::audit;
use super::convert::{count_from, refuse_nul};
use super::engine::{Cells as _, Engine, values};
use super::session::SqlStore;
use crate::store::{BUNDLE_ACTOR, BundleStore, BundleTaken, By, NewAudit, StoreError};

#[async_trait]
impl<DB: Engine> BundleStore for SqlStore<DB> {
    async fn note_bundle(&self, taken: &BundleTaken) -> Result<(), StoreError> {
        refuse_nul("the id of the key", &taken.key_id)?;
        let mut tx = self.begin_write().await?;
        let sql = "INSERT INTO bundle_taken (made_at, records, key_id, sha256, taken_at) VALUES ($1, $2, $3, $4, $5)";
        let records = i64::from(taken.records);
        let cells = values![
            taken.made_at,
            records,
            &taken.key_id,
            &taken.sha256,
            taken.taken_at
        ];
        tx.run(sql, cells).await?;
        let by = By::system(BUNDLE_ACTOR);
        let detail = json!({ "records": taken.records, "key": taken.key_id });
        let entry = NewAudit::new("record.import", BUNDLE_ACTOR, &by, taken.taken_at).detail(detail);
        audit::add(&mut tx, &entry).await?;
        tx.commit().await
    }

    async fn last_bundle(&self) -> Result<Option<BundleTaken>, StoreError> {
        let sql =
            "SELECT made_at, records, key_id, sha256, taken_at FROM bundle_taken ORDER BY n DESC LIMIT 1";
        let rows = self.read_once().await?.all(sql, &[]).await?;
        let taken = |row: &DB::Row| {
            Ok(BundleTaken {
                made_at: row.time(0)?,
                records: count_from(row.integer(1)?)?,
                key_id: row.text(2)?,
                sha256: row.text(3)?,
                taken_at: row.time(4)?,
            })
        };
        rows.first().map(taken).transpose()
    }
}
