//! A step of the load: compute kernels and copies of all GPUs at once, and what is compared behind them.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::time::Duration;

use crate::gpu::{Burn, CallError, Flow, Mover, Pace, Pattern, Windows, run};
use crate::worker::inventory::Inventory;
use crate::worker::obey::refuse;
use crate::worker::outcome::failure;
use crate::worker::place::Place;
use crate::worker::protocol::{
    self, Answer, By, FlowKind, FlowOf, LoadOf, LoadStep, LoadedGpu, Took, WrongLoad,
};

use super::conditions::of_gpus;
use super::holdings::pattern;
use super::{BEFORE, Bench, Trouble};

/// Where copies from host memory arrive, in their lengths: behind what another GPU sends, which is at most twice as long.
const FROM_HOST_SLOT: u32 = 2;
/// Where in page-locked memory copies of the GPU's data stand, from which they also go back.
const HOST_SLOT: u32 = 1;

/// What a flow of a step is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Burn,
    FromHost,
    ToHost,
    ToPeer,
}

struct Arrived<'a> {
    gpu: u32,
    from: Option<u32>,
    place: &'a Place,
    window: Windows<'a>,
    pattern: Pattern,
}

impl Bench {
    pub(in crate::worker) fn load_step(
        &mut self,
        step: &LoadStep,
        places: &BTreeMap<u32, Place>,
        inventory: Option<&Inventory>,
    ) -> Answer {
        match self.stepped(step, places, inventory) {
            Ok(answer) => answer,
            Err(Trouble::Call(error)) => Answer::Failed(failure(&error)),
            Err(Trouble::Unprepared(gpu)) => refuse("load a GPU", format!("GPU {gpu} is not prepared")),
        }
    }

    fn stepped(
        &mut self,
        step: &LoadStep,
        places: &BTreeMap<u32, Place>,
        inventory: Option<&Inventory>,
    ) -> Result<Answer, Trouble> {
        let limit = Duration::from_millis(step.limit_ms);
        self.prepare_burns(step, places, limit)?;
        let arrived = self.arrived(step, places)?;
        for of in &arrived {
            of.place.stream.set(of.window, BEFORE)?;
            of.place.stream.wait("cuMemsetD32Async", limit)?;
        }
        let mut parts = Vec::new();
        let mut flows = Vec::new();
        for of in &step.gpus {
            for (part, flow) in self.flows_of(of, step, places)? {
                parts.push((of.gpu, part));
                flows.push(flow);
            }
        }
        let pace = Pace {
            warm_ups: 0,
            first: false,
            gated: true,
            turns: false,
            limit,
        };
        let mut conditions = Vec::new();
        let sample = run(&flows, pace, || {
            if step.sample {
                conditions = of_gpus(step.gpus.iter().map(|of| of.gpu), inventory);
            }
        })?;
        for condition in &mut conditions {
            condition.while_running = sample.running;
        }
        let took = |gpu: u32, part: Part| {
            let number = parts.iter().position(|known| *known == (gpu, part))?;
            Some(Took {
                times: flows.get(number)?.times,
                seconds: sample.each.get(number).copied()?,
            })
        };
        let (mut gpus, mut wrong) = (Vec::new(), Vec::new());
        for of in &step.gpus {
            let took = |part| took(of.gpu, part).unwrap_or_default();
            let burn = self.burns.get(&of.gpu).ok_or(Trouble::Unprepared(of.gpu))?;
            let home = places.get(&of.gpu).ok_or(Trouble::Unprepared(of.gpu))?;
            wrong.extend(checksum(of, burn, home, limit)?);
            gpus.push(LoadedGpu {
                gpu: of.gpu,
                operations: burn.operations(of.rounds),
                launch: took(Part::Burn),
                from_host: took(Part::FromHost),
                to_host: took(Part::ToHost),
                to_peer: took(Part::ToPeer),
                checks: 1,
            });
        }
        for of in &arrived {
            wrong.extend(of.compare()?);
            let mut receivers = gpus.iter_mut();
            if let Some(gpu) = receivers.find(|gpu| gpu.gpu == of.gpu) {
                gpu.checks += 1;
            }
        }
        Ok(Answer::LoadStepped {
            gpus,
            conditions,
            wrong,
        })
    }

