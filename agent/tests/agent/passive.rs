//! What the daemon's look says without touching a GPU, everywhere that it says something: exit code, status, metrics.

use std::fs;
use std::io::Write as _;

use crate::node::{Node, Run, mode};
use crate::tree::write;
use fake_gpu::Scenario;
use fake_gpu::scenario::{Clocks, Condition, Ecc, FabricState, Pcie, RemappedRows};
use kb_core::report::Report;
use kb_core::verdict::Verdict;

/// GPU 0 as the report names it.
pub(crate) const GPU: &str = "0000:00:06.0";
const BOOT: &str = "host/proc/sys/kernel/random/boot_id";

/// A node with two GPUs whose kernel log can be read; the condition is GPU 0's.
pub(crate) fn node(condition: Condition) -> Node {
    let mut scenario = Scenario::healthy(2);
    scenario.gpus[0].condition = condition;
    let node = Node::with(&scenario);
    write(&node.path(""), "host/dev/kmsg", "5,0,0,-;Linux version 6.8.0\n");
    node
}

pub(crate) fn log(node: &Node, number: u64, message: &str) {
    let path = node.path("host/dev/kmsg");
    let mut file = fs::OpenOptions::new().append(true).open(path).unwrap();
    writeln!(file, "3,{number},{number},-;{message}").unwrap();
}

pub(crate) fn daemon(node: &Node, arguments: &[&str]) -> Run {
    let (state, metrics) = (node.path("state"), node.path("peerless.prom"));
    let mut command = node.command("daemon");
    command.args(["--once", "--state", state.to_str().unwrap()]);
    command.args(["--metrics-file", metrics.to_str().unwrap()]);
    Run::of(&command.args(arguments).output().unwrap())
}

fn prove(node: &Node) -> Run {
    daemon(node, &["--active", "--idle-minutes", "0", "--active-every", "0"])
}

fn with_state(node: &Node, verb: &str, arguments: &[&str]) -> Run {
    let state = node.path("state");
    let mut command = node.bare(verb);
    command.args(["--state", state.to_str().unwrap()]);
    Run::of(&command.args(arguments).output().unwrap())
}

fn status(node: &Node) -> Run {
    with_state(node, "status", &["--passive", "--fail-on", "unknown"])
}

pub(crate) fn looked(node: &Node) -> Report {
    serde_json::from_slice(&fs::read(node.path("state/last-passive.json")).unwrap()).unwrap()
}

pub(crate) fn metrics(node: &Node) -> String {
    fs::read_to_string(node.path("peerless.prom")).unwrap()
}

pub(crate) fn xid(number: u32, rest: &str) -> String {
    format!("NVRM: Xid (PCI:0000:00:06): {number}, {rest}")
}

/// What each condition comes to, by exit code, status and metrics.
#[test]
fn a_look_tells_of_every_state_that_nvml_tells_of() {
    let lost = Condition {
        lost: true,
        ..Condition::default()
    };
    let errors = Condition {
        ecc: Ecc {
            volatile_uncorrected: 3,
            ..Ecc::default()
        },
        ..Condition::default()
    };
    let rows = |pending, failure| Condition {
        remapped_rows: RemappedRows {
            pending,
            failure,
            ..RemappedRows::default()
        },
        ..Condition::default()
    };
    let action = |recovery_action| Condition {
        recovery_action,
        ..Condition::default()
    };
    let narrow = Condition {
        pcie: Pcie {
            width: 8,
            ..Pcie::default()
        },
        ..Condition::default()
    };
    let hot = Condition {
        clocks: Clocks {
            event_reasons: 0x40,
            ..Clocks::default()
        },
        ..Condition::default()
    };
    for (condition, cause, code) in [
        (lost, "gpu_lost", 2),
        (errors, "ecc_uncorrected", 2),
        (rows(false, true), "remap_failed", 2),
        (rows(true, false), "remap_pending", 2),
        (action(2), "recovery_action", 2),
        (action(5), "recovery_action", 2),
        (narrow, "pcie_link_degraded", 1),
        (hot, "throttled", 1),
    ] {
        let node = node(condition);
        let run = daemon(&node, &[]);
        assert_eq!(run.code, code, "{cause}: {}", run.stderr);
        let told = status(&node);
        assert_eq!(told.code, code, "{cause}: {}", told.stdout);
        assert!(told.stdout.contains(cause), "{cause}: {}", told.stdout);
        let metrics = metrics(&node);
        let kind = if code == 2 { "fault" } else { "warning" };
        assert!(
            metrics.contains(&format!("peerless_agent_{kind}{{cause=\"{cause}\",")),
            "{cause}: {metrics}"
        );
        if code == 2 {
            let run = prove(&node);
            assert_eq!(
                run.code, 2,
                "a run in the same boot ends nothing: {cause}: {}",
                run.stderr
            );
            // Where no daemon keeps a ledger, a run says of the same GPUs what the look says.
            let alone = Run::of(&node.command("probe").output().unwrap());
            assert_eq!(alone.code, 2, "{cause}: {}", alone.stderr);
        }
    }
}

