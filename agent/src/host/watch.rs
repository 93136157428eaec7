//! What is looked at before the run and again at its end.

use std::collections::BTreeMap;

use kb_core::report::{Fact, LogExcerpt};

use super::kernel_log::KernelLog;
use super::pci::{self, ErrorCounts};
use super::{HostRoot, gpu_facts};

pub(crate) struct Watch {
    root: HostRoot,
    pub(super) log: KernelLog,
    /// By PCI address: the GPUs are found in sysfs, since no driver has been asked yet.
    errors: BTreeMap<String, ErrorCounts>,
}

impl Watch {
    pub(crate) fn start(root: &HostRoot) -> Self {
        let addresses = pci::gpu_addresses(root);
        let counted = addresses.into_iter().map(|address| {
            let counts = ErrorCounts::read(root, &address);
            (address, counts)
        });
        Self {
            root: root.clone(),
            log: KernelLog::open(root),
            errors: counted.collect(),
        }
    }

    pub(crate) fn gpu_facts(&self, address: &str) -> BTreeMap<String, Fact> {
        let mut facts = gpu_facts(&self.root, address);
        if let Some(before) = self.errors.get(address) {
            facts.extend(ErrorCounts::read(&self.root, address).since(before));
        }
        facts
    }

    pub(crate) fn finish(self) -> (Vec<LogExcerpt>, BTreeMap<String, Fact>) {
        self.log.finish()
    }
}
