//! Which GPUs a node has, as far as looks at all of them tell.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::Ledger;
use super::new::New;
use crate::observation::{Look, Reading, Scope, cause};
use crate::report::{NODE, Nature};

/// Views that are remembered: each container that is made anew may have one of its own.
const MOST_VIEWS: usize = 16;

/// PCI addresses that looks listed which may not see all.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Granted {
    view: String,
    gpus: BTreeSet<String>,
}

/// PCI addresses of GPUs that were listed, or lost, earlier in a boot.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ListedEarlier {
    /// By any look.
    pub all: BTreeSet<String>,
    /// By looks that may not see all, by what was granted to them ([`crate::report::fact_name::GPUS_VIEW`]).
    pub by_view: BTreeMap<String, BTreeSet<String>>,
}

impl Ledger {
    /// What was listed earlier in this boot; nothing where the boot is not known.
    pub fn listed_earlier(&self, boot_id: Option<&str>) -> ListedEarlier {
        if boot_id.is_none() || self.gpus_boot.as_deref() != boot_id {
            return ListedEarlier::default();
        }
        let granted = self.gpus_granted.iter();
        ListedEarlier {
            all: self.gpus.clone(),
            by_view: granted.map(|of| (of.view.clone(), of.gpus.clone())).collect(),
        }
    }

    /// PCI addresses that were listed before this boot, since the last admission.
    pub fn listed_before(&self, boot_id: Option<&str>) -> &BTreeSet<String> {
        let is_of_this_boot = boot_id.is_some() && self.gpus_boot.as_deref() == boot_id;
        if is_of_this_boot || self.gpus.len() < self.gpus_before.len() {
            &self.gpus_before
        } else {
            &self.gpus
        }
    }

    /// When a run that this ledger knows of admitted the node last, RFC 3339, UTC.
    pub fn admitted_at(&self) -> Option<&str> {
        self.admitted_at.as_deref()
    }

    fn granted(&mut self, look: &Look) {
        let Some(view) = look.view.as_ref().filter(|_| look.scope == Scope::All) else {
            return;
        };
        let place = self.gpus_granted.iter().position(|of| of.view == *view);
        let mut granted = place.map_or_else(
            || Granted {
                view: view.clone(),
                gpus: BTreeSet::new(),
            },
            |place| self.gpus_granted.remove(place),
        );
        granted.gpus.extend(look.gpus.iter().cloned());
        self.gpus_granted.push(granted);
        let surplus = self.gpus_granted.len().saturating_sub(MOST_VIEWS);
        self.gpus_granted.drain(..surplus);
    }

    /// Compares the GPUs of a look at all of them with those that were listed earlier in this boot, and remembers them. A GPU
    /// that is listed no more, with no reason known, is lost: where the bus does not show it either, only the ledger knows
    /// of it. GPUs can be taken out between two boots: those of an earlier boot are missing, and not lost.
    pub(super) fn gpus(&mut self, look: &Look) {
        if look.scope == Scope::All && !look.gpus.is_empty() {
            if look.boot_id.is_some() && self.gpus_boot == look.boot_id {
                self.gone(look);
            } else {
                let last = std::mem::take(&mut self.gpus);
                if last.len() >= self.gpus_before.len() {
                    self.gpus_before = last;
                }
                self.gpus_granted.clear();
                self.gpus_boot.clone_from(&look.boot_id);
            }
            if let Some(reading) = self.missing(look) {
                self.state(&reading, look);
            }
        }
        self.gpus.extend(look.gpus.iter().cloned());
        self.granted(look);
    }

    /// Whether the node has as many GPUs as in an earlier boot; nothing where this look cannot tell. As many as before may be
    /// others: a GPU that was exchanged. One that is lost is told as that.
    fn missing(&self, look: &Look) -> Option<Reading> {
        if !look.sees_all {
            return None;
        }
        let lost = self.open.iter().filter(|entry| entry.cause == cause::GPU_LOST);
        let lost = lost.map(|entry| &entry.device);
        let lost = lost.filter(|device| self.gpus_before.contains(*device));
        let there: BTreeSet<&String> = look.gpus.iter().chain(&look.explained).chain(lost).collect();
        let (had, has) = (self.gpus_before.len(), there.len());
        let reading = |bad| Reading {
            cause: cause::DEVICE_MISSING,
            device: NODE.to_owned(),
            bad,
        };
        if has >= had {
            return Some(reading(None));
        }
        if let Some(expected) = look.expected_gpus {
            // Of fewer than that the conclusion of the report tells.
            let is_meant = usize::try_from(expected).is_ok_and(|expected| expected <= has);
            return is_meant.then(|| reading(None));
        }
        if has + look.without_place >= had {
            // Each of those may be one that seems to be gone.
            return None;
        }
        let gone = self.gpus_before.iter().filter(|device| !there.contains(device));
        let gone: Vec<&str> = gone.map(String::as_str).collect();
        Some(reading(Some(format!(
            "the node had {had} GPUs in an earlier boot and has {has} now; gone: {} (if fewer are meant, say so: --expect \
             gpus={has}, or `peerless-agent clear {}`)",
            gone.join(", "),
            cause::DEVICE_MISSING,
        ))))
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
