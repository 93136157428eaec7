//! Which GPUs a node has, as far as looks at all of them tell.

use std::collections::BTreeSet;

use super::Ledger;
use super::new::New;
use crate::observation::{Look, Scope, cause};
use crate::report::Nature;

impl Ledger {
    /// PCI addresses of the GPUs that were listed, or lost, earlier in this boot; none where the boot is not known.
    pub fn listed_earlier(&self, boot_id: Option<&str>) -> BTreeSet<String> {
        if boot_id.is_some() && self.gpus_boot.as_deref() == boot_id {
            self.gpus.clone()
        } else {
            BTreeSet::new()
        }
    }

    /// Compares the GPUs of a look at all of them with those that were listed earlier in this boot, and remembers them. A GPU
    /// that is listed no more, with no reason known, is lost: where the bus does not show it either, only the ledger knows
    /// of it. GPUs can be taken out between two boots.
    pub(super) fn gpus(&mut self, look: &Look) {
        if look.scope == Scope::All && !look.gpus.is_empty() {
            if look.boot_id.is_some() && self.gpus_boot == look.boot_id {
                self.gone(look);
            } else {
                self.gpus.clear();
                self.gpus_boot.clone_from(&look.boot_id);
            }
        }
        self.gpus.extend(look.gpus.iter().cloned());
    }

    fn gone(&mut self, look: &Look) {
        let is_told = |device: &String| look.gpus.contains(device) || look.explained.contains(device);
        let gone: Vec<String> = self
            .gpus
            .iter()
            .filter(|device| !is_told(device))
            .cloned()
            .collect();
        for device in gone {
            self.add(New {
                text: "it was listed earlier in this boot, and the driver does not list it any more"
                    .to_owned(),
                ..New::now(cause::GPU_LOST, &device, Nature::State, look)
            });
        }
    }
}
