//! What the daemon left: how old it may be, how often it drains, and what epilog, condition and readiness make of it.

use std::fs;
use std::time::Duration;

use fake_gpu::Scenario;
use kb_core::report::Report;
use kb_core::verdict::Verdict;
use time::OffsetDateTime;

use super::{ARMED, Cluster, FRESH};
use crate::node::{Node, Run};
use crate::tree::write;

#[test]
fn the_health_check_drains_once_for_each_result() {
    let cluster = Cluster::with(&Scenario::healthy(2), ARMED);
    let broken = Scenario::writes_dropped();
    cluster.looked(&broken, Duration::from_mins(1));
    assert_eq!(cluster.run("slurm/healthcheck.sh").code, 0);
    let own = cluster.own();
    assert!(
        own.contains("State=IDLE+DRAIN Reason=peerless: broken: "),
        "{own}"
    );
    // A person resumes it: the same result does not take it away again, and is told.
    cluster.set_own("State=IDLE");
    let run = cluster.run("slurm/healthcheck.sh");
    assert!(
        run.stderr.contains("was resumed behind this very result"),
        "{}",
        run.stderr
    );
    assert_eq!(cluster.own(), "NodeName=gpu-17 State=IDLE");
    // A later one does; and one of the ladder, beside a look that tells nothing.
    cluster.looked(&broken, FRESH);
    cluster.run("slurm/healthcheck.sh");
    assert!(cluster.own().contains("DRAIN"));
    cluster.set_own("State=IDLE");
    fs::remove_file(cluster.node.path("state/last-passive.json")).unwrap();
    let (report, _) = Node::with(&broken).probe(&[]);
    cluster.write("last-active.json", &report, FRESH);
    cluster.run("slurm/healthcheck.sh");
    assert!(cluster.own().contains("DRAIN"), "{}", cluster.own());
}

#[test]
fn a_daemon_that_is_silent_is_no_all_clear() {
    let cluster = Cluster::with(
        &Scenario::healthy(2),
        &format!("{ARMED}\nmetrics-file = {:?}", "METRICS"),
    );
    let metrics = cluster.node.path("gate.prom");
    let settings = fs::read_to_string(cluster.node.path("settings.toml")).unwrap();
    fs::write(
        cluster.node.path("settings.toml"),
        settings.replace("METRICS", metrics.to_str().unwrap()),
    )
    .unwrap();
    let healthy = Scenario::healthy(2);
    let told = || {
        let run = cluster.run("slurm/healthcheck.sh");
        assert_eq!((run.code, cluster.calls().as_str()), (0, ""));
        let text = fs::read_to_string(&metrics).unwrap();
        let line = text.lines().find(|line| line.starts_with("peerless_agent_gate{"));
        (line.unwrap().to_owned(), run.stderr)
    };
    let (line, stderr) = told();
    assert_eq!(
        line,
        "peerless_agent_gate{seen=\"silent\",action=\"could_not_tell\"} 1"
    );
    assert!(stderr.contains("no result"), "{stderr}");
    // Three looks of a quarter of an hour, with what is left to chance.
    cluster.looked(&healthy, Duration::from_mins(47));
    let pass = "peerless_agent_gate{seen=\"no_fault\",action=\"pass\"} 1";
    assert_eq!(told().0, pass);
    cluster.looked(&healthy, Duration::from_mins(51));
    let (line, stderr) = told();
    assert!(line.contains("silent"), "{line}: {stderr}");
    // The daemon writes down how often it looks.
    fs::write(
        cluster.node.path("state/daemon.json"),
        "{\"interval_seconds\":3600}",
    )
    .unwrap();
    assert_eq!(told().0, pass);
    fs::write(
        cluster.node.path("state/daemon.json"),
        "{\"interval_seconds\":60}",
    )
    .unwrap();
    cluster.looked(&healthy, Duration::from_mins(4));
    assert!(told().0.contains("silent"));
    // Also one that tells of a fault: nothing says that it is still so.
    cluster.looked(&Scenario::writes_dropped(), Duration::from_mins(51));
    assert!(told().0.contains("silent"));
}

/// What the daemon itself read, from the kernel log to Slurm and Kubernetes.
#[test]
fn an_xid_that_a_look_read_drains_the_node_and_is_its_condition() {
    let cluster = Cluster::with(&Scenario::healthy(2), ARMED);
    let node = &cluster.node;
    let log = |text: &str| {
        write(
            &node.path(""),
            "host/dev/kmsg",
            format!("5,0,0,-;Linux version 6.8.0\n{text}"),
        );
    };
    let state = node.path("state");
    let look = || node.run("daemon", &["--once", "--state", state.to_str().unwrap()]);
    log("");
    assert_eq!(look().code, 0);
    assert_eq!(cluster.run("slurm/healthcheck.sh").code, 0);
    assert_eq!(cluster.own(), "NodeName=gpu-17 State=IDLE");
    assert_eq!(cluster.run("node-condition.sh").code, 0);
    log("3,1,1,-;NVRM: Xid (PCI:0000:00:06): 79, pid='<unknown>', GPU has fallen off the bus.\n");
    assert_eq!(look().code, 2);
    assert_eq!(cluster.run("node-condition.sh").code, 1);
    assert_eq!(cluster.run("slurm/healthcheck.sh").code, 0);
    let own = cluster.own();
    assert!(
        own.contains("State=IDLE+DRAIN Reason=peerless: ") && own.contains("xid-79@"),
        "{own}"
    );
}

