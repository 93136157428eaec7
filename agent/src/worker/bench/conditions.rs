//! The GPUs of a cell while it is measured.

use std::collections::BTreeSet;

use kb_core::report::Conditions;

use crate::worker::inventory::Inventory;
use crate::worker::protocol::{self, FlowKind, Measure};

pub(super) fn conditions_of(measure: &Measure, inventory: Option<&Inventory>) -> Vec<Conditions> {
    let Some(inventory) = inventory else {
        return Vec::new();
    };
    let mut gpus = BTreeSet::new();
    for flow in &measure.flows {
        gpus.insert(flow.initiator);
        match flow.kind {
            FlowKind::Copy {
                source, destination, ..
            } => {
                let of = |end| match end {
                    protocol::Place::Gpu(gpu, _) => Some(gpu),
                    _ => None,
                };
                gpus.extend([source, destination].into_iter().filter_map(of));
            }
            FlowKind::Chase { owner } => gpus.extend(owner),
        }
    }
    of_gpus(gpus, Some(inventory))
}

pub(super) fn of_gpus(gpus: impl IntoIterator<Item = u32>, inventory: Option<&Inventory>) -> Vec<Conditions> {
    let read = |gpu: u32| {
        Some(Conditions {
            gpu,
            while_running: false,
            facts: inventory?.gpu(gpu)?.conditions(),
        })
    };
    gpus.into_iter().filter_map(read).collect()
}
