//! `probe --simulate`: marked as simulated everywhere, believed nowhere, and without a driver.

use fake_gpu::Scenario;
use kb_core::report::Report;
use kb_core::verdict::Verdict;

use crate::node::{Node, Run};

const MACHINES: [(&str, Verdict, i32); 6] = [
    ("healthy", Verdict::Healthy, 0),
    ("refused", Verdict::Refused, 2),
    ("lost", Verdict::Broken, 2),
    ("slow", Verdict::Degraded, 1),
    ("hang", Verdict::Broken, 2),
    ("ecc", Verdict::Broken, 2),
];

/// On a node without libraries, host files or a place for a lock.
fn simulated(arguments: &[&str]) -> Run {
    let node = Node::with(&Scenario::healthy(2));
    let mut command = node.bare("probe");
    command.args(["--host-root", "/nonexistent", "--lock-file", "/nonexistent/lock"]);
    command.args(["--fail-on", "unknown"]).args(arguments);
    for (name, _) in node.installed.environment() {
        command.env_remove(name);
    }
    Run::of(&command.output().unwrap())
}

#[test]
fn every_machine_has_its_verdict_and_every_output_says_that_it_is_simulated() {
    for (machine, verdict, code) in MACHINES {
        let json = simulated(&["--simulate", machine, "--json"]);
        let report: Report = serde_json::from_str(&json.stdout).unwrap();
        assert_eq!(
            (report.conclusion.verdict, json.code),
            (verdict, code),
            "{machine}"
        );
        assert!(report.simulated);
        assert_eq!(report.simulated_machine(), Some(machine));
        assert!(
            report.conclusion.reason.starts_with("simulated: "),
            "{:?}",
            report.conclusion
        );
        assert!(json.stderr.contains("simulated: the machine"), "{}", json.stderr);

        let table = simulated(&["--simulate", machine]);
        assert_eq!(table.code, code, "{machine}");
        let first = table.stdout.lines().next().unwrap();
        assert!(first.contains("simulated: "), "{first}");
        assert!(
            table
                .stdout
                .contains(&format!("the machine {machine} is made up")),
            "{}",
            table.stdout
        );
    }
}

#[test]
fn where_slurm_asks_and_in_a_settings_file_it_is_refused() {
    let node = Node::with(&Scenario::healthy(2));
    let mut prolog = node.bare("probe");
    prolog
        .args(["--simulate", "healthy"])
        .env("SLURM_SCRIPT_CONTEXT", "prolog_slurmd");
    let refused = Run::of(&prolog.output().unwrap());
    assert_eq!(refused.code, 64, "{}", refused.stderr);
    assert!(
        refused.stderr.contains("--simulate is refused"),
        "{}",
        refused.stderr
    );
    assert_eq!(refused.stdout, "");

    let settings = node.path("settings.toml");
    std::fs::write(&settings, "[probe]\nsimulate = \"healthy\"\n").unwrap();
    let mut probe = node.bare("probe");
    probe.arg("--config").arg(&settings);
    let refused = Run::of(&probe.output().unwrap());
    assert_eq!(refused.code, 64, "{}", refused.stderr);
    assert!(
        refused.stderr.contains("on the command line alone"),
        "{}",
        refused.stderr
    );

    let unknown = simulated(&["--simulate", "wet"]);
    assert_eq!(unknown.code, 64);
    assert!(
        unknown.stderr.contains("healthy, refused, lost, slow, hang, ecc"),
        "{}",
        unknown.stderr
    );
}

#[test]
fn a_simulated_result_in_the_state_folder_is_never_believed() {
    let node = Node::with(&Scenario::healthy(2));
    let state = node.path("state");
    std::fs::create_dir(&state).unwrap();
    let (real, _) = node.probe(&[]);
    for (file, arguments) in [
        ("last-active.json", &[][..]),
        ("last-passive.json", &["--passive"][..]),
    ] {
        let id = real.node.id.as_str();
        let made = simulated(&["--simulate", "healthy", "--json", "--node-id", id]);
        std::fs::write(state.join(file), made.stdout).unwrap();
        let mut status = node.bare("status");
        status
            .arg("--state")
            .arg(&state)
            .args(arguments)
            .env("PEERLESS_ALLOW_SIMULATED", "true");
        let told = Run::of(&status.output().unwrap());
        assert_eq!(told.code, 3, "{}", told.stdout);
        assert!(told.stderr.contains("the machine is made up"), "{}", told.stderr);
    }
}
