//! What holds for every process of the agent.

use std::io::Write;

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
