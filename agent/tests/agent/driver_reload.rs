//! An uncorrected error that the driver's count hides, because it began anew and has come as far again.

use fake_gpu::Scenario;
use fake_gpu::scenario::{Condition, Ecc};
use kb_core::report::Entry;
use kb_core::verdict::Verdict;

use crate::admit::boot;
use crate::node::Node;
use crate::passive::{GPU, daemon, looked, node};
use crate::unkept::bare;

/// Errors since the driver was loaded, and of the GPU's life.
fn errors(volatile: u64, aggregate: u64) -> Condition {
    Condition {
        ecc: Ecc {
            volatile_uncorrected: volatile,
            aggregate_uncorrected: aggregate,
            ..Ecc::default()
        },
        ..Condition::default()
    }
}

fn becomes(node: &Node, condition: Condition) {
    let mut scenario = Scenario::healthy(2);
    scenario.gpus[0].condition = condition;
    node.becomes(&scenario);
}

/// The only entry that a look finds open.
fn told(node: &Node) -> Entry {
    let run = daemon(node, &[]);
    assert_eq!(run.code, 2, "{}", run.stderr);
    let report = looked(node);
    assert_eq!(report.conclusion.verdict, Verdict::Broken);
    let mut open = report.health.unwrap().open;
    assert_eq!(open.len(), 1, "{open:?}");
    let entry = open.remove(0);
    assert_eq!(entry.id, format!("ecc_uncorrected@{GPU}"));
    entry
}

fn clear(node: &Node) {
    let said = ["ecc_uncorrected", "--reason", "seen", "--by", "anna"];
    let cleared = bare(node, "clear", &said);
    assert_eq!(cleared.code, 0, "{}", cleared.stderr);
    let run = daemon(node, &[]);
    assert_eq!(run.code, 0, "{}", run.stderr);
}

#[test]
fn an_error_behind_a_reload_of_the_driver_or_before_a_boot_is_told() {
    let node = node(errors(0, 4));
    assert_eq!(daemon(&node, &[]).code, 0);
    becomes(&node, errors(1, 5));
    assert_eq!(told(&node).count, 1);
    clear(&node);
    // The driver is loaded anew, and has one error more at the next look.
    becomes(&node, errors(1, 6));
    assert_eq!(told(&node).count, 1);
    clear(&node);
    // One more, and a boot before anybody looks.
    boot(&node, "2");
    becomes(&node, errors(0, 7));
    let entry = told(&node);
    assert_eq!(entry.count, 1);
    assert_eq!(entry.boot_id, looked(&node).node.boot_id);
    clear(&node);
}
