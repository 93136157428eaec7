//! `match` and `watch`: known errors told on the node, also when the server is gone.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::thread::JoinHandle;

use fake_gpu::Scenario;
use kb_core::ids::Revision;
use kb_core::record::Record;

use crate::node::{Node, Run};

const LINE: &str = "RuntimeError: CUDA error: peer access is not supported between these two devices";

/// Serves the signatures of one record, `times` times; gives the tags that it was asked with.
fn server(times: usize) -> (String, JoinHandle<Vec<String>>) {
    let record = Record::parse(
        include_str!("../../../kb-seed/cuda/peer-access-unsupported-by-hardware.json"),
        include_str!("../../../kb-seed/cuda/peer-access-unsupported-by-hardware.ext.json"),
    );
    let signatures = record.unwrap().signatures(Revision(1));
    let body = serde_json::json!({ "records": [signatures], "kb": { "seq": 7 } }).to_string();
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

fn run(node: &Node, verb: &str, arguments: &[&str]) -> Run {
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
    let offline = run(&node, "match", &[log, clean]);
    assert_eq!(offline.code, 0, "{}", offline.stderr);
    assert!(
        offline.stdout.contains("clean.log: no known error in 2 lines"),
        "{}",
        offline.stdout
    );
    assert_eq!(run(&node, "match", &[clean]).code, 1);
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
