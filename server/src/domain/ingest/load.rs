//! Whether a later report ends a fault that minutes of load found.

use kb_core::health::LedgerSince;
use kb_core::observation::cause::LOAD_FAULT;
use kb_core::report::Report;
use kb_core::verdict::{Verdict, not_admitted};

/// Why the later report does not show that the fault is over: as much load has to pass, or a person clears it.
pub(super) fn leaves_load_open(fault: &Report, later: &Report) -> Option<String> {
    let mut findings = fault.load.as_ref()?.findings.iter();
    let found = findings.find(|found| found.verdict == Verdict::Broken)?;
    let why = not_admitted(later)?;
    let open = fault.health.iter().flat_map(|health| &health.open);
    let mut open = open.filter(|entry| entry.cause == LOAD_FAULT).peekable();
    if open.peek().is_some() {
        let since = LedgerSince::of(fault, later);
        if open.all(|entry| since.is_cleared(entry)) {
            return None;
        }
    }
    let cause = &found.cause;
    Some(format!(
        "{cause}, found under load, ends by an admission or a clear, and this run is none ({why})"
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::domain::correlate::samples::report;

    fn loaded(findings: &Value) -> Value {
        let gap = json!({ "source": "test", "gap": { "kind": "skipped", "reason": "test" } });
        let mut run = report(2, &[]);
        run["load"] = json!({ "asked_seconds": 300.0, "seconds": 300.0, "steps": 600, "earlier": gap, "findings": findings });
        run
    }

    fn why(fault: &Value, later: &Value) -> Option<String> {
        let read = |report: &Value| serde_json::from_value::<Report>(report.clone()).unwrap();
        leaves_load_open(&read(fault), &read(later))
    }

    #[test]
    fn what_a_load_found_ends_with_as_much_load_or_a_clear() {
        let found = json!([{ "cause": "wrong_arithmetic", "verdict": "broken", "reason": "", "fix": "" }]);
        let mut broken = loaded(&found);
        let probe = report(2, &[]);
        assert!(
            why(&broken, &probe)
                .unwrap()
                .starts_with("wrong_arithmetic, found under load")
        );
        assert!(
            why(&broken, &loaded(&json!([])))
                .unwrap()
                .contains("GPU 0 was not loaded")
        );
        // A clear by a person ends it, too, but none that the ledger had before.
        let clear = json!({ "at": "2026-11-24T12:00:00Z", "by": "ops", "reason": "new GPU", "entries": ["load_fault@node"] });
        let open = json!([{ "id": "load_fault@node", "cause": "load_fault", "nature": "event", "bearing": "fault", "device": "node",
            "count": 1, "text": "x", "first_at": "2026-11-24T10:00:00Z", "last_at": "2026-11-24T10:00:00Z" }]);
        broken["health"] = json!({ "verdict": "broken", "open": open });
        let mut cleared = probe.clone();
        cleared["health"] = json!({ "verdict": "no_fault_seen", "open": [], "clears": [clear] });
        assert_eq!(why(&broken, &cleared), None);
        broken["health"]["clears"] = json!([clear]);
        assert!(why(&broken, &cleared).is_some());
    }

    #[test]
    fn a_warning_of_a_load_asks_for_none() {
        let warm = loaded(&json!([{ "cause": "throttled", "verdict": "degraded", "reason": "", "fix": "" }]));
        assert_eq!(why(&warm, &report(2, &[])), None);
    }
}
