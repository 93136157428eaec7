//! The scripts around `gate`: what they make of the codes that it ends with, and of an agent that is not there.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output};

use crate::deployment::shipped;

/// Codes that the agent does not have, or that say that it did not run.
const NO_ANSWERS: [i32; 9] = [2, 3, 64, 101, 126, 127, 134, 137, 139];

/// A program that writes down how it was called and what Slurm would have given it, and ends with a code.
fn stub(folder: &Path, name: &str, code: i32) {
    let path = folder.join(name);
    let log = folder.join(format!("{name}.log"));
    let text = format!(
        "#!/bin/sh\necho \"$@\" >> {}\nprintenv PATH > {}\nexit {code}\n",
        log.display(),
        folder.join("path").display()
    );
    fs::write(&path, text).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A script beside these programs. The system's own are there, too.
fn run(name: &str, folder: &Path) -> Output {
    Command::new("/bin/sh")
        .arg(shipped(name))
        .env_clear()
        .env("PATH", format!("{}:/usr/bin:/bin", folder.display()))
        .output()
        .unwrap()
}

fn log(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(format!("{name}.log"))).unwrap_or_default()
}

/// Slurm drains the node of a prolog that ends with anything but 0.
#[test]
fn the_prolog_refuses_only_where_the_gate_says_so() {
    for (script, asker, refuses) in [
        ("slurm/prolog.sh", "prolog", true),
        ("slurm/epilog.sh", "epilog", false),
        ("slurm/healthcheck.sh", "health", false),
    ] {
        for code in [0, 1].into_iter().chain(NO_ANSWERS) {
            let folder = tempfile::tempdir().unwrap();
            stub(folder.path(), "peerless-agent", code);
            stub(folder.path(), "logger", 0);
            let output = run(script, folder.path());
            let expected = i32::from(code == 1 && refuses);
            assert_eq!(output.status.code(), Some(expected), "{script}: agent {code}");
            assert_eq!(log(folder.path(), "peerless-agent"), format!("gate {asker}\n"));
            // What is no answer is told: nothing else would.
            let told = log(folder.path(), "logger");
            let is_answer = code == 0 || (code == 1 && refuses);
            assert_eq!(told.contains("ALERT"), !is_answer, "{script}: {code}: {told}");
        }
    }
}

/// Without the agent, and without a program that logs.
#[test]
fn an_agent_that_is_not_there_refuses_no_job() {
    let folder = tempfile::tempdir().unwrap();
    for (script, expected) in [
        ("slurm/prolog.sh", 0),
        ("slurm/epilog.sh", 0),
        ("slurm/healthcheck.sh", 0),
        ("node-condition.sh", 2),
    ] {
        let output = Command::new("/bin/sh")
            .arg(shipped(script))
            .env_clear()
            .env("PATH", folder.path())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(expected), "{script}");
    }
}

/// slurmd starts its scripts without a PATH, and a shell that sets its own hands it on to nobody.
#[test]
fn the_scripts_of_slurm_give_a_path_to_what_they_start() {
    for script in ["slurm/prolog.sh", "slurm/epilog.sh", "slurm/healthcheck.sh"] {
        let text = fs::read_to_string(shipped(script)).unwrap();
        let folder = tempfile::tempdir().unwrap();
        stub(folder.path(), "peerless-agent", 0);
        let here = folder.path().join("script.sh");
        let absolute = folder.path().join("peerless-agent");
        fs::write(
            &here,
            text.replace("\npeerless-agent ", &format!("\n{} ", absolute.display())),
        )
        .unwrap();
        let output = Command::new("/bin/sh").arg(&here).env_clear().output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let path = fs::read_to_string(folder.path().join("path")).unwrap();
        assert!(path.contains("/usr/bin"), "{script}: {path:?}");
    }
}

#[test]
fn the_node_condition_takes_no_doubt_for_a_fault() {
    for code in [0, 1].into_iter().chain(NO_ANSWERS) {
        let folder = tempfile::tempdir().unwrap();
        stub(folder.path(), "peerless-agent", code);
        let expected = if code > 1 { 2 } else { code };
        let output = run("node-condition.sh", folder.path());
        assert_eq!(output.status.code(), Some(expected), "agent {code}");
        assert_eq!(log(folder.path(), "peerless-agent"), "gate condition\n");
    }
    let detector: serde_json::Value =
        serde_json::from_slice(&fs::read(shipped("node-problem-detector.json")).unwrap()).unwrap();
    assert_eq!(
        detector["rules"][0]["condition"],
        detector["conditions"][0]["type"]
    );
}
