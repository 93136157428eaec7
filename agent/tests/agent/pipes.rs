//! A pipe in the place of a file of the host holds nobody up.

use std::process::Command;

use fake_gpu::scenario::Condition;

use crate::passive::{daemon, node};
use crate::unkept::bare;

#[test]
fn a_pipe_in_the_place_of_a_file_of_the_host_is_not_waited_for() {
    let files = [
        "etc/machine-id",
        "proc/1/cgroup",
        "proc/cmdline",
        "proc/driver/nvidia/version",
        "proc/sys/kernel/hostname",
        "etc/os-release",
        "sys/class/dmi/id/product_uuid",
    ];
    let node = node(Condition::default());
    for file in files {
        let path = node.path("host").join(file);
        let _ = std::fs::remove_file(&path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    }
    // Whoever waits for the other end of a pipe waits without end, which the test's own limit ends.
    let look = daemon(&node, &[]);
    assert_eq!(look.code, 0, "{}", look.stderr);
    let status = bare(&node, "status", &["--passive"]);
    assert_eq!(status.code, 0, "{}", status.stderr);
}
