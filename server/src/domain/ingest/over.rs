//! Whether a later look ends an alarm. It does when it has read again, as good, everything that the alarm told of; what it could not
//! read stays open.

use kb_core::observation::Look;
use kb_core::policy::Policy;
use kb_core::report::{Bearing, Pair, Report};
use kb_core::verdict::{Verdict, contradiction_by};

use super::ends::leaves_states_open;
use super::gone::leaves_gpus_open;
use super::ledgers::Ledgers;
use super::load::leaves_load_open;
use super::log_read::{is_told_by_kernel, unended_event};
use super::of_ledger::{events, is_of_ledger, states};
use super::seen_again::leaves_warning_open;
use super::warned::Warned;
use super::weight::origin;
use crate::store::Origin;

/// Why the look leaves an alarm of this verdict and of causes with these names open; `None` where it ends it. `proof`: the run that the
/// look's ledger names as its last proof, where it is kept.
pub(super) fn leaves_alarm_open(
    alarm: &Report,
    (verdict, causes, proof): (Verdict, &[String], Option<&Report>),
    look: &Report,
    policy: &Policy,
) -> Option<String> {
    let is_run_of_one = is_run_of_one(look) && alarm.gpus.len() <= 1;
    if needs_run(alarm, verdict) && !is_run_of_one && !is_of_ledger(alarm, causes, policy) {
        return Some("no look can see again what told of it, and no run has followed".to_owned());
    }
    let ledgers = Ledgers::of(alarm, look);
    // What was only warned of leaves the node with its part; a fault of a part that is gone is for a person to see.
    let is_warning = verdict == Verdict::Degraded;
    let is_gone_with_its_part = is_warning && ledgers.are_exchanged();
    let read_again = leaves_gpus_open(alarm, look)
        .filter(|_| !is_gone_with_its_part)
        .or_else(|| leaves_load_open(alarm, look))
        .or_else(|| leaves_states_open(alarm, look))
        .or_else(|| leaves_warning_open(alarm, look, policy).filter(|_| is_warning));
    if let Some(why) = read_again {
        return Some(why);
    }
    if let Some(pair) = refused(alarm).find(|pair| !is_granted(pair, look)) {
        let (a, b) = (pair.a, pair.b);
        return Some(format!(
            "access of GPU {a} and GPU {b}, which was refused, is neither granted nor expected to be refused"
        ));
    }
    let least = if is_warning {
        Bearing::Warning
    } else {
        Bearing::Unknown
    };
    if let Some(event) = events(alarm, least).find(|event| !ledgers.is_closed(event)) {
        return Some(format!("{} was not ended by a run or a person", event.id));
    }
    let mut faults = states(alarm).filter(|state| state.bearing >= Bearing::Unknown);
    if let Some(state) = faults.find(|state| !ledgers.is_read_again(state)) {
        return Some(format!("{}, which was open then, was not read", state.id));
    }
    let is_in_log = origin(alarm) == Origin::Look && is_told_by_kernel(causes);
    // What a look tells by its kernel log alone, the report itself says nothing of.
    let says_nothing = alarm.conclusion.verdict <= Verdict::NoFaultSeen;
    let is_of_log = is_in_log && says_nothing && !is_told_otherwise(alarm, policy);
    if is_in_log
        && !is_run_of_one
        && let Some(why) = unended_event(causes, (alarm, verdict), look, proof)
    {
        return Some(why);
    }
    if is_warning
        && !is_run_of_one
        && !is_of_log
        && alarm.absent.is_empty()
        && Warned::of(alarm, policy).is_unnamed()
    {
        return Some("what it warns of is not named, so that no look sees it again".to_owned());
    }
    (verdict > Verdict::Unknown && !is_named(alarm) && !is_of_log && !is_run_of_one)
        .then(|| "what told of the fault is not named".to_owned())
}

/// Whether the alarm speaks against its own verdict by something else than its logs.
fn is_told_otherwise(alarm: &Report, policy: &Policy) -> bool {
    let mut without_logs = alarm.clone();
    without_logs.logs.clear();
    contradiction_by(&without_logs, policy).is_some()
}

/// Whether only a run can end it: no look checks data or meets a hang. A failure before contexts is one that a look meets.
pub(super) fn needs_run(alarm: &Report, verdict: Verdict) -> bool {
    match origin(alarm) {
        Origin::Look => false,
        Origin::Run => verdict > Verdict::Unknown || alarm.failures.is_empty(),
        Origin::Converted => true,
    }
}

/// A run over a node with one GPU: there are no pairs, so that no run of this node can be a proof.
fn is_run_of_one(look: &Report) -> bool {
    origin(look) == Origin::Run && look.gpus.len() == 1
}

pub(super) fn refused(report: &Report) -> impl Iterator<Item = &Pair> {
    let pairs = report.pairs.iter();
    pairs.filter(|pair| !pair.verdict.information && pair.verdict.verdict == Verdict::Refused)
}

/// Whether the look has asked the same pair, and no refusal of it counts any more.
fn is_granted(pair: &Pair, look: &Report) -> bool {
    let mut pairs = look.pairs.iter();
    let asked = pairs.find(|other| (other.a, other.b) == (pair.a, pair.b));
    asked.is_some_and(|other| other.verdict.information || other.verdict.verdict != Verdict::Refused)
}

