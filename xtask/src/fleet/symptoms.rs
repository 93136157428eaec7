//! How each fault looks in a report: facts, checks, figures, lines of the kernel log.

mod measured;
mod refused;
mod seen;

use kb_core::report::Report;

use super::boards::Board;
use super::faults::{Fault, Kind, Regression};
use super::plan::DAYS;
use crate::random::Random;

/// When a report is made.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    pub(super) day: usize,
    /// A look works no GPU.
    pub(super) is_look: bool,
}

/// Changes the report, and gives the lines of the kernel log that are new since the report before.
pub(super) fn apply(
    fault: &Fault,
    board: Board,
    report: &mut Report,
    moment: Moment,
    random: &mut Random,
) -> Vec<String> {
    let is_first = moment.day == fault.onset && !moment.is_look;
    match fault.kind {
        Kind::SlowPair => measured::slow_pair(report, fault),
        Kind::HalfLinks => measured::half_links(report, fault),
        Kind::DroppedWrites => refused::dropped_writes(report, fault),
        Kind::GnsRefusal => refused::gns(report, board),
        Kind::DriverRegression if fault.regression == Regression::Refuses => refused::not_supported(report),
        Kind::DriverRegression => measured::regression(report, fault),
        Kind::AcsAfterBios => {
            seen::acs(report);
            if fault.refuses {
                refused::chipset(report);
            } else {
                measured::through_the_root(report, fault);
            }
        }
        Kind::ThermalDrift => {
            let days = u32::try_from(DAYS - fault.onset).map_or(1.0, f64::from);
            let so_far = u32::try_from(moment.day - fault.onset + 1).map_or(1.0, f64::from);
            let share = 1.0 - (1.0 - fault.share) * so_far / days;
            seen::heat(report, fault, so_far / days, moment);
            measured::slow_kernels(report, fault, share);
        }
        Kind::LostGpu => return seen::lost(report, fault, is_first),
        Kind::FlappingNic => return seen::flapping(report, random),
        Kind::RemapFailed => return seen::remap_failed(report, fault, is_first),
    }
    Vec::new()
}
