//! What `deploy/agent` ships: units, scripts and settings that the agent and the systems around it take.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use yaml_rust2::{Yaml, YamlLoader};

const AGENT: &str = env!("CARGO_BIN_EXE_peerless-agent");

fn shipped(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../deploy/agent")
        .join(name)
}

/// A program for scripts that writes down how it was called and ends with a code.
fn stub(folder: &Path, name: &str, code: i32) {
    let path = folder.join(name);
    let log = folder.join(format!("{name}.log"));
    fs::write(
        &path,
        format!(
            "#!/bin/sh\necho \"$@\" >> {}\necho 'broken: no way'\nexit {code}\n",
            log.display()
        ),
    )
    .unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Runs a script beside an agent that ends with a code; what `scontrol` and the agent were called with.
fn run(script: &str, code: i32) -> (Output, String, String) {
    let folder = tempfile::tempdir().unwrap();
    stub(folder.path(), "peerless-agent", code);
    stub(folder.path(), "scontrol", 0);
    let output = Command::new("/bin/sh")
        .arg(shipped(script))
        .env_clear()
        .env("PATH", format!("{}:/usr/bin:/bin", folder.path().display()))
        .env("SLURM_JOB_GPUS", "0,2")
        .env("SLURMD_NODENAME", "gpu-17")
        .output()
        .unwrap();
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap_or_default();
    (output, read("peerless-agent.log"), read("scontrol.log"))
}

#[test]
fn the_prolog_drains_only_what_is_broken_or_unproven() {
    for (code, expected) in [(0, 0), (1, 0), (2, 1), (3, 1), (64, 0)] {
        let (output, agent, _) = run("slurm/prolog.sh", code);
        assert_eq!(output.status.code(), Some(expected), "agent {code}");
        assert!(agent.contains("--devices 0,2"), "{agent}");
        // The agent's own command line takes what the script gives.
        let words: Vec<&str> = agent.split_whitespace().chain(["--help"]).collect();
        assert!(Command::new(AGENT).args(words).output().unwrap().status.success());
    }
}

#[test]
fn epilog_and_health_check_take_no_gpu_and_the_latter_drains_itself() {
    let (output, agent, _) = run("slurm/epilog.sh", 2);
    assert_eq!(output.status.code(), Some(0));
    assert!(agent.starts_with("daemon --once"), "{agent}");
    let words: Vec<&str> = agent.split_whitespace().chain(["--help"]).collect();
    assert!(Command::new(AGENT).args(words).output().unwrap().status.success());
    let (output, agent, scontrol) = run("slurm/healthcheck.sh", 2);
    assert_eq!(output.status.code(), Some(0));
    assert!(agent.starts_with("status "), "{agent}");
    assert_eq!(
        scontrol,
        "update NodeName=gpu-17 State=DRAIN Reason=peerless: broken: no way\n"
    );
    for code in [0, 1, 3, 64] {
        assert_eq!(run("slurm/healthcheck.sh", code).2, "", "agent {code}");
    }
}

#[test]
fn the_node_condition_speaks_the_detectors_codes() {
    for (code, expected) in [(0, 0), (1, 0), (2, 1), (3, 2), (64, 2)] {
        assert_eq!(
            run("node-condition.sh", code).0.status.code(),
            Some(expected),
            "agent {code}"
        );
    }
    let detector: serde_json::Value =
        serde_json::from_slice(&fs::read(shipped("node-problem-detector.json")).unwrap()).unwrap();
    assert_eq!(
        detector["rules"][0]["condition"],
        detector["conditions"][0]["type"]
    );
}

#[test]
fn the_daemon_set_requests_no_gpu_and_its_probe_runs_none() {
    let text = fs::read_to_string(shipped("kubernetes.yaml")).unwrap();
    let set = &YamlLoader::load_from_str(&text).unwrap()[0];
    assert_eq!(set["kind"].as_str(), Some("DaemonSet"));
    let container = &set["spec"]["template"]["spec"]["containers"][0];
    let resources = &container["resources"];
    assert!(resources["requests"]["cpu"].as_str().is_some());
    for kind in ["requests", "limits"] {
        assert!(resources[kind]["nvidia.com/gpu"].is_badvalue());
    }
    let words = |list: &Yaml| -> Vec<String> {
        let words = list.as_vec().unwrap().iter();
        words.map(|word| word.as_str().unwrap().to_owned()).collect()
    };
    let probe = words(&container["livenessProbe"]["exec"]["command"]);
    assert_eq!(probe[..2], ["peerless-agent", "status"]);
    let folder = tempfile::tempdir().unwrap();
    let asked = Command::new(AGENT)
        .args(&probe[1..])
        .env("PEERLESS_STATE", folder.path())
        .output()
        .unwrap();
    assert_eq!(
        asked.status.code(),
        Some(3),
        "{}",
        String::from_utf8_lossy(&asked.stderr)
    );
    let arguments = words(&container["args"]);
    let help = Command::new(AGENT)
        .args(&arguments)
        .arg("--help")
        .output()
        .unwrap();
    assert!(help.status.success() && arguments[0] == "daemon");
    assert!(!arguments.contains(&"--active".to_owned()));
}

#[test]
fn the_unit_is_one_that_systemd_takes() {
    let text = fs::read_to_string(shipped("peerless-agent.service")).unwrap();
    assert!(text.contains("ExecStart=/usr/bin/peerless-agent daemon\n"));
    let folder = tempfile::tempdir().unwrap();
    let unit = folder.path().join("peerless-agent.service");
    fs::write(&unit, text.replace("/usr/bin/peerless-agent", AGENT)).unwrap();
    // Where systemd is; its absence leaves the lines above.
    let Ok(verified) = Command::new("systemd-analyze")
        .args(["verify", "--man=no"])
        .arg(&unit)
        .output()
    else {
        return;
    };
    let said = String::from_utf8_lossy(&verified.stderr).into_owned();
    let about_ours = said
        .lines()
        .filter(|line| line.contains("peerless-agent.service"));
    assert_eq!(about_ours.collect::<Vec<_>>(), Vec::<&str>::new());
}

#[test]
fn the_example_of_settings_is_taken_with_all_its_comments_in_force() {
    let text = fs::read_to_string(shipped("peerless-agent.toml")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let in_force: Vec<&str> = text
        .lines()
        .map(|line| {
            line.strip_prefix("# ")
                .filter(|rest| rest.contains(" = "))
                .unwrap_or(line)
        })
        .collect();
    for text in [text.clone(), in_force.join("\n")] {
        let file = folder.path().join("agent.toml");
        fs::write(&file, text).unwrap();
        for verb in ["daemon", "status", "report"] {
            let help = Command::new(AGENT)
                .args([verb, "--help", "--config"])
                .arg(&file)
                .output()
                .unwrap();
            assert!(help.status.success(), "{}", String::from_utf8_lossy(&help.stderr));
        }
    }
}

#[test]
fn packages_name_files_that_are_there() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    let mut sources = 0;
    for word in manifest
        .split('"')
        .filter(|word| word.starts_with("../deploy/") || word.starts_with("../docs/"))
    {
        assert!(folder.join(word).is_file(), "{word}");
        sources += 1;
    }
    assert_eq!(sources, 12, "six files in each of two packages");
}
