//! What `deploy/agent` ships: units, scripts and settings that the agent and the systems around it take.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, SystemTime};

use fake_gpu::Scenario;
use kb_core::report::Report;
use yaml_rust2::{Yaml, YamlLoader};

use crate::node::Node;

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

/// A script of ours in the place where it runs.
fn script(name: &str, folder: &Path, gpus: &str) -> Command {
    let mut command = Command::new("/bin/sh");
    command
        .arg(shipped(name))
        .env_clear()
        .env("PATH", format!("{}:/usr/bin:/bin", folder.display()))
        .env("PEERLESS_STATE", folder)
        .env("SLURM_JOB_GPUS", gpus)
        .env("SLURMD_NODENAME", "gpu-17");
    command
}

fn log(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(format!("{name}.log"))).unwrap_or_default()
}

/// Runs a script beside an agent that ends with a code; what `scontrol` and the agent were called with.
fn run(name: &str, code: i32) -> (Output, String, String) {
    let folder = tempfile::tempdir().unwrap();
    stub(folder.path(), "peerless-agent", code);
    stub(folder.path(), "scontrol", 0);
    fs::write(folder.path().join("last-active.json"), "").unwrap();
    let output = script(name, folder.path(), "0,2").output().unwrap();
    (
        output,
        log(folder.path(), "peerless-agent"),
        log(folder.path(), "scontrol"),
    )
}

#[test]
fn the_prolog_passes_a_job_of_one_gpu() {
    let folder = tempfile::tempdir().unwrap();
    stub(folder.path(), "peerless-agent", 3);
    for gpus in ["0", ""] {
        let status = script("slurm/prolog.sh", folder.path(), gpus).status().unwrap();
        assert_eq!(status.code(), Some(0), "{gpus:?}");
    }
    assert_eq!(log(folder.path(), "peerless-agent"), "");
    let status = script("slurm/prolog.sh", folder.path(), "0,1").status().unwrap();
    assert_eq!(status.code(), Some(1));
}

/// Beside the agent itself, as a package leaves it: without a server, the pair is proven all the same.
#[test]
fn the_prolog_proves_pairs_where_no_server_is_set() {
    for (scenario, expected) in [(Scenario::healthy(2), 0), (Scenario::writes_dropped(), 1)] {
        let node = Node::with(&scenario);
        let status = prolog_of(&node).status().unwrap();
        assert_eq!(status.code(), Some(expected));
    }
}

/// Another run that does not end within the prolog's time is no fault of the node.
#[test]
fn the_prolog_passes_a_node_that_another_agent_is_probing() {
    let node = Node::with(&Scenario::healthy(2));
    let path = node.path("lock");
    let held = fs::File::create(&path).unwrap();
    held.lock().unwrap();
    let output = prolog_of(&node).env("SHORT", "--timeout 0.2").output().unwrap();
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    // A look that takes nothing goes on beside it; one that proves says why it did not.
    let state = node.path("state");
    let state = ["--state", state.to_str().unwrap()];
    node.run("daemon", &[&["--once"], &state[..]].concat());
    let look = fs::read(node.path("state/last-passive.json")).unwrap();
    let look: Report = serde_json::from_slice(&look).unwrap();
    assert_eq!((look.gpus.len(), look.failures.len()), (2, 0));
    let (report, run) = node.probe(&["--timeout", "0.2"]);
    assert_eq!((report.failures[0].step.as_str(), run.code), ("lock the node", 3));
}

/// The prolog on a simulated node, with what is in `SHORT` behind its own options.
fn prolog_of(node: &Node) -> Command {
    let folder = node.path("bin");
    fs::create_dir(&folder).unwrap();
    let program = folder.join("peerless-agent");
    let text = format!(
        "#!/bin/sh\nexec {AGENT} \"$@\" --buffer-kib 4 --host-root {} --lock-file {} ${{SHORT:-}}\n",
        node.path("host").display(),
        node.path("lock").display()
    );
    fs::write(&program, text).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = script("slurm/prolog.sh", &folder, "0,1");
    command.envs(node.installed.environment()).env("HOME", &folder);
    command
}

#[test]
fn the_health_check_drains_once_for_each_result_of_this_boot() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    stub(folder, "peerless-agent", 2);
    stub(folder, "scontrol", 0);
    let drains = || {
        assert!(
            script("slurm/healthcheck.sh", folder, "")
                .status()
                .unwrap()
                .success()
        );
        log(folder, "scontrol").lines().count()
    };
    let write = |name: &str, at: SystemTime| {
        let file = fs::File::create(folder.join(name)).unwrap();
        file.set_modified(at).unwrap();
    };
    assert_eq!(drains(), 0, "no result");
    let now = fs::metadata(folder.join("scontrol")).unwrap().modified().unwrap();
    write("last-active.json", SystemTime::UNIX_EPOCH);
    assert_eq!(drains(), 0, "from before the node was booted");
    write("last-active.json", now);
    assert_eq!(drains(), 1);
    assert_eq!(drains(), 1, "a node that was resumed stays so");
    write("last-active.json", now + Duration::from_secs(1));
    assert_eq!(drains(), 2, "a later result");
    write("last-passive.json", now);
    assert_eq!(drains(), 3, "the passive daemon's");
    assert!(log(folder, "peerless-agent").contains("--passive"));
}

#[test]
fn the_prolog_drains_only_what_is_broken_or_unproven() {
    for (code, expected) in [(0, 0), (1, 0), (2, 1), (3, 1), (64, 0)] {
        let (output, agent, _) = run("slurm/prolog.sh", code);
        let agent = agent.lines().next_back().unwrap();
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
    // The container's own file system cannot be written to, so the lock needs a volume that can.
    let lock = arguments.iter().position(|word| word == "--lock-file").unwrap();
    let folder = Path::new(&arguments[lock + 1]).parent().unwrap();
    let mut mounts = container["volumeMounts"].as_vec().unwrap().iter();
    let its = mounts
        .find(|mount| mount["mountPath"].as_str() == folder.to_str())
        .unwrap();
    assert!(its["readOnly"].is_badvalue());
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
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    let list = fs::read_to_string(root.join("xtask/src/release/pack.rs")).unwrap();
    let sources: Vec<&str> = list
        .split('"')
        .filter(|word| word.starts_with("deploy/") || word.starts_with("docs/"))
        .collect();
    for source in &sources {
        assert!(root.join(source).is_file(), "{source}");
    }
    assert_eq!(sources.len(), 8, "{sources:?}");
}
