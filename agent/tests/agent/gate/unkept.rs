//! The gates where the state folder cannot be read or written.

use std::fs;
use std::process::Command;

use fake_gpu::Scenario;

use super::{ARMED, Cluster};
use crate::node::Run;
use crate::tree::write;
use crate::unkept::{keep_from_writing, log};

const XID: &str = "NVRM: Xid (PCI:0000:00:06): 79, pid='<unknown>', GPU has fallen off the bus.";

/// A cluster whose node has been looked at. That its settings alone name the state folder is part of the test.
fn looked_at() -> Cluster {
    let cluster = Cluster::with(&Scenario::healthy(2), ARMED);
    write(
        &cluster.node.path(""),
        "host/dev/kmsg",
        "5,0,0,-;Linux version 6.8.0\n",
    );
    assert_eq!(look(&cluster).code, 0);
    cluster
}

fn look(cluster: &Cluster) -> Run {
    let state = cluster.node.path("state");
    cluster
        .node
        .run("daemon", &["--once", "--state", state.to_str().unwrap()])
}

fn with_fault() -> Cluster {
    let cluster = looked_at();
    log(&cluster.node, 1, XID);
    assert_eq!(look(&cluster).code, 2);
    log(&cluster.node, 2, "hello");
    cluster
}

fn assert_drained(cluster: &Cluster, run: &Run) {
    let own = cluster.own();
    assert!(
        own.contains("DRAIN") && own.contains("xid-79@"),
        "{own}: {}",
        run.stderr
    );
}

#[test]
fn a_job_does_not_start_behind_a_fault_of_a_ledger_that_cannot_be_written() {
    let cluster = with_fault();
    keep_from_writing(&cluster.node);
    let run = cluster.run("slurm/prolog.sh");
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert_drained(&cluster, &run);
}

/// The prolog finds it, and nothing after that is an all-clear.
#[test]
fn what_a_prolog_found_is_told_by_all_that_come_later() {
    let cluster = looked_at();
    let node = &cluster.node;
    log(node, 1, XID);
    let run = cluster.run("slurm/prolog.sh");
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert_drained(&cluster, &run);
    log(node, 2, "hello");
    let run = cluster.run("slurm/prolog.sh");
    assert_eq!(run.code, 1, "{}", run.stderr);
    let condition = {
        let mut command = node.bare("gate");
        command.arg("condition").env("PEERLESS_STATE", node.path("state"));
        Run::of(
            &command
                .env("PEERLESS_HOST_ROOT", node.path("host"))
                .output()
                .unwrap(),
        )
    };
    assert_eq!(condition.code, 1, "{}", condition.stderr);
    assert_eq!(look(&cluster).code, 2);
}

#[test]
fn a_job_does_not_start_behind_a_fault_where_nothing_could_be_kept() {
    let cluster = Cluster::with(&Scenario::healthy(2), ARMED);
    log(&cluster.node, 0, XID);
    let state = cluster.node.path("state");
    fs::remove_dir(&state).unwrap();
    std::os::unix::fs::symlink(cluster.node.path("nowhere"), &state).unwrap();
    let run = cluster.run("slurm/prolog.sh");
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert_drained(&cluster, &run);
}

/// Of all verbs that run over GPUs, by the settings alone.
#[test]
fn a_run_asks_the_ledger_of_the_folder_that_the_settings_name() {
    let cluster = with_fault();
    for (verb, more) in [("probe", None), ("report", Some("--print"))] {
        let mut command = cluster.node.bare(verb);
        command
            .args(more)
            .arg("--config")
            .arg(cluster.node.path("settings.toml"));
        let run = Run::of(&command.output().unwrap());
        assert_eq!(run.code, 2, "{verb}: {}", run.stderr);
        assert!((run.stdout + &run.stderr).contains("xid-79@"), "{verb}");
    }
    let run = cluster.run("slurm/prolog.sh");
    assert_eq!(run.code, 1, "{}", run.stderr);
    assert_drained(&cluster, &run);
}

#[test]
fn a_job_behind_a_ledger_that_cannot_be_read_is_told_of() {
    for is_folder in [true, false] {
        let cluster = looked_at();
        let ledger = cluster.node.path("state/ledger.json");
        fs::remove_file(&ledger).unwrap();
        if is_folder {
            fs::create_dir(&ledger).unwrap();
        } else {
            fs::write(&ledger, "").unwrap();
        }
        for script in ["slurm/prolog.sh", "slurm/epilog.sh", "slurm/healthcheck.sh"] {
            let run = cluster.run(script);
            assert_eq!(run.code, 0, "{}", run.stderr);
            assert!(
                run.stderr.contains("ALERT: could not tell"),
                "{script}: {}",
                run.stderr
            );
        }
        assert_eq!(cluster.calls(), "");
    }
}

/// Neither the ledger nor the result can be kept.
#[test]
fn the_epilog_goes_by_what_its_own_look_saw() {
    let cluster = looked_at();
    keep_from_writing(&cluster.node);
    let result = cluster.node.path("state/last-passive.json");
    fs::remove_file(&result).unwrap();
    fs::create_dir(&result).unwrap();
    log(&cluster.node, 1, XID);
    let run = cluster.run("slurm/epilog.sh");
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_drained(&cluster, &run);
}

