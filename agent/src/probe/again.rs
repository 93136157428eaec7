//! The second reading of the GPUs, when the last check is done and the worker still holds its contexts.

use std::collections::BTreeSet;

use kb_core::report::{Gpu, Outcome, Pair};

use crate::worker::inventory::during;

use super::failure::failure_from;
use super::session::Session;

/// Lowest rung of the ladder that moves data.
const FIRST_COPIES: u8 = 3;

pub(super) fn read(session: &mut Session<'_>, gpus: &mut [Gpu], pairs: &[Pair]) {
    let addresses = gpus.iter().map(|gpu| gpu.pci_address.value.clone()).collect();
    let reading = session.read_again(addresses);
    let reading = reading.map_err(|trouble| failure_from(&trouble).message);
    let busy = copied(pairs);
    during::close(gpus, &reading, |gpu| busy.contains(&gpu));
}

fn copied(pairs: &[Pair]) -> BTreeSet<usize> {
    let moved = |pair: &&Pair| {
        let mut checks = pair.directions.iter().flat_map(|direction| &direction.checks);
        checks.any(|check| check.rung >= FIRST_COPIES && check.outcome == Outcome::Pass)
    };
    let both = |pair: &Pair| [pair.a, pair.b];
    let indexes = pairs.iter().filter(moved).flat_map(both);
    indexes.filter_map(|index| usize::try_from(index).ok()).collect()
}