#[test]
fn a_fabric_that_is_not_up_is_a_fault() {
    let mut condition = Condition::default();
    condition.fabric.state = FabricState::InProgress;
    let node = node(condition);
    assert_eq!(daemon(&node, &[]).code, 2);
    let told = status(&node);
    assert!(
        told.code == 2 && told.stdout.contains("fabric_not_ready@"),
        "{}",
        told.stdout
    );
    let line = format!(
        "peerless_agent_fault{{cause=\"fabric_not_ready\",record=\"fabric-manager/fabric-not-initialized\",gpu=\"{GPU}\",xid=\"\"}} 1\n"
    );
    assert!(metrics(&node).contains(&line), "{}", metrics(&node));
}

#[test]
fn links_that_are_down_are_a_warning() {
    let mut scenario = Scenario::healthy(2);
    scenario.gpus[0].nvlinks[3].active = false;
    let node = Node::with(&scenario);
    write(&node.path(""), "host/dev/kmsg", "5,0,0,-;Linux version 6.8.0\n");
    assert_eq!(daemon(&node, &[]).code, 1);
    assert!(
        status(&node).stdout.contains("links_down@"),
        "{}",
        status(&node).stdout
    );
}

#[test]
fn a_look_without_a_fault_is_neither_unknown_nor_a_proof() {
    let node = node(Condition::default());
    let run = daemon(&node, &[]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""));
    let report = looked(&node);
    assert_eq!(report.conclusion.verdict, Verdict::NoFaultSeen);
    assert_eq!(report.conclusion.exit_code, 0);
    assert_eq!(status(&node).stdout, "no fault seen: never proven here\n");
    assert_eq!(prove(&node).code, 0);
    assert_eq!(daemon(&node, &[]).code, 0);
    assert_eq!(status(&node).stdout, "no fault seen: last proof 0 min ago\n");
    assert_eq!(mode(&node.path("state/ledger.json")), 0o600);
}

