//! One question of the bench to the worker, with everything that it needs done first.

use kb_core::report::{Conditions, Gap, GapKind, Outcome};

use crate::probe::session::{Role, Session};
use crate::probe::setup::SPENT;
use crate::probe::trouble::Trouble;
use crate::worker::protocol::{Answer, CheckKind, Command, FlowKind, Measure, Place, Sampled, WrongData};

use super::mode::Mode;

pub(super) struct Measured {
    pub(super) samples: Vec<Sampled>,
    pub(super) conditions: Vec<Conditions>,
    pub(super) wrong: Vec<WrongData>,
}

impl Session<'_> {
    /// Takes samples. `access` are the directions, initiator first, that must be enabled.
    pub(super) fn measure(
        &mut self,
        mode: Mode,
        access: &[(u32, u32)],
        measure: Measure,
    ) -> Result<Measured, Gap> {
        if self.setup.is_spent() {
            return Err(gap(GapKind::Skipped, SPENT));
        }
        if let Some(gap) = &self.no_bench {
            return Err(gap.clone());
        }
        for (initiator, owner) in access.iter().copied() {
            let enabled = self.make_access(initiator, owner);
            enabled.map_err(|reason| gap(GapKind::Failed, &reason))?;
        }
        let what = what_of(&measure);
        self.ready_and_measure(mode, measure).map_err(|trouble| {
            self.unmeasured.note(&what, &trouble, self.cut_short);
            gap_of(&trouble)
        })
    }

    /// Enables access where it is not; an error says why it cannot be.
    pub(in crate::probe) fn make_access(&mut self, initiator: u32, owner: u32) -> Result<(), String> {
        if self.has_access(initiator, owner) {
            return Ok(());
        }
        let enabling = self.check(initiator, owner, CheckKind::EnablePeerAccess, 0);
        if enabling.outcome == Outcome::Pass {
            return Ok(());
        }
        let reason = enabling.reason;
        Err(reason.unwrap_or_else(|| "access could not be enabled".to_owned()))
    }

    /// Has the worker take the bench's memory and kernels on a GPU, unless they are there.
    pub(in crate::probe) fn make_bench_ready(&mut self, mode: Mode, gpu: u32) -> Result<(), Trouble> {
        self.make_ready(Role::Worker, gpu)?;
        if self.live().is_some_and(|live| live.benched.contains(&gpu)) {
            return Ok(());
        }
        let command = Command::PrepareBench {
            gpu,
            bytes: mode.bytes,
            pinned_bytes: mode.pinned_bytes,
            pageable_bytes: mode.pageable_bytes,
            cpus: self.cpus_near(gpu),
            limit_ms: self.setup.limit_ms(),
        };
        let prepared = match self.ask(Role::Worker, &command, 1) {
            Ok(Answer::BenchPrepared { elsewhere }) => {
                self.host_memory.insert(gpu, elsewhere);
                Ok(())
            }
            Ok(other) => Err(self.unexpected(Role::Worker, other)),
            Err(trouble) => Err(trouble),
        };
        if let Err(trouble) = &prepared
            && matches!(trouble, Trouble::Worker(_))
        {
            self.no_bench = Some(gap_of(trouble));
        }
        prepared?;
        if let Some(live) = self.live() {
            live.benched.insert(gpu);
        }
        Ok(())
    }

    fn ready_and_measure(&mut self, mode: Mode, measure: Measure) -> Result<Measured, Trouble> {
        for gpu in gpus_of(&measure) {
            self.make_bench_ready(mode, gpu)?;
        }
        // Each sample has a step's time.
        let factor = measure.samples.max(1);
        match self.ask(Role::Worker, &Command::Measure(measure), factor)? {
            Answer::Measured {
                samples,
                conditions,
                wrong,
            } => Ok(Measured {
                samples,
                conditions,
                wrong,
            }),
            other => Err(self.unexpected(Role::Worker, other)),
        }
    }
}

fn gap_of(trouble: &Trouble) -> Gap {
    match trouble {
        Trouble::Call(failure) => gap(GapKind::Failed, &failure.message),
        Trouble::Worker(fault) => gap(GapKind::Failed, &fault.to_string()),
    }
}

fn gap(kind: GapKind, reason: &str) -> Gap {
    Gap::new(kind, reason)
}

/// `a figure of GPU 0, GPU 1`.
fn what_of(measure: &Measure) -> String {
    let gpus = gpus_of(measure);
    let gpus: Vec<String> = gpus.iter().map(|gpu| format!("GPU {gpu}")).collect();
    format!("a figure of {}", gpus.join(", "))
}

fn gpus_of(measure: &Measure) -> std::collections::BTreeSet<u32> {
    let of = |place: Place| match place {
        Place::Gpu(gpu, _) => Some(gpu),
        Place::Pinned(_) | Place::Pageable => None,
    };
    let gpus = measure.flows.iter().flat_map(|flow| {
        let ends = match flow.kind {
            FlowKind::Copy {
                source, destination, ..
            } => [of(source), of(destination)],
            FlowKind::Chase { owner } => [owner, None],
        };
        ends.into_iter().flatten().chain([flow.initiator])
    });
    gpus.collect()
}
