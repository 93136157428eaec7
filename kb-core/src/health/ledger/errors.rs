//! Uncorrected errors of the GPUs' memory: how many a look shows that no look has told.

use serde::{Deserialize, Serialize};

use super::Ledger;
use super::new::New;
use crate::observation::{Count, Look, cause};
use crate::report::Nature;

/// GPUs that are remembered, also when they are gone: a virtual one may have another UUID in each boot.
const MOST_GPUS: usize = 256;

/// The errors of a GPU's life, as the last look that could read them has them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Lifetime {
    errors: u64,
    /// Errors that the driver's count has told and this one has not shown yet: it is read a moment earlier, and may be unreadable.
    #[serde(default)]
    told_ahead: u64,
}

impl Lifetime {
    fn of(errors: u64) -> Self {
        Self {
            errors,
            told_ahead: 0,
        }
    }

    /// How many errors this reading shows beyond those told before it. The driver's count tells `told` of them at the same time.
    fn take(&mut self, errors: u64, told: u64) -> u64 {
        let Some(risen) = errors.checked_sub(self.errors) else {
            // The GPU's own memory of them was written anew.
            *self = Self::of(errors);
            return 0;
        };
        let untold = risen.saturating_sub(self.told_ahead);
        self.told_ahead = self.told_ahead.saturating_add(told).saturating_sub(risen);
        self.errors = errors;
        untold
    }
}

impl Ledger {
    pub(super) fn errors(&mut self, look: &Look) {
        // The driver counts anew in each boot, and the GPU does not.
        if look.boot_id.is_some() && self.errors_boot != look.boot_id {
            if self.errors_boot.is_some() {
                self.errors.clear();
                // What the GPU has not kept until now it will not keep: a later rise is of other errors.
                for known in self.lifetimes.values_mut() {
                    known.told_ahead = 0;
                }
            }
            self.errors_boot.clone_from(&look.boot_id);
        }
        for count in &look.counts {
            self.count(count, look);
        }
        if self.lifetimes.len() > MOST_GPUS {
            let is_there = |uuid: &String| look.counts.iter().any(|count| count.uuid.as_ref() == Some(uuid));
            self.lifetimes.retain(|uuid, _| is_there(uuid));
        }
    }

    /// A count of the driver that fell began anew: all of it is new. The GPU's own count tells two cases that the driver's does not: a
    /// count that began anew and is as high again, and an error of the boot before that no look of that boot has seen.
    fn count(&mut self, count: &Count, look: &Look) {
        let Count { device, errors, .. } = count;
        let before = self.errors.insert(device.clone(), *errors).unwrap_or_default();
        let by_driver = errors.checked_sub(before).unwrap_or(*errors);
        let new = by_driver.max(self.count_of_life(count, by_driver, look));
        if new > 0 {
            let noun = if new == 1 { "error" } else { "errors" };
            self.add(New {
                count: new,
                text: format!("{new} {noun} of its memory that ECC could not correct"),
                ..New::now(cause::ECC_UNCORRECTED, device, Nature::Event, look)
            });
        }
    }

    /// New errors by the GPU's own count; none where that is not known of both looks.
    fn count_of_life(&mut self, count: &Count, by_driver: u64, look: &Look) -> u64 {
        let same = look.counts.iter().filter(|other| other.uuid == count.uuid);
        // A UUID that two GPUs give names neither.
        let Some(uuid) = count.uuid.as_ref().filter(|_| same.count() == 1) else {
            return 0;
        };
        let Some(known) = self.lifetimes.get_mut(uuid) else {
            if let Some(errors) = count.lifetime {
                self.lifetimes.insert(uuid.clone(), Lifetime::of(errors));
            }
            return 0;
        };
        let Some(errors) = count.lifetime else {
            known.told_ahead = known.told_ahead.saturating_add(by_driver);
            return 0;
        };
        known.take(errors, by_driver)
    }
}
