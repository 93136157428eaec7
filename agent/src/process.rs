//! What holds for every process of the agent.

use std::io::Write;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use rustix::process::{Resource, Rlimit, setrlimit};

/// No core files: a worker is killed on purpose, and its image holds device memory and the environment.
pub(crate) fn forbid_core_files() {
    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    // Lowering a limit cannot be refused to a process; if it were, the probe is still worth more than no probe.
    let _ = setrlimit(Resource::Core, none);
}

/// One line on standard error. A reader that is gone is no reason to fail.
pub(crate) fn say(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "peerless-agent: {line}");
}

/// Confines this program, and so its workers, to some GPUs: it starts itself anew, in its own place, with the
/// environment that CUDA reads. In the order of the bus the numbers are nvidia-smi's.
pub(crate) fn see_only(devices: &str) -> std::io::Result<()> {
    let settings = [
        ("CUDA_VISIBLE_DEVICES", devices),
        ("CUDA_DEVICE_ORDER", "PCI_BUS_ID"),
    ];
    let is_set = |(name, value): &(&str, &str)| std::env::var(name).is_ok_and(|found| found == *value);
    if settings.iter().all(is_set) {
        return Ok(());
    }
    let mut arguments = std::env::args_os();
    let _program = arguments.next();
    Err(Command::new(std::env::current_exe()?)
        .args(arguments)
        .envs(settings)
        .exec())
}
