//! Whether a later look ends an alarm. It has to have read what told of the fault: what could not be read is not over.

use kb_core::observation::Look;
use kb_core::report::{Bearing, Entry, Health, Nature, Report};
use kb_core::verdict::Verdict;

use super::ends::{leaves_gpus_open, leaves_states_open};
use super::weight::origin;
use crate::store::Origin;

/// Why the look leaves an alarm of this verdict open; `None` where it ends it.
pub(super) fn leaves_alarm_open(alarm: &Report, verdict: Verdict, look: &Report) -> Option<String> {
    if needs_run(alarm, verdict) && !is_run_of_one(look) {
        return Some("no look can see again what told of it, and no run has followed".to_owned());
    }
    if let Some(why) = leaves_gpus_open(alarm, look).or_else(|| leaves_states_open(alarm, look)) {
        return Some(why);
    }
    if let Some(event) = events(alarm).find(|event| !is_closed(event, look)) {
        return Some(format!("{} was not ended by a proof or a person", event.id));
    }
    (verdict > Verdict::Unknown && !is_named(alarm)).then(|| "what told of the fault is not named".to_owned())
}

/// Wrong data, a hang, a kernel log beside a run: no look tells of it again. A failure to get as far as a run is met by each look.
fn needs_run(alarm: &Report, verdict: Verdict) -> bool {
    match origin(alarm) {
        Origin::Look => false,
        Origin::Run => verdict > Verdict::Unknown || alarm.failures.is_empty(),
        Origin::Converted => true,
    }
}

/// One GPU has no pairs, so that no run over it is a proof.
fn is_run_of_one(look: &Report) -> bool {
    origin(look) == Origin::Run && look.gpus.len() == 1
}

/// The events that the node's ledger held open.
fn events(alarm: &Report) -> impl Iterator<Item = &Entry> {
    let open = alarm.health.iter().flat_map(|health| &health.open);
    open.filter(|entry| entry.nature == Nature::Event && entry.bearing >= Bearing::Unknown)
}

/// A ledger that no longer has the event tells that it is over only where it tells why: else it was lost.
fn is_closed(event: &Entry, look: &Report) -> bool {
    let is_later = |at: &str| at >= event.last_at.as_str();
    look.health.as_ref().is_some_and(
        |Health {
             open,
             clears,
             last_proof,
             ..
         }| {
            let is_cleared = || {
                let mut later = clears.iter().filter(|clear| is_later(&clear.at));
                later.any(|clear| clear.entries.contains(&event.id))
            };
            let is_proven = || last_proof.as_ref().is_some_and(|proof| is_later(&proof.at));
            !open.iter().any(|entry| entry.id == event.id) && (is_cleared() || is_proven())
        },
    )
}

/// Whether something in the report tells of its fault that a look can see again, or be seen to have ended.
fn is_named(alarm: &Report) -> bool {
    let has_bad_state = Look::of(alarm).has_bad();
    has_bad_state || events(alarm).next().is_some() || !alarm.absent.is_empty() || !alarm.failures.is_empty()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::domain::correlate::samples::report;

    const CONTEXTS: &str = "contexts";

    fn look(gpus: u32) -> Value {
        let mut look = report(gpus, &[]);
        look["conclusion"]["verdict"] = json!("no_fault_seen");
        look
    }

    fn with_state(mut look: Value, fact: &Value) -> Value {
        look["gpus"][0]["facts"]["remapped_rows.failure"] = fact.clone();
        look
    }

    fn with_event(mut look: Value, open: bool, clears: &Value, last_proof: &Value) -> Value {
        let entry = json!({
            "id": "xid-79@0000:00:01.0", "cause": "xid", "nature": "event", "bearing": "fault", "device": "0000:00:01.0",
            "number": 79, "count": 1, "first_at": "2026-11-20T10:00:00Z", "last_at": "2026-11-20T10:00:00Z", "text": "Xid 79",
        });
        let open = if open { json!([entry]) } else { json!([]) };
        look["health"] = json!({ "verdict": "broken", "open": open, "clears": clears });
        if !last_proof.is_null() {
            look["health"]["last_proof"] = last_proof.clone();
        }
        look
    }

    fn why(alarm: &Value, look: &Value) -> Option<String> {
        let read = |report: &Value| serde_json::from_value::<Report>(report.clone()).unwrap();
        leaves_alarm_open(&read(alarm), Verdict::Broken, &read(look))
    }

    #[test]
    fn a_state_is_over_when_it_is_read_as_good() {
        let of = |value: Value| json!({ "value": value, "source": "test" });
        let alarm = with_state(look(2), &of(json!(true)));
        assert_eq!(why(&alarm, &with_state(look(2), &of(json!(false)))), None);
        let gap = json!({ "source": "test", "gap": { "kind": "failed", "reason": "NVML_ERROR_TIMEOUT" } });
        for unread in [look(2), with_state(look(2), &gap)] {
            assert!(why(&alarm, &unread).unwrap().contains("was not read"));
        }
        let fewer = with_state(look(1), &of(json!(false)));
        assert!(why(&alarm, &fewer).unwrap().contains("is not among its GPUs"));
    }

    #[test]
    fn an_event_is_over_when_the_ledger_tells_why() {
        let (none, never) = (json!([]), Value::Null);
        let alarm = with_event(look(2), true, &none, &never);
        let clear = |at: &str| json!([{ "at": at, "by": "ops", "reason": "new GPU", "entries": ["xid-79@0000:00:01.0"] }]);
        let proof = |at: &str| json!({ "at": at, "verdict": "healthy", "reason": "proven", "report": "r" });
        for (later, is_over) in [
            (look(2), false),
            (with_event(look(2), true, &none, &never), false),
            (with_event(look(2), false, &none, &never), false),
            (
                with_event(look(2), false, &clear("2026-11-20T11:00:00Z"), &never),
                true,
            ),
            (
                with_event(look(2), false, &clear("2026-11-20T09:00:00Z"), &never),
                false,
            ),
            (
                with_event(look(2), false, &none, &proof("2026-11-20T11:00:00Z")),
                true,
            ),
        ] {
            assert_eq!(why(&alarm, &later).is_none(), is_over, "{}", later["health"]);
        }
    }

    #[test]
    fn what_told_of_the_fault_has_to_be_known() {
        assert!(why(&look(2), &look(2)).unwrap().contains("is not named"));
        let mut failed = look(2);
        failed["failures"] =
            json!([{ "step": "cuInit", "code": 999, "code_name": null, "message": "unknown error" }]);
        assert_eq!(why(&failed, &look(2)), None, "a look opens the driver, too");
    }

    #[test]
    fn what_a_run_met_ends_with_a_run() {
        let ran = |mut report: Value| {
            report["parts"] = json!([{ "name": CONTEXTS, "seconds": 1.0 }]);
            report
        };
        let wrong = |mut report: Value| {
            report["failures"] =
                json!([{ "step": "own_memory", "code": null, "code_name": null, "message": "wrong" }]);
            report
        };
        for gpus in [1, 2] {
            let alarm = ran(wrong(look(gpus)));
            assert!(why(&alarm, &look(gpus)).unwrap().contains("no run has followed"));
            assert_eq!(why(&alarm, &ran(look(gpus))).is_none(), gpus == 1);
        }
    }
}
