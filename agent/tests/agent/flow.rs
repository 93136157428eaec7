//! Flows at the same time, of which one cannot be queued.

use std::time::{Duration, Instant};

use fake_gpu::Scenario;
use fake_gpu::scenario::{CallEffect, CallFault, Counted};

use crate::node::Node;

/// The first stream waits for the second one's gate by then, and what fails must not wait for that gate's clock.
#[test]
fn a_sample_that_fails_behind_closed_gates_opens_them_all() {
    let mut scenario = Scenario::healthy(2);
    scenario.call_faults.push(CallFault {
        call: "cuStreamWaitEvent".to_owned(),
        after: 1,
        times: Some(1),
        counted: Counted::Machine,
        effect: CallEffect::Return(1),
    });
    let node = Node::with(&scenario);
    let since = Instant::now();
    let run = node.run("bench", &["--json", "--copy-kib", "16", "--step-timeout", "40"]);
    let took = since.elapsed();
    let report = run.report();
    let gaps = report.measurements.iter().flat_map(|of| &of.cells);
    let gaps: Vec<_> = gaps.filter_map(|cell| cell.gap.as_ref()).collect();
    assert!(
        gaps.iter().any(|gap| gap.reason.contains("cuStreamWaitEvent")),
        "{gaps:?}"
    );
    assert!(took < Duration::from_secs(35), "{took:?}: {gaps:?}");
}
