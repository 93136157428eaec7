//! What else holds a node back that comes to `admit`: a run that cannot be kept, GPUs that did not come back.

use std::fs;

use crate::admit::{admit, append, boot, healthy, node};

/// The fault stays open in the file that the daemon and the gates go by.
#[test]
fn a_run_that_cannot_be_kept_admits_nothing() {
    let node = node(healthy);
    let state = node.path("state");
    let look = || node.run("daemon", &["--once", "--state", state.to_str().unwrap()]).code;
    assert_eq!(look(), 0);
    append(append(&node, "NVRM: Xid (PCI:0000:00:06): 79, GPU has fallen off the bus.");node, "3,9,9000,-;NVRM: Xid (PCI:0000:00:06): 79, GPU has fallen off the bus.\n");
    assert_eq!(look(), 2);
    boot(&node, "2");
    let lock = fs::File::options()
        .write(true)
        .open(state.join("ledger.lock"))
        .unwrap();
    lock.lock().unwrap();
    let (_, run) = admit(&node);
    assert_eq!(run.code, 3, "{}", run.stderr);
    let said = run.stderr.lines().find(|line| line.contains("not admitted: "));
    let said = said.unwrap_or_else(|| panic!("{}", run.stderr));
    assert!(said.contains("ledger.lock") && said.contains("admit` again"), "{said}");
    drop(lock);
    assert_eq!(look(), 2, "it is still open");
    let (_, run) = admit(&node);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(look(), 0);
}
