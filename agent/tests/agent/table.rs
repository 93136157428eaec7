//! What people see: the first line is the verdict.

use fake_gpu::Scenario;

use crate::node::{Node, Run};

fn shown(scenario: &Scenario) -> String {
    let run = Node::with(scenario).run("probe", &[]);
    assert!(!run.stdout.contains('\x1b'), "colours without a terminal");
    // How many facts this machine shows is its own business.
    let lines = run
        .stdout
        .lines()
        .map(|line| match line.split_once(" facts could not") {
            Some((_, rest)) => format!("  N facts could not{rest}\n"),
            None => format!("{line}\n"),
        });
    lines.collect()
}

#[test]
fn healthy_pair() {
    insta::assert_snapshot!(shown(&Scenario::healthy(2)));
}

/// Eight GPUs fit on a terminal, and what many pairs have in common is told once.
#[test]
fn eight_gpus() {
    let text = shown(&Scenario::healthy(8));
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn refused_pair() {
    insta::assert_snapshot!(shown(&Scenario::refused_gns()));
}

#[test]
fn private_mirror() {
    insta::assert_snapshot!(shown(&Scenario::private_mirror()));
}

#[test]
fn library_missing() {
    insta::assert_snapshot!(shown(&Scenario::library_missing()));
}

#[test]
fn a_reader_that_leaves_early_is_no_failure() {
    let node = Node::with(&Scenario::library_missing());
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = node.command("probe").stdout(writer).output().unwrap();
    assert_eq!(Run::of(&output).code, 3);
}
