//! Runs the body of a test in a process of its own, whose environment holds an installed scenario: the machine
//! behind the library is one for each process.

use crate::cuda::Cuda;
use fake_gpu::{Installed, Scenario, scenario::Library};
use std::{
    path::PathBuf,
    process::{Command, ExitStatus},
};

/// Set in the process that runs the body, to a file that it makes: a test that is misnamed runs nothing, and succeeds.
const CHILD: &str = "FAKE_GPU_TEST_CHILD";

/// Whether this is the process that runs the body.
pub(crate) fn is_child() -> bool {
    let Some(mark) = std::env::var_os(CHILD) else {
        return false;
    };
    std::fs::write(mark, "").unwrap();
    true
}

/// The same question without leaving the mark.
pub(crate) fn in_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

/// The file that tells that a body began.
fn mark(installed: &Installed) -> PathBuf {
    installed.library(Library::Cuda).with_file_name("the-body-began")
}

/// The command that runs one test of this executable on an installed machine.
pub(crate) fn command(installed: &Installed, test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args([test, "--exact", "--nocapture", "--include-ignored"])
        .envs(installed.environment());
    command
        .env(CHILD, mark(installed))
        .env_remove("CUDA_VISIBLE_DEVICES");
    command
}

/// Runs `body` on the machine of a scenario, in a child process named by the full path of the test. Gives the
/// machine for a look from outside, `None` in the child.
pub(crate) fn on_machine(
    scenario: &Scenario,
    test: &str,
    body: impl FnOnce(&Cuda),
) -> Option<tempfile::TempDir> {
    on_machine_with(scenario, test, |_| {}, body)
}

/// The same with a change to the child's command.
pub(crate) fn on_machine_with(
    scenario: &Scenario,
    test: &str,
    change: impl FnOnce(&mut Command),
    body: impl FnOnce(&Cuda),
) -> Option<tempfile::TempDir> {
    if is_child() {
        body(&Cuda::open().unwrap());
        return None;
    }
    let (dir, status) = run(scenario, test, change);
    assert!(status.success(), "{test} in its own process: {status}");
    Some(dir)
}

/// Runs the child and gives its end.
pub(crate) fn run(
    scenario: &Scenario,
    test: &str,
    change: impl FnOnce(&mut Command),
) -> (tempfile::TempDir, ExitStatus) {
    let dir = tempfile::tempdir().unwrap();
    let installed = fake_gpu::install(dir.path(), scenario).unwrap();
    let mut command = command(&installed, test);
    change(&mut command);
    let status = command.status().unwrap();
    assert!(mark(&installed).is_file(), "{test} is no test of this executable");
    (dir, status)
}
