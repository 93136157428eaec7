//! `match`: a line that looks like an error and that no record explains is told, so that nobody takes the log for a clean one.

use std::fs;

use fake_gpu::Scenario;
use serde_json::Value;

use crate::matching::{LINE, fetched, run};
use crate::node::Node;

#[test]
fn a_line_that_looks_like_an_error_is_told_where_no_record_explains_it() {
    let node = Node::with(&Scenario::healthy(2));
    let known = node.path("known.log");
    fs::write(&known, LINE).unwrap();
    fetched(&node, known.to_str().unwrap());
    let log = node.path("job.log");
    fs::write(&log, "step 1\nzorgblat link 3 failed to \u{1b}[2Jtrain\n").unwrap();
    let log = log.to_str().unwrap();
    let told = run(&node, "match", &[log]);
    assert_eq!(told.code, 1, "no known error: {}", told.stderr);
    let said = format!(
        "{log}: line 2 looks like an error, and no record explains it\n       2: zorgblat link 3 failed"
    );
    assert!(told.stdout.contains(&said), "{}", told.stdout);
    assert!(!told.stdout.contains('\u{1b}'), "what a log says is made safe");
    let told: Value = serde_json::from_str(&run(&node, "match", &["--json", log]).stdout).unwrap();
    assert_eq!(told["summary"]["unexplained"]["lines"][0]["line"], 2, "{told}");

    fs::write(log, format!("zorgblat failed\n{LINE}\n")).unwrap();
    let told = run(&node, "match", &[log]);
    assert_eq!(told.code, 0);
    let hint = "note: line 1 looks like an error, and no record explains it";
    assert!(told.stdout.contains(hint), "{}", told.stdout);
}
