//! NVML by nvml-wrapper. Whatever it cannot say becomes a gap with a reason, never an error.

use nvml_wrapper::enum_wrappers::device::{P2pCapabilitiesIndex, P2pStatus as NvmlStatus, TopologyLevel};
use nvml_wrapper::error::NvmlError;
use nvml_wrapper::{Device, Nvml};

use kb_core::report::{Fact, GapKind, NvmlP2p, P2pStatus};

use super::driver::PciAddress;
use super::library::with_causes;
use super::trace::Trace;

/// More links than any GPU has; the loop ends at the first one that NVML refuses.
const MOST_LINKS: u32 = 64;
/// `nvmlIntNvLinkDeviceType_t`: the other end is a GPU.
const REMOTE_GPU: u32 = 0;
/// `nvmlIntNvLinkDeviceType_t`: the other end is an NVSwitch.
const REMOTE_SWITCH: u32 = 2;

/// An initialised NVML, or why there is none.
pub(crate) struct Management {
    nvml: Result<Nvml, String>,
    trace: Trace,
}

/// The active NVLinks of one GPU by what is at their other end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct LinkSummary {
    /// Links that NVML knows, active or not.
    pub(crate) total: u32,
    /// Active links that end at an NVSwitch.
    pub(crate) to_switch: u32,
    /// Active links that end at the GPU with this address.
    pub(crate) to_gpus: Vec<(PciAddress, u32)>,
    /// Active links whose other end NVML does not name.
    pub(crate) to_unknown: u32,
}

impl LinkSummary {
    /// Active links, whatever they end at.
    pub(crate) fn active(&self) -> u32 {
        let direct: u32 = self.to_gpus.iter().map(|(_, count)| count).sum();
        self.to_switch + direct + self.to_unknown
    }

    /// Active links that end at this GPU.
    pub(crate) fn to_gpu(&self, address: &PciAddress) -> u32 {
        let found = self.to_gpus.iter().find(|(remote, _)| remote == address);
        found.map_or(0, |(_, count)| *count)
    }
}

impl Management {
    /// Opens libnvidia-ml.so.1.
    pub(crate) fn open(trace: Trace) -> Self {
        trace.about_to("nvmlInit_v2");
        let nvml = Nvml::init().map_err(|error| with_causes(&error));
        Self { nvml, trace }
    }

    /// `nvmlSystemGetDriverVersion`.
    pub(crate) fn driver_version(&self) -> Fact<String> {
        const CALL: &str = "nvmlSystemGetDriverVersion";
        self.ask(CALL, Nvml::sys_driver_version)
    }

    /// NVML's index of the GPU at this address.
    pub(crate) fn index_of(&self, address: &PciAddress) -> Fact<u32> {
        const CALL: &str = "nvmlDeviceGetIndex";
        self.ask(CALL, |nvml| nvml.device_by_pci_bus_id(address.as_str())?.index())
    }

    /// NVML's own name of the GPU at this address.
    pub(crate) fn uuid(&self, address: &PciAddress) -> Fact<String> {
        const CALL: &str = "nvmlDeviceGetUUID";
        self.ask(CALL, |nvml| nvml.device_by_pci_bus_id(address.as_str())?.uuid())
    }

    /// The five P2P capabilities of a directed pair; a GPU without an address is not found.
    pub(crate) fn p2p(&self, from: Option<&PciAddress>, to: Option<&PciAddress>) -> NvmlP2p {
        let status = |capability| self.p2p_status(from, to, capability);
        NvmlP2p {
            read: status(P2pCapabilitiesIndex::Read),
            write: status(P2pCapabilitiesIndex::Write),
            nvlink: status(P2pCapabilitiesIndex::NvLink),
            atomics: status(P2pCapabilitiesIndex::Atomics),
            pci: status(P2pCapabilitiesIndex::Prop),
        }
    }

    fn p2p_status(
        &self,
        from: Option<&PciAddress>,
        to: Option<&PciAddress>,
        capability: P2pCapabilitiesIndex,
    ) -> Fact<P2pStatus> {
        const CALL: &str = "nvmlDeviceGetP2PStatus";
        let (Some(from), Some(to)) = (from, to) else {
            let reason = "without its PCI address a GPU is not found in NVML";
            return Fact::missing(GapKind::Failed, reason, CALL);
        };
        self.ask(CALL, |nvml| {
            let from = nvml.device_by_pci_bus_id(from.as_str())?;
            let to = nvml.device_by_pci_bus_id(to.as_str())?;
            match from.p2p_status(&to, capability) {
                Ok(status) => Ok(wire(status)),
                Err(NvmlError::UnexpectedVariant(_)) => Ok(P2pStatus::Unrecognised),
                Err(error) => Err(error),
            }
        })
    }

