//! Looks and runs with the parts that agents name.

use serde_json::{Value, json};

/// What a look and a run both do.
const OF_BOTH: [&str; 4] = ["host_facts", "lock", "opening", "rung_1"];

/// A look that saw what the run shows and tried nothing: it lists all pairs, and no check of them.
pub(super) fn as_look(mut run: Value) -> Value {
    for pair in run["pairs"].as_array_mut().unwrap() {
        pair["verdict"] = json!({ "verdict": "unknown", "reason": "not tried", "evidence": [] });
        for direction in pair["directions"].as_array_mut().unwrap() {
            direction["checks"] = json!([]);
        }
    }
    run["conclusion"] = json!({ "verdict": "no_fault_seen", "exit_code": 0, "reason": "no fault seen" });
    with_parts(run, &["surroundings"])
}

/// A run that made contexts, whatever came of it.
pub(super) fn as_run(run: Value) -> Value {
    with_parts(
        run,
        &["contexts", "ladder", "second_reading", "closing", "surroundings"],
    )
}

fn with_parts(mut report: Value, further: &[&str]) -> Value {
    let names = OF_BOTH.iter().chain(further);
    let parts = names.map(|name| json!({ "name": name, "seconds": 0.5 }));
    report["parts"] = parts.collect();
    report
}
