//! Uploading, against a small HTTP server in a thread.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::JoinHandle;

use fake_gpu::Scenario;
use kb_core::report::Report;

use crate::node::{Node, Run, files_in};

/// One request as it arrived: head lines in lower case, and the body.
struct Request {
    head: Vec<String>,
    body: Vec<u8>,
}

/// Answers one request with each of these, then is gone.
struct Server {
    address: String,
    thread: JoinHandle<Vec<Request>>,
}

impl Server {
    fn answering(answers: &[(u16, &'static str)]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let answers = answers.to_vec();
        let serve = move || {
            let mut requests = Vec::new();
            for (status, body) in answers {
                let (stream, _) = listener.accept().unwrap();
                requests.push(exchange(stream, status, body));
            }
            requests
        };
        let thread = std::thread::spawn(serve);
        Self { address, thread }
    }

    fn requests(self) -> Vec<Request> {
        self.thread.join().unwrap()
    }
}

fn exchange(stream: TcpStream, status: u16, answer: &str) -> Request {
    let mut reader = BufReader::new(stream);
    let mut head = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let line = line.trim_end().to_owned();
        if line.is_empty() {
            break;
        }
        head.push(line);
    }
    let length = head.iter().find_map(|line| {
        let line = line.to_ascii_lowercase();
        line.strip_prefix("content-length: ")?.parse::<usize>().ok()
    });
    let mut body = vec![0; length.unwrap()];
    reader.read_exact(&mut body).unwrap();
    let mut stream = reader.into_inner();
    let length = answer.len();
    write!(
        stream,
        "HTTP/1.1 {status} Status\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\
         connection: close\r\n\r\n{answer}"
    )
    .unwrap();
    Request { head, body }
}

impl Request {
    fn header(&self, name: &str) -> Option<&str> {
        self.head.iter().find_map(|line| {
            let (key, value) = line.split_once(": ")?;
            key.eq_ignore_ascii_case(name).then_some(value)
        })
    }

