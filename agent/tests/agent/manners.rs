//! How the agent keeps out of the way: passive looks, dry runs, chosen GPUs, settings from a file.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use fake_gpu::Scenario;
use kb_core::report::Report;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::node::{Node, Run, mode};

/// Calls that take something of a GPU.
const TAKING: [&str; 3] = ["cuDevicePrimaryCtxRetain", "cuMemAlloc_v2", "cuLaunchKernel"];

fn taken(node: &Node) -> Vec<&'static str> {
    let calls = node.installed.calls().unwrap();
    let of = TAKING
        .into_iter()
        .filter(|call| calls.get(call).is_some_and(|count| *count > 0));
    of.collect()
}

fn daemon(node: &Node, arguments: &[&str]) -> Run {
    let mut command = node.command("daemon");
    command.arg("--once").arg("--state").arg(node.path("state"));
    command.arg("--spool").arg(node.path("spool"));
    Run::of(&command.args(arguments).output().unwrap())
}

fn status(node: &Node, arguments: &[&str]) -> Run {
    let mut command = node.bare("status");
    command.arg("--state").arg(node.path("state"));
    Run::of(&command.args(arguments).output().unwrap())
}

#[test]
fn the_daemon_takes_nothing_of_the_gpus_unless_told() {
    let node = Node::with(&Scenario::healthy(2));
    let metrics = node.path("peerless.prom");
    let run = daemon(&node, &["--metrics-file", metrics.to_str().unwrap()]);
    assert_eq!(run.code, 3, "nothing was proven: {}", run.stderr);
    assert!(!node.installed.calls().unwrap().is_empty());
    assert_eq!(taken(&node), Vec::<&str>::new());
    let report: Report =
        serde_json::from_slice(&fs::read(node.path("state/last-passive.json")).unwrap()).unwrap();
    assert_eq!((report.gpus.len(), report.pairs.len()), (2, 1));
    assert!(
        report.gpus[0].facts.contains_key("nvlink.links_active"),
        "{:?}",
        report.gpus[0].facts
    );
    let metrics = fs::read_to_string(metrics).unwrap();
    assert!(
        metrics.contains("peerless_agent_gpus{run=\"passive\"} 2\n")
            && metrics.contains("peerless_agent_simulated{run=\"passive\"} 1\n"),
        "{metrics}"
    );
    assert!(
        metrics.contains("peerless_agent_verdict{run=\"passive\",verdict=\"unknown\"} 1\n"),
        "{metrics}"
    );
}

