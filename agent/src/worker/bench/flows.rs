//! From the places that a question names to memory and streams.

use std::collections::BTreeMap;

use crate::gpu::{Area, Flow, Mover};
use crate::worker::place::Place;
use crate::worker::protocol::{self, By, FlowKind, FlowOf};

use super::holdings::outside;
use super::{Bench, Trouble};

impl Bench {
    pub(super) fn flow<'a>(
        &'a self,
        flow: &FlowOf,
        bytes: usize,
        places: &'a BTreeMap<u32, Place>,
    ) -> Result<Flow<'a>, Trouble> {
        let initiator = self.of(flow.initiator)?;
        let place = places
            .get(&flow.initiator)
            .ok_or(Trouble::Unprepared(flow.initiator))?;
        let area =
            |end: protocol::Place, outgoing: bool| self.area(flow.initiator, end, outgoing, bytes, places);
        let mover = match flow.kind {
            FlowKind::Copy {
                source,
                destination,
                by,
            } => {
                let (to, from) = (area(destination, false)?, area(source, true)?);
                match by {
                    By::CopyEngine => Mover::CopyEngine { to, from },
                    By::Contexts => Mover::BetweenContexts { to, from },
                    By::Kernel => Mover::Kernel { to, from },
                }
            }
            FlowKind::Chase { owner: Some(owner) } => Mover::Chase {
                ring: &self.of(owner)?.ring,
            },
            FlowKind::Chase { owner: None } => Mover::Chase {
                ring: &initiator.host_ring,
            },
        };
        Ok(Flow {
            context: &place.context,
            kernels: &initiator.kernels,
            mover,
            times: flow.times,
        })
    }

    fn area<'a>(
        &'a self,
        initiator: u32,
        end: protocol::Place,
        outgoing: bool,
        bytes: usize,
        places: &'a BTreeMap<u32, Place>,
    ) -> Result<Area<'a>, Trouble> {
        match end {
            protocol::Place::Gpu(gpu, slot) => {
                let place = places.get(&gpu).ok_or(Trouble::Unprepared(gpu))?;
                let window = self.of(gpu)?.window(outgoing, slot, bytes)?;
                Ok(Area::of_gpu(&place.context, window))
            }
            protocol::Place::Pinned(slot) => {
                let offset = (slot as usize).saturating_mul(bytes);
                let area = self.of(initiator)?.pinned.area().part(offset, bytes);
                area.ok_or_else(|| outside().into())
            }
            protocol::Place::Pageable => {
                let area = self.of(initiator)?.pageable.area().part(0, bytes);
                area.ok_or_else(|| outside().into())
            }
        }
    }
}
