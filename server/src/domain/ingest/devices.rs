//! The devices of an earlier report in a later one: where each is now, what was read of it, and who says that it is gone. A ledger may
//! tell of thousands, so that the reports are not gone through for each.

use std::collections::{BTreeMap, BTreeSet};

use kb_core::observation::{Look, canonical};
use kb_core::report::{Gpu, Report};

use super::gone::{is_as_many_as_expected, is_same};
use super::machine::is_on_purpose;

pub(super) struct Devices {
    /// Where the GPUs of the earlier report are in the later one, by their PCI addresses then. One that is not found stays where it was.
    now: BTreeMap<String, String>,
    /// Causes of the states that the later report read, by device.
    read: BTreeMap<String, BTreeSet<&'static str>>,
    /// PCI addresses of the later report's GPUs.
    there: BTreeSet<String>,
    /// Those of GPUs that the later report says were taken on purpose.
    taken: BTreeSet<String>,
    is_as_many_as_expected: bool,
}

impl Devices {
    pub(super) fn of(earlier: &Report, later: &Report) -> Self {
        let address = |gpu: &Gpu| gpu.pci_address.value.as_deref().map(canonical);
        let mut now: BTreeMap<String, String> = BTreeMap::new();
        for gpu in &earlier.gpus {
            let Some(then) = address(gpu).filter(|then| !now.contains_key(then)) else {
                continue;
            };
            let same = later
                .gpus
                .iter()
                .find(|other| is_same(gpu, other, earlier, later));
            let place = same.and_then(address).unwrap_or_else(|| then.clone());
            now.insert(then, place);
        }
        let mut read: BTreeMap<String, BTreeSet<&'static str>> = BTreeMap::new();
        for (cause, device) in Look::of(later).read() {
            read.entry(device.to_owned()).or_default().insert(cause);
        }
        let taken = later.absent.iter().filter(|gpu| is_on_purpose(gpu));
        let taken = taken.filter_map(|gpu| gpu.pci_address.as_deref().map(canonical));
        Self {
            now,
            read,
            there: later.gpus.iter().filter_map(address).collect(),
            taken: taken.collect(),
            is_as_many_as_expected: is_as_many_as_expected(later),
        }
    }

    /// Where a device of the earlier report is in the later one.
    pub(super) fn now<'d>(&'d self, device: &'d str) -> &'d str {
        self.now.get(device).map_or(device, String::as_str)
    }

    /// Whether it is a GPU of the earlier report.
    pub(super) fn is_of_gpu(&self, device: &str) -> bool {
        self.now.contains_key(device)
    }

    /// Whether the later report read the state there, good or bad.
    pub(super) fn has_read(&self, cause: &str, now: &str) -> bool {
        self.read.get(now).is_some_and(|causes| causes.contains(cause))
    }

    /// Whether no GPU is there any more, and none is missing.
    pub(super) fn is_gone(&self, now: &str) -> bool {
        self.is_as_many_as_expected && !self.there.contains(now)
    }

    /// Whether no GPU is there any more, and somebody says why.
    pub(super) fn is_accounted_for(&self, now: &str) -> bool {
        self.taken.contains(now) || self.is_gone(now)
    }
}
