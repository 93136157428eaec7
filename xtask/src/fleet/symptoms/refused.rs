//! Faults that the checks show: refusals, and writes that do not arrive.

use kb_core::report::{
    Cell, Check, Direction, Fact, Gap, GapKind, Mismatch, Outcome, P2pStatus, Pair, Report,
};

use super::super::boards::Board;
use super::super::faults::Fault;

const REFUSED: (i32, &str) = (217, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED");

/// The first check of the rung ends so, and what stands behind it is left out.
fn ends(direction: &mut Direction, rung: u8, end: impl Fn(&mut Check)) {
    let mut behind = direction.checks.iter_mut().skip_while(|check| check.rung < rung);
    let Some(first) = behind.next() else { return };
    end(first);
    let reason = format!("{} did not pass", first.name);
    for check in behind {
        check.outcome = Outcome::Skipped;
        check.reason = Some(reason.clone());
    }
}

/// A pair that was not proven is not measured, but for copies that the host stages.
fn unmeasured(report: &mut Report, concerns: impl Fn(u32, u32) -> bool, reason: &str) {
    let measurements = report.measurements.iter_mut();
    for measurement in measurements.filter(|measurement| measurement.peer_access == Some(true)) {
        for cell in &mut measurement.cells {
            let ends = cell.source.zip(cell.destination);
            if ends.is_some_and(|(a, b)| concerns(a, b)) {
                *cell = Cell::new(
                    cell.source,
                    cell.destination,
                    Err(Gap::new(GapKind::Skipped, reason)),
                );
            }
        }
    }
}

pub(super) fn dropped_writes(report: &mut Report, fault: &Fault) {
    for pair in report
        .pairs
        .iter_mut()
        .filter(|pair| fault.is_between(pair.a, pair.b))
    {
        for direction in &mut pair.directions {
            ends(direction, 3, |check| {
                check.outcome = Outcome::Fail;
                check.reason = Some("the owner finds none of the data that was written".to_owned());
                check.mismatch = Some(Mismatch {
                    first_offset: 0,
                    words: check.bytes / 4,
                    in_guard: false,
                    untouched: true,
                    writer_sees_it: Some(false),
                });
            });
        }
    }
    unmeasured(report, |a, b| fault.is_between(a, b), "the pair is not proven");
}

fn refuse(pair: &mut Pair, say: impl Fn(&mut Direction)) {
    for direction in &mut pair.directions {
        direction.can_access_peer = Fact::read(false, "cuDeviceCanAccessPeer");
        let attribute = Fact::read(0, "cuDeviceGetP2PAttribute");
        for name in [
            "access_supported",
            "native_atomic_supported",
            "cuda_array_access_supported",
        ] {
            direction
                .cuda_attributes
                .insert(name.to_owned(), attribute.clone());
        }
        say(direction);
        ends(direction, 2, |check| {
            check.outcome = Outcome::Fail;
            check.call = Some("cuCtxEnablePeerAccess".to_owned());
            check.code = Some(REFUSED.0);
            check.code_name = Some(REFUSED.1.to_owned());
            check.reason = Some(format!("cuCtxEnablePeerAccess returned {}", REFUSED.1));
        });
    }
}

fn refuse_all(report: &mut Report, status: P2pStatus, with_nvlink: bool) {
    let told = || Fact::read(status, "nvmlDeviceGetP2PStatus");
    for pair in &mut report.pairs {
        refuse(pair, |direction| {
            direction.nvml.read = told();
            direction.nvml.write = told();
            direction.nvml.atomics = told();
            direction.nvml.pci = told();
            if with_nvlink {
                direction.nvml.nvlink = told();
            }
        });
    }
    unmeasured(report, |_, _| true, "the driver refuses peer access");
}

pub(super) fn gns(report: &mut Report, board: Board) {
    refuse_all(report, P2pStatus::Gns, board.has_nvlink());
}

/// A driver that knows no path any more.
pub(super) fn not_supported(report: &mut Report) {
    refuse_all(report, P2pStatus::Ns, true);
}

/// The bridges do not forward between their ports.
pub(super) fn chipset(report: &mut Report) {
    refuse_all(report, P2pStatus::Cns, false);
}
