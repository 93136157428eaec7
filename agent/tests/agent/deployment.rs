//! What `deploy/agent` ships: units, scripts and settings that the agent and the systems around it take.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use yaml_rust2::{Yaml, YamlLoader};

const AGENT: &str = env!("CARGO_BIN_EXE_peerless-agent");

pub(crate) fn shipped(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../deploy/agent")
        .join(name)
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
    let verified = Command::new("systemd-analyze")
        .args(["verify", "--man=no"])
        .arg(&unit)
        .output()
        .expect("systemd-analyze is not installed: run `cargo xtask test --install`");
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
        for verb in [&["daemon"][..], &["status"], &["report"], &["gate", "health"]] {
            let help = Command::new(AGENT)
                .args(verb)
                .args(["--help", "--config"])
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
