//! GPUs that a node had before a repair or a reboot and has no more.

use kb_core::report::{Absence, AbsentGpu};

use super::Roll;

/// The GPUs that the node had, and who says so.
#[derive(Debug, Clone)]
pub(crate) struct GpusBefore {
    /// `at the last admission`.
    pub(crate) when: String,
    pub(crate) gpus: Vec<Before>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Before {
    pub(crate) uuid: Option<String>,
    pub(crate) address: Option<String>,
}

impl Before {
    fn is(&self, other: &Self) -> bool {
        let same = |one: &Option<String>, other: &Option<String>| one.is_some() && one == other;
        same(&self.uuid, &other.uuid) || same(&self.address, &other.address)
    }

    fn name(&self) -> String {
        match (&self.uuid, &self.address) {
            (Some(uuid), Some(address)) => format!("{uuid} at {address}"),
            (Some(name), None) | (None, Some(name)) => name.clone(),
            (None, None) => "a GPU without a name".to_owned(),
        }
    }
}

impl Roll<'_> {
    /// As many as before may be others: a GPU that was exchanged. What `told` has is told there.
    pub(super) fn fewer_than_before(&self, told: &[AbsentGpu]) -> Vec<AbsentGpu> {
        let is_open = self.opened.is_some_and(|opened| !opened.is_empty());
        if self.asked.is_some() || self.expected.is_some() || self.has_mig() || !is_open {
            return Vec::new();
        }
        let opened = self.opened().iter().map(|gpu| Before {
            uuid: gpu.uuid.value.clone(),
            address: gpu.pci_address.value.clone(),
        });
        let told = told.iter().map(|gpu| Before {
            uuid: None,
            address: gpu.pci_address.clone(),
        });
        let there: Vec<Before> = opened.chain(told).collect();
        let missing = self.before.iter().map(|before| {
            let gone = before
                .gpus
                .iter()
                .filter(|gpu| there.len() < before.gpus.len() && !there.iter().any(|now| now.is(gpu)));
            gone.map(|gpu| missing(gpu, before, there.len())).collect()
        });
        let mut missing = missing.filter(|missing: &Vec<AbsentGpu>| !missing.is_empty());
        missing.next().unwrap_or_default()
    }
}

/// Without its address: that nothing is lost there now is not known.
fn missing(gpu: &Before, before: &GpusBefore, there: usize) -> AbsentGpu {
    let (name, when, had) = (gpu.name(), &before.when, before.gpus.len());
    AbsentGpu::new(
        Absence::Missing,
        format!(
            "the node had {had} GPUs {when} and has {there} now; {name} is gone (if fewer are meant, say so: --expect gpus={there})"
        ),
    )
}
