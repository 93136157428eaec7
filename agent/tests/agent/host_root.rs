//! `--host-root` that is no root of a host: nothing is learnt of the node, and nothing forgotten.

use std::fs;

use crate::node::{Node, Run, files_in};
use crate::passive::daemon;
use crate::tree::write;
use crate::unkept::{assert_fault, with_fault};

/// A verb with the folder that stands for `/`.
fn run(node: &Node, verb: &str, arguments: &[&str], root: &str) -> Run {
    let mut command = node.bare(verb);
    command.args(arguments).arg("--host-root").arg(node.path(root));
    command.arg("--state").arg(node.path("state"));
    Run::of(&command.output().unwrap())
}

#[test]
fn a_root_that_is_none_of_a_host_is_refused_and_takes_no_fault_away() {
    let node = with_fault();
    write(&node.path(""), "file", "no folder");
    fs::create_dir(node.path("empty")).unwrap();
    write(
        &node.path(""),
        "unmounted/etc/machine-id",
        "0123456789abcdef0123456789abcdef\n",
    );
    fs::create_dir(node.path("unmounted/proc")).unwrap();
    let ledger = fs::read(node.path("state/ledger.json")).unwrap();
    let files = files_in(&node.path("state"));
    for (root, told) in [
        ("none", "No such file"),
        ("file", "is no folder"),
        ("empty", "proc/sys/kernel/random/boot_id"),
        ("unmounted", "proc/sys/kernel/random/boot_id"),
    ] {
        for (verb, arguments) in [
            ("probe", &[][..]),
            ("bench", &[]),
            ("admit", &[]),
            ("report", &["--print"]),
            ("daemon", &["--once"]),
            ("status", &["--passive"]),
        ] {
            let run = run(&node, verb, arguments, root);
            assert_eq!(run.code, 64, "{verb} {root}: {}", run.stderr);
            let tells = run.stderr.contains("--host-root") && run.stderr.contains(told);
            assert!(tells, "{verb} {root}: {}", run.stderr);
        }
        let gate = run(&node, "gate", &["condition"], root);
        assert_eq!(gate.code, 2, "{root}: {} {}", gate.stdout, gate.stderr);
        assert!(gate.stdout.contains("--host-root"), "{root}: {}", gate.stdout);
    }
    assert_eq!(fs::read(node.path("state/ledger.json")).unwrap(), ledger);
    assert_eq!(files_in(&node.path("state")), files);
    assert_fault(&daemon(&node, &[]), "the right root");
}
