//! `match` and `watch`: known errors told on the node, also when the server is gone.

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::os::unix::ffi::OsStrExt as _;
use std::thread::JoinHandle;

use fake_gpu::Scenario;
use kb_core::ids::Revision;
use kb_core::record::Record;
use kb_core::signature::RecordSignatures;

use crate::node::{Node, Run};

pub(crate) const LINE: &str =
    "RuntimeError: CUDA error: peer access is not supported between these two devices";

/// Puts the signatures where `run` looks for them.
pub(crate) fn fetched(node: &Node, log: &str) {
    let (address, thread) = server(1);
    assert_eq!(run(node, "match", &["--server", &address, log]).code, 0);
    thread.join().unwrap();
}

/// Answers once, with something else.
fn another_server() -> (String, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let serve = move || {
        let mut reader = BufReader::new(listener.accept().unwrap().0);
        let mut line = String::new();
        while line.trim_end() != "" || line.is_empty() {
            line.clear();
            reader.read_line(&mut line).unwrap();
        }
        let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n<>";
        reader.into_inner().write_all(answer).unwrap();
    };
    (address, std::thread::spawn(serve))
}

fn signatures() -> RecordSignatures {
    let record = Record::parse(
        include_str!("../../../kb-seed/cuda/peer-access-unsupported-by-hardware.json"),
        include_str!("../../../kb-seed/cuda/peer-access-unsupported-by-hardware.ext.json"),
    );
    record.unwrap().signatures(Revision(1))
}

/// Serves the signatures of one record, `times` times; gives the tags that it was asked with.
pub(crate) fn server(times: usize) -> (String, JoinHandle<Vec<String>>) {
    let body = serde_json::json!({ "records": [signatures()], "kb": { "seq": 7 } });
    serving(body.to_string(), times)
}

pub(crate) fn serving(body: String, times: usize) -> (String, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let serve = move || {
        let mut tags = Vec::new();
        for _ in 0..times {
            let mut reader = BufReader::new(listener.accept().unwrap().0);
            let mut tag = String::new();
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).unwrap();
                let line = line.trim_end();
                if let Some(known) = line.to_ascii_lowercase().strip_prefix("if-none-match: ") {
                    known.clone_into(&mut tag);
                }
                if line.is_empty() {
                    break;
                }
            }
            let mut stream = reader.into_inner();
            if tag == "\"s7\"" {
                write!(
                    stream,
                    "HTTP/1.1 304 Not Modified\r\netag: \"s7\"\r\nconnection: close\r\n\r\n"
                )
                .unwrap();
            } else {
                let length = body.len();
                write!(
                    stream,
                    "HTTP/1.1 200 OK\r\netag: \"s7\"\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
                )
                .unwrap();
            }
            tags.push(tag);
        }
        tags
    };
    (address, std::thread::spawn(serve))
}

pub(crate) fn run(node: &Node, verb: &str, arguments: &[&str]) -> Run {
    let mut command = node.bare(verb);
    command
        .arg("--signatures")
        .arg(node.path("cache/signatures.json"));
    Run::of(&command.args(arguments).output().unwrap())
}

