//! Events of the fleet: what began or ended on nodes, one for each cause and group of nodes.

use std::collections::HashSet;

use time::{Duration, OffsetDateTime};

use super::group::groups;
use super::{Group, MOST, delivery, title_of};
use crate::domain::fleet::{SILENT_HOURS, silent_before};
use crate::feed::Generation;
use crate::store::{AlertStore, GroupName, NewDelivery, Seen, SilenceLook, StoreError, ToldGroup, Turn};

/// What nodes show is gathered for so long before it is told.
pub const WINDOW: Duration = Duration::seconds(30);
/// Time between two messages of one cause and group.
pub const REPEAT: Duration = Duration::minutes(5);
/// Time between two looks at who is silent: from the first to the third 20 minutes pass; a daemon reports every 15 (default).
pub const SILENCE_EVERY: Duration = Duration::minutes(10);

/// Sees who is silent, if that is due.
pub async fn look_for_silence(store: &dyn AlertStore, now: OffsetDateTime) -> Result<bool, StoreError> {
    let look = SilenceLook {
        now,
        every: SILENCE_EVERY,
        silent_before: silent_before(now, SILENT_HOURS),
    };
    store.look_for_silence(look).await
}

/// Queues what began and ended on nodes, if it is this server's turn. Gives how many older events were given up for lack of room.
pub async fn collect_fleet(
    store: &dyn AlertStore,
    generation: &Generation,
    (by, public_url): (&[String], Option<&str>),
    now: OffsetDateTime,
) -> Result<u64, StoreError> {
    let turn = Turn {
        name: "fleet",
        until: now + WINDOW,
        now,
    };
    if !store.take_turn(turn.name, now, turn.until).await? {
        return Ok(0);
    }
    let seen = Seen {
        now,
        silent_before: silent_before(now, SILENT_HOURS),
    };
    let untold = store.untold(seen, MOST).await?;
    if untold.is_cut {
        tracing::warn!(
            read = untold.list.len(),
            "more began and ended on nodes than is read at once: the webhook is told of it in parts"
        );
    }
    if untold.list.is_empty() {
        return Ok(0);
    }
    let recent: HashSet<GroupName> = store
        .told_groups(now.saturating_sub(REPEAT))
        .await?
        .into_iter()
        .collect();
    let (mut told, mut made): (Vec<ToldGroup>, Vec<NewDelivery>) = (Vec::new(), Vec::new());
    for group in groups(untold.list, by, &|record| title_of(generation, record)) {
        let kind = kind(&group);
        let name = GroupName {
            kind: kind.to_owned(),
            cause: group.cause.clone(),
            labels: serde_json::to_string(&group.labels).unwrap_or_default(),
        };
        if recent.contains(&name) {
            continue;
        }
        // Seconds would repeat where the clock is set back, and an id that was there before is taken for the same event.
        let id = format!("fleet-{}-{}", now.unix_timestamp_nanos(), made.len());
        made.push(delivery(id, kind, now, &group.data(public_url)));
        told.push(ToldGroup {
            name,
            has_ended: group.has_ended,
            nodes: group.nodes,
        });
    }
    if made.is_empty() {
        return Ok(0);
    }
    Ok(store.tell(turn, &told, &made).await?.unwrap_or_default())
}

fn kind(group: &Group) -> &'static str {
    if group.has_ended {
        "finding.ended"
    } else {
        "finding.began"
    }
}