    fn report(&self) -> Report {
        let json = zstd::stream::decode_all(self.body.as_slice()).unwrap();
        serde_json::from_slice(&json).unwrap()
    }
}

/// `report` to this server with a token and a spool below the node's folder.
fn upload(node: &Node, server: &str, arguments: &[&str]) -> Run {
    fs::write(node.path("token"), "secret-token\n").unwrap();
    let mut command = node.command("report");
    command.args(["--server", server]).args(arguments);
    command.arg("--token-file").arg(node.path("token"));
    command.arg("--spool").arg(node.path("spool"));
    // A host without any certificates must still do plain http.
    command
        .env("SSL_CERT_FILE", "/nonexistent")
        .env("SSL_CERT_DIR", "/nonexistent");
    Run::of(&command.output().unwrap())
}

#[test]
fn a_report_is_uploaded_compressed_with_its_token() {
    let node = Node::with(&Scenario::refused_gns());
    let answer = r#"{"findings": [{"record": "cuda/x", "subject": "pair 0-1", "title": "no access"}]}"#;
    let server = Server::answering(&[(201, answer)]);
    let run = upload(&node, &server.address, &[]);
    assert_eq!(run.code, 2, "{}", run.stderr);
    assert!(
        run.stdout.contains("pair 0-1: no access (cuda/x)"),
        "{}",
        run.stdout
    );
    let requests = server.requests();
    let request = &requests[0];
    assert_eq!(request.head[0], "POST /api/v1/reports HTTP/1.1");
    assert_eq!(request.header("content-type"), Some("application/json"));
    assert_eq!(request.header("content-encoding"), Some("zstd"));
    assert_eq!(request.header("authorization"), Some("Bearer secret-token"));
    let report = request.report();
    assert_eq!(report.pairs.len(), 1);
    assert!(files_in(&node.path("spool")).is_empty());
}

#[test]
fn a_report_that_is_known_already_is_fine() {
    let node = Node::with(&Scenario::healthy(2));
    let server = Server::answering(&[(200, "{}")]);
    let run = upload(&node, &server.address, &[]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert!(run.stdout.contains("known to"), "{}", run.stdout);
    server.requests();
}

#[test]
fn a_report_that_is_refused_is_kept_and_goes_with_the_next_one() {
    let node = Node::with(&Scenario::healthy(2));
    let answer = r#"{"title": "Busy", "detail": "try again later"}"#;
    let server = Server::answering(&[(503, answer)]);
    let run = upload(&node, &server.address, &[]);
    assert_eq!(run.code, 1, "healthy, but with something to look at");
    assert!(
        run.stderr
            .contains("answered 503: Busy: try again later; it is kept in"),
        "{}",
        run.stderr
    );
    assert!(!run.stderr.contains("secret-token"));
    let first = server.requests().remove(0);
    let kept = files_in(&node.path("spool"));
    assert_eq!(kept.len(), 1);
    assert_eq!(fs::read(&kept[0]).unwrap(), first.body, "the very bytes are kept");

    let server = Server::answering(&[(201, "{}"), (200, "{}")]);
    let run = upload(&node, &server.address, &[]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(server.requests()[1].body, first.body);
    assert!(files_in(&node.path("spool")).is_empty());
}

#[test]
fn a_kept_report_that_is_refused_for_good_is_not_sent_again() {
    let node = Node::with(&Scenario::library_missing());
    let down = upload(&node, "http://127.0.0.1:9", &[]);
    assert_eq!(down.code, 3, "{}", down.stderr);
    assert!(
        down.stderr.contains("no answer from http://127.0.0.1:9"),
        "{}",
        down.stderr
    );
    let server = Server::answering(&[(201, "{}"), (409, "{}")]);
    upload(&node, &server.address, &[]);
    server.requests();
    let kept = files_in(&node.path("spool"));
    assert_eq!(kept.len(), 1);
    assert!(kept[0].to_str().unwrap().ends_with(".rejected"), "{kept:?}");
}

#[test]
fn a_report_from_a_file_is_sent_without_a_run() {
    let node = Node::with(&Scenario::healthy(2));
    let printed = node.run("report", &["--print"]);
    assert_eq!(printed.code, 0, "{}", printed.stderr);
    let report = printed.report();
    fs::write(node.path("report.json"), &printed.stdout).unwrap();
    let calls = node.installed.calls().unwrap();
    let server = Server::answering(&[(201, "{}")]);
    let file = node.path("report.json");
    let run = upload(&node, &server.address, &["--from", file.to_str().unwrap()]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_eq!(server.requests()[0].report(), report);
    assert_eq!(node.installed.calls().unwrap(), calls);
}

#[test]
fn settings_are_checked_before_the_gpus_are_touched() {
    let node = Node::with(&Scenario::healthy(2));
    fs::write(node.path("empty"), " \n").unwrap();
    fs::write(node.path("newer.json"), r#"{"schema": {"major": 2, "minor": 0}}"#).unwrap();
    let path = |name: &str| node.path(name).to_str().unwrap().to_owned();
    let server = "http://127.0.0.1:9";
    let cases = [
        vec!["--server".to_owned(), "not a url".to_owned()],
        vec!["--server".to_owned(), "ftp://a".to_owned()],
        vec![
            "--server".to_owned(),
            server.to_owned(),
            "--token-file".to_owned(),
            path("empty"),
        ],
        vec![
            "--server".to_owned(),
            server.to_owned(),
            "--token-file".to_owned(),
            path("absent"),
        ],
        vec![
            "--server".to_owned(),
            server.to_owned(),
            "--ca-file".to_owned(),
            path("empty"),
        ],
        vec![
            "--server".to_owned(),
            server.to_owned(),
            "--from".to_owned(),
            path("newer.json"),
        ],
        vec![],
    ];
    for arguments in cases {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let run = node.run("report", &arguments);
        assert_eq!(run.code, 64, "{arguments:?}: {}", run.stderr);
    }
    assert!(node.installed.calls().unwrap().is_empty());
}