#[test]
fn an_xid_between_two_looks_stays_open_also_behind_a_proof_after_a_new_boot() {
    let node = node(Condition::default());
    assert_eq!(daemon(&node, &[]).code, 0);
    log(&node, 2, &xid(79, "pid='<unknown>', GPU has fallen off the bus."));
    let run = daemon(&node, &[]);
    assert_eq!(run.code, 2, "{}", run.stderr);
    assert!(run.stderr.contains("xid-79@"), "{}", run.stderr);
    let report = looked(&node);
    assert_eq!(report.conclusion.verdict, Verdict::Broken);
    let metrics = metrics(&node);
    for line in [
        format!(
            "peerless_agent_fault{{cause=\"xid\",record=\"xid/79-gpu-has-fallen-off-the-bus\",gpu=\"{GPU}\",xid=\"79\"}} 1"
        ),
        format!("peerless_agent_xids_total{{gpu=\"{GPU}\",xid=\"79\"}} 1"),
        "peerless_agent_verdict{run=\"passive\",verdict=\"broken\"} 1".to_owned(),
    ] {
        assert!(metrics.lines().any(|known| known == line), "{line}\n{metrics}");
    }
    // Looks, a proof of the same boot, and a boot end nothing.
    assert_eq!(daemon(&node, &[]).code, 2);
    assert_eq!(prove(&node).code, 2, "the fault is open on a GPU of the run");
    // What is printed says the same as the exit code.
    let probe = |arguments: &[&str]| {
        let mut probe = node.command("probe");
        let probe = probe.env("PEERLESS_STATE", node.path("state")).args(arguments);
        Run::of(&probe.output().unwrap())
    };
    let table = probe(&[]);
    assert!(table.stdout.starts_with("broken: "), "{}", table.stdout);
    assert!(table.stdout.contains("; this run: healthy: "), "{}", table.stdout);
    let report: Report = serde_json::from_str(&probe(&["--json"]).stdout).unwrap();
    assert_eq!(report.conclusion.exit_code, 2);
    assert_eq!(daemon(&node, &[]).code, 2);
    write(&node.path(""), BOOT, "9f1b2c3d-0000-4000-8000-000000000002\n");
    write(&node.path(""), "host/dev/kmsg", "5,0,0,-;Linux version 6.8.0\n");
    assert_eq!(daemon(&node, &[]).code, 2);
    assert_eq!(status(&node).code, 2);
    // A proof ends no fault of the hardware: an admission does (admit.rs).
    let mut probe = node.command("probe");
    let probe = probe.env("PEERLESS_STATE", node.path("state")).output().unwrap();
    assert_eq!(probe.status.code(), Some(2));
    assert_eq!(status(&node).code, 2, "{}", status(&node).stdout);
    let told = status(&node).stderr;
    assert!(told.contains("`peerless-agent admit` ends it"), "{told}");
    assert_eq!(daemon(&node, &[]).code, 2);
}

/// A file without a record in the place of the kernel's log, as containers have it.
#[test]
fn a_log_without_a_record_is_not_the_kernels() {
    let empties: [&dyn Fn(&std::path::Path); 3] = [
        &|kmsg| fs::write(kmsg, "").unwrap(),
        &|kmsg| std::os::unix::fs::symlink("/nonexistent", kmsg).unwrap(),
        &|kmsg| {
            let made = std::process::Command::new("mkfifo").arg(kmsg).status();
            assert!(made.unwrap().success());
        },
    ];
    for replace in empties {
        let node = node(Condition::default());
        assert_eq!(daemon(&node, &[]).code, 0);
        let kmsg = node.path("host/dev/kmsg");
        fs::remove_file(&kmsg).unwrap();
        replace(&kmsg);
        // Behind a look that read it, and at a first one.
        for _ in 0..2 {
            let run = daemon(&node, &[]);
            assert_eq!(run.code, 3, "{}", run.stderr);
            assert!(run.stderr.contains("kernel_log"), "{}", run.stderr);
            let _ = fs::remove_dir_all(node.path("state"));
        }
        let line = format!(
            "Nov 21 10:00:00 gpu-17 kernel: [    9.000000] {}\n",
            xid(79, "GPU has fallen off the bus.")
        );
        write(&node.path(""), "host/var/log/messages", line);
        assert_eq!(daemon(&node, &[]).code, 2);
    }
}

/// A variable of CUDA's may come from whoever started the look.
#[test]
fn a_look_is_about_the_whole_node_whatever_cuda_may_see() {
    let mut scenario = Scenario::healthy(2);
    scenario.gpus[1].condition.remapped_rows.failure = true;
    let node = Node::with(&scenario);
    write(&node.path(""), "host/dev/kmsg", "5,0,0,-;Linux version 6.8.0\n");
    let state = node.path("state");
    for visible in ["0", "", "-1"] {
        let mut command = node.command("daemon");
        command.args(["--once", "--state", state.to_str().unwrap()]);
        let run = Run::of(&command.env("CUDA_VISIBLE_DEVICES", visible).output().unwrap());
        assert_eq!(run.code, 2, "{visible}: {}", run.stderr);
        assert!(
            run.stderr.contains("CUDA_VISIBLE_DEVICES is not followed"),
            "{}",
            run.stderr
        );
        assert_eq!(status(&node).code, 2, "{visible}");
    }
}

