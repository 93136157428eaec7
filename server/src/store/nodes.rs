//! Nodes with their latest reports.

use kb_core::ids::NodeId;

use super::engine::{Cells as _, Engine, values};
use super::face::id_from;
use super::reports::{LISTING_WIDTH, listing_columns, listing_from};
use super::revisions::count_from;
use super::session::SqlStore;
use super::{NodeListing, StoreError};

impl<DB: Engine> SqlStore<DB> {
    pub(super) async fn nodes(
        &self,
        after: Option<&NodeId>,
        limit: u32,
    ) -> Result<Vec<NodeListing>, StoreError> {
        let sql = concat!(
            "SELECT ",
            listing_columns!(),
            ", n.id, n.hostname, n.first_seen, n.reports FROM node n \
             JOIN report p ON p.node_id = n.id AND p.id = n.latest_report \
             WHERE n.id > $1 ORDER BY n.id LIMIT $2"
        );
        let after = after.map_or("", NodeId::as_str);
        let rows = self.read_once().await?.all(sql, values![after, limit]).await?;
        let node = |row: &DB::Row| {
            Ok(NodeListing {
                latest: listing_from(row, 0)?,
                id: id_from(row.text(LISTING_WIDTH)?)?,
                hostname: row.maybe_text(LISTING_WIDTH + 1)?,
                first_seen: row.time(LISTING_WIDTH + 2)?,
                reports: count_from(row.integer(LISTING_WIDTH + 3)?)?,
            })
        };
        rows.iter().map(node).collect()
    }
}
