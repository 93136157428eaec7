//! What is known of a node stays told where its state folder cannot be read or written.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;

use fake_gpu::scenario::Condition;

use crate::node::{Node, Run};
use crate::passive::{daemon, looked, metrics, node, xid};
use crate::tree::write;

pub(crate) const FAULT: &str = "xid-79@0000:00:06.0";

/// The kernel log, whose older lines are gone.
pub(crate) fn log(node: &Node, number: u64, message: &str) {
    let line = format!("3,{number},{number},-;{message}\n");
    write(&node.path(""), "host/dev/kmsg", line);
}

/// A node whose daemon has looked twice, with a fault before the second look. The log does not tell of it any more.
pub(crate) fn with_fault() -> Node {
    let node = node(Condition::default());
    assert_eq!(daemon(&node, &[]).code, 0);
    log(&node, 1, &xid(79, "GPU has fallen off the bus."));
    assert_eq!(daemon(&node, &[]).code, 2);
    log(&node, 2, "hello");
    node
}

/// A folder in place of the lock: the ledger can be read, and nobody can change it.
pub(crate) fn keep_from_writing(node: &Node) {
    let lock = node.path("state/ledger.lock");
    let _ = fs::remove_file(&lock);
    fs::create_dir_all(lock).unwrap();
}

pub(crate) fn with_state(node: &Node, verb: &str, arguments: &[&str]) -> Command {
    let mut command = node.command(verb);
    command.env("PEERLESS_STATE", node.path("state")).args(arguments);
    command
}

pub(crate) fn run(node: &Node, verb: &str, arguments: &[&str]) -> Run {
    Run::of(&with_state(node, verb, arguments).output().unwrap())
}

pub(crate) fn bare(node: &Node, verb: &str, arguments: &[&str]) -> Run {
    let mut command = node.bare(verb);
    command.env("PEERLESS_STATE", node.path("state"));
    command.env("PEERLESS_HOST_ROOT", node.path("host"));
    Run::of(&command.args(arguments).output().unwrap())
}

pub(crate) fn assert_fault(run: &Run, of: &str) {
    assert_eq!(run.code, 2, "{of}: {}{}", run.stdout, run.stderr);
    assert!(
        (run.stdout.clone() + &run.stderr).contains(FAULT),
        "{of}: {}{}",
        run.stdout,
        run.stderr
    );
}

#[test]
fn a_fault_of_a_ledger_that_cannot_be_written_stays_told() {
    let node = with_fault();
    keep_from_writing(&node);
    let probe = run(&node, "probe", &[]);
    assert_fault(&probe, "probe");
    assert!(
        probe.stderr.contains("does not know of this run"),
        "{}",
        probe.stderr
    );
    // Each look starts from the file.
    for _ in 0..2 {
        let look = daemon(&node, &[]);
        assert_fault(&look, "look");
        assert!(look.stderr.contains("ledger.lock"), "{}", look.stderr);
        assert_fault(&bare(&node, "status", &["--passive"]), "status");
        assert_eq!(bare(&node, "gate", &["condition"]).code, 1);
        assert!(
            metrics(&node).contains("peerless_agent_fault{cause=\"xid\","),
            "{}",
            metrics(&node)
        );
    }
    // What a look saw and could not keep is in its own result.
    log(
        &node,
        3,
        &xid(
            48,
            "An uncorrectable double bit error (DBE) has been detected on GPU",
        ),
    );
    assert_eq!(daemon(&node, &[]).code, 2);
    let status = bare(&node, "status", &["--passive"]);
    assert!(
        status.stdout.contains("xid-48@") && status.stdout.contains(FAULT),
        "{}",
        status.stdout
    );
    // Nor is a clear taken for done.
    let clear = bare(&node, "clear", &["xid", "--reason", "x", "--by", "y"]);
    assert_eq!((clear.code, clear.stdout.as_str()), (3, ""), "{}", clear.stderr);
    assert!(clear.stderr.contains("nothing is cleared"), "{}", clear.stderr);
}

/// A result that cannot be written is not there, as on a full disk.
#[test]
fn a_fault_of_the_ledger_is_told_without_a_result() {
    let node = with_fault();
    keep_from_writing(&node);
    fs::remove_file(node.path("state/last-passive.json")).unwrap();
    fs::create_dir(node.path("state/last-passive.json")).unwrap();
    assert_fault(&daemon(&node, &[]), "look");
    assert!(
        metrics(&node).contains("peerless_agent_fault{cause=\"xid\","),
        "{}",
        metrics(&node)
    );
    assert_fault(&bare(&node, "status", &["--passive"]), "status");
    let condition = bare(&node, "gate", &["condition"]);
    assert_eq!(condition.code, 1, "{}", condition.stdout);
    // Whether there is a result that counts is another question.
    assert_eq!(bare(&node, "status", &["--passive", "--alive"]).code, 3);
}

/// What is done to a ledger, by name.
type Damage<'a> = (&'a str, &'a dyn Fn(&Path));