/// CUDA's own list may be shorter than the machine's.
#[test]
fn nvml_that_cannot_count_its_gpus_is_no_all_clear() {
    for (code, verdict, exit) in [(999, Verdict::Unknown, 3), (15, Verdict::Broken, 2)] {
        let node = Node::with(&Scenario::code_from("nvmlDeviceGetCount_v2", code));
        write(&node.path(""), "host/dev/kmsg", "5,0,0,-;Linux version 6.8.0\n");
        let run = daemon(&node, &["--fail-on", "fault,unknown"]);
        let conclusion = looked(&node).conclusion;
        assert_eq!(conclusion.verdict, verdict, "{code}: {conclusion:?}");
        assert_eq!(run.code, exit, "{code}: {}", run.stderr);
        assert_eq!(status(&node).code, exit, "{code}");
        assert_ne!(prove(&node).code, 0, "{code}");
    }
}

#[test]
fn what_a_job_did_is_counted_and_is_no_fault() {
    let node = node(Condition::default());
    assert_eq!(daemon(&node, &[]).code, 0);
    for number in 2..302 {
        log(&node, number, &xid(45, "pid=7, name=python3, Ch 00000008"));
    }
    for number in [13, 31, 43] {
        log(
            &node,
            302 + u64::from(number),
            &xid(number, "pid=7, name=python3"),
        );
    }
    assert_eq!(daemon(&node, &[]).code, 0);
    assert_eq!(status(&node).code, 0);
    let metrics = metrics(&node);
    assert!(metrics.contains(",xid=\"45\"} 300\n"), "{metrics}");
    assert!(!metrics.contains("peerless_agent_fault{"), "{metrics}");
}

#[test]
fn a_line_that_no_record_is_about_is_a_warning_and_a_fault_where_it_says_fatal() {
    let switch = |rest: &str| format!("nvidia-nvswitch0: SXid (PCI:0000:c5:00.0): 29999, {rest}");
    for (line, code, condition) in [
        (switch("Link 30"), 1, 0),
        (switch("Non-fatal, Link 30"), 1, 0),
        (switch("Fatal, Link 30"), 2, 1),
        (xid(999, "Fatal"), 2, 1),
        (xid(999, "pid=7, name=Fatal"), 1, 0),
        // Neither is nothing: a number that is too large, a place in a form that is not known.
        (
            "NVRM: Xid (PCI:0000:00:06): 99999999999999999999, x".to_owned(),
            1,
            0,
        ),
        (
            "NVRM: Xid (GPU-3): 79, GPU has fallen off the bus.".to_owned(),
            2,
            1,
        ),
    ] {
        let node = node(Condition::default());
        log(&node, 2, &line);
        let run = daemon(&node, &[]);
        assert_eq!(run.code, code, "{line}: {}", run.stderr);
        let root = node.path("host");
        let arguments = ["condition", "--host-root", root.to_str().unwrap()];
        assert_eq!(with_state(&node, "gate", &arguments).code, condition, "{line}");
        assert!(metrics(&node).contains("peerless_agent_xids_total{"), "{line}");
    }
}

#[test]
fn a_fault_is_not_hidden_by_a_flood_of_other_lines() {
    let node = node(Condition::default());
    log(
        &node,
        2,
        &xid(
            48,
            "An uncorrectable double bit error (DBE) has been detected on GPU",
        ),
    );
    for number in 3..1_003 {
        log(&node, number, &xid(45, "pid=7, name=python3, Ch 00000008"));
    }
    assert_eq!(daemon(&node, &[]).code, 2);
}

