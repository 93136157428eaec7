//! A run of an ordinary user on a node whose daemon is root's.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use fake_gpu::Scenario;

use crate::node::{Node, Run, mode};
use crate::tree::write;
use crate::unkept::log;

/// `nobody`, on most systems.
const USER: u32 = 65_534;

/// A node whose settings name a state folder that is not there yet; nothing where this process is not root.
fn node() -> Option<Node> {
    if !rustix::process::geteuid().is_root() {
        eprintln!("SKIPPED: only root can run the agent as another user");
        return None;
    }
    let node = Node::with(&Scenario::healthy(2));
    write(&node.path(""), "host/dev/kmsg", "5,0,0,-;Linux version 6.8.0\n");
    let settings = format!("[daemon]\nstate = \"{}\"\n", state(&node).display());
    fs::write(node.path("settings.toml"), settings).unwrap();
    fs::copy(env!("CARGO_BIN_EXE_peerless-agent"), node.path("agent")).unwrap();
    fs::create_dir(node.path("home")).unwrap();
    Some(node)
}

fn state(node: &Node) -> PathBuf {
    node.path("of-the-node/state")
}

/// As a service or a prolog with a strict umask.
fn of_root(node: &Node, verb: &str, arguments: &[&str]) -> Run {
    let command = command(node, node.command(verb), arguments);
    let mut shell = Command::new("/bin/sh");
    shell
        .args(["-c", "umask 077; exec \"$@\"", "sh"])
        .arg(command.get_program())
        .args(command.get_args())
        .env_clear()
        .envs(
            command
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        );
    Run::of(&shell.output().unwrap())
}

fn of_user(node: &Node) -> Run {
    for folder in ["libraries", "host", "home"] {
        open_to_all(&node.path(folder));
    }
    let folder = node.path("");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    let mut agent = Command::new(node.path("agent"));
    let settings = node.command("probe");
    agent
        .args(settings.get_args())
        .env_clear()
        .envs(
            settings
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        )
        .env("HOME", node.path("home"))
        .arg("--lock-file")
        .arg(node.path("home/lock"));
    let mut agent = command(node, agent, &["--quiet"]);
    Run::of(&agent.uid(USER).gid(USER).output().unwrap())
}

fn command(node: &Node, mut command: Command, arguments: &[&str]) -> Command {
    command
        .arg("--config")
        .arg(node.path("settings.toml"))
        .args(arguments);
    command
}

fn open_to_all(path: &Path) {
    if path.is_symlink() {
        return;
    }
    fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            open_to_all(&entry.unwrap().path());
        }
    }
}

#[test]
fn a_users_run_has_what_roots_daemon_tells_whatever_its_umask_is() {
    let Some(node) = node() else { return };
    let look = of_root(&node, "daemon", &["--once"]);
    assert_eq!(look.code, 0, "{}", look.stderr);
    assert_eq!(mode(&state(&node).join("ledger.json")), 0o600);
    let healthy = of_user(&node);
    assert_eq!((healthy.code, &*healthy.stderr), (0, ""));
    log(
        &node,
        1,
        "NVRM: Xid (PCI:0000:00:06): 79, GPU has fallen off the bus.",
    );
    let look = of_root(&node, "daemon", &["--once"]);
    assert_eq!(look.code, 2, "{}", look.stderr);
    let broken = of_user(&node);
    assert_eq!(broken.code, 2, "{}", broken.stderr);
    assert!(broken.stderr.contains("xid-79@0000:00:06.0"), "{}", broken.stderr);
    assert!(!broken.stderr.contains("does not know"), "{}", broken.stderr);
    // What is told to others is gone.
    fs::remove_file(state(&node).join("open.json")).unwrap();
    let unknown = of_user(&node);
    assert_eq!(unknown.code, 3, "{}", unknown.stderr);
}

#[test]
fn a_spool_that_root_makes_first_closes_the_state_folder_to_nobody() {
    let Some(node) = node() else { return };
    let spool = state(&node).join("spool");
    let arguments = [
        "--quiet",
        "--server",
        "http://127.0.0.1:9",
        "--spool",
        spool.to_str().unwrap(),
    ];
    let sent = of_root(&node, "report", &arguments);
    assert!(sent.stderr.contains("it is kept in"), "{}", sent.stderr);
    assert_eq!((mode(&spool), mode(&state(&node))), (0o700, 0o755));
    let healthy = of_user(&node);
    assert_eq!((healthy.code, &*healthy.stderr), (0, ""));
}
