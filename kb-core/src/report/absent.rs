//! GPUs that a run should have looked at and did not.

use serde::{Deserialize, Serialize};

use crate::ids::RecordId;

/// A GPU that the machine has, or that was asked for, and that is not among [`super::Report::gpus`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AbsentGpu {
    /// Its name in `--devices`: `3`, `GPU-592ae3c5`. Absent where it was not asked for by name.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub asked_as: Option<String>,
    /// PCI address, `0000:3b:00.0`, where it is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub pci_address: Option<String>,
    /// Why it is not there.
    pub absence: Absence,
    /// What was seen, in one sentence.
    pub reason: String,
    /// One named cause, see [`crate::verdict::cause`]; nothing where the absence is information.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cause: Option<String>,
    /// The record that explains the cause.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub record: Option<RecordId>,
    /// What to do, in one or two sentences.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fix: Option<String>,
}

/// Why a GPU is not among those that were looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Absence {
    /// It was asked for or expected, and the driver does not list it. A fault.
    Missing,
    /// It is on the bus, the NVIDIA driver has it, and NVML does not list it or calls it lost, to an agent that sees all
    /// GPUs. A fault.
    Lost,
    /// It is on the bus, and no driver has it. A warning: whether it failed or is of a model that this driver does not
    /// support is not told.
    WithoutDriver,
    /// Whether it works could not be told.
    NotLookedAt,
    /// It is on the bus, and this process was not given it, or cannot know whether it was. Information.
    NotGranted,
    /// It is on the bus, and another driver has it: `vfio-pci`, `nouveau`. Information.
    OtherDriver,
    /// The NVIDIA driver was told to leave it alone (`NVreg_ExcludedGpus`). Information.
    Excluded,
    /// It is split into MIG devices, of which CUDA lists one at most. Information.
    Mig,
    /// A value of a newer minor version.
    #[serde(other)]
    Unrecognised,
}

impl AbsentGpu {
    /// Not explained yet.
    pub fn new(absence: Absence, reason: impl Into<String>) -> Self {
        Self {
            asked_as: None,
            pci_address: None,
            absence,
            reason: reason.into(),
            cause: None,
            record: None,
            fix: None,
        }
    }

    /// As people name it: `GPU 3`, `the GPU at 0000:3b:00.0`, `a GPU`.
    pub fn name(&self) -> String {
        match (&self.asked_as, &self.pci_address) {
            (Some(asked), _) if asked.starts_with("GPU-") => asked.clone(),
            (Some(asked), _) => format!("GPU {asked}"),
            (None, Some(address)) => format!("the GPU at {address}"),
            (None, None) => "a GPU".to_owned(),
        }
    }
}
