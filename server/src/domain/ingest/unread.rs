//! States of a GPU that something else than the facts of a report told, and that a later report has to read as good: what its ledger held
//! open, and what became bad while its run went on.

use kb_core::observation::{Look, cause};
use kb_core::report::{Bearing, Entry, Report};
use kb_core::verdict::remapped_during;

use super::ends::place_now;
use super::ledgers::Ledgers;
use super::of_ledger::states;

/// Why the later report does not show that rows which could not be remapped during the run are remapped by now.
pub(super) fn leaves_remapping_open(fault: &Report, later: &Report) -> Option<String> {
    let remapped = remapped_during(fault);
    if remapped.is_empty() {
        return None;
    }
    let read = Look::of(later);
    let is_read = |cause: &str, device: &str| read.has_read(cause, &place_now(device, fault, later));
    let open = remapped
        .into_iter()
        .find(|state| !is_read(state.cause, &state.device))?;
    Some(format!(
        "{} of {}, which came about during the run then, was not read",
        open.cause, open.device
    ))
}

/// Why the later report does not show that a fault which the earlier ledger held open as a state is over. Where the later one has a ledger,
/// that knows what is open; of one without, a state that it did not read is as it was.
pub(super) fn leaves_ledger_states_open(fault: &Report, later: &Report) -> Option<String> {
    if later.health.is_some() {
        return None;
    }
    let is_of_fact = |state: &&Entry| {
        // Whether a GPU is there is told by the lists of GPUs.
        let is_of_list = [cause::GPU_LOST, cause::DEVICE_MISSING].contains(&state.cause.as_str());
        state.bearing == Bearing::Fault && !is_of_list
    };
    let mut faults = states(fault).filter(is_of_fact).peekable();
    faults.peek()?;
    let ledgers = Ledgers::of(fault, later);
    let open = faults.find(|state| !ledgers.is_read_again(state))?;
    Some(format!("{}, which was open then, was not read", open.id))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::domain::correlate::samples::{proven, report};

    fn read(report: &Value) -> Report {
        serde_json::from_value(report.clone()).unwrap()
    }

    fn with_fact(name: &str, value: &Value) -> Value {
        let mut report = report(2, &[proven(0, 1)]);
        report["gpus"][0]["facts"] = json!({ name: { "value": value, "source": "test" } });
        report
    }

    #[test]
    fn rows_that_were_not_remapped_during_a_run_have_to_be_read_again() {
        let fault = with_fact("during.remapped_rows.failure", &json!(1));
        for (later, is_open) in [
            (report(2, &[proven(0, 1)]), true),
            (with_fact("remapped_rows.pending", &json!(false)), true),
            (with_fact("remapped_rows.failure", &json!(false)), false),
        ] {
            let why = leaves_remapping_open(&read(&fault), &read(&later));
            assert_eq!(why.is_some(), is_open, "{why:?}");
        }
        let none = with_fact("during.remapped_rows.failure", &json!(0));
        let bare = report(2, &[proven(0, 1)]);
        assert_eq!(leaves_remapping_open(&read(&none), &read(&bare)), None);
    }

    #[test]
    fn a_state_of_the_ledger_has_to_be_read_by_a_report_without_one() {
        let told = |cause: &str, bearing: &str| {
            let mut told = report(2, &[proven(0, 1)]);
            told["health"] = json!({ "verdict": "broken", "open": [{
                "id": format!("{cause}@0000:00:06.0"), "cause": cause, "nature": "state", "bearing": bearing,
                "device": "0000:00:06.0", "count": 1, "text": "x",
                "first_at": "2026-11-21T06:00:00Z", "last_at": "2026-11-21T06:00:00Z",
            }] });
            told
        };
        let mut with_ledger = report(2, &[proven(0, 1)]);
        with_ledger["health"] = json!({ "verdict": "no_fault_seen", "open": [] });
        let (bare, good) = (
            report(2, &[proven(0, 1)]),
            with_fact("remapped_rows.failure", &json!(false)),
        );
        for (fault, later, is_open) in [
            (told("remap_failed", "fault"), &bare, true),
            (told("remap_failed", "fault"), &good, false),
            (told("remap_failed", "fault"), &with_ledger, false),
            (told("remap_failed", "warning"), &bare, false),
            (told("gpu_lost", "fault"), &bare, false),
        ] {
            let why = leaves_ledger_states_open(&read(&fault), &read(later));
            assert_eq!(why.is_some(), is_open, "{why:?}");
        }
    }
}
