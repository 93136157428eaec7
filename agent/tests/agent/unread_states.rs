//! States of a GPU that NVML cannot tell: no proof of pairs stands for them.

use fake_gpu::Scenario;
use fake_gpu::scenario::{CallEffect, CallFault};

use crate::admit::{admit, healthy, node};
use crate::node::Node;
use crate::passive::daemon;

const CALLS: [&str; 3] = [
    "nvmlDeviceGetRemappedRows",
    "nvmlDeviceGetSramEccErrorStatus",
    "nvmlDeviceGetGpuFabricInfo*",
];
const UNKNOWN: i32 = 999;
const NOT_SUPPORTED: i32 = 3;

fn failing(mut scenario: Scenario, call: &str, code: i32) -> Scenario {
    let effect = CallEffect::Return(code);
    scenario.call_faults.push(CallFault::always(call, effect));
    scenario
}

#[test]
fn a_state_that_cannot_be_read_makes_a_run_of_pairs_unknown_as_one_of_one_gpu() {
    for call in CALLS {
        for (gpus, code, expected) in [(1, UNKNOWN, 3), (2, UNKNOWN, 3), (2, NOT_SUPPORTED, 0)] {
            let node = Node::with(&failing(Scenario::healthy(gpus), call, code));
            let (_, run) = node.probe(&[]);
            assert_eq!(run.code, expected, "{call} {gpus} {code}: {}", run.stderr);
            let tells = run.stderr.contains("could not be read");
            assert_eq!(tells, expected == 3, "{call} {gpus}: {}", run.stderr);
        }
    }
}

#[test]
fn a_node_with_a_state_that_cannot_be_read_is_not_admitted() {
    for call in CALLS {
        let node = node(|log| failing(healthy(log), call, UNKNOWN));
        assert_eq!(daemon(&node, &[]).code, 3, "{call}");
        let (_, run) = admit(&node);
        assert_eq!(run.code, 3, "{call}: {}", run.stderr);
        let told = "not admitted: load_incomplete";
        assert!(run.stderr.contains(told), "{call}: {}", run.stderr);
    }
    let node = node(|log| failing(healthy(log), CALLS[0], NOT_SUPPORTED));
    let (_, run) = admit(&node);
    assert_eq!(run.code, 0, "{}", run.stderr);
}

#[test]
fn nvml_that_is_there_and_does_not_begin_makes_a_run_unknown() {
    const NO_PERMISSION: i32 = 4;
    const DRIVER_NOT_LOADED: i32 = 9;
    const GPU_IS_LOST: i32 = 15;
    for (gpus, code) in [
        (1, UNKNOWN),
        (2, UNKNOWN),
        (2, NO_PERMISSION),
        (2, DRIVER_NOT_LOADED),
        (2, GPU_IS_LOST),
    ] {
        let node = Node::with(&failing(Scenario::healthy(gpus), "nvmlInit_v2", code));
        let (_, run) = node.probe(&[]);
        assert_eq!(run.code, 3, "{gpus} {code}: {}", run.stderr);
        assert!(
            run.stderr.contains("could not be read"),
            "{gpus} {code}: {}",
            run.stderr
        );
    }
}
