//! Where on the bus the GPUs of this boot were: a port that stops takes what is below it off the bus before anybody looks.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::Ledger;
use crate::observation::Look;

/// GPUs of one boot by their PCI addresses, each with the bridges above it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Places {
    boot: Option<String>,
    above: BTreeMap<String, BTreeSet<String>>,
}

impl Places {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Ledger {
    /// Remembers where the GPUs of a look are. In another boot addresses may be those of other devices.
    pub(super) fn places(&mut self, look: &Look) {
        if self.places.boot != look.boot_id {
            self.places = Places {
                boot: look.boot_id.clone(),
                above: BTreeMap::new(),
            };
        }
        for (device, gpu) in look.bus.bridges() {
            self.places
                .above
                .entry(gpu.clone())
                .or_default()
                .insert(device.clone());
        }
    }

    /// GPUs that earlier looks of that boot have seen at this address of the bus, or below it.
    pub(super) fn gpus_seen_at(&self, device: &str, boot_id: Option<&str>) -> Vec<String> {
        let mut gpus = Vec::new();
        if self.gpus_boot.as_deref() == boot_id {
            gpus.extend(self.gpus.get(device).cloned());
        }
        if self.places.boot.as_deref() == boot_id {
            let above = self.places.above.iter();
            let below = above.filter(|(gpu, above)| *gpu == device || above.contains(device));
            gpus.extend(below.map(|(gpu, _)| gpu.clone()));
        }
        gpus
    }
}
