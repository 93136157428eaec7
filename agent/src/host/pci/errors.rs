//! Counters of Advanced Error Reporting, and how they change while the run goes on.

use std::collections::BTreeMap;

use kb_core::report::{Fact, GapKind, fact_name};

use super::super::{HostRoot, absent};
use super::device::Device;

/// Fact, file, and the line of that file that sums up; Linux ABI `sysfs-bus-pci-devices-aer_stats`.
const COUNTERS: [(&str, &str, &str); 3] = [
    ("pci.aer_correctable", "aer_dev_correctable", "TOTAL_ERR_COR"),
    (
        fact_name::PCI_AER_NONFATAL,
        "aer_dev_nonfatal",
        "TOTAL_ERR_NONFATAL",
    ),
    (fact_name::PCI_AER_FATAL, "aer_dev_fatal", "TOTAL_ERR_FATAL"),
];

/// The counters of one device, in the order of [`COUNTERS`].
#[derive(Debug, Clone)]
pub(in crate::host) struct ErrorCounts([Fact<u64>; 3]);

impl ErrorCounts {
    pub(in crate::host) fn read(root: &HostRoot, address: &str) -> Self {
        let device = Device::new(root, address);
        let is_there = device.attribute("vendor").value.is_some();
        Self(COUNTERS.map(|(_, file, total)| {
            let count = device.find(file, "it has no total", |text| total_in(text, total));
            match count.gap {
                Some(ref gap) if is_there && gap.kind == GapKind::NotVisible => absent(
                    GapKind::NotVisible,
                    count.source.trim_start_matches('/'),
                    "the kernel counts no PCIe errors of this device: it has no AER, or the firmware keeps it",
                ),
                _ => count,
            }
        }))
    }

    pub(super) fn facts(&self) -> BTreeMap<String, Fact> {
        let counts = COUNTERS.iter().zip(&self.0);
        counts
            .map(|((name, _, _), count)| ((*name).to_owned(), count.clone().map(Into::into)))
            .collect()
    }

    /// What was added since `before`, under `during.` names. A counter that fell was reset in between.
    pub(in crate::host) fn since(&self, before: &Self) -> BTreeMap<String, Fact> {
        let mut facts = BTreeMap::new();
        for ((name, _, _), (now, then)) in COUNTERS.iter().zip(self.0.iter().zip(&before.0)) {
            let gap = now.gap.clone().or_else(|| then.gap.clone());
            let change = match (now.value, then.value) {
                (Some(now), Some(then)) => now.checked_sub(then),
                _ => None,
            };
            let fact = match (change, gap) {
                (Some(change), _) => Fact::read(change.into(), now.source.clone()),
                (None, Some(gap)) => Fact::without(gap, now.source.clone()),
                (None, None) => Fact::missing(
                    GapKind::Failed,
                    "the counter fell while the run went on: it was reset",
                    now.source.clone(),
                ),
            };
            facts.insert(fact_name::during(name), fact);
        }
        facts
    }
}

/// `RxErr 0`, one a line, the total last.
fn total_in(text: &str, total: &str) -> Option<u64> {
    let count = |line: &str| line.strip_prefix(total)?.trim().parse().ok();
    text.lines().find_map(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_are_read_and_not_their_parts() {
        let text = "RxErr 3\nBadTLP 4\nTOTAL_ERR_COR 7\n";
        assert_eq!(total_in(text, "TOTAL_ERR_COR"), Some(7));
        assert_eq!(total_in(text, "TOTAL_ERR_FATAL"), None);
    }

    #[test]
    fn a_counter_that_fell_is_a_gap() {
        let counts = |correctable| {
            ErrorCounts([
                Fact::read(correctable, "a"),
                Fact::read(2, "b"),
                Fact::missing(GapKind::NotVisible, "not here", "c"),
            ])
        };
        let change = counts(9).since(&counts(7));
        assert_eq!(change["during.pci.aer_correctable"].value, Some(2.into()));
        assert_eq!(change["during.pci.aer_nonfatal"].value, Some(0.into()));
        assert!(change["during.pci.aer_fatal"].gap.is_some());
        let reset = counts(1).since(&counts(7));
        assert_eq!(
            reset["during.pci.aer_correctable"].gap.as_ref().unwrap().kind,
            GapKind::Failed
        );
    }
}