#[test]
fn known_errors_are_found_without_a_network_once_fetched() {
    let node = Node::with(&Scenario::healthy(2));
    let (log, clean) = (node.path("job.log"), node.path("clean.log"));
    fs::write(&log, format!("step 1\n{LINE}\n")).unwrap();
    fs::write(&clean, "step 1\nstep 2\n").unwrap();
    let (log, clean) = (log.to_str().unwrap(), clean.to_str().unwrap());
    let without = run(&node, "match", &[log]);
    assert_eq!(without.code, 3);
    assert!(without.stderr.contains("--server URL"), "{}", without.stderr);
    let (address, thread) = server(2);
    for _ in 0..2 {
        let found = run(&node, "match", &["--server", &address, log]);
        assert_eq!(found.code, 0, "{}", found.stderr);
        assert!(
            found.stdout.contains("cuda/peer-access-unsupported-by-hardware"),
            "{}",
            found.stdout
        );
    }
    assert_eq!(
        thread.join().unwrap(),
        ["", "\"s7\""],
        "the second time it was known"
    );
    let (other, thread) = server(1);
    assert_eq!(run(&node, "match", &["--server", &other, log]).code, 0);
    assert_eq!(
        thread.join().unwrap(),
        [""],
        "another server's tag tells it nothing"
    );
    let offline = run(&node, "match", &[log, clean]);
    assert_eq!(offline.code, 0, "{}", offline.stderr);
    assert!(
        offline.stdout.contains("clean.log: no known error in 2 lines"),
        "{}",
        offline.stdout
    );
    assert_eq!(run(&node, "match", &[clean]).code, 1);
    let strange = node.path("strange.log");
    fs::write(&strange, format!("{LINE}\nfrobnicator: zorgblat failed\n")).unwrap();
    let strange = strange.to_str().unwrap();
    for (file, code) in [(strange, 3), (log, 0), (clean, 1)] {
        let asked = run(&node, "match", &[file, "--fail-on", "unexplained"]);
        assert_eq!(asked.code, code, "{}", asked.stdout);
    }
    assert_eq!(run(&node, "match", &[strange]).code, 0, "nobody asked");
    let down = run(&node, "match", &["--server", "http://127.0.0.1:9", log]);
    assert_eq!(down.code, 0, "{}", down.stderr);
    assert!(down.stderr.contains("are used"), "{}", down.stderr);
    fs::write(node.path("cache/signatures.json"), "{").unwrap();
    assert!(run(&node, "match", &[log]).stderr.contains("remove it"));
}

#[test]
fn a_log_is_watched_line_by_line() {
    let node = Node::with(&Scenario::healthy(2));
    let (address, thread) = server(1);
    let log = node.path("job.log");
    fs::write(&log, format!("step 1\n{LINE}\nstep 2\n{LINE}")).unwrap();
    let told = run(
        &node,
        "watch",
        &["--server", &address, "--once", log.to_str().unwrap()],
    );
    thread.join().unwrap();
    assert_eq!(told.code, 0, "{}", told.stderr);
    assert_eq!(told.stdout.lines().count(), 2, "{}", told.stdout);
    fs::create_dir_all(node.path("host/dev")).unwrap();
    fs::write(
        node.path("host/dev/kmsg"),
        format!("6,1,1000,-;usb 1-1: new\n3,2,2000,-;{LINE}\n"),
    )
    .unwrap();
    let root = node.path("host");
    let kernel = run(
        &node,
        "watch",
        &["--once", "--json", "--host-root", root.to_str().unwrap()],
    );
    assert_eq!(kernel.code, 0, "{}", kernel.stderr);
    let hit: serde_json::Value = serde_json::from_str(kernel.stdout.trim()).unwrap();
    assert_eq!(hit["record"], "cuda/peer-access-unsupported-by-hardware");
}

#[test]
fn what_is_wrong_beside_usable_signatures_is_said_and_no_end() {
    let node = Node::with(&Scenario::healthy(2));
    let log = node.path("job.log");
    fs::write(&log, format!("{LINE}\n")).unwrap();
    let log = log.to_str().unwrap();
    // A cache that cannot be written.
    let (address, thread) = server(1);
    let mut command = node.bare("match");
    command.args(["--server", &address, "--signatures", "/dev/null/signatures", log]);
    let unkept = Run::of(&command.output().unwrap());
    thread.join().unwrap();
    assert_eq!(unkept.code, 0, "{}", unkept.stderr);
    assert!(unkept.stderr.contains("not kept"), "{}", unkept.stderr);
    fetched(&node, log);
    let (address, thread) = another_server();
    let other = run(&node, "match", &["--server", &address, log]);
    thread.join().unwrap();
    assert_eq!(other.code, 0, "{}", other.stderr);
    assert!(other.stderr.contains("cannot be read"), "{}", other.stderr);
    let arguments = ["--server", "http://127.0.0.1:9", "--token-file", "/nowhere", log];
    let token = run(&node, "match", &arguments);
    assert_eq!(token.code, 0, "{}", token.stderr);
    assert!(token.stderr.contains("--token-file"), "{}", token.stderr);
}

