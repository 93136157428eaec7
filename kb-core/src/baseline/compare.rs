//! One figure beside a group: how far apart they are, and whether that is more than the group itself differs.

use serde::{Deserialize, Serialize};

use super::figure::Figure;
use super::floor::{floor, of_key};
use super::group::Group;

/// From so many spreads on a figure is to be watched. Copy engines over NVLink: 1.5 %.
pub const WATCH_SPREADS: f64 = 5.0;
/// From so many spreads on a figure is low.
const LOW_SPREADS: f64 = 10.0;
/// Figures of one node that make a group.
pub const LEAST_VALUES: u32 = 6;
/// Other nodes that make a group.
pub const LEAST_NODES: u32 = 5;
/// Spread that is assumed of good machines where a reference is from fewer than [`LEAST_NODES`] of them.
const FEW_MACHINES: f64 = 0.03;

/// How a figure stands. It is no verdict, and changes none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// There is nothing to hold it against.
    NotCompared,
    /// Within what the group itself differs, or better.
    Normal,
    /// Worse than the group by more than it differs.
    Watch,
    /// Worse than the group by far more: a bandwidth that is low, a latency that is high.
    Low,
}

/// A figure and a group.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Against {
    /// The group's median, in the series' unit.
    pub median: f64,
    /// By what share of the median figures of the group differ, with its floor.
    pub spread: f64,
    /// Figures of the group.
    pub values: u32,
    /// Nodes that they are from.
    pub nodes: u32,
    /// The figure's distance from the median as a share of it; above 0 it is the larger one.
    pub difference: f64,
    /// What that comes to.
    pub standing: Standing,
}

/// What came of looking for a group.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Compared {
    /// There is one.
    Against(Against),
    /// There is one, and it is too small to tell anything.
    TooFew {
        /// Figures or nodes that there are.
        have: u32,
        /// How many are needed.
        need: u32,
    },
    /// There is none.
    None,
}

impl Compared {
    /// A node's own figures of the series, this one among them.
    pub fn in_node(figure: &Figure, group: Option<Group>) -> Self {
        Self::with(figure, group, |group| (group.values, LEAST_VALUES))
    }

    /// Figures of other nodes.
    pub fn with_peers(figure: &Figure, group: Option<Group>) -> Self {
        Self::with(figure, group, |group| (group.nodes, LEAST_NODES))
    }

    /// Published figures: of few machines they tell little, and no figure is low by them alone.
    pub fn with_reference(figure: &Figure, group: Group) -> Self {
        let least = if group.nodes < LEAST_NODES {
            FEW_MACHINES
        } else {
            0.0
        };
        let mut against = against(figure, group, least.max(floor(figure)));
        against.standing = against.standing.min(Standing::Watch);
        Self::Against(against)
    }

    /// How the figure stands by it.
    pub fn standing(&self) -> Standing {
        match self {
            Self::Against(against) => against.standing,
            Self::TooFew { .. } | Self::None => Standing::NotCompared,
        }
    }

    fn with(figure: &Figure, group: Option<Group>, size: impl Fn(&Group) -> (u32, u32)) -> Self {
        let Some(group) = group else {
            return Self::None;
        };
        let (have, need) = size(&group);
        if have < need {
            return Self::TooFew { have, need };
        }
        Self::Against(against(figure, group, floor(figure)))
    }
}

/// A figure beside the same one of an earlier run. Both have noise, so that the floor counts half as much again.
pub fn earlier(figure: &Figure, before: f64) -> Compared {
    match Group::of(&[before]) {
        Some(group) => Compared::Against(against(figure, group, 1.5 * floor(figure))),
        None => Compared::None,
    }
}

/// By how many spreads the middle of what a node measured is worse than a group of other nodes, below 0 where it is better; `key` is
/// that of the series. None where that cannot be told.
pub fn spreads_worse(key: &str, median: f64, group: Group) -> Option<f64> {
    let (least, higher_is_better) = of_key(key)?;
    let against = value_against((median, higher_is_better), group, least);
    let worse = if higher_is_better {
        -against.difference
    } else {
        against.difference
    };
    Some(worse / against.spread).filter(|spreads| spreads.is_finite())
}

fn against(figure: &Figure, group: Group, least: f64) -> Against {
    value_against((figure.value, figure.series.higher_is_better()), group, least)
}

fn value_against((value, higher_is_better): (f64, bool), group: Group, least: f64) -> Against {
    let difference = value / group.median - 1.0;
    let spread = group.spread.max(least);
    let worse = if higher_is_better { -difference } else { difference };
    // Where the border lies must not depend on the last bit of a division.
    let spreads = worse / spread + 1e-9;
    let standing = match spreads {
        _ if !spreads.is_finite() => Standing::NotCompared,
        LOW_SPREADS.. => Standing::Low,
        WATCH_SPREADS.. => Standing::Watch,
        _ => Standing::Normal,
    };
    Against {
        median: group.median,
        spread,
        values: group.values,
        nodes: group.nodes,
        difference,
        standing,
    }
}
