//! What nodes show, put together by cause and by the labels that the operator chose: a fault of a rack is one message.

use std::collections::BTreeMap;

use kb_core::ids::{NodeId, RecordId};
use kb_core::severity::Action;
use serde_json::{Value, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::domain::fleet::SILENT_HOURS;
use crate::store::{Gravity, Labels, NodeAlert, SILENT, word};

/// The name among the labels that stands for the node itself.
pub const NODE: &str = "node";
/// Nodes that a message names at most.
const NAMED: usize = 50;

/// Nodes with one cause that share the chosen labels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    pub cause: String,
    /// Of the chosen labels those that the nodes have.
    pub labels: Labels,
    pub has_ended: bool,
    pub record: Option<RecordId>,
    pub title: String,
    /// The worst of its nodes.
    pub gravity: Gravity,
    pub nodes: Vec<NodeId>,
    /// When it began on the first of them.
    pub since: OffsetDateTime,
    /// When it ended on the last of them, where it has ended.
    pub ended_at: Option<OffsetDateTime>,
}

/// Gives the title of a record that is published.
pub(super) type Titles<'t> = &'t dyn Fn(&RecordId) -> Option<String>;

/// Groups in the order of their causes; of one cause and the same labels, what is open and what has ended stand apart.
pub(super) fn groups(alerts: Vec<NodeAlert>, by: &[String], titles: Titles<'_>) -> Vec<Group> {
    let mut groups: BTreeMap<(String, Labels, bool), Group> = BTreeMap::new();
    for alert in alerts {
        let labels = shared(&alert, by);
        let has_ended = alert.ended_at.is_some();
        let group = groups
            .entry((alert.cause.clone(), labels.clone(), has_ended))
            .or_insert_with(|| Group {
                title: title(&alert, titles),
                cause: alert.cause.clone(),
                labels,
                has_ended,
                record: alert.record.clone(),
                gravity: alert.gravity,
                nodes: Vec::new(),
                since: alert.opened_at,
                ended_at: alert.ended_at,
            });
        if alert.gravity.weight() > group.gravity.weight() {
            group.gravity = alert.gravity;
        }
        group.since = group.since.min(alert.opened_at);
        group.ended_at = group.ended_at.max(alert.ended_at);
        group.nodes.push(alert.node);
    }
    groups.into_values().collect()
}

fn shared(alert: &NodeAlert, by: &[String]) -> Labels {
    let value = |name: &String| match name.as_str() {
        NODE => Some(alert.node.to_string()),
        _ => alert.labels.get(name).cloned(),
    };
    by.iter()
        .filter_map(|name| value(name).map(|value| (name.clone(), value)))
        .collect()
}

fn title(alert: &NodeAlert, titles: Titles<'_>) -> String {
    if alert.cause == SILENT {
        return format!("No run ended within {SILENT_HOURS} hours");
    }
    let published = alert.record.as_ref().and_then(titles);
    published.unwrap_or_else(|| alert.title.clone())
}

impl Group {
    /// The page about it.
    pub fn url(&self, public_url: Option<&str>) -> Option<String> {
        let base = public_url?;
        Some(match (self.nodes.as_slice(), &self.record) {
            ([node], _) => format!("{base}/nodes/{node}"),
            (_, Some(record)) => format!("{base}/nodes?record={record}"),
            _ if self.cause == SILENT => format!("{base}/nodes?silent_hours={SILENT_HOURS}"),
            _ => format!("{base}/nodes"),
        })
    }

    /// Names of the first nodes, and how many there are.
    pub fn named(&self) -> (Vec<&str>, usize) {
        let named = self.nodes.iter().take(NAMED).map(NodeId::as_str);
        (named.collect(), self.nodes.len())
    }

