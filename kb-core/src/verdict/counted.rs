//! How often the logs of a report tell of an event on a device: for rules with a count, where no ledger counts.

use std::collections::BTreeMap;

use crate::observation::{LineEvent, What, cause, known, read_message};
use crate::policy::{Policy, Seen};
use crate::report::{Family, Report};

/// What an event is, without its device: Xid or SXid, record, cause.
pub(super) type Named = (Option<(Family, u32)>, Option<&'static str>, &'static str);

pub(super) fn named(event: &LineEvent) -> Named {
    match &event.what {
        What::Numbered { family, number, .. } => {
            let cause = match family {
                Family::Xid => cause::XID,
                Family::Sxid => cause::SXID,
            };
            let record = known(*family, *number).map(|known| known.record.as_str());
            (Some((*family, *number)), record, cause)
        }
        What::RecoveryAction(_) => {
            let record = cause::watched(cause::RECOVERY_ACTION).and_then(|row| row.record);
            (None, record, cause::RECOVERY_ACTION)
        }
        What::Message(record) => (None, *record, cause::KERNEL_MESSAGE),
        What::Bus(record) => (None, Some(*record), cause::KERNEL_MESSAGE),
    }
}

/// By event and device, and there by log: two logs may hold the same line.
#[derive(Debug, Default)]
pub(super) struct Counted(BTreeMap<(Named, String), BTreeMap<String, Seen>>);

impl Counted {
    pub(super) fn of(report: &Report, policy: &Policy) -> Self {
        let mut counted = Self::default();
        if policy.rules.iter().all(|rule| rule.count.is_none()) {
            return counted;
        }
        for log in &report.logs {
            for line in log.text.lines() {
                let Some(event) = read_message(line.trim()) else {
                    continue;
                };
                let of_event = counted.0.entry((named(&event), event.device)).or_default();
                of_event.entry(log.source.clone()).or_default().note(line);
            }
        }
        counted
    }

    /// What each log tells of the event.
    pub(super) fn of_event(&self, event: &LineEvent) -> Vec<Seen> {
        let known = self.0.get(&(named(event), event.device.clone()));
        known.into_iter().flat_map(BTreeMap::values).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Rule;
    use crate::policy::tests::rule;
    use crate::report::{LogExcerpt, Meaning, When};
    use crate::verdict::logged::logged;
    use crate::verdict::tests::healthy;

    #[test]
    fn a_rule_with_a_count_asks_how_often_the_log_tells_of_it() {
        let counted = Rule {
            count: Some(3),
            window_seconds: Some(60),
            ..rule("xid 63", Meaning::Fault)
        };
        let policy = Policy::of(vec![counted]);
        let is_told = |before: &[u32], during: &[u32]| {
            let excerpt = |when: When, seconds: &[u32]| {
                let line = |second: &u32| {
                    format!("[{second:5}.000000] NVRM: Xid (PCI:none): 63, pid=1, name=x, Row Remapper")
                };
                let lines: Vec<String> = seconds.iter().map(line).collect();
                LogExcerpt {
                    source: "kmsg".to_owned(),
                    when,
                    text: lines.join("\n"),
                }
            };
            let mut report = healthy(2);
            report.logs = vec![excerpt(When::Before, before), excerpt(When::During, during)];
            logged(&report, &policy).is_some()
        };
        assert!(!is_told(&[], &[5]) && !is_told(&[], &[5, 6]) && !is_told(&[], &[5, 6, 300]));
        assert!(is_told(&[], &[5, 6, 64]) && is_told(&[5, 6], &[64]));
        assert!(!is_told(&[5], &[64, 90]));
    }
}