/// Runs a script where the state folder is a file system of its own. It needs what unshare(1) needs: root, or user
/// namespaces that are allowed.
fn on_own_file_system(cluster: &Cluster, script: &str) -> String {
    let node = &cluster.node;
    let agent = super::AGENT;
    let begin = format!(
        "set -u\nmount -t tmpfs -o size=200k tmpfs \"$STATE\" || exit 1\n\
         log() {{ printf '3,%s,%s,-;%s\\n' \"$1\" \"$1\" \"$2\" > {host}/dev/kmsg; }}\n\
         look() {{ {agent} daemon --once --metrics-file {metrics}; echo look $?; }}\n\
         status() {{ {agent} status --passive --fail-on unknown; echo status $?; }}\n\
         condition() {{ {agent} gate condition; echo condition $?; }}\n\
         gate() {{ {agent} gate $1; }}\n",
        host = node.path("host").display(),
        metrics = node.path("peerless.prom").display(),
    );
    let mut command = Command::new("unshare");
    command
        .args([
            "--mount",
            "--map-root-user",
            "sh",
            "-c",
            &format!("{begin}{script}exit 0"),
        ])
        .env_clear()
        .envs(node.installed.environment())
        .env(
            "PATH",
            format!("{}:/usr/bin:/bin:/usr/sbin:/sbin", node.path("bin").display()),
        )
        .env("HOME", node.path("home"))
        .env("PEERLESS_CONFIG", node.path("settings.toml"))
        .env("SLURM_JOB_GPUS", "0,1")
        .env("SLURMD_NODENAME", "gpu-17")
        .env("NOW", super::seconds().to_string())
        .env("STATE", node.path("state"));
    let run = Run::of(&command.output().unwrap());
    assert_eq!(run.code, 0, "{}{}", run.stdout, run.stderr);
    run.stdout + &run.stderr
}

fn codes(said: &str) -> Vec<&str> {
    let words = ["look ", "status ", "condition "];
    let is_code = |line: &&str| words.iter().any(|word| line.starts_with(word));
    said.lines().filter(is_code).collect()
}

#[test]
fn a_state_folder_that_became_read_only_is_no_all_clear() {
    let cluster = looked_at();
    let said = on_own_file_system(
        &cluster,
        &format!(
            "look\nmount -o remount,ro \"$STATE\"\nlog 1 \"{XID}\"\nlook\nstatus\ncondition\ngate health\n\
             log 2 hello\nlook\nstatus\ngate epilog\n"
        ),
    );
    let expected = [
        "look 0",
        "look 2",
        "status 3",
        "condition 2",
        "look 3",
        "status 3",
    ];
    assert_eq!(codes(&said), expected, "{said}");
    assert_eq!(said.matches("ALERT: could not tell").count(), 2, "{said}");
    assert!(said.contains("the file system is read-only"), "{said}");
}

/// As where another container has the daemon's folder mounted.
#[test]
fn a_reader_may_have_the_state_folder_read_only() {
    let cluster = looked_at();
    let said = on_own_file_system(
        &cluster,
        "look\nmount --bind \"$STATE\" \"$STATE\"\nmount -o remount,bind,ro \"$STATE\"\nstatus\ncondition\n",
    );
    assert_eq!(codes(&said), ["look 0", "status 0", "condition 0"], "{said}");
}

#[test]
fn a_fault_is_told_on_a_file_system_that_is_read_only_or_full() {
    for break_it in [
        "mount -o remount,ro \"$STATE\"",
        "dd if=/dev/zero of=\"$STATE/fill\" bs=4k 2> /dev/null",
    ] {
        let cluster = looked_at();
        let said = on_own_file_system(
            &cluster,
            &format!(
                "look\nlog 1 \"{XID}\"\nlook\n{break_it}\nlog 2 hello\nstatus\nlook\nstatus\ncondition\n\
                 cat {}\ngate prolog\n",
                cluster.node.path("peerless.prom").display()
            ),
        );
        let expected = [
            "look 0",
            "look 2",
            "status 2",
            "look 2",
            "status 2",
            "condition 1",
        ];
        assert_eq!(codes(&said), expected, "{said}");
        assert!(said.contains("peerless_agent_fault{cause=\"xid\""), "{said}");
        assert!(
            said.contains("gate prolog: drain gpu-17: broken: xid-79@"),
            "{said}"
        );
    }
}

/// An event of the ledger does not end with the clock, with a boot, or with the agent's version.
#[test]
fn an_open_fault_is_told_beside_a_result_that_does_not_count() {
    type Change<'a> = (&'a str, &'a dyn Fn(&mut serde_json::Value));
    let changes: [Change<'_>; 3] = [
        ("of a time to come", &|result| {
            result["finished_at"] = "2999-01-01T00:00:00Z".into();
        }),
        ("of another version", &|result| {
            result["schema"]["minor"] = 999.into();
        }),
        ("of another boot", &|result| {
            result["node"]["boot_id"] = "9f1b2c3d-0000-4000-8000-000000000009".into();
        }),
    ];
    for (name, change) in changes {
        let cluster = with_fault();
        let file = cluster.node.path("state/last-passive.json");
        let mut result = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        change(&mut result);
        fs::write(&file, result.to_string()).unwrap();
        let ask = |arguments: &[&str]| {
            let mut command = cluster.node.bare(arguments[0]);
            command
                .args(&arguments[1..])
                .arg("--config")
                .arg(cluster.node.path("settings.toml"));
            Run::of(&command.output().unwrap())
        };
        assert_eq!(ask(&["gate", "condition"]).code, 1, "{name}");
        let status = ask(&["status", "--passive"]);
        assert_eq!(status.code, 2, "{name}: {}{}", status.stdout, status.stderr);
        let run = cluster.run("slurm/healthcheck.sh");
        assert_drained(&cluster, &run);
    }
}