/// Whether the alarm names a cause: state, event, refused pair, absent GPU, failed step or load. Only these are read again.
pub(super) fn is_named(alarm: &Report) -> bool {
    let is_loaded = alarm.load.as_ref().is_some_and(|load| !load.findings.is_empty());
    Look::of(alarm).has_bad()
        || events(alarm, Bearing::Unknown).next().is_some()
        || states(alarm).any(|state| state.bearing >= Bearing::Unknown)
        || refused(alarm).next().is_some()
        || !alarm.absent.is_empty()
        || !alarm.failures.is_empty()
        || is_loaded
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::domain::correlate::samples::{pair, report};

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
        leaves_alarm_open(
            &read(alarm),
            (Verdict::Broken, &[], None),
            &read(look),
            &Policy::default(),
        )
    }

    #[test]
    fn a_clear_of_what_the_log_told_does_not_end_what_else_the_report_told() {
        let read = |report: &Value| serde_json::from_value::<Report>(report.clone()).unwrap();
        let mut alarm = look(2);
        alarm["logs"] = json!([{ "source": "kmsg", "when": "before",
            "text": "[  9.0] NVRM: Xid (PCI:0000:31:00): 48, x" }]);
        let mut later = look(2);
        later["health"] = json!({ "verdict": "no_fault_seen", "open": [], "clears": [{ "at": "2026-11-22T08:00:00Z",
            "by": "ops", "reason": "new GPU", "entries": ["xid-48@0000:31:00.0"] }] });
        let why = |alarm: &Value, later: &Value| {
            let causes = ["log:kernel:xid/48-double-bit-ecc".to_owned()];
            let told = (Verdict::Broken, causes.as_slice(), None);
            leaves_alarm_open(&read(alarm), told, &read(later), &Policy::default())
        };
        assert_eq!(why(&alarm, &later), None);
        alarm["conclusion"]["exit_code"] = json!(1);
        assert!(why(&alarm, &later).unwrap().contains("is not named"));
        // Nor does what it tells itself end with what the log told.
        let gone = with_state(alarm.clone(), &json!({ "value": true, "source": "test" }));
        let good = json!({ "value": false, "source": "test" });
        let uncleared = with_state(look(2), &good);
        for verdict in ["no_fault_seen", "degraded", "broken"] {
            let mut alarm = gone.clone();
            alarm["conclusion"]["verdict"] = json!(verdict);
            let told = why(&alarm, &uncleared).unwrap();
            assert!(told.contains("xid/48-double-bit-ecc of the kernel log"), "{told}");
            assert_eq!(why(&alarm, &with_state(later.clone(), &good)), None, "{verdict}");
        }
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
        let clear = |at: &str| json!([{ "at": at, "by": "ops", "reason": "new GPU", "entries": ["xid-79@0000:00:01.0"] }]);
        let proof = |verdict: &str| json!({ "at": "2026-11-20T11:00:00Z", "verdict": verdict, "reason": "", "report": "r" });
        // One that the alarm's own ledger had already.
        let known = clear("2026-11-20T09:00:00Z");
        let alarm = with_event(look(2), true, &known, &never);
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
            // It was made before the event, and the alarm's ledger did not have it.
            (
                with_event(look(2), false, &clear("2026-11-20T09:30:00Z"), &never),
                false,
            ),
            // An Xid that only an admission ends: its clear is noted.
            (with_event(look(2), false, &none, &proof("healthy")), false),
        ] {
            assert_eq!(why(&alarm, &later).is_none(), is_over, "{}", later["health"]);
        }
    }

    #[test]
    fn an_event_that_needs_no_admission_is_over_with_a_new_proof() {
        let (none, never) = (json!([]), Value::Null);
        let proof =
            json!({ "at": "2026-11-20T11:00:00Z", "verdict": "healthy", "reason": "", "report": "r" });
        let with = |open: bool, last_proof: &Value| {
            let mut look = with_event(look(2), open, &none, last_proof);
            for entry in look["health"]["open"].as_array_mut().unwrap() {
                entry["cause"] = json!("log_missed");
                entry["id"] = json!("log_missed@node");
                entry["device"] = json!("node");
                entry["bearing"] = json!("unknown");
            }
            look
        };
        assert_eq!(why(&with(true, &never), &with(false, &proof)), None);
        // One that the alarm's own ledger had already.
        assert!(why(&with(true, &proof), &with(false, &proof)).is_some());
        let mut before = proof;
        before["at"] = json!("2026-11-20T09:30:00Z");
        assert!(why(&with(true, &never), &with(false, &before)).is_some());
    }

    #[test]
    fn a_refusal_is_over_when_it_is_granted_or_expected() {
        let refused = |verdict: Value| {
            let mut look = report(2, &[pair(0, 1, "OK", 0)]);
            look["pairs"][0]["verdict"] = verdict;
            look
        };
        let counts = json!({ "verdict": "refused", "reason": "", "evidence": [] });
        let alarm = refused(counts.clone());
        assert!(
            why(&alarm, &refused(counts))
                .unwrap()
                .contains("which was refused")
        );
        assert!(why(&alarm, &look(2)).is_some(), "the pair was not asked");
        for over in [
            json!({ "verdict": "refused", "information": true, "reason": "as expected", "evidence": [] }),
            json!({ "verdict": "unknown", "reason": "not tried", "evidence": [] }),
        ] {
            assert_eq!(why(&alarm, &refused(over)), None);
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
