//! Finding records: lists, former ids, codes, edges.

use kb_core::ids::RecordId;

use super::derive::fold_code;
use super::engine::{Cells as _, Engine, values};
use super::face::{id_from, kind_from};
use super::revisions::status_from;
use super::session::SqlStore;
use crate::store::{ListQuery, RecordListing, RecordState, StoreError, StoredEdge};

impl<DB: Engine> SqlStore<DB> {
    pub(super) async fn list(&self, query: ListQuery) -> Result<Vec<RecordListing>, StoreError> {
        let mut session = self.read_once().await?;
        // Ids are ASCII: what begins with `cuda/` stands before `cuda0`, and everything before `~`.
        let (from, to) = match &query.domain {
            Some(domain) => (format!("{domain}/"), format!("{domain}0")),
            None => (String::new(), "~".to_owned()),
        };
        let state = query.state.map_or("", RecordState::as_str);
        let rows = if let Some(before) = query.before {
            let sql = "SELECT id, head_revision, published_revision, state, seq, changed_at, forced, signature \
                FROM record WHERE seq < $1 AND id >= $3 AND id < $4 AND ($5 = '' OR state = $5) \
                ORDER BY seq DESC LIMIT $2";
            session
                .all(sql, values![before, query.limit, &from, &to, state])
                .await?
        } else if let Some(since) = query.since {
            let sql = "SELECT id, head_revision, published_revision, state, seq, changed_at, forced, signature \
                FROM record WHERE seq > $1 AND id >= $3 AND id < $4 AND ($5 = '' OR state = $5) \
                ORDER BY seq LIMIT $2";
            session
                .all(sql, values![since, query.limit, &from, &to, state])
                .await?
        } else {
            let sql = "SELECT id, head_revision, published_revision, state, seq, changed_at, forced, signature \
                FROM record WHERE id > $1 AND ($2 OR seq IS NOT NULL) AND id >= $4 AND id < $5 \
                AND ($6 = '' OR state = $6) ORDER BY id LIMIT $3";
            let after = query.after.as_ref().map_or("", RecordId::as_str);
            session
                .all(sql, values![after, query.drafts, query.limit, &from, &to, state])
                .await?
        };
        let listing = |row: &DB::Row| {
            Ok(RecordListing {
                status: status_from(row)?,
                signature: row.maybe_text(7)?,
            })
        };
        rows.iter().map(listing).collect()
    }

    pub(super) async fn resolve_alias(&self, alias: &str) -> Result<Option<RecordId>, StoreError> {
        let sql = "SELECT record_id FROM alias WHERE alias = $1";
        let row = self.read_once().await?.first(sql, values![alias]).await?;
        row.map(|row| id_from(row.text(0)?)).transpose()
    }

    pub(super) async fn records_by_code(&self, code: &str) -> Result<Vec<RecordId>, StoreError> {
        let folded = fold_code(code);
        let sql = "SELECT record_id FROM code WHERE folded = $1 ORDER BY record_id";
        let rows = self.read_once().await?.all(sql, values![&folded]).await?;
        rows.iter().map(|row| id_from(row.text(0)?)).collect()
    }

    pub(super) async fn edges_around(&self, id: &RecordId) -> Result<Vec<StoredEdge>, StoreError> {
        // Whether a target is known is asked now, not remembered: it may be published later, or withdrawn.
        let sql = "SELECT e.from_id, e.kind, e.to_id, e.probability, e.condition, e.distinction, \
            e.typical_delay, EXISTS (SELECT 1 FROM record r WHERE r.state = 'published' AND (r.id = e.to_id \
                OR r.id = (SELECT a.record_id FROM alias a WHERE a.alias = e.to_id))) \
            FROM edge e \
            WHERE e.from_id = $1 OR e.to_id = $1 \
                OR e.to_id IN (SELECT a.alias FROM alias a WHERE a.record_id = $1) \
            ORDER BY e.from_id, e.ordinal";
        let rows = self.read_once().await?.all(sql, values![id]).await?;
        let edge = |row: &DB::Row| {
            Ok(StoredEdge {
                from: id_from(row.text(0)?)?,
                kind: kind_from(&row.text(1)?)?,
                to: row.text(2)?,
                resolved: row.flag(7)?,
                probability: row.maybe_fraction(3)?,
                condition: row.maybe_text(4)?,
                distinction: row.maybe_text(5)?,
                typical_delay: row.maybe_text(6)?,
            })
        };
        rows.iter().map(edge).collect()
    }
}
