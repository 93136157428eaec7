//! One GPU of a scenario.

mod condition;
mod fabric;

pub use condition::{
    Bar1, Change, Clocks, Condition, ConfidentialCompute, Ecc, LinkErrors, Pcie, Power, RemappedRows,
};
pub use fabric::{Fabric, FabricState};

use serde::{Deserialize, Serialize};

/// What the two libraries say about a GPU.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gpu {
    pub name: String,
    /// `GPU-` and a UUID in its usual form.
    pub uuid: String,
    /// `domain:bus:device.function` in hexadecimal, the domain with eight digits, such as `00000000:00:06.0`.
    pub pci: String,
    /// Device id in the upper, vendor id in the lower 16 bits, as NVML gives it.
    pub pci_device_id: u32,
    pub memory_bytes: u64,
    /// Bytes that are taken whatever runs.
    #[serde(default)]
    pub reserved_bytes: u64,
    /// Major and minor.
    pub compute_capability: (u32, u32),
    pub multiprocessors: u32,
    /// How many copies between it and others run at a time (CUDA's attribute 40).
    #[serde(default = "one")]
    pub copy_engines: u32,
    /// Rate of `%clock64` and of the clock attribute, in kHz.
    pub clock_khz: u32,
    /// Who may make a context.
    #[serde(default)]
    pub compute_mode: ComputeMode,
    /// Whether MIG is on; `None` where the model has none.
    #[serde(default)]
    pub mig: Option<bool>,
    #[serde(default)]
    pub persistence: bool,
    /// Degrees Celsius.
    #[serde(default)]
    pub temperature: u32,
    /// By link number.
    #[serde(default)]
    pub nvlinks: Vec<NvLink>,
    /// Other people's processes, besides those that really use the stand-in.
    #[serde(default)]
    pub processes: Vec<Process>,
    /// What NVML says of its state.
    #[serde(default)]
    pub condition: Condition,
    /// What it says later; the last one that is due holds.
    #[serde(default)]
    pub changes: Vec<Change>,
}

/// `nvmlComputeMode_t`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ComputeMode {
    /// Everybody.
    #[default]
    Default,
    /// Nobody: making a context gives error 46.
    Prohibited,
    /// One process: a second one gets error 46.
    ExclusiveProcess,
    /// One thread of one process, as drivers before CUDA 8 had it: a second process gets error 46.
    ExclusiveThread,
}

impl ComputeMode {
    /// The number in both C interfaces.
    pub(crate) fn code(self) -> u32 {
        match self {
            Self::Default => 0,
            Self::ExclusiveThread => 1,
            Self::Prohibited => 2,
            Self::ExclusiveProcess => 3,
        }
    }
}

/// One NVLink of a GPU.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NvLink {
    /// Whether it is up.
    pub active: bool,
    /// NVLink version as NVML numbers it.
    pub version: u32,
    /// Rate in MB/s (10^6), one way, before coding: field value 164.
    #[serde(default = "h200_link_speed")]
    pub speed_mb_s: u32,
    /// Whether NVML says that the board has the link (capability "valid"), up or not.
    #[serde(default = "yes")]
    pub valid: bool,
    pub end: LinkEnd,
}

fn h200_link_speed() -> u32 {
    26_562
}

fn one() -> u32 {
    1
}

fn yes() -> bool {
    true
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkEnd {
    /// A GPU of the scenario, by its place.
    Gpu(usize),
    /// An `NVSwitch`, by its PCI address.
    Switch(String),
}

/// A compute process that NVML lists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Process {
    /// Process id.
    pub pid: u32,
    /// Bytes of GPU memory it uses.
    pub used_bytes: u64,
}

impl Gpu {
    /// The 16 bytes of the UUID, `None` where the text is not one.
    pub(crate) fn uuid_bytes(&self) -> Option<[u8; 16]> {
        let digits: String = self
            .uuid
            .strip_prefix("GPU-")?
            .chars()
            .filter(|c| *c != '-')
            .collect();
        if digits.len() != 32 || !digits.is_ascii() {
            return None;
        }
        Some(u128::from_str_radix(&digits, 16).ok()?.to_be_bytes())
    }

    /// Domain, bus, device and function, `None` where the text is not an address.
    pub(crate) fn pci_parts(&self) -> Option<(u32, u32, u32, u32)> {
        parse_pci(&self.pci)
    }

    /// Bytes in use by what the scenario lists.
    pub(crate) fn listed_bytes(&self) -> u64 {
        self.processes
            .iter()
            .map(|process| process.used_bytes)
            .sum::<u64>()
            + self.reserved_bytes
    }

    pub(super) fn check(&self) -> Result<(), String> {
        self.uuid_bytes()
            .ok_or_else(|| format!("'{}' is no GPU-<uuid>", self.uuid))?;
        self.pci_parts()
            .ok_or_else(|| format!("'{}' is no PCI address", self.pci))?;
        if self.listed_bytes() > self.memory_bytes {
            return Err("more memory is listed as used than there is".into());
        }
        let unknown = self
            .changes
            .iter()
            .find(|change| crate::calls::place(&change.after_call).is_none());
        match unknown {
            Some(change) => Err(format!("'{}' is no function of the stand-in", change.after_call)),
            None => Ok(()),
        }
    }
}

/// Reads `domain:bus:device.function`; both interfaces also take it without the domain.
pub(crate) fn parse_pci(text: &str) -> Option<(u32, u32, u32, u32)> {
    let (front, function) = text.split_once('.').unwrap_or((text, "0"));
    let mut parts = front.rsplit(':');
    let device = hex(parts.next()?)?;
    let bus = hex(parts.next()?)?;
    let domain = parts.next().map_or(Some(0), hex)?;
    if parts.next().is_some() {
        return None;
    }
    Some((domain, bus, device, hex(function)?))
}

fn hex(digits: &str) -> Option<u32> {
    u32::from_str_radix(digits, 16).ok()
}
