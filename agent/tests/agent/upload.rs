//! Uploading, against a small HTTP server in a thread.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::JoinHandle;

use fake_gpu::Scenario;
use kb_core::report::Report;

use crate::node::{Node, Run, files_in};

/// One request as it arrived: head lines in lower case, and the body.
pub(crate) struct Request {
    head: Vec<String>,
    body: Vec<u8>,
}

/// Answers one request with each of these, then is gone.
pub(crate) struct Server {
    pub(crate) address: String,
    thread: JoinHandle<Vec<Request>>,
}

impl Server {
    pub(crate) fn answering(answers: &[(u16, &'static str)]) -> Self {
        let answers = answers
            .iter()
            .map(|(status, body)| (*status, String::new(), *body));
        Self::with(answers.collect(), || ())
    }

    /// Answers with status, further header lines and body; `before` is called when a request has arrived whole.
    fn with(answers: Vec<(u16, String, &'static str)>, before: impl Fn() + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let serve = move || {
            let mut requests = Vec::new();
            for (status, headers, body) in answers {
                let (stream, _) = listener.accept().unwrap();
                let (stream, request) = receive(stream);
                before();
                answer(stream, status, &headers, &named(status, body, &request));
                requests.push(request);
            }
            requests
        };
        let thread = std::thread::spawn(serve);
        Self { address, thread }
    }

    pub(crate) fn requests(self) -> Vec<Request> {
        self.thread.join().unwrap()
    }
}

fn receive(stream: TcpStream) -> (TcpStream, Request) {
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
    (reader.into_inner(), Request { head, body })
}

/// What a server that took the report says: an object without an id gets the report's.
fn named(status: u16, body: &str, request: &Request) -> String {
    match serde_json::from_str(body) {
        Ok(serde_json::Value::Object(mut answer)) if matches!(status, 200 | 201) => {
            let id = || serde_json::json!(request.report().report_id);
            answer.entry("id").or_insert_with(id);
            serde_json::Value::Object(answer).to_string()
        }
        _ => body.to_owned(),
    }
}

fn answer(mut stream: TcpStream, status: u16, headers: &str, body: &str) {
    let length = body.len();
    let media_type = match (status, body.starts_with('<')) {
        (_, true) => "text/html; charset=utf-8",
        (200..=299, _) => "application/json",
        _ => "application/problem+json",
    };
    write!(
        stream,
        "HTTP/1.1 {status} Status\r\ncontent-type: {media_type}\r\ncontent-length: {length}\r\n\
         {headers}connection: close\r\n\r\n{body}"
    )
    .unwrap();
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
    let node = Node::with(&Scenario::one_direction_only());
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
    assert!(request.header("date").unwrap().ends_with(" GMT"));
    assert_eq!(request.header("authorization"), Some("Bearer secret-token"));
    let report = request.report();
    assert_eq!(report.pairs.len(), 1);
    assert!(files_in(&node.path("spool")).is_empty());
}

#[test]
fn a_report_that_repeats_itself_is_sent_within_the_servers_ratio() {
    let node = Node::with(&Scenario::healthy(2));
    let mut report: serde_json::Value = serde_json::from_str(include_str!(
        "../../../kb-core/tests/data/reports/h200-x2-healthy.json"
    ))
    .unwrap();
    let text = "NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus\n".repeat(60_000);
    report["logs"] = serde_json::json!([{"source": "kernel", "when": "before", "text": text}]);
    let json = report.to_string();
    let file = node.path("report.json.zst");
    // As an older agent has left it in the spool.
    fs::write(&file, zstd::encode_all(json.as_bytes(), 3).unwrap()).unwrap();
    assert!(
        json.len() > 200 * fs::read(&file).unwrap().len(),
        "the sample grows more than 200 times"
    );
    let server = Server::answering(&[(201, "{}")]);
    let run = upload(&node, &server.address, &["--from", file.to_str().unwrap()]);
    assert_eq!(run.code, 0, "{}", run.stderr);
    let requests = server.requests();
    assert!(
        json.len() <= 200 * requests[0].body.len(),
        "{} bytes",
        requests[0].body.len()
    );
    assert_eq!(
        zstd::stream::decode_all(requests[0].body.as_slice()).unwrap(),
        json.as_bytes()
    );
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

/// Some servers and proxies repeat what they were asked, and messages end in logs.
#[test]
fn a_token_that_comes_back_is_in_no_message() {
    const TITLE: &str = r#"{"title": "bad Bearer secret-token", "detail": "not \u0073ecret-token"}"#;
    // Its end is behind the part of the answer that is shown.
    const PAGE: &str = "<html><head><title>401</title></head><body>not authorized: Bearer xxxx secret-token";
    const FOREIGN: &str = r#"["secret-token"]"#;
    const FINDING: &str = r#"{"findings": [{"subject": "secret-token", "title": "secret-token"}]}"#;
    for (status, answer) in [
        (401, TITLE),
        (503, TITLE),
        (502, PAGE),
        (200, FOREIGN),
        (201, FINDING),
    ] {
        let node = Node::with(&Scenario::library_missing());
        let server = Server::answering(&[(status, answer)]);
        let run = upload(&node, &server.address, &[]);
        let requests = server.requests();
        assert_eq!(requests[0].header("authorization"), Some("Bearer secret-token"));
        let told = run.stdout + &run.stderr;
        assert!(!told.contains("secret"), "{told}");
        assert!(told.contains("(with"), "{told}");
    }
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
    let conflict = r#"{"code": "report_conflict"}"#;
    let server = Server::answering(&[(201, "{}"), (409, conflict)]);
    upload(&node, &server.address, &[]);
    server.requests();
    let kept = files_in(&node.path("spool"));
    assert_eq!(kept.len(), 1);
    assert!(kept[0].to_str().unwrap().ends_with(".rejected"), "{kept:?}");
}

#[test]
fn a_report_is_on_disk_while_it_is_sent() {
    let node = Node::with(&Scenario::library_missing());
    let (spool, (sender, seen)) = (node.path("spool"), std::sync::mpsc::channel());
    let look = move || sender.send(files_in(&spool)).unwrap();
    let server = Server::with(vec![(201, String::new(), "{}")], look);
    let run = upload(&node, &server.address, &[]);
    assert_eq!(run.code, 3, "{}", run.stderr);
    let request = server.requests().remove(0);
    let during = seen.recv().unwrap();
    assert_eq!(during.len(), 1);
    let name = format!("{}.json.zst", request.report().report_id);
    assert_eq!(during[0].file_name().unwrap().to_str(), Some(name.as_str()));
    assert!(files_in(&node.path("spool")).is_empty());
}

#[test]
fn a_report_is_sent_though_it_can_be_neither_kept_nor_shown() {
    let node = Node::with(&Scenario::one_direction_only());
    fs::write(node.path("spool"), "a file where the folder should be").unwrap();
    let server = Server::answering(&[(201, "{}")]);
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let mut command = node.command("report");
    command
        .args(["--server", &server.address])
        .arg("--spool")
        .arg(node.path("spool"));
    let run = Run::of(&command.stdout(full).output().unwrap());
    assert_eq!(server.requests()[0].report().pairs.len(), 1, "{}", run.stderr);
    assert_eq!(run.code, 2, "{}", run.stderr);
    assert!(
        run.stderr.contains("standard output cannot be written"),
        "{}",
        run.stderr
    );
}

#[test]
fn a_report_that_can_be_neither_sent_nor_kept_keeps_its_exit_code() {
    let node = Node::with(&Scenario::one_direction_only());
    fs::write(node.path("spool"), "a file where the folder should be").unwrap();
    let run = upload(&node, "http://127.0.0.1:9", &[]);
    assert_eq!(run.code, 2, "{}", run.stderr);
    assert!(run.stderr.contains("nor could it be kept"), "{}", run.stderr);
}

#[test]
fn a_look_whose_report_is_lost_says_so_by_its_code() {
    let node = Node::with(&Scenario::healthy(2));
    fs::create_dir_all(node.path("host/dev")).unwrap();
    fs::write(node.path("host/dev/kmsg"), "5,0,0,-;Linux version 6.8.0\n").unwrap();
    let look = |spool: &str| {
        let (state, spool) = (node.path("state"), node.path(spool));
        let state = [
            "--state",
            state.to_str().unwrap(),
            "--spool",
            spool.to_str().unwrap(),
        ];
        let server = ["--once", "--server", "http://127.0.0.1:9"];
        node.run("daemon", &[&server[..], &state].concat())
    };
    let kept = look("spool");
    assert_eq!(kept.code, 0, "{}", kept.stderr);
    fs::write(node.path("file"), "where the folder should be").unwrap();
    let lost = look("file");
    assert!(lost.stderr.contains("the report is lost"), "{}", lost.stderr);
    assert_eq!(lost.code, 1, "{}", lost.stderr);
}

#[test]
fn one_report_that_breaks_the_server_does_not_hold_up_the_others() {
    let node = Node::with(&Scenario::library_missing());
    for _ in 0..3 {
        upload(&node, "http://127.0.0.1:9", &[]);
    }
    assert_eq!(files_in(&node.path("spool")).len(), 3);
    let newer = r#"{"code": "newer_report"}"#;
    let server = Server::answering(&[(201, "{}"), (500, "{}"), (422, newer), (201, "{}")]);
    upload(&node, &server.address, &[]);
    let sent: Vec<String> = server
        .requests()
        .iter()
        .map(|request| request.report().started_at)
        .collect();
    assert!(sent[1..].is_sorted(), "oldest first: {sent:?}");
    let kept = files_in(&node.path("spool"));
    assert_eq!(kept.len(), 2);
    assert!(
        kept.iter().all(|path| path.extension().unwrap() == "zst"),
        "{kept:?}"
    );
}

/// The token must not travel to another host, nor may a POST turn into a GET.
#[test]
fn a_redirect_is_not_followed() {
    let node = Node::with(&Scenario::library_missing());
    let elsewhere = TcpListener::bind("127.0.0.1:0").unwrap();
    elsewhere.set_nonblocking(true).unwrap();
    for status in [301, 307, 308] {
        let location = format!("location: http://{}/\r\n", elsewhere.local_addr().unwrap());
        let server = Server::with(vec![(status, location, "")], || ());
        let run = upload(&node, &server.address, &[]);
        server.requests();
        assert!(
            run.stderr.contains(&format!("answered {status}")),
            "{}",
            run.stderr
        );
        let error = elsewhere.accept().unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock);
    }
    assert_eq!(files_in(&node.path("spool")).len(), 3);
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