/// What the kernel has told since the daemon's last look, and a fault of a switch or of a GPU that is gone.
#[test]
fn a_job_does_not_start_behind_a_fault_that_only_the_kernel_log_or_the_ledger_has() {
    const SWITCH: &str = "nvidia-nvswitch0: SXid (PCI:0000:01:00.0): 20034, Fatal, Link 30 LTSSM Fault Up";
    const XID: &str = "NVRM: Xid (PCI:0000:00:06): 79, pid='<unknown>', GPU has fallen off the bus.";
    const JOBS: &str = "NVRM: Xid (PCI:0000:00:06): 43, pid=7, name=python, Ch 00000008";
    for (message, is_looked_at, code) in [
        (XID, false, 1),
        (XID, true, 1),
        (SWITCH, true, 1),
        (SWITCH, false, 1),
        (JOBS, false, 0),
    ] {
        let cluster = Cluster::with(&Scenario::healthy(2), ARMED);
        let node = &cluster.node;
        let log = |text: &str| {
            let text = format!("5,0,0,-;Linux version 6.8.0\n{text}");
            write(&node.path(""), "host/dev/kmsg", text);
        };
        let state = node.path("state");
        let look = || node.run("daemon", &["--once", "--state", state.to_str().unwrap()]);
        log("");
        assert_eq!(look().code, 0);
        log(&format!("3,1,1,-;{message}\n"));
        if is_looked_at {
            look();
        }
        let mut prolog = cluster.script("slurm/prolog.sh", "0,1");
        let run = Run::of(&prolog.env("PEERLESS_STATE", &state).output().unwrap());
        assert_eq!(run.code, code, "{message} {is_looked_at}: {}", run.stderr);
        assert_eq!(cluster.own().contains("DRAIN"), code == 1, "{}", cluster.own());
    }
}

#[test]
fn condition_and_readiness_tell_doubt_from_fault() {
    let cluster = Cluster::with(&Scenario::healthy(2), "");
    let ask = || {
        ["condition", "ready"].map(|asker| {
            let mut command = cluster.node.bare("gate");
            command
                .arg(asker)
                .arg("--config")
                .arg(cluster.node.path("settings.toml"));
            Run::of(&command.output().unwrap()).code
        })
    };
    assert_eq!(ask(), [2, 1], "no result");
    cluster.looked(&Scenario::healthy(2), FRESH);
    assert_eq!(ask(), [0, 0]);
    cluster.looked(&Scenario::writes_dropped(), FRESH);
    assert_eq!(ask(), [1, 0]);
    cluster.looked(&Scenario::not_yet_initialized(), FRESH);
    assert_eq!(ask(), [2, 1]);
}

#[test]
fn the_epilog_looks_and_never_fails() {
    for scenario in [Scenario::healthy(2), Scenario::library_missing()] {
        let cluster = Cluster::with(&scenario, ARMED);
        let run = cluster.run("slurm/epilog.sh");
        assert_eq!(run.code, 0, "{}", run.stderr);
        assert!(
            cluster.node.path("state/last-passive.json").is_file(),
            "{}",
            run.stderr
        );
        assert_eq!(cluster.calls(), "", "{}", run.stderr);
    }
}

#[test]
fn only_a_result_of_this_node_version_and_time_counts() {
    let cluster = Cluster::with(&Scenario::healthy(2), ARMED);
    let (good, _) = Node::with(&Scenario::healthy(2)).probe(&[]);
    let (broken, _) = Node::with(&Scenario::writes_dropped()).probe(&[]);
    let asked = || {
        let run = cluster.run("slurm/healthcheck.sh");
        assert_eq!((run.code, cluster.calls().as_str()), (0, ""), "{}", run.stderr);
        run.stderr
    };
    cluster.write("last-passive.json", &good, FRESH);
    assert!(asked().contains("gate health: pass"));
    let other_node = |report: &Report| {
        let mut report = report.clone();
        report.node.id = "node-of-another".parse().unwrap();
        report
    };
    let other_version = |report: &Report, major: u32, minor: u32| {
        let mut report = report.clone();
        report.schema.major = major;
        report.schema.minor = minor;
        report
    };
    let other_boot = |report: &Report| {
        let mut report = report.clone();
        report.node.boot_id = Some("9f1b2c3d-0000-4000-8000-000000000002".to_owned());
        report
    };
    let minor = kb_core::report::MINOR;
    for report in [&good, &broken] {
        for (refused, why) in [
            (
                other_node(report),
                "it is of the node node-of-another, and this one is node-",
            ),
            (other_version(report, 2, 0), "it is of version 2.0 of the report"),
            (other_version(report, 1, minor - 1), "restart the daemon"),
            (other_version(report, 1, minor + 1), "restart the daemon"),
            (other_boot(report), "no look since the node was booted"),
        ] {
            cluster.write("last-passive.json", &refused, FRESH);
            let said = asked();
            assert!(
                said.contains("could not tell") && said.contains(why),
                "{why}: {said}"
            );
        }
    }
    let tomorrow = OffsetDateTime::from(super::now()) + Duration::from_hours(24);
    cluster.write_of("last-passive.json", &good, tomorrow);
    let said = asked();
    assert!(
        said.contains("could not tell") && said.contains("yet to come"),
        "{said}"
    );
    let text = fs::read_to_string(cluster.node.path("state/last-passive.json")).unwrap();
    let mut timeless: serde_json::Value = serde_json::from_str(&text).unwrap();
    timeless["finished_at"] = "yesterday".into();
    fs::write(cluster.node.path("state/last-passive.json"), timeless.to_string()).unwrap();
    let said = asked();
    assert!(
        said.contains("could not tell") && said.contains("when it was made"),
        "{said}"
    );
}