#[test]
fn an_active_daemon_waits_until_the_gpus_are_idle() {
    let node = Node::with(&Scenario::healthy(2));
    assert_eq!(daemon(&node, &["--active"]).code, 3, "not idle for long enough");
    assert!(taken(&node).is_empty());
    assert_eq!(status(&node, &[]).code, 3, "no run yet");
    let run = daemon(&node, &["--active", "--idle-minutes", "0"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(taken(&node), TAKING);
    let calls = node.installed.calls().unwrap();
    let told = status(&node, &[]);
    assert_eq!(told.code, 0, "{}", told.stderr);
    assert!(
        told.stdout.starts_with("healthy: 1 pair proven"),
        "{}",
        told.stdout
    );
    assert_eq!(node.installed.calls().unwrap(), calls, "asking touches no GPU");
    assert_eq!(status(&node, &["--passive"]).code, 3);

    let busy = Node::with(&Scenario::busy_gpu());
    daemon(&busy, &["--active", "--idle-minutes", "0"]);
    assert!(taken(&busy).is_empty());
}

/// An active daemon's round with an `scontrol` on its way that says this.
fn beside_slurm(node: &Node, says: &str) -> Run {
    let scontrol = node.path("scontrol");
    fs::write(
        &scontrol,
        format!("#!/bin/sh\n[ \"$*\" = '--oneliner show node gpu-17' ] || exit 2\n{says}\n"),
    )
    .unwrap();
    fs::set_permissions(&scontrol, fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = node.command("daemon");
    command.args(["--once", "--active", "--drained-by", "slurm", "--state"]);
    command.arg(node.path("state"));
    command.env("PATH", format!("{}:/usr/bin:/bin", node.path("").display()));
    command.env("SLURMD_NODENAME", "gpu-17");
    Run::of(&command.output().unwrap())
}

#[test]
fn an_active_daemon_does_not_wait_on_a_node_that_slurm_drained() {
    let node = Node::with(&Scenario::healthy(2));
    for says in [
        "echo NodeName=gpu-17 State=IDLE Reason=none",
        "echo NodeName=gpu-17 State=MIXED+DRAIN",
    ] {
        let run = beside_slurm(&node, says);
        assert_eq!(run.code, 3, "{says}: {}", run.stderr);
    }
    let run = beside_slurm(&node, "echo slurm_load_node error >&2; exit 1");
    assert!(
        run.stderr
            .contains("cannot be told: scontrol: exit status: 1: slurm_load_node error"),
        "{}",
        run.stderr
    );
    assert!(taken(&node).is_empty());
    let run = beside_slurm(&node, "echo NodeName=gpu-17 State=IDLE+DRAIN");
    assert_eq!(taken(&node), TAKING, "{}", run.stderr);

    let busy = Node::with(&Scenario::busy_gpu());
    beside_slurm(&busy, "echo NodeName=gpu-17 State=IDLE+DRAIN");
    assert!(taken(&busy).is_empty(), "drained, and yet somebody computes");
}

#[test]
fn an_active_daemon_does_not_wait_while_a_file_says_that_the_node_is_drained() {
    let node = Node::with(&Scenario::healthy(2));
    let file = node.path("drained");
    let arguments = ["--active", "--drained-by", file.to_str().unwrap()];
    assert_eq!(daemon(&node, &arguments).code, 3);
    assert!(taken(&node).is_empty());
    fs::write(&file, "").unwrap();
    let run = daemon(&node, &arguments);
    assert_eq!(taken(&node), TAKING, "{}", run.stderr);
}

#[test]
fn an_active_run_that_is_locked_out_leaves_the_last_one_as_it_is() {
    let node = Node::with(&Scenario::healthy(2));
    let arguments = ["--active", "--idle-minutes", "0", "--active-every", "0"];
    assert_eq!(daemon(&node, &arguments).code, 0);
    let file = node.path("state/last-active.json");
    let (first, calls) = (fs::read(&file).unwrap(), node.installed.calls().unwrap());
    let held = fs::File::open(node.path("lock")).unwrap();
    held.lock().unwrap();
    let run = daemon(&node, &[&arguments[..], &["--timeout", "3"]].concat());
    assert_eq!(run.code, 3, "{}", run.stderr);
    assert!(run.stderr.contains("is probing this node"), "{}", run.stderr);
    assert_eq!(fs::read(&file).unwrap(), first);
    let later = node.installed.calls().unwrap();
    for call in TAKING {
        assert_eq!(later[call], calls[call], "{call}");
    }
}

#[test]
fn the_last_run_of_the_ladder_is_known_behind_a_restart() {
    let node = Node::with(&Scenario::healthy(2));
    let metrics = node.path("peerless.prom");
    let arguments = [
        "--active",
        "--idle-minutes",
        "0",
        "--metrics-file",
        metrics.to_str().unwrap(),
    ];
    assert_eq!(daemon(&node, &arguments).code, 0);
    let file = node.path("state/last-active.json");
    let first = fs::read(&file).unwrap();
    assert_eq!(mode(&file), 0o600, "it holds lines of the kernel log");
    assert_eq!(mode(&metrics), 0o644);
    assert_eq!(daemon(&node, &arguments).code, 3, "a look without checks");
    assert_eq!(fs::read(&file).unwrap(), first, "a day between two runs");
    let metrics = fs::read_to_string(metrics).unwrap();
    for line in [
        "peerless_agent_verdict{run=\"passive\",verdict=\"unknown\"} 1\n",
        "peerless_agent_verdict{run=\"active\",verdict=\"healthy\"} 1\n",
        "peerless_agent_spool_reports 0\n",
    ] {
        assert!(metrics.contains(line), "{line}{metrics}");
    }
}

#[test]
fn a_result_that_is_old_or_of_the_future_is_none() {
    let node = Node::with(&Scenario::healthy(2));
    daemon(&node, &["--active", "--idle-minutes", "0"]);
    let file = node.path("state/last-active.json");
    let mut report: Report = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    let ended = OffsetDateTime::parse(&report.finished_at, &Rfc3339).unwrap();
    report.finished_at = "2020-01-01T00:00:00Z".to_owned();
    fs::write(&file, serde_json::to_vec(&report).unwrap()).unwrap();
    let old = status(&node, &[]);
    assert_eq!(old.code, 3);
    assert!(old.stderr.contains("hours old"), "{}", old.stderr);
    // A clock that was an hour ahead must not make the result count for ever.
    for (ahead, code) in [(Duration::from_hours(1), 3), (Duration::from_mins(1), 0)] {
        report.finished_at = (ended + ahead).format(&Rfc3339).unwrap();
        fs::write(&file, serde_json::to_vec(&report).unwrap()).unwrap();
        let told = status(&node, &[]);
        assert_eq!(told.code, code, "{ahead:?}: {}", told.stderr);
        assert_eq!(told.stderr.contains("yet to come"), code == 3, "{}", told.stderr);
    }
}

#[test]
fn a_dry_run_says_what_would_be_taken_and_takes_nothing() {
    let node = Node::with(&Scenario::healthy(2));
    let run = node.run("probe", &["--dry-run", "--timeout", "60"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stdout.starts_with("GPU 0 NVIDIA H200 ("), "{}", run.stdout);
    assert!(
        run.stdout
            .contains("1 pairs, 4 KiB a check, about 1.5 s, at most 60 s in all"),
        "{}",
        run.stdout
    );
    assert!(run.stdout.contains("about 2 s in all"), "{}", run.stdout);
    assert!(taken(&node).is_empty());
}

#[test]
fn a_dry_run_of_a_bench_says_how_long_its_parts_take() {
    let node = Node::with(&Scenario::healthy(2));
    let seconds = |arguments: &[&str]| {
        let run = node.run("bench", &[&["--dry-run"], arguments].concat());
        assert_eq!(run.code, 0, "{}", run.stderr);
        let bench = run
            .stdout
            .lines()
            .find(|line| line.starts_with("the bench:"))
            .unwrap();
        let about = bench.split_once("; about ").unwrap().1;
        let (seconds, parts) = about.split_once(" s by what the links carry (").unwrap();
        assert!(parts.starts_with("without peer access "), "{bench}");
        (seconds.parse::<f64>().unwrap(), parts.contains("sizes "))
    };
    let (quick, full) = (seconds(&[]), seconds(&["--full"]));
    assert!(
        0.5 < quick.0 && 2.0 * quick.0 < full.0 && full.0 < 30.0,
        "{quick:?} {full:?}"
    );
    assert_eq!((quick.1, full.1), (false, true));
    assert!(taken(&node).is_empty());
}

#[test]
fn chosen_gpus_alone_are_looked_at() {
    let node = Node::with(&Scenario::healthy(4));
    let (report, run) = node.probe(&["--devices", "1,3"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!((report.gpus.len(), report.pairs.len()), (2, 1));
    let visible = report.gpus.iter().map(|gpu| gpu.nvml_index.value);
    assert_eq!(visible.collect::<Vec<_>>(), [Some(1), Some(3)]);
    assert_eq!(node.run("probe", &["--devices", "a"]).code, 64);
}

#[test]
fn settings_come_from_a_file_and_the_command_line_wins() {
    let node = Node::with(&Scenario::healthy(2));
    let file = node.path("agent.toml");
    let text = "expect = \"p2p=none\"\n[probe]\ndevices = \"0,1\"\n[daemon]\ninterval = 60\n";
    fs::write(&file, text).unwrap();
    let config = file.to_str().unwrap();
    let (report, _) = node.probe(&["--config", config]);
    assert_eq!(report.conclusion.expect.as_deref(), Some("p2p=none"));
    let (report, _) = node.probe(&["--config", config, "--expect", "p2p=all"]);
    assert_eq!(report.conclusion.expect.as_deref(), Some("p2p=all"));
    fs::write(&file, "quiet = true\n").unwrap();
    assert_eq!(
        node.run("probe", &["--json", "--config", config])
            .report()
            .gpus
            .len(),
        2
    );
    let mut unset = node.command("probe");
    let unset = Run::of(&unset.env("PEERLESS_CONFIG", "").output().unwrap());
    assert_eq!(unset.code, 0, "{}", unset.stderr);
    fs::write(&file, "exspect = \"p2p=none\"\n").unwrap();
    let wrong = node.run("probe", &["--config", config]);
    assert_eq!(wrong.code, 64);
    assert!(
        wrong.stderr.contains("no verb has an option --exspect"),
        "{}",
        wrong.stderr
    );
}

#[test]
fn shells_and_man_are_served() {
    let node = Node::with(&Scenario::healthy(2));
    let bash = Run::of(&node.bare("completions").arg("bash").output().unwrap());
    assert!(bash.stdout.contains("--retry-for") && bash.stdout.contains("peerless-agent"));
    let man = Run::of(&node.bare("man").output().unwrap());
    assert!(
        man.stdout.starts_with(".ie") && man.stdout.contains("PEERLESS\\-AGENT DAEMON")
            || man.stdout.contains("PEERLESS-AGENT DAEMON"),
        "{}",
        man.stdout
    );
    assert!(!man.stdout.contains("Hold the GPUs for a parent"));
}

#[test]
fn options_of_the_active_daemon_need_it() {
    let node = Node::with(&Scenario::healthy(2));
    for arguments in [["--drained-by", "slurm"], ["--idle-minutes", "5"]] {
        let run = node.run("daemon", &[&["--once"], &arguments[..]].concat());
        assert_eq!(run.code, 64, "{}", run.stderr);
        assert!(run.stderr.contains("--active"), "{}", run.stderr);
    }
}

#[test]
fn a_variable_that_nobody_reads_is_told_once() {
    let node = Node::with(&Scenario::healthy(2));
    for (verb, arguments) in [
        // Starts itself anew, with another environment.
        ("probe", &["--devices", "0,1", "--dry-run"][..]),
        ("status", &[]),
        ("report", &["--no-such-option"]),
    ] {
        let mut command = node.bare(verb);
        command
            .args(arguments)
            .env("PEERLESS_SERVR", "http://a.example")
            .env("PEERLESS_FAIL_ON", "fault")
            .env("PEERLESS_LISTEN", "127.0.0.1:80");
        let run = Run::of(&command.output().unwrap());
        let warnings: Vec<&str> = run
            .stderr
            .lines()
            .filter(|line| line.contains("warning: the variable"))
            .collect();
        assert_eq!(warnings.len(), 2, "{verb}: {}", run.stderr);
        assert!(
            warnings[0].contains("PEERLESS_FAIL_ON is not read: --fail-on has none"),
            "{}",
            run.stderr
        );
        assert!(
            warnings[1].contains("PEERLESS_SERVR is not read: did you mean PEERLESS_SERVER?"),
            "{}",
            run.stderr
        );
    }
}
