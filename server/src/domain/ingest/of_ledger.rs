//! What the node's ledger holds open in a report, apart from what the run itself tells, and whether a later report shows its end.

use kb_core::health::{is_after, is_cleared_since, needs_admission};
use kb_core::observation::{Look, canonical, cause};
use kb_core::policy::Policy;
use kb_core::report::{Bearing, Entry, Nature, Order, Proof, Report};
use kb_core::verdict::Verdict;

use super::claim;
use super::ends::place_now;
use super::gone::{all_exchanged, is_as_many_as_expected};
use super::weight::weigh;
use crate::store::Weight;

/// The device of an entry that is about the whole node.
const NODE: &str = "node";

/// The events that the ledger held open, as far as they mean so much.
pub(super) fn events(report: &Report, least: Bearing) -> impl Iterator<Item = &Entry> {
    entries(report, Nature::Event).filter(move |entry| entry.bearing >= least)
}

/// The states that the ledger held open, each of a device. Others than this version knows cannot be read again.
pub(super) fn states(report: &Report) -> impl Iterator<Item = &Entry> {
    let states = entries(report, Nature::State);
    states.filter(|entry| entry.device != NODE && cause::watched(&entry.cause).is_some())
}

fn entries(report: &Report, nature: Nature) -> impl Iterator<Item = &Entry> {
    let open = report.health.iter().flat_map(|health| &health.open);
    open.filter(move |entry| entry.nature == nature)
}

/// Whether nothing but what the ledger holds open speaks against the node: the run itself was good, or could not tell. That ends as it ends
/// for the ledger, whichever report told it.
pub(super) fn is_of_ledger(report: &Report, policy: &Policy) -> bool {
    let Some(health) = &report.health else {
        return false;
    };
    // What the site's policy passes over was open by the records.
    let counts = |entry: &Entry| entry.bearing >= Bearing::Warning || entry.by_policy.is_some();
    if !health.open.iter().any(counts) {
        return false;
    }
    let mut alone = report.clone();
    if let Some(health) = &mut alone.health {
        health.open.clear();
        health.verdict = Verdict::NoFaultSeen;
    }
    alone.conclusion.exit_code = alone.conclusion.verdict.exit_code();
    let claim = claim::told(&alone, policy);
    match weigh(&alone, &claim) {
        Weight::Look => true,
        Weight::Alarm => false,
        Weight::Proof => claim.verdict < Verdict::Degraded,
    }
}

/// Whether the later ledger says why the event is no longer open: a clear or a proof that is new since then. If it says nothing, the
/// ledger may have been lost.
pub(super) fn is_closed(event: &Entry, earlier: &Report, later: &Report) -> bool {
    let (Some(then), Some(now)) = (&earlier.health, &later.health) else {
        return false;
    };
    let proves = |proof: &Proof| {
        let is_after = is_after((&proof.at, proof.order.as_ref()), event);
        let is_of_another_boot = match (&proof.boot_id, &event.boot_id) {
            (Some(of_proof), Some(of_event)) => of_proof != of_event,
            _ => true,
        };
        let is_new = then.last_proof.as_ref() != Some(proof);
        proof.verdict <= Verdict::Degraded && is_new && is_after && is_of_another_boot
    };
    // Where all GPUs are others, it may be another machine, and its proof another ledger's.
    let is_known = |proof: &Proof| {
        let same = |of_proof: &Order, of_event: &Order| of_proof.ledger == of_event.ledger;
        let orders = proof.order.as_ref().zip(event.order.as_ref());
        orders.is_some_and(|(of_proof, of_event)| same(of_proof, of_event)) || !all_exchanged(earlier, later)
    };
    let last = now.last_proof.as_ref();
    let is_proven = || !needs_admission(event) && last.is_some_and(|last| proves(last) && is_known(last));
    !now.open.iter().any(|entry| entry.id == event.id)
        && (is_cleared_since(event, earlier, later) || is_proven())
}

/// Whether the later report read the state again, good or bad, or says why it is not there to be read.
pub(super) fn is_read_again(state: &Entry, earlier: &Report, later: &Report) -> bool {
    let now = place_now(&state.device, earlier, later);
    let is_there = || {
        let mut addresses = later
            .gpus
            .iter()
            .filter_map(|gpu| gpu.pci_address.value.as_deref());
        addresses.any(|address| canonical(address) == now)
    };
    Look::of(later).has_read(&state.cause, &now)
        || is_cleared_since(state, earlier, later)
        || (is_as_many_as_expected(later) && !is_there())
}