#[test]
fn a_file_of_any_name_is_told_in_json() {
    let node = Node::with(&Scenario::healthy(2));
    let log = node.path("").join(OsStr::from_bytes(b"job-\xff.log"));
    fs::write(&log, format!("{LINE}\n")).unwrap();
    let plain = node.path("job.log");
    fs::write(&plain, format!("{LINE}\n")).unwrap();
    fetched(&node, plain.to_str().unwrap());
    let mut command = node.bare("match");
    command
        .arg("--signatures")
        .arg(node.path("cache/signatures.json"));
    let told = Run::of(&command.arg("--json").arg(&log).output().unwrap());
    assert_eq!(told.code, 0, "{}", told.stderr);
    let told: serde_json::Value = serde_json::from_str(&told.stdout).unwrap();
    assert!(
        told["file"].as_str().unwrap().ends_with("job-\u{fffd}.log"),
        "{told}"
    );
}

#[test]
fn a_compressed_log_is_read_or_refused_but_never_taken_for_text() {
    let node = Node::with(&Scenario::library_missing());
    let plain = node.path("train.log");
    fs::write(&plain, format!("x\n{LINE}\n")).unwrap();
    fetched(&node, plain.to_str().unwrap());
    let packed = node.path("train.log.zst");
    let frame = zstd::encode_all(fs::read(&plain).unwrap().as_slice(), 0).unwrap();
    // Rotated logs are often packed one behind the other.
    fs::write(&packed, [frame.clone(), frame].concat()).unwrap();
    let told = run(&node, "match", &[packed.to_str().unwrap()]);
    assert_eq!(told.code, 0, "{}", told.stderr);
    assert!(told.stdout.contains("2 times, lines 2, 4"), "{}", told.stdout);
    for (head, reader) in [
        (&b"\x1f\x8b\x08\0"[..], "zcat"),
        (b"\xfd7zXZ\0\0", "xzcat"),
        (b"BZh91AY&SY\x1a", "bzcat"),
        (b"PK\x03\x04\x14\0", "unzip -p"),
        (b"LPKSHHRH\0\0", "journalctl --file"),
    ] {
        let file = node.path("train.log.packed");
        fs::write(&file, head).unwrap();
        let refused = run(&node, "match", &[file.to_str().unwrap()]);
        assert_eq!(refused.code, 64, "{}", refused.stderr);
        let way = format!("send what `{reader} FILE` prints");
        assert!(refused.stderr.contains(&way), "{}", refused.stderr);
    }
    let binary: Vec<u8> = (0..9999_u32)
        .map(|n| n.wrapping_mul(2_654_435_761).to_le_bytes()[1])
        .collect();
    let file = node.path("core");
    fs::write(&file, binary).unwrap();
    let refused = run(&node, "match", &[file.to_str().unwrap()]);
    assert_eq!(refused.code, 64, "{}{}", refused.stdout, refused.stderr);
    assert!(refused.stderr.contains("binary file"), "{}", refused.stderr);
    let utf16: Vec<u8> = format!("\u{feff}x\r\n{LINE}\r\n")
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    fs::write(&file, utf16).unwrap();
    assert_eq!(run(&node, "match", &[file.to_str().unwrap()]).code, 0);
    let behind = [b"x\n".repeat(40).as_slice(), b"\x1f\x8b\x08\0"].concat();
    fs::write(&file, behind).unwrap();
    assert_eq!(run(&node, "match", &[file.to_str().unwrap()]).code, 64);
}