#[test]
fn a_clear_ends_an_event_and_the_next_report_tells_of_it() {
    let node = node(Condition::default());
    log(&node, 2, &xid(79, "GPU has fallen off the bus."));
    assert_eq!(daemon(&node, &[]).code, 2);
    let clear = |what: &str| {
        let arguments = [what, "--reason", "card exchanged", "--by", "operator"];
        with_state(&node, "clear", &arguments)
    };
    let wrong = clear("xid-80");
    assert_eq!(wrong.code, 64);
    assert!(wrong.stderr.contains("open are: xid-79@"), "{}", wrong.stderr);
    let run = clear("xid");
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stdout.starts_with("cleared xid-79@"), "{}", run.stdout);
    assert_eq!(status(&node).code, 0, "at once");
    assert_eq!(daemon(&node, &[]).code, 0);
    let clears = looked(&node).health.unwrap().clears;
    assert_eq!(
        (clears[0].by.as_str(), clears[0].reason.as_str()),
        ("operator", "card exchanged")
    );
    // It happens again.
    log(&node, 3, &xid(79, "GPU has fallen off the bus."));
    assert_eq!(daemon(&node, &[]).code, 2);
}

#[test]
fn a_state_that_is_cleared_opens_again_while_it_is_read_as_bad() {
    let node = node(Condition {
        recovery_action: 1,
        ..Condition::default()
    });
    assert_eq!(daemon(&node, &[]).code, 2);
    let run = with_state(&node, "clear", &["recovery_action", "--reason", "x", "--by", "y"]);
    assert_eq!(run.code, 0);
    assert_eq!(status(&node).code, 0);
    assert_eq!(daemon(&node, &[]).code, 2);
}

#[test]
fn what_could_not_be_read_is_never_called_good() {
    let node = node(Condition::default());
    fs::remove_file(node.path("host/dev/kmsg")).unwrap();
    let run = daemon(&node, &[]);
    assert_eq!(run.code, 3);
    assert!(run.stderr.contains("kernel_log"), "{}", run.stderr);
    assert!(metrics(&node).contains("peerless_agent_unread{what=\"kernel_log\"} 1\n"));
    write(&node.path(""), "host/dev/kmsg", "5,0,0,-;Linux version 6.8.0\n");
    assert_eq!(daemon(&node, &[]).code, 0);
    // The ledger of earlier faults is gone, or is no ledger.
    let ledger = node.path("state/ledger.json");
    fs::remove_file(&ledger).unwrap();
    assert_eq!(status(&node).code, 3);
    fs::write(&ledger, "{\"version\":1,\"open\":[").unwrap();
    assert_eq!(status(&node).code, 3);
    for _ in 0..2 {
        assert_eq!(daemon(&node, &[]).code, 3);
    }
    assert!(node.path("state/ledger.damaged.json").is_file());
    let run = with_state(&node, "clear", &["ledger_damaged", "--reason", "x", "--by", "y"]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(daemon(&node, &[]).code, 0);
}

#[test]
fn a_ledger_that_cannot_be_kept_is_told() {
    let node = node(Condition::default());
    // A folder where the file belongs.
    fs::create_dir_all(node.path("state/ledger.json")).unwrap();
    let run = daemon(&node, &[]);
    assert_eq!(run.code, 3);
    assert!(run.stderr.contains("ledger"), "{}", run.stderr);
    // What is seen in this look is told all the same.
    log(&node, 2, &xid(79, "GPU has fallen off the bus."));
    assert_eq!(daemon(&node, &[]).code, 2);
}

#[test]
fn a_ledger_that_is_gone_is_told_and_a_first_look_needs_none() {
    let node = node(Condition::default());
    assert_eq!(daemon(&node, &[]).code, 0);
    fs::remove_file(node.path("state/ledger.json")).unwrap();
    let run = daemon(&node, &[]);
    assert_eq!(run.code, 3, "{}", run.stderr);
    assert!(run.stderr.contains("ledger.json is gone"), "{}", run.stderr);
}
