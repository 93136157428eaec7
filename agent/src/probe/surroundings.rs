//! What the host says about the GPUs that the driver listed, and about the ways between them.

use std::collections::BTreeMap;

use kb_core::report::{Fact, Node};
use time::OffsetDateTime;

use crate::host::{self, HostRoot, Watch};

use super::{Found, LoadOptions};

const READABLE: &str = "kernel_log.readable";

/// Adds the host's facts to GPUs and pairs. A GPU whose PCI address is unknown gets none: it cannot be found there.
pub(super) fn add(found: &mut Found, root: &HostRoot, watch: &Watch) {
    for gpu in &mut found.gpus {
        if let Some(address) = &gpu.pci_address.value {
            gpu.facts.extend(watch.gpu_facts(address));
        }
    }
    let address_of = |index: u32| {
        let gpu = found.gpus.get(usize::try_from(index).ok()?)?;
        gpu.pci_address.value.as_deref()
    };
    for pair in &mut found.pairs {
        if let (Some(a), Some(b)) = (address_of(pair.a), address_of(pair.b)) {
            pair.facts.extend(host::pair_facts(root, a, b));
        }
    }
}

/// An admission ends what was open before it, so that it needs all of the log that a look needs.
pub(super) fn doubt_log(
    facts: &mut BTreeMap<String, Fact>,
    (root, node): (&HostRoot, &Node),
    load: &LoadOptions,
    now: OffsetDateTime,
) {
    let is_read = facts.get(READABLE).is_some_and(|fact| fact.value.is_some());
    if is_read && let Some(gap) = host::unread_log(root, node.boot_id.as_deref(), load.log.as_ref(), now) {
        facts.insert(READABLE.to_owned(), gap);
    }
}
