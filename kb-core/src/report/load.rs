//! Minutes of load on all GPUs at once, and what was seen of them meanwhile. Since 1.7.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::fact::Fact;
use super::gpu::GpuIndex;
use super::{Failure, Verdict};
use crate::ids::{RecordId, ReportId};

/// What `peerless-agent admit` did with the GPUs after ladder and bench: a compute kernel whose checksum is compared, and
/// copies to and from host memory and between GPUs, all at the same time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Load {
    /// Seconds that the load should last.
    pub asked_seconds: f64,
    /// Seconds that it lasted, by the monotonic clock.
    pub seconds: f64,
    /// Bounded pieces of work that it was made of; all GPUs begin and end each of them together.
    pub steps: u64,
    /// The GPUs that were loaded. One of the report that is not among them was not.
    #[serde(default)]
    pub gpus: Vec<LoadOfGpu>,
    /// Why it ended before its time, or never began.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub ended: Option<Failure>,
    /// The last run of this kind on this node that was good, or why none is known.
    pub earlier: Fact<EarlierLoad>,
    /// What speaks against the node, worst first; empty where nothing does.
    #[serde(default)]
    pub findings: Vec<LoadFinding>,
}

/// One GPU under load, in summary: its size does not grow with the time that the load lasts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadOfGpu {
    /// Which GPU.
    pub gpu: GpuIndex,
    /// Launches of the compute kernel.
    pub launches: u64,
    /// Copies, whatever their direction.
    pub copies: u64,
    /// Results that were compared with what they have to be: checksums of the kernel, data of copies.
    pub checks: u64,
    /// How many checksums of the kernel were wrong.
    pub wrong_checksums: u64,
    /// How many comparisons of copied data failed.
    pub wrong_copies: u64,
    /// The first of the wrong ones, in words.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub first_wrong: Option<String>,
    /// How often NVML was asked about clocks, temperature, power and throttling, and answered.
    pub samples: u64,
    /// By name: `clock.sm_mhz`, `clock.memory_mhz`, `temperature.gpu_c`, `power.draw_w` of NVML; `fma_rate` in 1e12 operations
    /// a second; `h2d_bandwidth`, `d2h_bandwidth`, `d2d_bandwidth` (to the next GPU) in GB/s.
    #[serde(default)]
    pub figures: BTreeMap<String, Spread>,
    /// In how many samples each throttle reason stood, by its name (`hw_thermal_slowdown`).
    #[serde(default)]
    pub throttled: BTreeMap<String, u64>,
    /// By how much each counter rose from the begin of the load to its end.
    #[serde(default)]
    pub counters: BTreeMap<String, Fact>,
}

/// Values of one figure over the load.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Spread {
    /// How many values there were.
    pub count: u64,
    /// The smallest.
    pub minimum: f64,
    /// The one in the middle.
    pub median: f64,
    /// The largest.
    pub maximum: f64,
    /// The median of the first third of the load.
    pub first: f64,
    /// The median of its last third.
    pub last: f64,
}

/// An earlier load of the same node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EarlierLoad {
    /// Its report.
    pub report: ReportId,
    /// When it ended, RFC 3339, UTC.
    pub at: String,
    /// Those of its GPUs that are GPUs of this report, by UUID.
    pub gpus: Vec<EarlierOfGpu>,
}

/// What a GPU reached then.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EarlierOfGpu {
    /// Which GPU of this report it is.
    pub gpu: GpuIndex,
    /// Medians of its rates, named as in [`LoadOfGpu::figures`].
    pub medians: BTreeMap<String, f64>,
}

/// Something that speaks against the node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadFinding {
    /// The GPU; absent where it is about no single one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub gpu: Option<GpuIndex>,
    /// One named cause, see [`crate::verdict::cause`].
    pub cause: String,
    /// What it means.
    pub verdict: Verdict,
    /// What was seen, in one sentence.
    pub reason: String,
    /// JSON pointers into this report.
    #[serde(default)]
    pub evidence: Vec<String>,
    /// The record that explains the cause.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub record: Option<RecordId>,
    /// What to do, in one or two sentences.
    pub fix: String,
}

impl Load {
    /// Name of the compute kernel's rate among the figures.
    pub const FMA_RATE: &'static str = "fma_rate";
    /// The same of copies from host memory.
    pub const FROM_HOST: &'static str = "h2d_bandwidth";
    /// The same of copies to host memory.
    pub const TO_HOST: &'static str = "d2h_bandwidth";
    /// The same of copies to the next GPU.
    pub const TO_PEER: &'static str = "d2d_bandwidth";
    /// The rates, all of them better when higher.
    pub const RATES: [&'static str; 4] = [Self::FMA_RATE, Self::FROM_HOST, Self::TO_HOST, Self::TO_PEER];

    /// The GPU's part; nothing where it was not loaded.
    pub fn of_gpu(&self, gpu: GpuIndex) -> Option<&LoadOfGpu> {
        self.gpus.iter().find(|of| of.gpu == gpu)
    }
}

impl Spread {
    /// Of values in the order in which they were read; nothing where there is none. What is no number is left out.
    pub fn of(values: &[f64]) -> Option<Self> {
        let values: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
        let third = values.len().div_ceil(3);
        let first = values.get(..third)?;
        let last = values.get(values.len().checked_sub(third)?..)?;
        let (minimum, maximum) = values
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                (low.min(*value), high.max(*value))
            });
        Some(Self {
            count: u64::try_from(values.len()).unwrap_or(u64::MAX),
            minimum,
            median: median(&values)?,
            maximum,
            first: median(first)?,
            last: median(last)?,
        })
    }
}

fn median(values: &[f64]) -> Option<f64> {
    let mut values = values.to_vec();
    values.sort_unstable_by(f64::total_cmp);
    let middle = values.len() / 2;
    let upper = *values.get(middle)?;
    if values.len() % 2 == 1 {
        return Some(upper);
    }
    Some(f64::midpoint(*values.get(middle.checked_sub(1)?)?, upper))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_spread_tells_how_it_began_and_how_it_ended() {
        let spread = Spread::of(&[10.0, 12.0, 11.0, 9.0, 5.0, 6.0, f64::NAN]).unwrap();
        assert_eq!((spread.count, spread.minimum, spread.maximum), (6, 5.0, 12.0));
        assert_eq!((spread.first, spread.median, spread.last), (11.0, 9.5, 5.5));
        assert_eq!(Spread::of(&[]), None);
        let one = Spread::of(&[3.0]).unwrap();
        assert_eq!((one.first, one.last), (3.0, 3.0));
    }
}
