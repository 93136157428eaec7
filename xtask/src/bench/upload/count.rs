//! What the server has, counted by what its users see of it.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use serde_json::Value;

/// Lists and numbers as a server gives them. The table of reports has a key, so a report cannot stand in it twice; the
/// number beside a node is counted up by itself, and a report that was taken in twice shows there.
#[derive(Debug, Default)]
pub(super) struct Counts {
    /// How often each id stands in the list of reports.
    listed: BTreeMap<String, u64>,
    /// Sum of what the nodes are said to have sent.
    of_nodes: u64,
}

impl Counts {
    /// An entry of `/api/v1/reports`.
    pub(super) fn list(&mut self, report: &Value) -> Result<()> {
        let id = report.get("report_id").or_else(|| report.get("id"));
        let id = id.and_then(Value::as_str).context("a report without an id")?;
        *self.listed.entry(id.to_owned()).or_default() += 1;
        Ok(())
    }

    /// An entry of `/api/v1/nodes`.
    pub(super) fn node(&mut self, node: &Value) -> Result<()> {
        let count = node.get("reports").and_then(Value::as_u64);
        self.of_nodes += count.context("a node without a number of reports")?;
        Ok(())
    }

    /// Lost, counted twice, and never sent.
    pub(super) fn against(&self, sent: &BTreeSet<String>) -> (u64, u64, u64) {
        let lost = sent.iter().filter(|id| !self.listed.contains_key(*id)).count();
        let unknown = self.listed.keys().filter(|id| !sent.contains(*id)).count();
        let there = self.listed.len() as u64;
        let listed: u64 = self.listed.values().sum();
        let twice = (listed - there).max(self.of_nodes.saturating_sub(there));
        // A node that is said to have sent fewer lacks what its list has.
        let missing = (lost as u64).max(there.saturating_sub(self.of_nodes));
        (missing, twice, unknown as u64)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use serde_json::json;

    use super::*;

    fn counts(ids: &[&str], of_nodes: &[u64]) -> Counts {
        let mut counts = Counts::default();
        for id in ids {
            counts.list(&json!({"id": id})).unwrap();
        }
        for number in of_nodes {
            counts.node(&json!({"id": "n", "reports": number})).unwrap();
        }
        counts
    }

    #[test]
    fn what_is_lost_twice_or_unknown_shows() {
        let sent: BTreeSet<String> = ["a", "b", "c"].map(str::to_owned).into();
        for (ids, of_nodes, expected) in [
            (&["a", "b", "c"][..], &[2, 1][..], (0, 0, 0)),
            (&["a", "c"], &[2], (1, 0, 0)),
            (&["a", "b", "c"], &[4], (0, 1, 0)),
            (&["a", "b", "b", "c"], &[3], (0, 1, 0)),
            (&["a", "b", "c", "d"], &[4], (0, 0, 1)),
            (&["a", "b", "c"], &[2], (1, 0, 0)),
        ] {
            assert_eq!(
                counts(ids, of_nodes).against(&sent),
                expected,
                "{ids:?} {of_nodes:?}"
            );
        }
        assert!(Counts::default().node(&json!({"id": "n"})).is_err());
        assert!(Counts::default().list(&json!({})).is_err());
    }
}
