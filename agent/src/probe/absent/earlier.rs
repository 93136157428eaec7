//! GPUs that were listed earlier in this boot, as far as that tells a process of what it sees now.

use std::collections::BTreeSet;

use kb_core::health::ListedEarlier;
use kb_core::report::{Absence, AbsentGpu};

use crate::host::{self, HostRoot, Visibility};

use super::Roll;

/// What grants GPUs to this process; nothing where it sees all.
pub(in crate::probe) fn view(root: &HostRoot) -> Option<String> {
    let visible = std::env::var("NVIDIA_VISIBLE_DEVICES").ok();
    host::view(root, visible.as_deref())
}

/// A process that may not see all goes by what the same grants showed before: any other grants may be of other GPUs.
pub(super) fn listed_earlier(
    earlier: &ListedEarlier,
    visibility: &Visibility,
    view: Option<&str>,
) -> BTreeSet<String> {
    match visibility {
        Visibility::All | Visibility::Unknown(_) => earlier.all.clone(),
        Visibility::Confined(_) => view
            .and_then(|view| earlier.by_view.get(view))
            .cloned()
            .unwrap_or_default(),
    }
}

impl Roll<'_> {
    /// Listed earlier in this boot and listed no more, with no reason known. The bus may not show it, or nobody can read the bus.
    pub(super) fn gone(&self, told: &[AbsentGpu]) -> Vec<AbsentGpu> {
        let Ok(managed) = &self.managed else {
            return Vec::new();
        };
        let is_told = |address: &str| {
            let of = |gpu: &AbsentGpu| {
                gpu.absence != Absence::NotLookedAt && gpu.pci_address.as_deref() == Some(address)
            };
            self.is_known(address) || told.iter().any(of)
        };
        let gone: Vec<&String> = self.earlier.iter().filter(|address| !is_told(address)).collect();
        let unanswered = managed.iter().filter(|gpu| gpu.address.is_err()).count();
        if unanswered >= gone.len() {
            // Each of them may be one that does not say where it is.
            return Vec::new();
        }
        let lost = |address: &String| AbsentGpu {
            pci_address: Some(address.clone()),
            ..AbsentGpu::new(
                Absence::Lost,
                "it was listed earlier in this boot, and the driver does not list it any more",
            )
        };
        gone.into_iter().map(lost).collect()
    }
}
