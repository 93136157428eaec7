//! What waits: retries, limits, bundles, redaction.

use std::fs;
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;
use std::time::Duration;

use fake_gpu::Scenario;

use crate::node::{Node, Run, files_in, mode};
use crate::stub::Stub;

pub(crate) fn run(mut command: Command, arguments: &[&str]) -> Run {
    Run::of(&command.args(arguments).output().unwrap())
}

/// A node without a driver, whose runs are short, with this many reports in its spool.
pub(crate) fn node_with(reports: usize) -> Node {
    let node = Node::with(&Scenario::library_missing());
    for _ in 0..reports {
        let spool = node.path("spool");
        run(
            node.command("report"),
            &[
                "--quiet",
                "--server",
                "http://127.0.0.1:9",
                "--spool",
                spool.to_str().unwrap(),
            ],
        );
    }
    assert_eq!(files_in(&node.path("spool")).len(), reports);
    node
}

#[test]
fn a_busy_server_is_asked_again_until_it_takes_the_report() {
    let node = node_with(2);
    let stub = Stub::start(3);
    stub.busy.store(2, Ordering::SeqCst);
    let spool = node.path("spool");
    let arguments = ["--server", &stub.address, "--spool", spool.to_str().unwrap()];
    let once = run(
        node.bare("upload"),
        &[&arguments[..], &["--retry-for", "0.1"]].concat(),
    );
    assert_eq!(once.code, 1, "{}", once.stderr);
    stub.busy.store(2, Ordering::SeqCst);
    let done = run(node.bare("upload"), &arguments);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(
        done.stderr.contains("answered 503; trying again in"),
        "{}",
        done.stderr
    );
    assert_eq!(stub.taken.lock().unwrap().len(), 2);
    assert!(files_in(&spool).is_empty());
}