#[test]
fn a_ledger_that_cannot_be_read_is_no_all_clear_and_holds_nobody_up() {
    let half = |ledger: &Path| {
        let bytes = fs::read(ledger).unwrap();
        fs::write(ledger, &bytes[..bytes.len() / 2]).unwrap();
    };
    let gone = |ledger: &Path| fs::remove_file(ledger).unwrap();
    let too_large = |ledger: &Path| {
        File::options()
            .write(true)
            .open(ledger)
            .unwrap()
            .set_len(1 << 40)
            .unwrap();
    };
    let folder = |ledger: &Path| {
        fs::remove_file(ledger).unwrap();
        fs::create_dir(ledger).unwrap();
    };
    let pipe = |ledger: &Path| {
        fs::remove_file(ledger).unwrap();
        assert!(Command::new("mkfifo").arg(ledger).status().unwrap().success());
    };
    let endless = |ledger: &Path| {
        fs::remove_file(ledger).unwrap();
        std::os::unix::fs::symlink("/dev/zero", ledger).unwrap();
    };
    let damages: [Damage<'_>; 6] = [
        ("half", &half),
        ("gone", &gone),
        ("too large", &too_large),
        ("folder", &folder),
        ("pipe", &pipe),
        ("endless", &endless),
    ];
    for (name, damage) in damages {
        let node = with_fault();
        damage(&node.path("state/ledger.json"));
        let status = bare(&node, "status", &["--passive"]);
        assert_ne!(status.code, 0, "{name}: {}", status.stdout);
        // The second one finds what took the place of a damaged one.
        for _ in 0..2 {
            let probe = run(&node, "probe", &["--json"]);
            assert_eq!(probe.code, 3, "{name}: {}", probe.stderr);
            assert_eq!(probe.report().conclusion.exit_code, 3, "{name}");
            assert!(
                probe.stderr.contains("what is open is not known"),
                "{name}: {}",
                probe.stderr
            );
        }
        assert_eq!(daemon(&node, &[]).code, 3, "{name}");
        assert_eq!(bare(&node, "gate", &["condition"]).code, 2, "{name}");
    }
}

#[test]
fn a_state_folder_without_a_daemon_changes_nothing_for_a_run() {
    let node = node(Condition::default());
    fs::create_dir(node.path("state")).unwrap();
    let probe = run(&node, "probe", &[]);
    assert_eq!((probe.code, probe.stderr.as_str()), (0, ""));
}

/// A process that was stopped holds the lock for as long as it likes.
#[test]
fn a_lock_that_is_held_is_waited_for_within_bounds() {
    let node = with_fault();
    let lock = File::options()
        .write(true)
        .open(node.path("state/ledger.lock"))
        .unwrap();
    lock.lock().unwrap();
    thread::scope(|scope| {
        let probe = scope.spawn(|| run(&node, "probe", &[]));
        let looked = scope.spawn(|| daemon(&node, &[]));
        let clear = scope.spawn(|| bare(&node, "clear", &["xid", "--reason", "x", "--by", "y"]));
        let (probe, looked, clear) = (
            probe.join().unwrap(),
            looked.join().unwrap(),
            clear.join().unwrap(),
        );
        assert_fault(&probe, "probe");
        assert_fault(&looked, "look");
        assert_eq!((clear.code, clear.stdout.as_str()), (3, ""));
        for run in [probe, looked, clear] {
            assert!(run.stderr.contains("another process has held"), "{}", run.stderr);
        }
    });
    assert_fault(&bare(&node, "status", &["--passive"]), "status");
}

/// A daemon that goes on looking, and what it says of each look that is not well.
struct Resident {
    child: Child,
    lines: std::io::Lines<BufReader<std::process::ChildStderr>>,
}

impl Resident {
    fn of(node: &Node) -> Self {
        let mut command = with_state(node, "daemon", &["--interval", "0.2"]);
        command.arg("--metrics-file").arg(node.path("peerless.prom"));
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        Self { child, lines }
    }

    fn said(&mut self, is_meant: impl Fn(&str) -> bool) -> String {
        let mut lines = self.lines.by_ref().map(Result::unwrap);
        lines.find(|line| is_meant(line)).unwrap()
    }
}

impl Drop for Resident {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_daemon_remembers_a_fault_until_the_ledger_has_it() {
    let node = node(Condition::default());
    assert_eq!(daemon(&node, &[]).code, 0);
    keep_from_writing(&node);
    let mut resident = Resident::of(&node);
    log(&node, 1, &xid(79, "GPU has fallen off the bus."));
    resident.said(|line| line.contains(FAULT));
    // Later looks do not find it in the log, and have nothing but what the earlier one remembers.
    log(
        &node,
        2,
        &xid(
            48,
            "An uncorrectable double bit error (DBE) has been detected on GPU",
        ),
    );
    let said = resident.said(|line| line.contains("xid-48@"));
    assert!(said.contains(FAULT), "{said}");
    // The textfile of a look is written behind its line.
    resident.said(|line| line.contains("xid-48@"));
    let told = metrics(&node);
    let faults = told
        .lines()
        .filter(|line| line.starts_with("peerless_agent_fault{cause=\"xid\""));
    assert_eq!(faults.count(), 2, "{told}");
    let kept = || fs::read_to_string(node.path("state/ledger.json")).unwrap();
    assert!(!kept().contains(FAULT), "{}", kept());
    fs::remove_dir(node.path("state/ledger.lock")).unwrap();
    resident.said(|line| line.contains(FAULT) && !line.contains("ledger"));
    assert!(kept().contains(FAULT) && kept().contains("xid-48@"), "{}", kept());
    drop(resident);
    assert_fault(&bare(&node, "status", &["--passive"]), "status");
    assert!(
        looked(&node)
            .health
            .unwrap()
            .open
            .iter()
            .all(|entry| entry.count == 1)
    );
}
