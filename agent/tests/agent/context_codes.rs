//! Codes after which a context is gone (700, 719, …) where no check meets them: nothing is proven beside them.

use fake_gpu::Scenario;
use fake_gpu::scenario::{CallEffect, CallFault};
use kb_core::report::Report;
use kb_core::verdict::{Verdict, not_admitted};

use crate::admit::{admit, healthy, node as with_log};
use crate::node::{Node, Run};

fn always(call: &str, effect: CallEffect) -> Scenario {
    let mut scenario = Scenario::healthy(2);
    scenario.call_faults.push(CallFault::always(call, effect));
    scenario
}

fn assert_unknown((report, run): &(Report, Run), what: &str) {
    assert_eq!(
        (report.conclusion.verdict, run.code),
        (Verdict::Unknown, 3),
        "{what}: {}",
        run.stderr
    );
}

#[test]
fn a_copy_that_always_fails_is_no_health_and_the_terminal_says_that_it_was_not_measured() {
    for code in [719, 700, 999] {
        let scenario = always("cuMemcpyPeerAsync", CallEffect::Return(code));
        let told = Node::with(&scenario).probe(&[]);
        assert_unknown(&told, &code.to_string());
        let said =
            format!("a copy from GPU 0 to GPU 1 could not be measured: cuMemcpyPeerAsync returned {code}");
        let (report, run) = &told;
        assert!(run.stderr.contains(&said), "{}", run.stderr);
        assert_eq!(report.failures.len(), 1, "{:?}", report.failures);
        let shown = Node::with(&scenario).run("probe", &[]);
        assert_eq!(shown.code, 3, "{}", shown.stderr);
        assert!(shown.stdout.contains(&said), "{}", shown.stdout);
    }
}

#[test]
fn a_copy_that_is_not_supported_or_has_no_memory_is_a_gap_as_before() {
    for code in [801, 2] {
        let (report, run) = Node::with(&always("cuMemcpyPeerAsync", CallEffect::Return(code))).probe(&[]);
        assert_eq!(run.code, 0, "{code}: {}", run.stderr);
        assert!(report.failures.is_empty(), "{code}: {:?}", report.failures);
        let mut cells = report.measurements.iter().flat_map(|of| &of.cells);
        assert!(cells.all(|cell| cell.gap.is_some()), "{code}");
    }
}

#[test]
fn a_copy_that_never_ends_and_one_that_ends_its_process_are_no_health() {
    for effect in [CallEffect::Hang, CallEffect::Abort] {
        let node = Node::with(&always("cuMemcpyPeerAsync", effect));
        let told = node.probe(&["--step-timeout", "3"]);
        assert_unknown(&told, &format!("{effect:?}"));
    }
}

#[test]
fn a_code_of_a_context_in_calls_that_no_check_makes_is_no_health() {
    for (call, code) in [
        ("cuMemFree_v2", 700),
        ("cuStreamDestroy_v2", 719),
        ("cuModuleUnload", 716),
        ("cuDevicePrimaryCtxRelease_v2", 702),
        ("cuEventDestroy_v2", 717),
    ] {
        let told = Node::with(&always(call, CallEffect::Return(code))).probe(&[]);
        assert_unknown(&told, call);
        let said = format!("{call} returned {code}");
        assert!(told.1.stderr.contains(&said), "{}", told.1.stderr);
    }
}

#[test]
fn a_bench_that_cannot_copy_is_no_health() {
    let scenario = always("cuMemcpyPeerAsync", CallEffect::Return(719));
    let run = Node::with(&scenario).run("bench", &["--json", "--copy-kib", "16"]);
    assert_eq!(run.code, 3, "{}", run.stderr);
    assert!(
        run.stderr.contains("cuMemcpyPeerAsync returned 719"),
        "{}",
        run.stderr
    );
}

#[test]
fn memory_that_cannot_be_freed_admits_no_node() {
    for call in ["cuMemFree_v2", "cuStreamDestroy_v2"] {
        let node = with_log(|log| {
            let mut scenario = healthy(log);
            let fault = CallFault::always(call, CallEffect::Return(700));
            scenario.call_faults.push(fault);
            scenario
        });
        let (report, run) = admit(&node);
        assert_eq!(run.code, 3, "{call}: {}", run.stderr);
        assert!(not_admitted(&report).is_some(), "{call}");
        let said = format!("{call} returned 700 (CUDA_ERROR_ILLEGAL_ADDRESS)");
        assert!(
            run.stderr.contains("not admitted") && run.stderr.contains(&said),
            "{}",
            run.stderr
        );
    }
}
