//! Bandwidths of the collectives as nccl-tests takes them: one process with all GPUs, out of place, 20 of them timed
//! together behind one that warms up.

use std::time::Instant;

use kb_core::report::{Cell, Engine, Gap, GapKind, GpuIndex, Measurement, Operation, Taken};

use crate::probe::bench::SWEEP;
use crate::probe::failure::failure_from;
use crate::probe::progress::{Progress, Step};
use crate::probe::setup::SPENT;
use crate::worker::handle::Stuck;
use crate::worker::protocol::{Collective, NcclMember, NcclRun};

use super::crowd::Crowd;
use super::ranks::{Ran, Stage, Stop, run};

/// Collectives timed together (nccl-tests: `-n`).
const TIMES: u32 = 20;
/// Bytes of the largest collective, unless the operator chooses.
pub(super) const LARGEST: u64 = 512 << 20;
/// A GPU has room for the two buffers of an eighth of its memory each.
const SHARE: u64 = 8;

#[derive(Default)]
pub(super) struct Figures {
    pub(super) measurements: Vec<Measurement>,
    pub(super) wrong: Vec<String>,
    pub(super) said: Vec<String>,
    pub(super) stuck: Vec<Stuck>,
}

fn sizes(wanted: u64, smallest_memory: Option<u64>) -> Vec<u64> {
    let room = smallest_memory.map_or(u64::MAX, |bytes| bytes / SHARE / 4096 * 4096);
    let largest = wanted.min(room);
    let below = SWEEP.into_iter().filter(|size| *size < largest);
    below.chain([largest]).collect()
}

/// Measures all collectives at all sizes, unless `closed` says why not.
pub(super) fn measure(
    stage: &Stage<'_>,
    gpus: &[GpuIndex],
    smallest_memory: Option<u64>,
    closed: Option<Gap>,
    progress: &dyn Progress,
) -> Figures {
    let mut figures = Figures::default();
    let sizes = sizes(stage.chosen.largest(), smallest_memory);
    let largest = sizes.last().copied().unwrap_or(0);
    let mut closed = closed;
    let mut crowd = None;
    if closed.is_none() {
        match start(stage, gpus, largest) {
            Ok(started) => crowd = Some(started),
            Err((started, gap)) => {
                crowd = started;
                closed = Some(gap);
            }
        }
    }
    for (part, collective) in (1..).zip(Collective::ALL) {
        for bytes in &sizes {
            progress.step(Step::Measuring {
                metric: collective.name(),
                bytes: *bytes,
                part,
                of: Collective::ALL.len(),
            });
            let since = Instant::now();
            let taken = match (&closed, &mut crowd) {
                (None, Some(crowd)) => take(stage, crowd, collective, *bytes),
                // One cell tells why there is nothing; the sizes below would repeat it.
                _ if *bytes < largest => continue,
                (closed, _) => Err(closed.clone().unwrap_or_else(nothing)),
            };
            match taken {
                Ok(ran) if ran.wrong.is_empty() => {
                    let (seconds, rounds) = (since.elapsed().as_secs_f64(), 1);
                    let taken = Some(Taken { rounds, seconds });
                    figures.add(collective, *bytes, gpus, &Ok(ran), taken);
                }
                Ok(Ran { wrong, .. }) => {
                    let reason = wrong.join("; ");
                    let kind = GapKind::WrongData;
                    figures.add(collective, *bytes, gpus, &Err(Gap::new(kind, reason)), None);
                    figures.wrong.extend(wrong);
                }
                Err(gap) => {
                    figures.add(collective, *bytes, gpus, &Err(gap.clone()), None);
                    closed = Some(gap);
                }
            }
        }
    }
    if let Some(crowd) = crowd {
        (figures.said, figures.stuck) = crowd.end(closed.is_none());
    }
    figures
}

/// One process with all ranks. Where that fails it comes back with the reason, to be ended.
fn start<'a>(
    stage: &Stage<'a>,
    gpus: &[GpuIndex],
    bytes: u64,
) -> Result<Crowd<'a>, (Option<Crowd<'a>>, Gap)> {
    let mut crowd = match Crowd::start(stage.setup, 1, &stage.environment(true)) {
        Ok(crowd) => crowd,
        Err(trouble) => return Err((None, gap_of(&Stop::Before(trouble)))),
    };
    let ranks = u32::try_from(gpus.len()).unwrap_or(u32::MAX);
    let own = |_| {
        let members = (0..).zip(gpus);
        members
            .map(|(rank, gpu)| NcclMember { rank, gpu: *gpu })
            .collect()
    };
    let joined = stage
        .open(&mut crowd)
        .and_then(|_| stage.join(&mut crowd, ranks, bytes, own));
    match joined {
        Ok(()) => Ok(crowd),
        Err(stop) => {
            let gap = gap_of(&stop);
            Err((Some(crowd), gap))
        }
    }
}

fn take(stage: &Stage<'_>, crowd: &mut Crowd<'_>, collective: Collective, bytes: u64) -> Result<Ran, Gap> {
    if stage.setup.is_spent() {
        return Err(Gap::new(GapKind::Skipped, SPENT.to_owned()));
    }
    let asked = NcclRun {
        collective,
        bytes,
        times: TIMES,
        samples: if stage.chosen.full { 5 } else { 3 },
        limit_ms: stage.setup.limit_ms(),
    };
    run(crowd, asked).map_err(|stop| gap_of(&stop))
}

fn nothing() -> Gap {
    Gap::new(GapKind::Failed, "no process runs".to_owned())
}

fn gap_of(stop: &Stop) -> Gap {
    let (Stop::Before(trouble) | Stop::Nccl(trouble)) = stop;
    Gap::new(GapKind::Failed, failure_from(trouble).message)
}

impl Figures {
    /// Both bandwidths of a collective at a size, under the names that nccl-tests' own output is converted to: a
    /// figure of all GPUs together, kept where the first one's own would be.
    fn add(
        &mut self,
        collective: Collective,
        bytes: u64,
        gpus: &[GpuIndex],
        ran: &Result<Ran, Gap>,
        taken: Option<Taken>,
    ) {
        let ranks = u32::try_from(gpus.len()).unwrap_or(u32::MAX);
        let first = gpus.first().copied();
        let kinds = [("bus", collective.bus_factor(ranks)), ("algorithm", 1.0)];
        for (kind, factor) in kinds {
            let moved = giga(collective.bytes(bytes, ranks)) * factor;
            let rates = |ran: &Ran| ran.seconds.iter().map(|seconds| moved / seconds).collect();
            let mut cell = Cell::new(first, first, ran.as_ref().map(rates).map_err(Gap::clone));
            let conditions = ran.as_ref().map(|ran| ran.conditions.clone());
            cell.conditions = conditions.unwrap_or_default();
            self.measurements.push(Measurement {
                metric: format!("nccl_{}_{kind}_bandwidth", collective.name()),
                unit: "GB/s".to_owned(),
                engine: Engine::Nccl,
                operation: Operation::Other,
                bytes,
                peer_access: None,
                at_once: None,
                // The second bandwidth is the first one in other words.
                taken: taken.filter(|_| kind == "bus"),
                cells: vec![cell],
            });
        }
    }
}

fn giga(bytes: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^53")]
    let bytes = bytes as f64;
    bytes / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_end_with_the_largest_that_fits() {
        assert_eq!(sizes(LARGEST, None), SWEEP);
        assert_eq!(sizes(100 << 10, None), [4 << 10, 64 << 10, 100 << 10]);
        assert_eq!(sizes(LARGEST, Some(8 << 20)), [4 << 10, 64 << 10, 1 << 20]);
    }
}
