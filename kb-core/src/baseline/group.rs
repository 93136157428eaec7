//! A group of figures, as a median and a spread that a few bad ones do not move.

use serde::{Deserialize, Serialize};

/// Figures of one series of one node, kept small: at most [`Summary::MOST`] of them, evenly taken from the sorted ones.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// How many there were.
    pub count: u32,
    /// The lowest, the highest, and some between, in rising order.
    pub figures: Vec<f64>,
}

impl Summary {
    /// Figures that are kept at most.
    pub const MOST: usize = 9;

    /// Of what was measured; `None` without a figure. What is no positive number is left out.
    pub fn of(mut values: Vec<f64>) -> Option<Self> {
        values.retain(|value| value.is_finite() && *value > 0.0);
        values.sort_unstable_by(f64::total_cmp);
        let last = values.len().checked_sub(1)?;
        let figures = if values.len() <= Self::MOST {
            values.clone()
        } else {
            let steps = Self::MOST - 1;
            let places = (0..=steps).map(|step| (step * last + steps / 2) / steps);
            places.filter_map(|place| values.get(place).copied()).collect()
        };
        Some(Self {
            count: u32::try_from(values.len()).unwrap_or(u32::MAX),
            figures,
        })
    }
}

impl Summary {
    /// The middle of the figures that are kept.
    pub fn median(&self) -> Option<f64> {
        of_sorted(&self.figures, 2, 1)
    }
}

/// What figures of a series have in common.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// The middle of all figures.
    pub median: f64,
    /// As a share of the median, the larger of 1.4826 times the median distance from it (what a standard deviation would
    /// be without outliers), and of the distances of the lower and the upper third by 0.4307, which is the same where
    /// figures lie around one value. They lie around two where it is chance or routing which GPUs share a way. Not below
    /// any floor yet.
    pub spread: f64,
    /// Figures.
    pub values: u32,
    /// Nodes that they are from.
    pub nodes: u32,
}

impl Group {
    /// Of one node's figures; `None` without any.
    pub fn of(values: &[f64]) -> Option<Self> {
        let weighed: Vec<(f64, f64)> = values.iter().map(|value| (*value, 1.0)).collect();
        Self::weighed(weighed, u32::try_from(values.len()).unwrap_or(u32::MAX), 1)
    }

    /// Of the summaries of several nodes; each kept figure stands for as many as were measured.
    pub fn of_nodes<'a>(summaries: impl IntoIterator<Item = &'a Summary>) -> Option<Self> {
        let (mut weighed, mut values, mut nodes) = (Vec::new(), 0_u32, 0_u32);
        for summary in summaries {
            let Some(kept) = u32::try_from(summary.figures.len()).ok().filter(|kept| *kept > 0) else {
                continue;
            };
            let weight = f64::from(summary.count) / f64::from(kept);
            weighed.extend(summary.figures.iter().map(|value| (*value, weight)));
            values = values.saturating_add(summary.count);
            nodes = nodes.saturating_add(1);
        }
        Self::weighed(weighed, values, nodes)
    }

    /// Of one figure of each of several nodes, in rising order, all above 0: one pass over them. `None` without any.
    pub fn of_sorted(figures: &[f64]) -> Option<Self> {
        let median = of_sorted(figures, 2, 1)?;
        let third = (median - of_sorted(figures, 3, 1)?) / THIRD;
        let two_thirds = (of_sorted(figures, 3, 2)? - median) / THIRD;
        let mut apart: Vec<f64> = figures.iter().map(|value| (value - median).abs()).collect();
        let middle = apart.len() / 2;
        let is_even = apart.len().is_multiple_of(2);
        let (below, distance, _) = apart.select_nth_unstable_by(middle, f64::total_cmp);
        let below = below.iter().copied().max_by(f64::total_cmp).filter(|_| is_even);
        let distance = f64::midpoint(below.unwrap_or(*distance), *distance);
        let count = u32::try_from(figures.len()).unwrap_or(u32::MAX);
        Some(Self {
            median,
            spread: (1.4826 * distance).max(third).max(two_thirds) / median,
            values: count,
            nodes: count,
        })
    }

    fn weighed(mut figures: Vec<(f64, f64)>, values: u32, nodes: u32) -> Option<Self> {
        figures.retain(|(value, weight)| value.is_finite() && *value > 0.0 && *weight > 0.0);
        let median = quantile(&mut figures, 0.5)?;
        let third = (median - quantile(&mut figures, 1.0 / 3.0)?) / THIRD;
        let two_thirds = (quantile(&mut figures, 2.0 / 3.0)? - median) / THIRD;
        let mut apart: Vec<(f64, f64)> = figures
            .iter()
            .map(|(value, weight)| ((value - median).abs(), *weight))
            .collect();
        Some(Self {
            median,
            spread: (1.4826 * quantile(&mut apart, 0.5)?).max(third).max(two_thirds) / median,
            values,
            nodes,
        })
    }
}

/// Distance of a third of a normal distribution from its middle, in standard deviations.
const THIRD: f64 = 0.4307;

/// The value at `times / parts` of figures in rising order; between two, their mean.
fn of_sorted(figures: &[f64], parts: usize, times: usize) -> Option<f64> {
    let (place, rest) = (figures.len() * times / parts, figures.len() * times % parts);
    let upper = *figures.get(place)?;
    let lower = if rest == 0 {
        figures.get(place.checked_sub(1)?)?
    } else {
        &upper
    };
    Some(f64::midpoint(*lower, upper))
}

/// The value at which this share of the weight is reached; between two, their mean.
fn quantile(figures: &mut [(f64, f64)], share: f64) -> Option<f64> {
    figures.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    let wanted = figures.iter().map(|(_, weight)| weight).sum::<f64>() * share;
    let mut reached = 0.0;
    let mut figures = figures.iter().peekable();
    while let Some((value, weight)) = figures.next() {
        reached += weight;
        // A sum may miss what is wanted by rounding alone.
        if (reached - wanted).abs() <= wanted * 1e-9 {
            return Some(
                figures
                    .peek()
                    .map_or(*value, |(next, _)| f64::midpoint(*value, *next)),
            );
        }
        if reached > wanted {
            return Some(*value);
        }
    }
    None
}
