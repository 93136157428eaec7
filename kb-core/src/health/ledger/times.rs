//! When events were seen. Within a boot the kernel's own clock tells how far apart they were: the node's may be set between them.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use time::format_description::well_known::Rfc3339;
use time::{Duration, OffsetDateTime};

use super::new::New;
use crate::policy::{MOST_TIMES, add_time};
use crate::report::{Entry, Nature};

/// Those of open entries, and of what has ended in this boot, by id: another log of the boot may tell of that again.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct KernelTimes(BTreeMap<String, OfBoot>);

/// The newest times of one boot, in microseconds since it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct OfBoot {
    boot: String,
    microseconds: Vec<u64>,
}

impl KernelTimes {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn forget(&mut self, id: &str) {
        self.0.remove(id);
    }

    /// The newest times of an entry in a boot.
    pub(super) fn of_boot(&self, id: &str, boot: &str) -> &[u64] {
        let of = self.0.get(id).filter(|of| of.boot == boot);
        of.map(|of| of.microseconds.as_slice()).unwrap_or_default()
    }

    pub(super) fn keep_those_of(&mut self, open: &[Entry], boot: Option<&str>) {
        let open: BTreeSet<&str> = open.iter().map(|entry| entry.id.as_str()).collect();
        self.0
            .retain(|id, of| open.contains(id.as_str()) || boot == Some(of.boot.as_str()));
    }

    /// Notes an event, and tells how many seconds before it those before it were that are of the same boot, the newest first.
    pub(super) fn note(&mut self, id: &str, new: &New<'_>) -> Vec<i64> {
        let known = new.boot_id.zip(new.microseconds);
        let Some((boot, now)) = known.filter(|_| new.nature == Nature::Event) else {
            // From here on it is not known which of the times are whose.
            self.forget(id);
            return Vec::new();
        };
        let of = self.0.entry(id.to_owned()).or_insert_with(|| OfBoot {
            boot: boot.to_owned(),
            microseconds: Vec::new(),
        });
        if of.boot != boot {
            boot.clone_into(&mut of.boot);
            of.microseconds.clear();
        }
        let before = of.microseconds.iter().rev();
        let before = before.map(|before| seconds(now).saturating_sub(seconds(*before)));
        let before = before.collect();
        of.microseconds.push(now);
        let surplus = of.microseconds.len().saturating_sub(MOST_TIMES);
        of.microseconds.drain(..surplus);
        before
    }
}

fn seconds(microseconds: u64) -> i64 {
    i64::try_from(microseconds / 1_000_000).unwrap_or(i64::MAX)
}

/// Notes when an event was seen, from its second time on. One that was counted before times were kept stays without. Those `before` it, by
/// the kernel's clock, are set by the node's clock of now.
pub(super) fn note_times(entry: &mut Entry, new: &New<'_>, before: &[i64]) {
    let is_first = entry.count == 0;
    let was_counted = entry.times.is_empty() && entry.count > 1;
    if new.nature != Nature::Event || was_counted || (is_first && new.count == 1) {
        return;
    }
    if entry.times.is_empty() && !is_first {
        entry.times.push(entry.first_at.clone());
    }
    set_by(new.at, &mut entry.times, before);
    let most = u64::try_from(MOST_TIMES).unwrap_or(u64::MAX);
    for _ in 0..new.count.min(most) {
        add_time(entry, new.at);
    }
}

fn set_by(now: &str, times: &mut [String], before: &[i64]) {
    let Ok(now) = OffsetDateTime::parse(now, &Rfc3339) else {
        return;
    };
    for (time, before) in times.iter_mut().rev().zip(before) {
        let set = now.checked_sub(Duration::seconds(*before));
        if let Some(Ok(set)) = set.map(|set| set.format(&Rfc3339)) {
            *time = set;
        }
    }
}
