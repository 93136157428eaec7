//! From the columns of a report and its findings to what they hold, and which reports tell of nodes.

use kb_core::ids::Seq;

use super::convert::{count_from, id_from, maybe_revision_from, verdict_from, weight_from};
use super::engine::Cells;
use super::finding_words;
use super::fleet_list::vocabulary;
use crate::store::{Gravity, NewFinding, ReportListing, StoreError, StoredFinding, StoredReport};

/// Columns of [`listing_from`], in its order, of table `p`.
macro_rules! listing_columns {
    () => {
        "p.node_id, p.id, p.hostname, p.finished_at, p.received_at, p.simulated, p.verdict, p.reason, p.gpus, \
         p.findings, p.weight, p.ended_at"
    };
}
pub(super) use listing_columns;

/// The reports that tell of nodes: the latest of each, the one that stands, those whose faults are open and those of whose faults other
/// rules took something. It is joined, and not asked for with IN: SQLite would read all reports for that.
macro_rules! telling {
    () => {
        "(SELECT n.id AS node_id, n.latest_report AS id FROM node n UNION SELECT n.id, n.proof_report FROM node n \
         UNION SELECT o.node_id, o.id FROM report o WHERE o.open_causes IS NOT NULL \
         UNION SELECT o.node_id, o.id FROM report o WHERE o.ruled_out IS NOT NULL)"
    };
}
pub(super) use telling;

/// The same of the node `$1` alone: SQLite does not bring a condition on the node into the union.
macro_rules! telling_of_node {
    () => {
        "(SELECT n.latest_report AS id FROM node n WHERE n.id = $1 UNION SELECT n.proof_report FROM node n WHERE n.id = $1 \
         UNION SELECT o.id FROM report o WHERE o.node_id = $1 AND o.open_causes IS NOT NULL \
         UNION SELECT o.id FROM report o WHERE o.node_id = $1 AND o.ruled_out IS NOT NULL)"
    };
}
pub(super) use telling_of_node;

pub(super) const LISTING_WIDTH: usize = 12;

pub(super) fn listing_from(row: &impl Cells, first: usize) -> Result<ReportListing, StoreError> {
    Ok(ReportListing {
        node: id_from(row.text(first)?)?,
        id: id_from(row.text(first + 1)?)?,
        hostname: row.maybe_text(first + 2)?,
        finished_at: row.time(first + 3)?,
        received_at: row.time(first + 4)?,
        ended_at: row.maybe_time(first + 11)?,
        simulated: row.flag(first + 5)?,
        verdict: verdict_from(&row.text(first + 6)?)?,
        reason: row.text(first + 7)?,
        gpus: count_from(row.integer(first + 8)?)?,
        findings: count_from(row.integer(first + 9)?)?,
        weight: weight_from(&row.text(first + 10)?)?,
    })
}

pub(super) fn stored_from(row: &impl Cells) -> Result<StoredReport, StoreError> {
    Ok(StoredReport {
        listing: listing_from(row, 0)?,
        body_zstd: row.bytes(LISTING_WIDTH)?,
        body_bytes: count_from(row.integer(LISTING_WIDTH + 1)?)?,
    })
}

pub(super) fn finding_from(row: &impl Cells) -> Result<StoredFinding, StoreError> {
    let record = row.maybe_text(1)?.map(id_from).transpose()?;
    Ok(StoredFinding {
        ordinal: count_from(row.integer(0)?)?,
        finding: NewFinding {
            record: record.zip(maybe_revision_from(row, 2)?),
            rule: row.text(3)?,
            subject: row.text(4)?,
            title: row.text(5)?,
            evidence: row.text(6)?,
            gravity: Gravity {
                severity: vocabulary("severity", &row.text(8)?)?,
                action: vocabulary("action", &row.text(9)?)?,
                bearing: finding_words::bearing(&row.text(10)?)?,
            },
            by_policy: finding_words::policy_from(&row.text(11)?)?,
        },
        seq: Seq(row.integer(7)?),
    })
}
