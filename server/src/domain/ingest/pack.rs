//! Measurements as the store keeps them: one matrix of medians for each metric and size.

use std::collections::BTreeSet;

use kb_core::baseline::test_name;
use kb_core::report::{Cell, Report};

use super::error::{IngestError, Problem};
use crate::store::PackedMeasurement;

/// Packs every measurement. A metric that is measured twice at one size contradicts itself.
pub(super) fn matrices(report: &Report) -> Result<Vec<PackedMeasurement>, IngestError> {
    let mut seen = BTreeSet::new();
    let mut packed = Vec::new();
    for (number, measurement) in report.measurements.iter().enumerate() {
        let metric = test_name(measurement);
        if !seen.insert((metric.clone(), measurement.bytes)) {
            let reason = format!("{metric} at {} bytes was measured before", measurement.bytes);
            let pointer = format!("/measurements/{number}");
            return Err(IngestError::Invalid(vec![Problem { pointer, reason }]));
        }
        packed.push(PackedMeasurement {
            metric,
            unit: measurement.unit.clone(),
            bytes: measurement.bytes,
            n: u32::try_from(report.gpus.len()).unwrap_or(u32::MAX),
            matrix: matrix(report.gpus.len(), &measurement.cells),
        });
    }
    Ok(packed)
}

/// Row is the source, column the destination; host memory on one side puts the cell on the diagonal.
fn matrix(gpus: usize, cells: &[Cell]) -> Vec<u8> {
    let mut medians = vec![f64::NAN; gpus * gpus];
    for cell in cells {
        let (Some(row), Some(column)) = (cell.source.or(cell.destination), cell.destination.or(cell.source))
        else {
            continue;
        };
        let (Ok(row), Ok(column)) = (usize::try_from(row), usize::try_from(column)) else {
            continue;
        };
        if let Some(place) = medians.get_mut(row * gpus + column) {
            *place = median(&cell.samples);
        }
    }
    medians.into_iter().flat_map(f64::to_le_bytes).collect()
}

/// The middle sample, or the mean of the two middle ones; NaN without any.
fn median(samples: &[f64]) -> f64 {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match (sorted.get(middle), sorted.len() % 2) {
        (Some(upper), 0) => {
            let lower = middle.checked_sub(1).and_then(|lower| sorted.get(lower));
            lower.map_or(*upper, |lower| f64::midpoint(*lower, *upper))
        }
        (Some(middle), _) => *middle,
        (None, _) => f64::NAN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle() {
        assert!(median(&[]).is_nan());
        for (samples, expected) in [
            (vec![3.0], 3.0),
            (vec![9.0, 1.0, 2.0], 2.0),
            (vec![4.0, 1.0, 3.0, 2.0], 2.5),
        ] {
            assert!((median(&samples) - expected).abs() < f64::EPSILON, "{samples:?}");
        }
    }

    #[test]
    fn rows_are_sources_and_host_memory_is_on_the_diagonal() {
        let cell = |source, destination, sample| Cell::new(source, destination, Ok(vec![sample]));
        let packed = matrix(2, &[cell(Some(0), Some(1), 5.0), cell(None, Some(1), 7.0)]);
        let read: Vec<f64> = packed
            .chunks_exact(8)
            .map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap()))
            .collect();
        assert!(read[0].is_nan() && read[2].is_nan());
        assert_eq!(
            (read[1].to_bits(), read[3].to_bits()),
            (5.0_f64.to_bits(), 7.0_f64.to_bits())
        );
    }
}
