//! What `deploy/agent` ships: units, scripts and settings that the agent and the systems around it take.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use fake_gpu::Scenario;
use yaml_rust2::{Yaml, YamlLoader};

use crate::node::Node;

const AGENT: &str = env!("CARGO_BIN_EXE_peerless-agent");

pub(crate) fn shipped(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../deploy/agent")
        .join(name)
}

/// Words of a list.
fn words(list: &Yaml) -> Vec<String> {
    let words = list.as_vec().unwrap().iter();
    words.map(|word| word.as_str().unwrap().to_owned()).collect()
}

/// Each item that has the name.
fn named<'a>(list: &'a Yaml, name: &str) -> &'a Yaml {
    let mut items = list.as_vec().unwrap().iter();
    items.find(|item| item["name"].as_str() == Some(name)).unwrap()
}

#[test]
fn the_daemon_set_requests_no_gpu_and_its_probes_run_none() {
    let text = fs::read_to_string(shipped("kubernetes.yaml")).unwrap();
    let set = &YamlLoader::load_from_str(&text).unwrap()[0];
    assert_eq!(set["kind"].as_str(), Some("DaemonSet"));
    assert_eq!(
        set["spec"]["selector"]["matchLabels"],
        set["spec"]["template"]["metadata"]["labels"]
    );
    let pod = &set["spec"]["template"]["spec"];
    let container = named(&pod["containers"], "agent");
    let resources = &container["resources"];
    assert!(resources["requests"]["cpu"].as_str().is_some());
    for kind in ["requests", "limits"] {
        assert!(resources[kind]["nvidia.com/gpu"].is_badvalue());
    }
    let folder = tempfile::tempdir().unwrap();
    // Without a result none of them says that all is well; and no doubt ends a container.
    for (probe, verb, expected) in [("livenessProbe", "status", 3), ("readinessProbe", "gate", 1)] {
        let probe = words(&container[probe]["exec"]["command"]);
        assert_eq!(probe[..2], ["peerless-agent", verb]);
        let asked = Command::new(AGENT)
            .args(&probe[1..])
            .env("PEERLESS_STATE", folder.path())
            .output()
            .unwrap();
        assert_eq!(
            asked.status.code(),
            Some(expected),
            "{}",
            String::from_utf8_lossy(&asked.stderr)
        );
    }
    assert!(words(&container["livenessProbe"]["exec"]["command"]).contains(&"--alive".to_owned()));
    let arguments = words(&container["args"]);
    let help = Command::new(AGENT)
        .args(&arguments)
        .arg("--help")
        .output()
        .unwrap();
    assert!(help.status.success() && arguments[0] == "daemon");
    assert!(!arguments.contains(&"--active".to_owned()));
    // The container's own file system cannot be written to, so what is written needs a volume that can.
    for option in ["--lock-file=", "--metrics-file="] {
        let path = arguments
            .iter()
            .find_map(|word| word.strip_prefix(option))
            .unwrap();
        let folder = Path::new(path).parent().unwrap();
        let mut mounts = container["volumeMounts"].as_vec().unwrap().iter();
        let its = mounts
            .find(|mount| mount["mountPath"].as_str() == folder.to_str())
            .unwrap();
        assert!(its["readOnly"].is_badvalue());
    }
    for container in pod["containers"].as_vec().unwrap() {
        for mount in container["volumeMounts"].as_vec().unwrap() {
            named(&pod["volumes"], mount["name"].as_str().unwrap());
        }
    }
}

