//! What a good answer to each fault is. Written from what the faults are, before the server was asked; names of
//! records and rules that the server got later were put in the place of those that had been guessed.

use super::faults::Kind;

/// Actions that take a node out of service.
pub(super) const DRAINING: [&str; 5] = [
    "reset_gpu",
    "reboot_node",
    "check_hardware",
    "replace_hardware",
    "contact_support",
];

pub(super) struct Expected {
    /// Records or rules, any of which is the right cause.
    pub(super) causes: &'static [&'static str],
    /// What may be held at fault.
    pub(super) blames: &'static [&'static str],
    /// What may be done first.
    pub(super) actions: &'static [&'static str],
}

impl Expected {
    pub(super) fn of(kind: Kind) -> Self {
        let (causes, blames, actions): (&[&str], &[&str], &[&str]) = match kind {
            Kind::SlowPair => (
                &["nvlink/pair-slower-than-its-peers", "outlier/pair", "outlier/gpu"],
                &["link"],
                &["check_hardware", "reset_gpu", "contact_support"],
            ),
            Kind::HalfLinks => (
                &["nvlink/links-down"],
                &["link"],
                &["check_hardware", "reset_gpu", "reboot_node", "contact_support"],
            ),
            // Several can be behind it: IOMMU, ACS, a bridge, a small window, a driver.
            Kind::DroppedWrites => (
                &[
                    "p2p/peer-writes-dropped",
                    "p2p/private-mirror-mapping",
                    "iommu/translation-breaks-p2p",
                ],
                &["host", "driver", "unclear"],
                &[
                    "change_configuration",
                    "update_software",
                    "check_hardware",
                    "contact_support",
                ],
            ),
            // Others of the model have it, so that it is not the model: driver, its licence or the hypervisor.
            Kind::GnsRefusal => (
                &[
                    "p2p/gpu-model-without-peer-access",
                    "p2p/refused-unlike-its-peers",
                ],
                &["driver", "host", "unclear"],
                &["change_configuration", "update_software", "contact_support"],
            ),
            Kind::DriverRegression => (
                &["facet/driver", "outlier/driver"],
                &["driver"],
                &["update_software"],
            ),
            Kind::AcsAfterBios => (
                &[
                    "pcie/acs-redirect-breaks-p2p",
                    "pcie/acs-redirects-peer-traffic",
                    "p2p/chipset-does-not-forward-peer-traffic",
                ],
                &["host"],
                &["change_configuration"],
            ),
            Kind::ThermalDrift => (
                &["health/throttled", "driver/smi-hw-slowdown"],
                &["host", "gpu"],
                &["check_hardware"],
            ),
            Kind::LostGpu => (
                &["xid/79-gpu-has-fallen-off-the-bus", "nvml/gpu-is-lost"],
                &["gpu", "link", "host", "unclear"],
                &["reboot_node", "reset_gpu", "check_hardware", "replace_hardware"],
            ),
            Kind::FlappingNic => (
                &["rdma/nic-link-down", "rdma/nic-link-flaps"],
                &["fabric", "link"],
                &["check_hardware"],
            ),
            Kind::RemapFailed => (
                &["xid/64-row-remapping-failure", "dcgm/row-remap-failed"],
                &["gpu"],
                &["replace_hardware", "contact_support", "check_hardware"],
            ),
        };
        Self {
            causes,
            blames,
            actions,
        }
    }
}