#[test]
fn the_daemon_of_this_boot_names_the_node() {
    let cluster = Cluster::with(&Scenario::healthy(2), ARMED);
    let (mut report, _) = Node::with(&Scenario::healthy(2)).probe(&[]);
    report.node.id = "gpu-17".parse().unwrap();
    cluster.write("last-passive.json", &report, FRESH);
    let about = |boot: Option<&str>| {
        let about = serde_json::json!({ "interval_seconds": 900, "node_id": "gpu-17", "boot_id": boot });
        fs::write(cluster.node.path("state/daemon.json"), about.to_string()).unwrap();
        cluster.run("slurm/healthcheck.sh").stderr
    };
    // A container that is shown another machine id has the boot in common with the daemon.
    assert!(about(report.node.boot_id.as_deref()).contains("gate health: pass"));
    for another in [None, Some("9f1b2c3d-0000-4000-8000-000000000002")] {
        let said = about(another);
        assert!(said.contains("it is of the node gpu-17"), "{said}");
    }
}

#[test]
fn a_proof_that_cannot_be_believed_is_no_all_clear() {
    let cluster = Cluster::with(&Scenario::healthy(2), ARMED);
    let (good, _) = Node::with(&Scenario::healthy(2)).probe(&[]);
    let (mut broken, _) = Node::with(&Scenario::writes_dropped()).probe(&[]);
    cluster.write("last-passive.json", &good, FRESH);
    broken.node.id = "node-of-another".parse().unwrap();
    cluster.write("last-active.json", &broken, FRESH);
    let run = cluster.run("slurm/healthcheck.sh");
    assert!(
        run.stderr.contains("could not tell") && run.stderr.contains("last-active.json"),
        "{}",
        run.stderr
    );
    assert_eq!(cluster.calls(), "");
}

/// A look that was not made says nothing of the job, however new the one before is.
#[test]
fn an_epilog_without_its_look_is_no_all_clear() {
    let cluster = Cluster::with(&Scenario::healthy(2), ARMED);
    cluster.looked(&Scenario::healthy(2), FRESH);
    let settings = cluster.node.path("settings.toml");
    let text = fs::read_to_string(&settings).unwrap();
    fs::write(&settings, text + "[daemon]\nstep-timeout = -1\n").unwrap();
    let run = cluster.run("slurm/epilog.sh");
    assert!(
        run.stderr.contains("could not tell") && run.stderr.contains("code 64"),
        "{}",
        run.stderr
    );
}

/// A fault that a look found by itself is in no ledger: a run or a look that cannot tell does not end it.
#[test]
fn what_cannot_tell_hides_no_fault_of_the_look_before() {
    for (script, code) in [("slurm/epilog.sh", 0), ("slurm/prolog.sh", 1)] {
        let cluster = Cluster::with(&Scenario::library_missing(), ARMED);
        let state = cluster.node.path("state");
        let look = || {
            cluster
                .node
                .run("daemon", &["--once", "--state", state.to_str().unwrap()])
        };
        assert_eq!(look().code, 3);
        let file = state.join("last-passive.json");
        let mut report: Report = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        report.conclusion.verdict = Verdict::Broken;
        let seen = report.health.as_mut().unwrap().look.as_mut().unwrap();
        seen.verdict = Verdict::Broken;
        "the driver hung twice".clone_into(&mut seen.reason);
        fs::write(&file, serde_json::to_vec(&report).unwrap()).unwrap();
        assert_eq!(look().code, 3);
        let run = cluster.run(script);
        assert_eq!(run.code, code, "{script}: {}", run.stderr);
        let own = cluster.own();
        assert!(
            own.contains("DRAIN") && own.contains("hung twice"),
            "{own}: {}",
            run.stderr
        );
    }
}
