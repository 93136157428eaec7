//! `peerless match` by a server that is older than the program.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Output;

use crate::process::{folder, peerless};

/// Reads a request whose body comes in chunks, and answers without any header of this program.
fn answer(mut stream: TcpStream, json: &str) {
    let (mut request, mut buffer) = (Vec::new(), [0; 4096]);
    while !request.ends_with(b"\r\n0\r\n\r\n") {
        let read = stream.read(&mut buffer).unwrap();
        assert!(read > 0, "the request broke off");
        request.extend_from_slice(&buffer[..read]);
    }
    let length = json.len();
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(json.as_bytes()).unwrap();
}

#[test]
fn what_an_older_server_does_not_say_is_not_none() {
    let (_folder, data) = folder();
    let asked = |arguments: &[&str]| -> Output {
        let mut command = peerless();
        command.args(["match", "--text", "all is well", "--data-dir", &data]);
        command.args(arguments).output().unwrap()
    };
    let json = String::from_utf8(asked(&["--json"]).stdout).unwrap();
    assert!(
        json.contains("\"matches\":[]") && !json.contains("unexplained"),
        "{json}"
    );
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let calls: [(&[&str], i32); 3] = [
        (&["--json", "--fail-on", "unexplained"], 2),
        (&["--sarif", "--fail-on", "unexplained"], 2),
        (&["--json"], 1),
    ];
    let server = std::thread::spawn(move || {
        for _ in calls {
            answer(listener.accept().unwrap().0, &json);
        }
    });
    for (arguments, code) in calls {
        let output = asked(&[arguments, &["--server", &url]].concat());
        assert_eq!(output.status.code(), Some(code), "{arguments:?} {output:?}");
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(told.contains("older than this program"), code == 2, "{told}");
    }
    server.join().unwrap();
}
