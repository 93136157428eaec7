//! Forced codes, hangs and deaths in calls, and the counters.

use crate::support::{command, is_child, on_machine, run};
use fake_gpu::{
    Scenario,
    scenario::{CallEffect, CallFault, Counted},
};
use std::os::unix::process::ExitStatusExt;

#[test]
fn an_unknown_code_comes_through() {
    on_machine(
        &Scenario::code_from("cuInit", 9999),
        "faults_of_calls::an_unknown_code_comes_through",
        |cuda| {
            assert_eq!(cuda.cuInit(0), 9999);
            let mut count = 0;
            assert_eq!(
                cuda.cuDeviceGetCount(&raw mut count),
                3,
                "the call itself has done nothing"
            );
        },
    );
}

#[test]
fn a_fault_comes_after_so_many_calls_and_passes() {
    let mut scenario = Scenario::healthy(1);
    scenario.call_faults.push(CallFault {
        call: "cuDriverGetVersion".into(),
        after: 2,
        times: Some(1),
        counted: Counted::Process,
        effect: CallEffect::Return(802),
    });
    on_machine(
        &scenario,
        "faults_of_calls::a_fault_comes_after_so_many_calls_and_passes",
        |cuda| {
            let mut version = 0;
            let codes = [(); 4].map(|()| cuda.cuDriverGetVersion(&raw mut version));
            assert_eq!(codes, [0, 0, 802, 0]);
        },
    );
}

#[test]
fn a_call_can_kill_the_process() {
    let test = "faults_of_calls::a_call_can_kill_the_process";
    let mut scenario = Scenario::hang_in("cuInit");
    scenario.call_faults[0].effect = CallEffect::Abort;
    if is_child() {
        crate::cuda::Cuda::open().unwrap().cuInit(0);
        return;
    }
    let (_dir, status) = run(&scenario, test, |_| {});
    assert_eq!(status.signal(), Some(6), "{status}");
}

#[test]
fn a_call_that_hangs_is_counted_and_never_returns() {
    let test = "faults_of_calls::a_call_that_hangs_is_counted_and_never_returns";
    if is_child() {
        crate::cuda::Cuda::open().unwrap().cuInit(0);
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let installed = fake_gpu::install(dir.path(), &Scenario::hang_in("cuInit")).unwrap();
    let mut child = command(&installed, test).spawn().unwrap();
    // The counter says that the call has begun; that it does not return can only be seen for so long.
    while installed.calls().unwrap().is_empty() {
        assert_eq!(child.try_wait().unwrap(), None, "ended before the call");
        std::thread::yield_now();
    }
    assert_eq!(installed.calls().unwrap().get("cuInit"), Some(&1));
    let deadline = std::time::Instant::now() + std::time::Duration::from_millis(200);
    while std::time::Instant::now() < deadline {
        assert_eq!(child.try_wait().unwrap(), None, "returned from a call that hangs");
        std::thread::yield_now();
    }
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(9));
}
