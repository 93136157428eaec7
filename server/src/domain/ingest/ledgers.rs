//! The ledgers of two reports beside each other: whether the later one shows the end of what the earlier one held open. Each may hold
//! thousands of entries, so that what is asked for each entry is worked out once.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use kb_core::health::{LedgerSince, is_after, needs_admission};
use kb_core::report::{Entry, Order, Proof, Report};
use kb_core::verdict::Verdict;

use super::devices::Devices;
use super::gone::all_exchanged;

pub(super) struct Ledgers<'r> {
    pub(super) earlier: &'r Report,
    pub(super) later: &'r Report,
    since: LedgerSince<'r>,
    /// Cause and device of what was cleared since, once somebody asks.
    cleared: OnceCell<BTreeSet<(&'r str, &'r str)>>,
    devices: OnceCell<Devices>,
    are_exchanged: OnceCell<bool>,
}

impl<'r> Ledgers<'r> {
    pub(super) fn of(earlier: &'r Report, later: &'r Report) -> Self {
        Self {
            earlier,
            later,
            since: LedgerSince::of(earlier, later),
            cleared: OnceCell::new(),
            devices: OnceCell::new(),
            are_exchanged: OnceCell::new(),
        }
    }

    /// Whether the later ledger says why the event is no longer open: a clear or a proof that is new since then. If it says nothing, the
    /// ledger may have been lost.
    pub(super) fn is_closed(&self, event: &Entry) -> bool {
        if self.earlier.health.is_none() || self.later.health.is_none() || self.since.has_open(&event.id) {
            return false;
        }
        self.since.is_cleared(event) || (!needs_admission(event) && self.is_proven(event))
    }

    /// Whether the later ledger has a new proof that ended the event.
    fn is_proven(&self, event: &Entry) -> bool {
        let last = |report: &'r Report| report.health.as_ref()?.last_proof.as_ref();
        let Some(proof) = last(self.later) else {
            return false;
        };
        let is_of_another_boot = match (&proof.boot_id, &event.boot_id) {
            (Some(of_proof), Some(of_event)) => of_proof != of_event,
            _ => true,
        };
        proof.verdict <= Verdict::Degraded
            && last(self.earlier) != Some(proof)
            && is_after((&proof.at, proof.order.as_ref()), event)
            && is_of_another_boot
            && self.is_of_node(proof, event)
    }

    /// Where all GPUs are others, it may be another machine, and its proof another ledger's.
    fn is_of_node(&self, proof: &Proof, event: &Entry) -> bool {
        let same = |of_proof: &Order, of_event: &Order| of_proof.ledger == of_event.ledger;
        let orders = proof.order.as_ref().zip(event.order.as_ref());
        orders.is_some_and(|(of_proof, of_event)| same(of_proof, of_event)) || !self.are_exchanged()
    }

    /// Whether the later report read the state again, good or bad, or says why it is not there to be read.
    pub(super) fn is_read_again(&self, state: &Entry) -> bool {
        let devices = self.devices();
        let now = devices.now(&state.device);
        devices.has_read(&state.cause, now) || self.since.is_cleared(state) || devices.is_gone(now)
    }

    /// Whether an entry of this cause and device was cleared since.
    pub(super) fn is_cleared(&self, cause: &str, device: &str) -> bool {
        let cleared = self.cleared.get_or_init(|| {
            let open = self.earlier.health.iter().flat_map(|health| &health.open);
            let cleared = open.filter(|entry| self.since.is_cleared(entry));
            let named = cleared.map(|entry| (entry.cause.as_str(), entry.device.as_str()));
            named.collect()
        });
        cleared.contains(&(cause, device))
    }

    pub(super) fn devices(&self) -> &Devices {
        self.devices.get_or_init(|| Devices::of(self.earlier, self.later))
    }

    /// Whether none of the earlier report's GPUs is in the node any more.
    pub(super) fn are_exchanged(&self) -> bool {
        *self
            .are_exchanged
            .get_or_init(|| all_exchanged(self.earlier, self.later))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use kb_core::report::Bearing;
    use serde_json::{Value, json};

    use super::*;
    use crate::domain::correlate::samples::report;
    use crate::domain::ingest::of_ledger::{events, states};
    use crate::domain::work_time::spent;

    const ENTRIES: usize = 20_000;

    fn read(report: &Value) -> Report {
        serde_json::from_value(report.clone()).unwrap()
    }

    fn entry(number: usize, (nature, cause): (&str, &str)) -> Value {
        json!({
            "id": format!("the same long name of an entry {number}"), "cause": cause, "nature": nature, "bearing": "warning",
            "device": format!("0000:00:{number}"), "count": 1, "text": "",
            "first_at": "2026-11-21T06:00:00Z", "last_at": "2026-11-21T06:00:00Z",
        })
    }

    /// A ledger of this kind of entries, and one that has others open, and a clear of each.
    fn ledgers(kind: (&str, &str)) -> (Report, Report) {
        let open: Vec<Value> = (0..ENTRIES).map(|number| entry(number, kind)).collect();
        let others: Vec<Value> = (ENTRIES..2 * ENTRIES).map(|number| entry(number, kind)).collect();
        let ids: Vec<&Value> = open.iter().map(|entry| &entry["id"]).collect();
        let clear = |minute: usize, entries: &[&Value]| json!({ "at": format!("2026-11-21T06:{minute:02}:00Z"), "by": "ops", "reason": "new GPU", "entries": entries });
        let clears: Vec<Value> = (1..6).map(|minute| clear(minute, &ids)).collect();
        let (mut earlier, mut later) = (report(2, &[]), report(2, &[]));
        earlier["health"] = json!({ "verdict": "degraded", "open": open });
        later["health"] = json!({ "verdict": "degraded", "open": others, "clears": clears });
        (read(&earlier), read(&later))
    }

    #[test]
    fn the_work_grows_with_two_ledgers_and_not_with_their_product() {
        let (earlier, later) = ledgers(("event", "kernel_message"));
        let began = spent();
        let ledgers = Ledgers::of(&earlier, &later);
        assert!(events(&earlier, Bearing::Warning).all(|event| ledgers.is_closed(event)));
        // Gone through for each other, it is more than a hundred times as much.
        let took = spent().saturating_sub(began);
        assert!(took < Duration::from_secs(4), "{took:?}");
    }

    #[test]
    fn states_are_held_against_a_report_that_is_read_once() {
        let (earlier, mut later) = ledgers(("state", "throttled"));
        later.health.as_mut().unwrap().clears.clear();
        let began = spent();
        let ledgers = Ledgers::of(&earlier, &later);
        let (mut read_again, mut cleared) = (0, 0);
        for state in states(&earlier) {
            read_again += usize::from(ledgers.is_read_again(state));
            cleared += usize::from(ledgers.is_cleared(&state.cause, &state.device));
        }
        assert_eq!((read_again, cleared), (0, 0));
        let took = spent().saturating_sub(began);
        assert!(took < Duration::from_secs(2), "{took:?}");
    }
}
