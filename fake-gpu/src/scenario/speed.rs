//! How fast things go in the model of time. The model is there so that wrong ways to measure give wrong figures; what
//! it says about a machine is only what the scenario says.

use super::square;
use serde::{Deserialize, Serialize};

/// Bandwidths in GB/s (10^9 bytes), times in nanoseconds. What is not said is as on a machine with two H200 and
/// driver 580.159.04, measured by nvbandwidth and `p2pBandwidthLatencyTest`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Speed {
    /// Between GPUs with peer access, `[from][to]` as the data flows, whoever asks for it. Empty: 391.8 everywhere.
    pub direct: Vec<Vec<f64>>,
    /// The same by way of the host, without peer access. Empty: 38.5 everywhere.
    pub staged: Vec<Vec<f64>>,
    /// From host memory to a GPU.
    pub to_device: f64,
    /// From a GPU to host memory.
    pub to_host: f64,
    /// Within a GPU.
    pub local: f64,
    /// The least that a copy takes.
    pub copy_ns: u64,
    /// The least that a copy by way of the host takes.
    pub staged_copy_ns: u64,
    /// What the first transfer of a process between two ends takes in addition.
    pub cold_ns: u64,
    /// What the host needs to queue a copy or a kernel.
    pub enqueue_ns: u64,
    /// The least that a kernel takes.
    pub kernel_ns: u64,
    /// A load by a kernel from its own GPU's memory (a fixture).
    pub local_load_ns: u64,
    /// A load by a kernel from another GPU's memory.
    pub peer_load_ns: u64,
}

const DIRECT: f64 = 391.8;
const STAGED: f64 = 38.5;

impl Default for Speed {
    fn default() -> Self {
        Self {
            direct: Vec::new(),
            staged: Vec::new(),
            to_device: 55.5,
            to_host: 55.4,
            local: 2080.0,
            copy_ns: 2250,
            staged_copy_ns: 17_000,
            // Five copies of 160 MB: 362.9 GB/s in the first cell of the table, 391.8 in the opposite one.
            cold_ns: 162_000,
            enqueue_ns: 1500,
            kernel_ns: 1800,
            local_load_ns: 600,
            peer_load_ns: 828,
        }
    }
}

impl Speed {
    /// The same for all pairs of `n` GPUs.
    pub fn uniform(n: usize, direct: f64, staged: f64) -> Self {
        Self {
            direct: vec![vec![direct; n]; n],
            staged: vec![vec![staged; n]; n],
            ..Self::default()
        }
    }

    /// Multiplies the direct bandwidth of the pairs that fit.
    pub(super) fn scale(&mut self, by: f64, fits: impl Fn(usize, usize) -> bool) {
        for (from, row) in self.direct.iter_mut().enumerate() {
            let fitting = row.iter_mut().enumerate().filter(|(to, _)| fits(from, *to));
            fitting.for_each(|(_, speed)| *speed *= by);
        }
    }

    pub(crate) fn between(&self, from: usize, to: usize, direct: bool) -> f64 {
        let (matrix, usual) = if direct {
            (&self.direct, DIRECT)
        } else {
            (&self.staged, STAGED)
        };
        let entry = matrix.get(from).and_then(|row| row.get(to));
        entry.copied().unwrap_or(usual)
    }

    pub(super) fn check(&self, n: usize) -> Result<(), String> {
        for (name, matrix) in [("direct", &self.direct), ("staged", &self.staged)] {
            if !matrix.is_empty() {
                square(&format!("speed.{name}"), matrix, n)?;
            }
        }
        let single = [self.to_device, self.to_host, self.local];
        let pairs = self.direct.iter().chain(&self.staged).flatten();
        match pairs
            .chain(&single)
            .find(|speed| !speed.is_finite() || **speed <= 0.0)
        {
            Some(speed) => Err(format!("a speed of {speed} GB/s")),
            None => Ok(()),
        }
    }
}
