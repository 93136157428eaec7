//! Quick timing of copies with and without peer access, for the verdict: is access worth having, and is one pair or
//! one direction slower than the others. It is no benchmark and is never printed as one.

use std::time::{Duration, Instant};

use kb_core::report::{Cell, Engine, Gap, GapKind, Measurement, Operation, Outcome};

use crate::worker::protocol::{Answer, CheckKind, Command};

use super::session::{Role, Session};
use super::setup::SPENT;
use super::trouble::Trouble;

/// Bytes of a copy; four times a check's data where that is less, which is so in tests.
const BYTES: u64 = 16 << 20;
/// Copies that count, behind one that warms up.
const SAMPLES: u32 = 3;
/// What all copies of a run may take.
const BUDGET: Duration = Duration::from_secs(3);

pub(super) struct Timings {
    bytes: u64,
    spent: Duration,
    /// By way of the host: before access is enabled.
    staged: Vec<Cell>,
    direct: Vec<Cell>,
}

impl Timings {
    pub(super) fn new(check_bytes: u64) -> Self {
        Self {
            bytes: BYTES.min(check_bytes.saturating_mul(4)),
            spent: Duration::ZERO,
            staged: Vec::new(),
            direct: Vec::new(),
        }
    }

    /// Times copies that `source` pushes. `direct` says whether access is enabled by now; `skip` why not to.
    pub(super) fn take(
        &mut self,
        session: &mut Session<'_>,
        (source, destination): (u32, u32),
        direct: bool,
        skip: Option<&str>,
    ) {
        let start = Instant::now();
        let samples = match skip {
            Some(reason) => Err((GapKind::Skipped, reason.to_owned())),
            None if session.setup.is_spent() => Err((GapKind::Skipped, SPENT.to_owned())),
            None if self.spent > BUDGET => Err((
                GapKind::Skipped,
                format!("the {} s set aside for timing were spent", BUDGET.as_secs()),
            )),
            None => session
                .time((source, destination), direct, self.bytes, SAMPLES)
                .map_err(|reason| (GapKind::Failed, reason)),
        };
        self.spent += start.elapsed();
        let samples = samples
            .map(|seconds| seconds.into_iter().map(|s| rate(self.bytes, s)).collect())
            .map_err(|(kind, reason)| Gap::new(kind, reason));
        let cells = if direct {
            &mut self.direct
        } else {
            &mut self.staged
        };
        cells.push(Cell::new(Some(source), Some(destination), samples));
    }

    /// For the report; empty where there was no pair.
    pub(super) fn into_measurements(self) -> Vec<Measurement> {
        let bytes = self.bytes;
        let arms = [(false, self.staged), (true, self.direct)];
        let taken = arms.into_iter().filter(|(_, cells)| !cells.is_empty());
        taken
            .map(|(peer_access, cells)| Measurement {
                metric: "d2d_bandwidth".to_owned(),
                unit: "GB/s".to_owned(),
                engine: Engine::Ce,
                operation: Operation::Push,
                bytes,
                peer_access: Some(peer_access),
                at_once: None,
                taken: None,
                cells,
            })
            .collect()
    }
}

/// GB/s, 1e9 bytes a second.
pub(super) fn rate(bytes: u64, seconds: f64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
    let bytes = bytes as f64;
    // A clock too coarse for the copy must not make an infinite rate, which JSON cannot hold.
    bytes / seconds.max(1e-9) / 1e9
}

impl Session<'_> {
    /// Seconds of each copy, or why there are none. The driver takes whichever way is open without saying which, so
    /// the way is made sure of first: a worker that took another one's place has no access enabled.
    fn time(
        &mut self,
        (source, destination): (u32, u32),
        direct: bool,
        bytes: u64,
        samples: u32,
    ) -> Result<Vec<f64>, String> {
        if self.has_access(source, destination) != direct {
            if !direct {
                return Err("access is enabled already, so no copy is staged".to_owned());
            }
            let enabling = self.check(source, destination, CheckKind::EnablePeerAccess, 0);
            if enabling.outcome != Outcome::Pass {
                return Err(enabling
                    .reason
                    .unwrap_or_else(|| "access could not be enabled".to_owned()));
            }
        }
        let mut timed = || {
            for gpu in [source, destination] {
                self.make_ready(Role::Worker, gpu)?;
            }
            let command = Command::Time {
                source,
                destination,
                bytes,
                samples,
                limit_ms: self.setup.limit_ms(),
            };
            let timed = match self.ask(Role::Worker, &command, 1) {
                Ok(Answer::Timed { seconds }) => Ok(seconds),
                Ok(other) => Err(self.unexpected(Role::Worker, other)),
                Err(trouble) => Err(trouble),
            };
            if let Err(trouble) = &timed {
                let what = format!("a copy from GPU {source} to GPU {destination}");
                self.unmeasured.note(&what, trouble, self.cut_short);
            }
            timed
        };
        timed().map_err(|trouble| match trouble {
            Trouble::Call(failure) => failure.message,
            Trouble::Worker(fault) => fault.to_string(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_decimal_gigabytes_and_finite() {
        assert!((rate(16_000_000, 0.001) - 16.0).abs() < 1e-9);
        assert!(rate(1 << 24, 0.0).is_finite());
    }

    #[test]
    fn small_checks_have_small_copies() {
        assert_eq!(Timings::new(4 << 20).bytes, 16 << 20);
        assert_eq!(Timings::new(4 << 10).bytes, 16 << 10);
        assert_eq!(Timings::new(u64::MAX).bytes, 16 << 20);
    }
}