#[test]
fn an_emptied_server_does_not_take_the_signatures_away() {
    let node = Node::with(&Scenario::healthy(2));
    let log = node.path("job.log");
    fs::write(&log, format!("{LINE}\n")).unwrap();
    let log = log.to_str().unwrap();
    let emptied = serde_json::json!({ "records": [] });
    let (address, thread) = serving(emptied.to_string(), 1);
    let fresh = run(&node, "match", &["--server", &address, log]);
    thread.join().unwrap();
    assert_eq!(
        fresh.code, 3,
        "nothing to match with is no answer: {}",
        fresh.stdout
    );

    let record = |name: &str| {
        let mut signatures = serde_json::to_value(signatures()).unwrap();
        if !name.is_empty() {
            signatures["id"] = format!("cuda/{name}").into();
            signatures["patterns"] = serde_json::json!([]);
        }
        signatures
    };
    let five = ["", "a", "b", "c", "d"].map(record);
    let five = serde_json::json!({ "records": five });
    let (address, thread) = serving(five.to_string(), 1);
    assert_eq!(run(&node, "match", &["--server", &address, log]).code, 0);
    thread.join().unwrap();
    let two = ["a", "b"].map(record);
    let two = serde_json::json!({ "records": two });
    for shrunk in [emptied, two] {
        let (address, thread) = serving(shrunk.to_string(), 1);
        let kept = run(&node, "match", &["--server", &address, log]);
        thread.join().unwrap();
        assert_eq!(kept.code, 0, "{}", kept.stderr);
        assert!(kept.stderr.contains("are used"), "{}", kept.stderr);
        assert_eq!(run(&node, "match", &[log]).code, 0, "the cache is as it was");
    }
    // An older agent kept what an emptied server sent.
    let cache = node.path("cache/signatures.json");
    fs::write(&cache, r#"{"etag": "", "records": []}"#).unwrap();
    assert_eq!(run(&node, "match", &[log]).code, 3);
}

#[test]
fn what_a_record_weighs_and_where_it_is_told_stands_with_each_match() {
    let node = Node::with(&Scenario::healthy(2));
    let log = node.path("job.log");
    fs::write(&log, format!("{LINE} \u{1b}[2J\n")).unwrap();
    let log = log.to_str().unwrap();
    let (address, thread) = server(3);
    let page = format!("{address}/r/cuda/peer-access-unsupported-by-hardware");
    let told = run(&node, "match", &["--server", &address, log]);
    let lines: Vec<&str> = told.stdout.lines().collect();
    assert!(
        lines[0].ends_with("(first cause): once, line 1"),
        "{}",
        told.stdout
    );
    assert!(
        lines[1].contains("peer access is not supported"),
        "{}",
        told.stdout
    );
    assert_eq!(
        lines[2],
        "  severity error, action change configuration, at fault host"
    );
    assert_eq!(lines[3], format!("  {page}"));
    let json = run(&node, "match", &["--server", &address, "--json", log]);
    let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    let about = &json["records"]["cuda/peer-access-unsupported-by-hardware"];
    assert_eq!(
        (&about["severity"], &about["address"]),
        (&"error".into(), &page.clone().into())
    );
    let watched = run(&node, "watch", &["--server", &address, "--once", log]);
    thread.join().unwrap();
    let head = format!(
        "cuda/peer-access-unsupported-by-hardware (severity error, action change configuration, at fault host) {page}: "
    );
    assert!(watched.stdout.starts_with(&head), "{}", watched.stdout);
    assert!(!watched.stdout.contains('\u{1b}'), "{:?}", watched.stdout);
}

/// What was left out is told: an answer that is not whole must not pass for one.
#[test]
fn what_was_capped_is_told_below_the_answer() {
    let node = Node::with(&Scenario::healthy(2));
    let log = node.path("long.log");
    fs::write(&log, format!("{} {LINE}\n", "x".repeat(70_000))).unwrap();
    let (address, thread) = server(1);
    let told = run(&node, "match", &["--server", &address, log.to_str().unwrap()]);
    thread.join().unwrap();
    assert!(
        told.stdout.contains(": note: 1 line is longer than"),
        "{}",
        told.stdout
    );
}
