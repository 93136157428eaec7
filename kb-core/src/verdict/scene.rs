//! A report and the telling lines of its kernel log, read once for all pairs.

use super::kernel_log::{Line, lines};
use crate::report::{Check, Direction, Outcome, Pair, Report};

pub(super) struct Scene<'a> {
    pub(super) report: &'a Report,
    pub(super) lines: Vec<Line<'a>>,
}

impl<'a> Scene<'a> {
    pub(super) fn of(report: &'a Report) -> Self {
        Self {
            report,
            lines: lines(report),
        }
    }
}

/// Wrong, or without an end; a refusal that the driver had announced is neither.
pub(super) fn failing(direction: &Direction, check: &Check) -> bool {
    let announced = check.rung == 2 && direction.can_access_peer.value != Some(true);
    matches!(check.outcome, Outcome::Fail | Outcome::Hang) && !announced
}

pub(super) fn fails(pair: &Pair) -> bool {
    let checks_of = |direction: &Direction| direction.checks.iter().any(|check| failing(direction, check));
    pair.directions.iter().any(checks_of)
}