#[test]
fn two_uploads_may_empty_one_spool() {
    let node = node_with(1);
    let spool = node.path("spool");
    let template = fs::read(files_in(&spool).remove(0)).unwrap();
    let json = zstd::stream::decode_all(template.as_slice()).unwrap();
    let mut report: serde_json::Value = serde_json::from_slice(&json).unwrap();
    for number in 0..60 {
        let id = format!("{number:08x}-0000-4000-8000-000000000000");
        report["report_id"] = id.clone().into();
        let body = zstd::stream::encode_all(serde_json::to_vec(&report).unwrap().as_slice(), 0).unwrap();
        fs::write(spool.join(format!("{id}.json.zst")), body).unwrap();
    }
    let stub = Stub::start(6);
    let arguments = ["--server", &stub.address, "--spool", spool.to_str().unwrap()];
    let start = || {
        let mut command = node.bare("upload");
        command
            .args(arguments)
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    for upload in [start(), start()] {
        let ended = Run::of(&upload.wait_with_output().unwrap());
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        assert!(!ended.stderr.contains("cannot"), "{}", ended.stderr);
    }
    assert_eq!(stub.taken.lock().unwrap().len(), 61);
    assert!(files_in(&spool).is_empty());
}

/// Bundles what waits in the spool, and takes it out of there.
fn pack(node: &Node) -> Run {
    let (spool, bundle) = (node.path("spool"), node.path("bundle"));
    let paths = [&bundle, &spool].map(|path| path.to_str().unwrap());
    run(node.bare("bundle"), &[paths[0], "--spool", paths[1], "--remove"])
}

#[test]
fn a_bundle_carries_the_very_bytes_elsewhere() {
    let node = node_with(3);
    let (spool, bundle) = (node.path("spool"), node.path("bundle"));
    let kept: Vec<Vec<u8>> = files_in(&spool)
        .iter()
        .map(|path| fs::read(path).unwrap())
        .collect();
    let packed = pack(&node);
    assert_eq!(packed.code, 0, "{}", packed.stderr);
    assert_eq!(mode(&bundle), 0o600);
    assert!(packed.stdout.starts_with("3 reports in"), "{}", packed.stdout);
    assert!(files_in(&spool).is_empty());
    assert_eq!(pack(&node).code, 64, "an old bundle is not written over");
    let stub = Stub::start(1);
    for _ in 0..2 {
        let sent = run(
            node.bare("upload"),
            &["--server", &stub.address, bundle.to_str().unwrap()],
        );
        assert_eq!(sent.code, 0, "{}", sent.stderr);
    }
    let taken = stub.taken.lock().unwrap();
    assert_eq!(taken.len(), 3);
    for frame in &kept {
        let json = zstd::stream::decode_all(frame.as_slice()).unwrap();
        assert!(taken.values().any(|(body, _)| *body == json));
    }
    drop(taken);
}

#[test]
fn one_damaged_report_spoils_no_bundle() {
    let node = node_with(3);
    let (spool, bundle) = (node.path("spool"), node.path("bundle"));
    let damaged = files_in(&spool).remove(1);
    let whole = fs::read(&damaged).unwrap();
    fs::write(&damaged, &whole[..whole.len() / 2]).unwrap();
    let packed = pack(&node);
    assert_eq!(packed.code, 1, "{}", packed.stderr);
    assert!(packed.stdout.starts_with("2 reports in"), "{}", packed.stdout);
    let named = format!("{} is damaged: ", damaged.display());
    assert!(packed.stderr.contains(&named), "{}", packed.stderr);
    assert_eq!(
        files_in(&spool),
        [damaged],
        "what is on its way has left, the rest has not"
    );
    // A bundle that was damaged on its way: what is whole goes, before the damage and behind it.
    let good = fs::read(&bundle).unwrap();
    let stub = Stub::start(1);
    let upload = |bytes: &[u8]| {
        fs::write(&bundle, bytes).unwrap();
        let arguments = ["--server", &stub.address, bundle.to_str().unwrap()];
        run(node.bare("upload"), &arguments)
    };
    let half = &whole[..whole.len() / 2];
    let sent = upload(&[half, &good, half].concat());
    assert_eq!(sent.code, 1, "{}", sent.stderr);
    for number in [1, 4] {
        let named = format!("report {number} of the bundle ");
        assert!(sent.stderr.contains(&named), "{}", sent.stderr);
    }
    assert!(sent.stderr.contains("is cut off or damaged"), "{}", sent.stderr);
    assert_eq!(stub.taken.lock().unwrap().len(), 2);
    assert_eq!(upload(half).code, 64, "nothing in it can be sent");
}

#[test]
fn a_file_that_cannot_be_read_holds_up_no_other() {
    let node = node_with(1);
    let spool = node.path("spool");
    let good = files_in(&spool).remove(0);
    let written = fs::metadata(&good).unwrap().modified().unwrap();
    let large = spool.join("00000000-0000-4000-8000-000000000000.json.zst");
    let file = fs::File::create(&large).unwrap();
    file.set_len(9 << 20).unwrap();
    file.set_modified(written - Duration::from_hours(1)).unwrap();
    let stub = Stub::start(1);
    let arguments = ["--server", &stub.address, "--spool", spool.to_str().unwrap()];
    let sent = run(node.bare("upload"), &arguments);
    assert_eq!(sent.code, 1, "{}", sent.stderr);
    assert!(
        sent.stderr
            .contains("was kept and cannot be read: larger than 8388608 bytes"),
        "{}",
        sent.stderr
    );
    assert_eq!(stub.taken.lock().unwrap().len(), 1);
    assert_eq!(files_in(&spool), [large]);
}

#[test]
fn limits_take_the_oldest_and_say_so() {
    let node = node_with(2);
    let spool = node.path("spool");
    let old = files_in(&spool).remove(0);
    let written = fs::metadata(&old).unwrap().modified().unwrap();
    let file = fs::File::options().write(true).open(&old).unwrap();
    file.set_modified(written - Duration::from_hours(3 * 24)).unwrap();
    let report = |more: &[&str]| {
        let arguments = [
            "--quiet",
            "--server",
            "http://127.0.0.1:9",
            "--spool",
            spool.to_str().unwrap(),
        ];
        run(node.command("report"), &[&arguments, more].concat())
    };
    let aged = report(&["--spool-max-days", "2"]);
    assert!(aged.stderr.contains("LOST: "), "{}", aged.stderr);
    assert!(
        aged.stderr.contains("it waited 3 days, the limit is 2"),
        "{}",
        aged.stderr
    );
    assert!(!files_in(&spool).contains(&old));
    assert_eq!(files_in(&spool).len(), 2);
    // A clock that stood at 1970 tells nothing of how long it waited.
    let kept = files_in(&spool).remove(0);
    let file = fs::File::options().write(true).open(&kept).unwrap();
    file.set_modified(std::time::UNIX_EPOCH + Duration::from_hours(1))
        .unwrap();
    let aged = report(&["--spool-max-days", "2"]);
    assert!(!aged.stderr.contains("LOST: "), "{}", aged.stderr);
    fs::remove_file(kept).unwrap();
    let large = spool.join("00000000-0000-4000-8000-000000000000.json.zst");
    fs::File::create(&large).unwrap().set_len(2 << 20).unwrap();
    let full = report(&["--spool-max-mib", "1"]);
    assert!(full.stderr.contains("the limit is 1048576"), "{}", full.stderr);
    let left = files_in(&spool);
    assert!(!left.contains(&large) || left.len() == 2, "{left:?}");
}

#[test]
fn what_is_not_to_leave_is_cut_out_and_marked() {
    let node = Node::with(&Scenario::healthy(2));
    let printed = run(
        node.command("report"),
        &["--print", "--redact", "hosts,addresses,paths"],
    );
    assert_eq!(printed.code, 0, "{}", printed.stderr);
    let report = printed.report();
    assert_eq!(report.node.hostname.as_deref(), Some("[host 1]"));
    assert!(!printed.stdout.contains("gpu-17"));
    let tree = node.path("");
    assert!(
        !printed.stdout.contains(tree.to_str().unwrap()),
        "paths of the test's own folder"
    );
    assert!(report.host["redaction"].value.is_some());
    assert_eq!(report.pairs.len(), 1);
}

#[test]
fn reports_that_the_server_cannot_take_keep_no_other_from_going() {
    let node = node_with(1);
    let spool = node.path("spool");
    let good = files_in(&spool).remove(0);
    let json = zstd::stream::decode_all(fs::read(&good).unwrap().as_slice()).unwrap();
    let mut report: serde_json::Value = serde_json::from_slice(&json).unwrap();
    let written = fs::metadata(&good).unwrap().modified().unwrap();
    let stub = Stub::start(4);
    for number in 0..33 {
        let id = format!("{number:08x}-0000-4000-8000-000000000000");
        report["report_id"] = id.clone().into();
        let path = spool.join(format!("{id}.json.zst"));
        let body = zstd::stream::encode_all(serde_json::to_vec(&report).unwrap().as_slice(), 0).unwrap();
        fs::write(&path, body).unwrap();
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(written - Duration::from_hours(1)).unwrap();
        stub.failing.lock().unwrap().insert(id);
    }
    let arguments = [
        "--server",
        &stub.address,
        "--spool",
        spool.to_str().unwrap(),
        "--retry-for",
        "0.1",
    ];
    let sent = run(node.bare("upload"), &arguments);
    assert_eq!(sent.code, 1, "{}", sent.stderr);
    assert_eq!(stub.taken.lock().unwrap().len(), 1, "{}", sent.stderr);
    assert!(!good.try_exists().unwrap());
}

#[test]
fn a_spool_that_cannot_be_used_keeps_no_report_from_the_server() {
    let node = Node::with(&Scenario::library_missing());
    let stub = Stub::start(5);
    let file = node.path("file");
    fs::write(&file, "").unwrap();
    let mut command = node.command("daemon");
    command.args(["--once", "--server", &stub.address]);
    command.arg("--state").arg(node.path("state"));
    command.arg("--spool").arg(file.join("spool"));
    let run = Run::of(&command.output().unwrap());
    assert!(run.stderr.contains("cannot be kept"), "{}", run.stderr);
    assert_eq!(stub.taken.lock().unwrap().len(), 1, "{}", run.stderr);
}

#[test]
fn a_lost_report_shows_in_the_exit_code_though_a_later_one_is_sent() {
    let node = Node::with(&Scenario::healthy(2));
    let stub = Stub::start(5);
    let file = node.path("file");
    fs::write(&file, "").unwrap();
    let run = |busy| {
        stub.busy.store(busy, Ordering::SeqCst);
        let mut command = node.command("daemon");
        command.args(["--once", "--active", "--idle-minutes", "0", "--active-every", "0"]);
        command.args(["--server", &stub.address]);
        command.arg("--state").arg(node.path("state"));
        command.arg("--spool").arg(file.join("spool"));
        Run::of(&command.output().unwrap())
    };
    let whole = run(0);
    assert_eq!(whole.code, 0, "{}", whole.stderr);
    let lost = run(1);
    assert_eq!(lost.code, 1, "{}", lost.stderr);
    assert_eq!(
        lost.stderr.matches("the report is lost").count(),
        1,
        "{}",
        lost.stderr
    );
    assert_eq!(stub.taken.lock().unwrap().len(), 3);
}
