//! What `match` shows below a match.

use std::fs;

use fake_gpu::Scenario;

use crate::matching::{LINE, run, server};
use crate::node::Node;

/// A record has an example from some other machine.
#[test]
fn the_line_of_the_log_stands_below_a_match_and_not_the_records_example() {
    let node = Node::with(&Scenario::healthy(2));
    let log = node.path("job.log");
    let line = format!("step 7: {LINE} \u{1b}[31m(0000:da:00.0)");
    fs::write(&log, format!("step 1\n{line}\n{LINE}\n")).unwrap();
    let (address, thread) = server(1);
    let told = run(&node, "match", &["--server", &address, log.to_str().unwrap()]);
    thread.join().unwrap();
    let shown = told.stdout.lines().nth(1).unwrap();
    assert!(
        shown.starts_with("  step 7: ") && shown.ends_with("(0000:da:00.0)"),
        "{}",
        told.stdout
    );
    assert!(!told.stdout.contains('\u{1b}'), "{:?}", told.stdout);
    assert_eq!(
        told.stdout.matches("peer access is not supported").count(),
        1,
        "{}",
        told.stdout
    );
}
