//! What is open, as Alertmanager's interface (`POST /api/v2/alerts`) takes it. Nothing is kept of it: all that is open is sent again
//! and again, by each server, and Alertmanager puts the same alerts together.

use std::collections::HashSet;

use serde_json::{Map, Value, json};
use time::format_description::well_known::Rfc3339;
use time::{Duration, OffsetDateTime};

use super::group::groups;
use super::{Group, MOST, title_of};
use crate::domain::fleet::{SILENT_HOURS, silent_before};
use crate::feed::Generation;
use crate::store::{AlertStore, Labels, SILENT, Seen, StoreError, word};

/// Time between two messages.
pub const EVERY: Duration = Duration::minutes(1);
/// How long Alertmanager takes an alert for open that it does not hear of again, and how long an end is told.
pub const VALID: Duration = Duration::minutes(5);

/// All alerts, one for each cause and group of nodes.
pub async fn alerts(
    store: &dyn AlertStore,
    generation: &Generation,
    (by, public_url): (&[String], Option<&str>),
    now: OffsetDateTime,
) -> Result<Vec<Value>, StoreError> {
    let seen = Seen {
        now,
        silent_before: silent_before(now, SILENT_HOURS),
    };
    let known = store.alerts(seen, now.saturating_sub(VALID), MOST).await?;
    if known.is_cut {
        tracing::warn!(
            read = known.list.len(),
            "more is open on nodes than Alertmanager is told: the newest is left out"
        );
    }
    let groups = groups(known.list, by, &|record| title_of(generation, record));
    let open: HashSet<(String, Labels)> = groups
        .iter()
        .filter(|group| !group.has_ended)
        .map(|group| (group.cause.clone(), group.labels.clone()))
        .collect();
    // What has ended on some nodes of a group is open on the others.
    let is_over = |group: &Group| !open.contains(&(group.cause.clone(), group.labels.clone()));
    let told = groups.iter().filter(|group| !group.has_ended || is_over(group));
    Ok(told.map(|group| alert(group, public_url, now)).collect())
}

fn alert(group: &Group, public_url: Option<&str>, now: OffsetDateTime) -> Value {
    let name = if group.cause == SILENT {
        "PeerlessNodeSilent"
    } else {
        "PeerlessFinding"
    };
    let mut labels = Map::new();
    for (name, value) in &group.labels {
        labels.insert(label_name(name), json!(value));
    }
    labels.insert("alertname".to_owned(), json!(name));
    labels.insert("cause".to_owned(), json!(group.cause));
    if let Some(record) = &group.record {
        labels.insert("record".to_owned(), json!(record));
    }
    let unknown = || "unknown".to_owned();
    let severity = group.gravity.severity.map_or_else(unknown, word);
    let action = group.gravity.action.map_or_else(unknown, word);
    labels.insert("severity".to_owned(), json!(severity));
    labels.insert("action".to_owned(), json!(action));
    let (nodes, count) = group.named();
    let more = if nodes.len() < count { ", …" } else { "" };
    let nodes = format!("{}{more}", nodes.join(", "));
    let nouns = if count == 1 { "node" } else { "nodes" };
    let mut annotations = Map::new();
    let summary = format!("{} ({count} {nouns}: {nodes})", group.title);
    annotations.insert("summary".to_owned(), json!(summary));
    annotations.insert("nodes".to_owned(), json!(nodes));
    let url = group.url(public_url);
    if let Some(url) = &url {
        annotations.insert("url".to_owned(), json!(url));
    }
    let told = |at: OffsetDateTime| at.format(&Rfc3339).unwrap_or_default();
    let ends = group.ended_at.unwrap_or_else(|| now + VALID);
    json!({
        "labels": labels,
        "annotations": annotations,
        // An end before the beginning is refused: clocks of nodes may be ahead.
        "startsAt": told(group.since.min(ends)),
        "endsAt": told(ends),
        "generatorURL": url.unwrap_or_default(),
    })
}

/// A name that Prometheus takes: `topology.kubernetes.io/zone` is `topology_kubernetes_io_zone`.
fn label_name(name: &str) -> String {
    let mut plain: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect();
    if plain.starts_with(|first: char| first.is_ascii_digit()) {
        plain.insert(0, '_');
    }
    plain
}
