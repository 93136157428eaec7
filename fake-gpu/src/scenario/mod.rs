//! What the simulated machine is like, and how it fails. A scenario is one JSON file: read by the shared library at
//! its first call, written by [`crate::install`]. GPUs are numbered by their place in `gpus` (NVML's order, which is
//! PCI order) everywhere in a scenario; CUDA's order is `cuda_order`.

mod builtin;
mod failures;
mod fault;
mod gpu;
mod kernel;
mod nccl;
mod refusals;
mod speed;
#[cfg(test)]
mod tests;
mod under_load;

pub use fault::{Access, CallEffect, CallFault, Counted, Fate, LogLine, MemoryFault, Route};
pub(crate) use gpu::parse_pci;
pub use gpu::{
    Bar1, Change, Clocks, ComputeMode, Condition, ConfidentialCompute, Ecc, Fabric, FabricState, Gpu,
    LinkEnd, LinkErrors, NvLink, Pcie, Power, Process, RemappedRows,
};
pub use kernel::{KernelEffect, KernelFault};
pub use nccl::{Nccl, NcclEffect, NcclFault, Transport};
pub use speed::Speed;
pub use under_load::UnderLoad;

use crate::calls;
use serde::{Deserialize, Serialize};

/// One simulated machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// For messages only.
    pub name: String,
    /// As NVML states it, such as `580.159.04`.
    pub driver_version: String,
    /// As `cuDriverGetVersion` states it: 1000 x major + 10 x minor.
    pub cuda_version: i32,
    /// As `ncclGetVersion` states it: 10000 x major + 100 x minor + patch.
    #[serde(default)]
    pub nccl_version: i32,
    #[serde(default)]
    pub nccl: Nccl,
    /// Newest PTX `.version` that the driver translates, major and minor; newer text gets error 222.
    pub max_ptx: (u32, u32),
    /// In NVML order.
    pub gpus: Vec<Gpu>,
    /// CUDA ordinal -> place in `gpus`; empty when both orders are the same.
    #[serde(default)]
    pub cuda_order: Vec<usize>,
    /// What is said about each pair of GPUs.
    pub pairs: Pairs,
    /// How many peers a context can enable before error 711.
    pub peer_limit: usize,
    /// The model of time.
    #[serde(default)]
    pub speed: Speed,
    /// Faults of memory accesses; the first that fits decides.
    #[serde(default)]
    pub memory_faults: Vec<MemoryFault>,
    /// Faults of calls; the first that fits and is due decides.
    #[serde(default)]
    pub call_faults: Vec<CallFault>,
    /// Faults of kernels; all that fit hold.
    #[serde(default)]
    pub kernel_faults: Vec<KernelFault>,
    #[serde(default)]
    pub log: Vec<LogLine>,
    /// What cannot be found at all.
    #[serde(default)]
    pub absent: Absent,
}

/// Square matrices, `[from][to]`; what is on the diagonal is never read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pairs {
    /// `cuDeviceCanAccessPeer`; also decides whether enabling gives 217.
    pub can_access: Vec<Vec<bool>>,
    /// `nvmlDeviceGetP2PStatus`, capability read.
    pub read: Vec<Vec<u32>>,
    pub write: Vec<Vec<u32>>,
    pub nvlink: Vec<Vec<u32>>,
    /// The same, atomics; 0 also makes CUDA's native-atomics attribute 1.
    pub atomics: Vec<Vec<u32>>,
    /// The same, PCIe ("prop").
    pub pci: Vec<Vec<u32>>,
    /// `nvmlDeviceGetTopologyCommonAncestor`: 0, 10, 20, 30, 40 or 50.
    pub ancestor: Vec<Vec<u32>>,
}

/// What a program does not find.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Absent {
    /// Libraries that are not there.
    #[serde(default)]
    pub libraries: Vec<Library>,
    /// Functions that the libraries lack, as in a driver older than they are.
    #[serde(default)]
    pub symbols: Vec<String>,
}

/// A library that the stand-in takes the name of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Library {
    /// `libcuda.so.1`
    Cuda,
    /// `libnvidia-ml.so.1`
    Nvml,
    /// `libnccl.so.2`
    Nccl,
}

impl Library {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Cuda, Self::Nvml, Self::Nccl];

    /// The file name that programs open.
    pub fn file_name(self) -> &'static str {
        match self {
            Self::Cuda => "libcuda.so.1",
            Self::Nvml => "libnvidia-ml.so.1",
            Self::Nccl => "libnccl.so.2",
        }
    }
}

impl Scenario {
    /// Says what contradicts itself: matrices of the wrong size, orders that are no permutation, unreadable ids.
    pub fn check(&self) -> Result<(), String> {
        let n = self.gpus.len();
        for (place, gpu) in self.gpus.iter().enumerate() {
            gpu.check().map_err(|why| format!("gpus[{place}]: {why}"))?;
        }
        let mut order = self.cuda_order.clone();
        order.sort_unstable();
        if !order.is_empty() && order != (0..n).collect::<Vec<_>>() {
            return Err(format!("cuda_order is no permutation of 0 to {n}"));
        }
        square("pairs.can_access", &self.pairs.can_access, n)?;
        for (name, matrix) in self.pairs.matrices() {
            square(&format!("pairs.{name}"), matrix, n)?;
        }
        self.speed.check(n)?;
        self.nccl.check()?;
        self.call_faults.iter().try_for_each(|fault| fault.check(n))?;
        self.kernel_faults.iter().try_for_each(|fault| fault.check(n))?;
        for line in &self.log {
            calls::place(&line.after_call)
                .ok_or_else(|| format!("'{}' is no function of the stand-in", line.after_call))?;
        }
        self.memory_faults.iter().try_for_each(|fault| fault.check(n))
    }

    /// Places in `gpus` in CUDA order, before `CUDA_VISIBLE_DEVICES`.
    pub fn cuda_places(&self) -> Vec<usize> {
        if self.cuda_order.is_empty() {
            (0..self.gpus.len()).collect()
        } else {
            self.cuda_order.clone()
        }
    }
}

impl Pairs {
    fn matrices(&self) -> [(&'static str, &Vec<Vec<u32>>); 6] {
        [
            ("read", &self.read),
            ("write", &self.write),
            ("nvlink", &self.nvlink),
            ("atomics", &self.atomics),
            ("pci", &self.pci),
            ("ancestor", &self.ancestor),
        ]
    }

    /// Whether `from` may reach the memory of `to`; false for numbers out of range.
    pub fn can_access(&self, from: usize, to: usize) -> bool {
        self.can_access
            .get(from)
            .and_then(|row| row.get(to))
            .copied()
            .unwrap_or(false)
    }
}

/// An entry of one of the matrices, `None` out of range.
pub(crate) fn entry(matrix: &[Vec<u32>], from: usize, to: usize) -> Option<u32> {
    matrix.get(from)?.get(to).copied()
}

fn square<T>(name: &str, matrix: &[Vec<T>], n: usize) -> Result<(), String> {
    if matrix.len() == n && matrix.iter().all(|row| row.len() == n) {
        return Ok(());
    }
    Err(format!("{name} is not {n} x {n}"))
}
