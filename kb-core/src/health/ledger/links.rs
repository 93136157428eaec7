//! How many NVLinks of each GPU were up in this boot: what was up once should be.

use super::Ledger;
use crate::observation::{Look, Reading, cause};

impl Ledger {
    /// Remembers the most links that were up: a driver may call a down link's capability invalid, so that fewer seem to exist.
    pub(super) fn links(&mut self, look: &Look) {
        if look.boot_id.is_none() || self.links_boot != look.boot_id {
            self.links.clear();
            self.links_boot.clone_from(&look.boot_id);
        }
        for (device, up) in &look.links {
            let most = self.links.entry(device.clone()).or_default();
            *most = (*most).max(*up);
        }
    }

    /// GPUs of which fewer links are up than earlier in this boot, and of which the look itself says nothing bad.
    pub(super) fn lost_links(&self, look: &Look) -> Vec<Reading> {
        let is_told = |device: &str| {
            let mut states = look.states.iter();
            states.any(|state| is_of(state, device) && state.bad.is_some())
        };
        let lost = look.links.iter().filter_map(|(device, up)| {
            let most = self.links.get(device).filter(|most| *most > up)?;
            let bad = format!("{up} of {most} NVLinks are up; {most} were earlier in this boot");
            (!is_told(device)).then(|| Reading {
                cause: cause::LINKS_DOWN,
                device: device.clone(),
                bad: Some(bad),
            })
        });
        lost.collect()
    }
}

pub(super) fn is_of(state: &Reading, device: &str) -> bool {
    state.cause == cause::LINKS_DOWN && state.device == device
}