/// The secret that the manifest names is the one that it says how to make; what the agent writes is served.
#[test]
fn the_daemon_set_says_how_its_secret_is_made_and_serves_its_metrics() {
    let text = fs::read_to_string(shipped("kubernetes.yaml")).unwrap();
    let set = &YamlLoader::load_from_str(&text).unwrap()[0];
    let containers = &set["spec"]["template"]["spec"]["containers"];
    let agent = named(containers, "agent");
    let file = named(&agent["env"], "PEERLESS_JOIN_TOKEN_FILE")["value"]
        .as_str()
        .unwrap();
    let file = Path::new(file);
    let mut mounts = agent["volumeMounts"].as_vec().unwrap().iter();
    let mount = mounts
        .find(|mount| mount["mountPath"].as_str() == file.parent().unwrap().to_str())
        .unwrap();
    let volumes = &set["spec"]["template"]["spec"]["volumes"];
    let secret = &named(volumes, mount["name"].as_str().unwrap())["secret"];
    assert_eq!(
        secret["defaultMode"].as_i64(),
        Some(400),
        "0400: octal to Kubernetes, whose YAML is 1.1"
    );
    let made = format!(
        "kubectl create secret generic {} --from-literal={}=",
        secret["secretName"].as_str().unwrap(),
        file.file_name().unwrap().to_str().unwrap()
    );
    assert!(text.contains(&made), "{made}");
    let server = named(containers, "metrics");
    let port = named(&server["ports"], "metrics")["containerPort"]
        .as_i64()
        .unwrap();
    let arguments = words(&server["args"]);
    assert!(arguments.contains(&format!("--web.listen-address=:{port}")));
    assert!(arguments.contains(&"--collector.textfile.directory=/metrics".to_owned()));
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
    let list = fs::read_to_string(root.join("xtask/src/release/files.rs")).unwrap();
    let sources: Vec<&str> = list
        .split('"')
        .filter(|word| word.starts_with("deploy/") || word.starts_with("docs/"))
        .collect();
    for source in &sources {
        assert!(root.join(source).is_file(), "{source}");
    }
    assert_eq!(sources.len(), 14, "{sources:?}");
}

fn rules(name: &str) -> PathBuf {
    shipped("../prometheus").join(name)
}

#[test]
fn the_alerts_are_raised_as_their_tests_say() {
    for arguments in [
        ["check", "rules", "peerless-agent.rules.yaml"],
        ["test", "rules", "peerless-agent.tests.yaml"],
    ] {
        let checked = Command::new("promtool")
            .args(arguments)
            .current_dir(rules(""))
            .output()
            .expect("promtool is not installed: run `cargo xtask test --install`");
        assert!(checked.status.success(), "{checked:?}");
    }
}

/// Names of the agent's metrics in a text.
fn metrics_in(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let ours = words.filter(|word| word.starts_with("peerless_agent_"));
    ours.map(str::to_owned).collect()
}

/// An alert on a name that nothing prints would be silent for ever.
#[test]
fn the_alerts_ask_for_metrics_that_the_agent_writes() {
    /// Written where a passive look sees a fault; the simulated node of this test has none.
    const OF_FAULTS: &str = "peerless_agent_fault";
    let node = Node::with(&Scenario::healthy(2));
    let (daemon, gate) = (node.path("daemon.prom"), node.path("gate.prom"));
    let state = node.path("state");
    let state = ["--state", state.to_str().unwrap()];
    node.run(
        "daemon",
        &[
            &["--once", "--metrics-file", daemon.to_str().unwrap()],
            &state[..],
        ]
        .concat(),
    );
    let mut asked = node.bare("gate");
    asked.args(["health", "--metrics-file"]).arg(&gate).args(state);
    assert!(asked.status().unwrap().success());
    let mut written = BTreeSet::from([OF_FAULTS.to_owned()]);
    for file in [&daemon, &gate] {
        let text = fs::read(file).unwrap();
        written.extend(metrics_in(&String::from_utf8_lossy(&text)));
        let mut check = Command::new("promtool")
            .args(["check", "metrics"])
            .stdin(fs::File::open(file).unwrap())
            .spawn()
            .unwrap();
        assert!(check.wait().unwrap().success(), "{}", file.display());
    }
    let text = fs::read_to_string(rules("peerless-agent.rules.yaml")).unwrap();
    let asked = metrics_in(&text);
    assert!(asked.is_subset(&written), "{asked:?} of {written:?}");
    assert!(asked.len() >= 7, "{asked:?}");
}