    /// The kernel on each GPU, with what it has to come to.
    fn prepare_burns(
        &mut self,
        step: &LoadStep,
        places: &BTreeMap<u32, Place>,
        limit: Duration,
    ) -> Result<(), Trouble> {
        for of in &step.gpus {
            let place = places.get(&of.gpu).ok_or(Trouble::Unprepared(of.gpu))?;
            let burn = match self.burns.entry(of.gpu) {
                Entry::Occupied(there) => there.into_mut(),
                Entry::Vacant(free) => free.insert(Burn::load(&place.context)?),
            };
            burn.prepare(&place.stream, of.rounds, limit)?;
        }
        Ok(())
    }

    fn flows_of<'a>(
        &'a self,
        of: &LoadOf,
        step: &LoadStep,
        places: &'a BTreeMap<u32, Place>,
    ) -> Result<Vec<(Part, Flow<'a>)>, Trouble> {
        let place = places.get(&of.gpu).ok_or(Trouble::Unprepared(of.gpu))?;
        let mut flows = vec![(
            Part::Burn,
            Flow {
                context: &place.context,
                kernels: &self.of(of.gpu)?.kernels,
                mover: Mover::Burn {
                    burn: self.burns.get(&of.gpu).ok_or(Trouble::Unprepared(of.gpu))?,
                },
                times: of.launches,
            },
        )];
        let (own, host) = (
            |slot| protocol::Place::Gpu(of.gpu, slot),
            protocol::Place::Pinned(HOST_SLOT),
        );
        let mut copies = vec![
            (Part::ToHost, own(0), host, step.host_bytes, of.to_host),
            (
                Part::FromHost,
                host,
                own(FROM_HOST_SLOT),
                step.host_bytes,
                of.from_host,
            ),
        ];
        if let Some(peer) = of.peer {
            let to = protocol::Place::Gpu(peer, 0);
            copies.push((Part::ToPeer, own(0), to, step.bytes, of.to_peer));
        }
        for (part, source, destination, bytes, times) in copies.into_iter().filter(|copy| copy.4 > 0) {
            let by = By::CopyEngine;
            let copy = FlowOf {
                initiator: of.gpu,
                kind: FlowKind::Copy {
                    source,
                    destination,
                    by,
                },
                times,
            };
            let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
            flows.push((part, self.flow(&copy, bytes, places)?));
        }
        Ok(flows)
    }

    /// What must stand where when the step has ended.
    fn arrived<'a>(
        &'a self,
        step: &LoadStep,
        places: &'a BTreeMap<u32, Place>,
    ) -> Result<Vec<Arrived<'a>>, Trouble> {
        let [bytes, host_bytes] =
            [step.bytes, step.host_bytes].map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
        let mut arrived = Vec::new();
        let mut add = |gpu: u32, from: Option<u32>, slot: u32, bytes: usize| {
            arrived.push(Arrived {
                gpu,
                from,
                place: places.get(&gpu).ok_or(Trouble::Unprepared(gpu))?,
                window: self.of(gpu)?.window(false, slot, bytes)?,
                pattern: pattern(from.unwrap_or(gpu)),
            });
            Ok::<(), Trouble>(())
        };
        for of in &step.gpus {
            if let Some(peer) = of.peer.filter(|_| of.to_peer > 0) {
                add(peer, Some(of.gpu), 0, bytes)?;
            }
            if step.compare_host && of.from_host > 0 {
                add(of.gpu, None, FROM_HOST_SLOT, host_bytes)?;
            }
        }
        Ok(arrived)
    }
}

/// What is wrong with the checksums of a GPU.
fn checksum(
    of: &LoadOf,
    burn: &Burn,
    place: &Place,
    limit: Duration,
) -> Result<Option<WrongLoad>, CallError> {
    let burnt = burn.results(&place.stream, of.launches, limit)?;
    let message = match (burnt.wrong, burnt.sum_is_right) {
        (None, true) => return Ok(None),
        (Some((threads, block)), _) => {
            format!("{threads} threads came to another checksum, one of them in block {block}")
        }
        (None, false) => "the sum of all checksums is another, and no thread found its own wrong".to_owned(),
    };
    Ok(Some(WrongLoad {
        gpu: of.gpu,
        is_checksum: true,
        message,
    }))
}

impl Arrived<'_> {
    fn compare(&self) -> Result<Option<WrongLoad>, CallError> {
        let found = self.place.compare(&[(self.window, self.pattern)])?;
        let from = self
            .from
            .map_or_else(|| "host memory".to_owned(), |gpu| format!("GPU {gpu}"));
        Ok(found.into_iter().flatten().next().map(|wrong| WrongLoad {
            gpu: self.gpu,
            is_checksum: false,
            message: format!(
                "what came from {from} is wrong: {} words from byte {} on",
                wrong.words,
                self.window.offset_of(wrong.first_word)
            ),
        }))
    }
}