    /// Nearest common ancestor, as `nvidia-smi topo -m` abbreviates it.
    pub(crate) fn common_ancestor(&self, a: &PciAddress, b: &PciAddress) -> Fact<String> {
        const CALL: &str = "nvmlDeviceGetTopologyCommonAncestor";
        self.ask(CALL, |nvml| {
            let a = nvml.device_by_pci_bus_id(a.as_str())?;
            let b = nvml.device_by_pci_bus_id(b.as_str())?;
            let level = match a.topology_common_ancestor(b)? {
                TopologyLevel::Internal => "X",
                TopologyLevel::Single => "PIX",
                TopologyLevel::Multiple => "PXB",
                TopologyLevel::HostBridge => "PHB",
                TopologyLevel::Node => "NODE",
                TopologyLevel::System => "SYS",
            };
            Ok(level.to_owned())
        })
    }

    /// The GPU's NVLinks. A GPU on which not even link 0 is supported has none: that is a value, not a gap.
    pub(crate) fn links(&self, address: &PciAddress) -> Fact<LinkSummary> {
        const CALL: &str = "nvmlDeviceGetNvLinkState";
        self.ask(CALL, |nvml| {
            let device = nvml.device_by_pci_bus_id(address.as_str())?;
            let mut summary = LinkSummary::default();
            for number in 0..MOST_LINKS {
                let link = device.link_wrapper_for(number);
                let active = match link.is_active() {
                    Ok(active) => active,
                    Err(NvmlError::NotSupported | NvmlError::InvalidArg) => break,
                    Err(error) => return Err(error),
                };
                summary.total += 1;
                if active {
                    count_link(&device, number, &mut summary);
                }
            }
            Ok(summary)
        })
    }

    /// Runs one question; the answer, or the gap that explains why there is none.
    fn ask<T>(&self, call: &'static str, question: impl FnOnce(&Nvml) -> Result<T, NvmlError>) -> Fact<T> {
        let nvml = match &self.nvml {
            Ok(nvml) => nvml,
            Err(reason) => {
                let reason = format!("NVML cannot be used: {reason}");
                return Fact::missing(GapKind::NotSupported, reason, call);
            }
        };
        self.trace.about_to(call);
        match question(nvml) {
            Ok(value) => Fact::read(value, call),
            Err(error) => Fact::missing(gap_kind(&error), format!("{call}: {error}"), call),
        }
    }
}

/// Adds an active link to what it ends at.
fn count_link(device: &Device<'_>, number: u32, summary: &mut LinkSummary) {
    match remote_type(device, number) {
        Some(REMOTE_SWITCH) => summary.to_switch += 1,
        Some(REMOTE_GPU) => {
            let link = device.link_wrapper_for(number);
            let Ok(remote) = link.remote_pci_info() else {
                summary.to_unknown += 1;
                return;
            };
            let address = PciAddress::from_driver(&remote.bus_id);
            match summary.to_gpus.iter_mut().find(|(known, _)| *known == address) {
                Some((_, count)) => *count += 1,
                None => summary.to_gpus.push((address, 1)),
            }
        }
        _ => summary.to_unknown += 1,
    }
}

fn wire(status: NvmlStatus) -> P2pStatus {
    match status {
        NvmlStatus::Ok => P2pStatus::Ok,
        NvmlStatus::ChipsetNotSupported => P2pStatus::Cns,
        NvmlStatus::GpuNotSupported => P2pStatus::Gns,
        NvmlStatus::IohTopologyNotSupported => P2pStatus::Tns,
        NvmlStatus::DisabledByRegkey => P2pStatus::Dr,
        NvmlStatus::NotSupported => P2pStatus::Ns,
        NvmlStatus::Unknown => P2pStatus::U,
    }
}

fn gap_kind(error: &NvmlError) -> GapKind {
    match error {
        NvmlError::NotSupported | NvmlError::FailedToLoadSymbol(_) | NvmlError::FunctionNotFound => {
            GapKind::NotSupported
        }
        NvmlError::NoPermission => GapKind::NoPermission,
        _ => GapKind::Failed,
    }
}

/// `nvmlDeviceGetNvLinkRemoteDeviceType`, straight from the table: the wrapper's own method (0.13.0) hands the call a
/// temporary and always answers "unknown".
fn remote_type(device: &Device<'_>, number: u32) -> Option<u32> {
    let nvml = device.nvml();
    let function = nvml.lib().nvmlDeviceGetNvLinkRemoteDeviceType.as_ref().ok()?;
    let mut kind = u32::MAX;
    // SAFETY: a live device handle and a place for one enum value, which is an unsigned int.
    let code = unsafe { function(device.handle(), number, &raw mut kind) };
    (code == 0).then_some(kind)
}