    /// What a message says of it.
    pub fn data(&self, public_url: Option<&str>) -> Value {
        let (nodes, count) = self.named();
        let told = |at: OffsetDateTime| at.format(&Rfc3339).ok();
        json!({
            "cause": self.cause,
            "record": self.record,
            "title": self.title,
            "severity": self.gravity.severity.map(word),
            "action": self.gravity.action.map(word::<Action>),
            "labels": self.labels,
            "nodes": nodes,
            "node_count": count,
            "since": told(self.since),
            "ended_at": self.ended_at.and_then(told),
            "url": self.url(public_url),
        })
    }
}

#[cfg(test)]
mod tests {
    use kb_core::severity::Severity;
    use time::Duration;

    use super::*;

    fn alert(node: &str, rack: &str, cause: &str, second: i64, severity: Severity) -> NodeAlert {
        let at = OffsetDateTime::UNIX_EPOCH + Duration::seconds(second);
        NodeAlert {
            node: node.parse().unwrap(),
            labels: [("rack", rack), ("site", "here")]
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
            cause: cause.to_owned(),
            record: cause.parse().ok(),
            title: "as the report says".to_owned(),
            gravity: Gravity {
                severity: Some(severity),
                ..Gravity::default()
            },
            opened_at: at,
            ended_at: None,
        }
    }

    fn told(alerts: &[NodeAlert], by: &[&str]) -> Vec<Group> {
        let by: Vec<String> = by.iter().map(|&name| name.to_owned()).collect();
        groups(alerts.to_vec(), &by, &|record| Some(format!("title of {record}")))
    }

    #[test]
    fn nodes_with_one_cause_and_the_same_labels_are_one_group() {
        let (error, fatal) = (Severity::Error, Severity::Fatal);
        let alerts = [
            alert("n1", "r1", "xid/79", 30, error),
            alert("n2", "r1", "xid/79", 20, fatal),
            alert("n3", "r2", "xid/79", 10, error),
            alert("n4", "r2", "rule:health", 10, error),
        ];
        let count = |by: &[&str]| told(&alerts, by).len();
        assert_eq!(
            [
                count(&[]),
                count(&["rack"]),
                count(&["node"]),
                count(&["nowhere"])
            ],
            [2, 3, 4, 2]
        );
        let of_rack = &told(&alerts, &["rack"])[1];
        assert_eq!(of_rack.cause, "xid/79");
        let data = of_rack.data(Some("https://kb.example"));
        assert_eq!(
            (&data["nodes"], &data["labels"]),
            (&json!(["n1", "n2"]), &json!({ "rack": "r1" }))
        );
        assert_eq!(
            (&data["severity"], &data["action"]),
            (&json!("fatal"), &Value::Null)
        );
        assert_eq!(
            (&data["since"], &data["title"]),
            (&json!("1970-01-01T00:00:20Z"), &json!("title of xid/79"))
        );
        assert_eq!(data["url"], "https://kb.example/nodes?record=xid/79");
        let alone = told(&alerts, &["node"]);
        let url = |group: &Group| group.url(Some("https://kb.example"));
        assert!(
            alone
                .iter()
                .any(|group| url(group).as_deref() == Some("https://kb.example/nodes/n1"))
        );
        // An end stands apart from what is open.
        let mut ended = alerts.to_vec();
        ended[0].ended_at = Some(ended[0].opened_at);
        assert_eq!(told(&ended, &["rack"]).len(), 4);
    }

    #[test]
    fn a_message_names_some_nodes_and_counts_all() {
        let alerts: Vec<NodeAlert> = (0..2_000)
            .map(|n| alert(&format!("n{n}"), "r1", "xid/79", n, Severity::Error))
            .collect();
        let groups = told(&alerts, &[]);
        let data = groups[0].data(None);
        assert_eq!(
            (groups.len(), &data["node_count"], &data["url"]),
            (1, &json!(2_000), &Value::Null)
        );
        assert_eq!(data["nodes"].as_array().map(Vec::len), Some(NAMED));
    }
}
