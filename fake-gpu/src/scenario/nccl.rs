//! How NCCL behaves on the machine: how fast its collectives are, and how they fail.

use serde::{Deserialize, Serialize};

/// Bandwidths in GB/s (10^9 bytes) of the bus as nccl-tests counts them, so that every collective has the same.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Nccl {
    /// With peer access: two H200, all-reduce of 512 MiB out of place (nccl-tests 2.19.6, NCCL 2.28.9).
    pub bus: f64,
    /// Through host memory (a fixture).
    pub bus_staged: f64,
    /// Of all-reduce where NVLink SHARP is not switched off, if the switches have it.
    pub bus_nvls: Option<f64>,
    /// The least that an operation takes, in nanoseconds.
    pub least_ns: u64,
    /// What goes wrong; the first that fits decides.
    pub faults: Vec<NcclFault>,
}

/// Something that goes wrong in a communicator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NcclFault {
    /// Only in communicators that use this; in all where there is none.
    #[serde(default)]
    pub transport: Option<Transport>,
    /// What happens.
    pub effect: NcclEffect,
    /// The warning that goes with it.
    #[serde(default)]
    pub warning: Option<String>,
}

/// How the ranks of a communicator reach each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Transport {
    /// Kernels store into the memory of other GPUs.
    P2p,
    /// Through host memory that the ranks share.
    Shm,
}

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NcclEffect {
    /// No communicator is made; every rank gets this code.
    InitFails(i32),
    /// Operations with other ranks never end.
    Hang,
    /// What comes from other ranks arrives with a bit changed.
    WrongData,
}

impl Default for Nccl {
    fn default() -> Self {
        Self {
            bus: 312.64,
            bus_staged: 20.0,
            bus_nvls: None,
            least_ns: 9_800,
            faults: Vec::new(),
        }
    }
}

impl Nccl {
    pub(crate) fn fault(&self, transport: Transport) -> Option<&NcclFault> {
        let fits = |fault: &&NcclFault| fault.transport.is_none_or(|of| of == transport);
        self.faults.iter().find(fits)
    }

    pub(super) fn check(&self) -> Result<(), String> {
        let speeds = [Some(self.bus), Some(self.bus_staged), self.bus_nvls];
        let wrong = |speed: &f64| !speed.is_finite() || *speed <= 0.0;
        match speeds.into_iter().flatten().find(wrong) {
            Some(speed) => Err(format!("a speed of NCCL of {speed} GB/s")),
            None => Ok(()),
        }
    }
}
