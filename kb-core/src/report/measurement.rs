//! Bandwidths and latencies with every sample.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::fact::{Fact, Gap};
use super::gpu::GpuIndex;
use super::pair::Engine;

/// One metric at one size over all pairs: an n x n matrix kept as a list of cells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Measurement {
    /// Stable name: `d2d_bandwidth`, `d2d_bandwidth_both_ways`, `h2d_bandwidth`, `copy_latency`, …
    pub metric: String,
    /// `GB/s` (1e9 bytes) or `us` or `ns`.
    pub unit: String,
    /// What moved the bytes.
    pub engine: Engine,
    /// Who issued the work.
    pub operation: Operation,
    /// Size of one transfer in bytes.
    pub bytes: u64,
    /// True when peer access was enabled, false when the driver staged through the host.
    pub peer_access: Option<bool>,
    /// True when other cells of this measurement were taken at the same time, over links that they do not share.
    /// Since 1.2.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub at_once: Option<bool>,
    /// What taking its cells took; absent where they came with those of the measurement before. Since 1.4.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub taken: Option<Taken>,
    /// The cells.
    pub cells: Vec<Cell>,
}

/// What taking a measurement's cells took.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Taken {
    /// How often something was started for it; cells that are taken at the same time share one.
    pub rounds: u32,
    /// Seconds by the wall clock, with everything that goes with it: preparation, samples, comparing data.
    pub seconds: f64,
}

/// Push: the source's context issues the copy. Pull: the destination's does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// Written by the source.
    Push,
    /// Read by the destination.
    Pull,
    /// Neither applies.
    Other,
    /// A value of a newer minor version.
    #[serde(other)]
    Unrecognised,
}

/// What a GPU was like while a cell was measured, by NVML.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Conditions {
    /// Which GPU.
    pub gpu: GpuIndex,
    /// True when the copies were still running after all of it was read.
    pub while_running: bool,
    /// `clock.sm_mhz`, `clock.memory_mhz`, `temperature.gpu_c`, `power.draw_w`, `throttle.reasons`.
    pub facts: BTreeMap<String, Fact>,
}

/// One directed pair.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cell {
    /// Where the bytes come from; absent for host memory.
    pub source: Option<GpuIndex>,
    /// Where they go; absent for host memory.
    pub destination: Option<GpuIndex>,
    /// Every sample, in the order taken.
    #[serde(default)]
    pub samples: Vec<f64>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub gap: Option<Gap>,
    /// What the links that should join the two carry by their data sheet, in the measurement's unit. Since 1.2.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub nominal: Option<Fact<f64>>,
    /// The GPUs during one of the samples. Since 1.2.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub conditions: Vec<Conditions>,
}

impl Cell {
    /// A cell with its samples, or the reason why there are none.
    pub fn new(
        source: Option<GpuIndex>,
        destination: Option<GpuIndex>,
        samples: Result<Vec<f64>, Gap>,
    ) -> Self {
        let (samples, gap) = match samples {
            Ok(samples) => (samples, None),
            Err(gap) => (Vec::new(), Some(gap)),
        };
        Self {
            source,
            destination,
            samples,
            gap,
            nominal: None,
            conditions: Vec::new(),
        }
    }

    /// The middle sample, or the mean of the two in the middle. None where a sample is no positive number.
    pub fn median(&self) -> Option<f64> {
        let mut values = self.samples.clone();
        if values.iter().any(|value| !value.is_finite() || *value <= 0.0) {
            return None;
        }
        values.sort_unstable_by(f64::total_cmp);
        let middle = values.len() / 2;
        let upper = *values.get(middle)?;
        if values.len() % 2 == 1 {
            return Some(upper);
        }
        Some(f64::midpoint(*values.get(middle.checked_sub(1)?)?, upper))
    }

    /// Standard deviation of the samples as a share of their mean; none below two samples.
    pub fn variation(&self) -> Option<f64> {
        let count = u32::try_from(self.samples.len())
            .ok()
            .filter(|count| *count > 1)?;
        let count = f64::from(count);
        let mean = self.samples.iter().sum::<f64>() / count;
        let squares: f64 = self.samples.iter().map(|value| (value - mean).powi(2)).sum();
        let variation = (squares / (count - 1.0)).sqrt() / mean;
        variation.is_finite().then_some(variation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(samples: &[f64]) -> Cell {
        Cell::new(None, None, Ok(samples.to_vec()))
    }

    #[test]
    fn median_and_variation_are_of_the_samples() {
        assert_eq!(cell(&[3.0, 1.0, 2.0]).median(), Some(2.0));
        assert_eq!(cell(&[4.0, 1.0]).median(), Some(2.5));
        assert_eq!(cell(&[]).median(), None);
        assert_eq!(cell(&[1.0, 0.0, 2.0]).median(), None, "a rate of 0 is no rate");
        assert_eq!(cell(&[1.0]).variation(), None);
        // Mean 2, deviation 1.
        assert_eq!(cell(&[1.0, 2.0, 3.0]).variation(), Some(0.5));
    }
}
