//! A credential of the node that was cut or spoiled: the node is looked at all the same.

use std::fs;

use fake_gpu::scenario::Condition;

use crate::node::{Node, Run, files_in};
use crate::passive::{daemon, log, node, xid};
use crate::policy::bare;

const SERVER: &str = "http://127.0.0.1:9";

fn look(node: &Node, arguments: &[&str]) -> Run {
    let spool = node.path("spool");
    let with_server = ["--server", SERVER, "--spool", spool.to_str().unwrap()];
    daemon(node, &[&with_server[..], arguments].concat())
}

#[test]
fn a_daemon_looks_and_tells_and_keeps_its_reports() {
    for content in [&b""[..], b" \n", b"a\x01b", b"\xff\xfe"] {
        let node = node(Condition::default());
        fs::create_dir_all(node.path("state")).unwrap();
        fs::write(node.path("state/credential"), content).unwrap();
        let first = look(&node, &[]);
        assert_eq!(first.code, 0, "{content:?}: {}", first.stderr);
        log(&node, 1, &xid(79, "GPU has fallen off the bus."));
        let run = look(&node, &[]);
        assert_eq!(run.code, 2, "{content:?}: {}", run.stderr);
        assert!(run.stderr.contains("it waits in the spool"), "{}", run.stderr);
        assert!(run.stderr.contains("credential cannot be used"), "{}", run.stderr);
        assert_eq!(files_in(&node.path("spool")).len(), 2, "{content:?}");
        let told = bare(&node, "status", &["--passive"]);
        assert_eq!(told.code, 2, "{}", told.stdout);
        assert!(
            told.stderr.contains("credential cannot be used"),
            "{}",
            told.stderr
        );
    }
}

/// What was set is another matter: whoever starts the daemon sees at once that it is wrong.
#[test]
fn a_token_file_that_was_named_is_a_setting() {
    let node = node(Condition::default());
    fs::write(node.path("token"), "").unwrap();
    let token = node.path("token");
    let run = look(&node, &["--token-file", token.to_str().unwrap()]);
    assert_eq!(run.code, 64, "{}", run.stderr);
}
