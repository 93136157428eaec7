//! Answers that no Peerless server gives: of a login page, of a proxy that minds a body. No report is lost by them.

use std::fs;

use crate::node::{Node, Run, files_in};
use crate::spool::{node_with, run};
use crate::upload::Server;

/// `upload` of this node's spool, to a server that gives these answers and gets no more requests than that.
fn upload(node: &Node, answers: &[(u16, &'static str)]) -> Run {
    let server = Server::answering(answers);
    let spool = node.path("spool");
    let spool = spool.to_str().unwrap();
    let arguments = [
        "--server",
        &server.address,
        "--spool",
        spool,
        "--retry-for",
        "0.1",
    ];
    let sent = run(node.bare("upload"), &arguments);
    assert_eq!(server.requests().len(), answers.len());
    sent
}

#[test]
fn only_an_answer_with_the_reports_id_takes_it_out_of_the_spool() {
    let node = node_with(1);
    let kept = files_in(&node.path("spool")).remove(0);
    let bytes = fs::read(&kept).unwrap();
    for (page, shown) in [
        (
            "<html>\n<title>Log in</title>",
            "text/html \"<html> <title>Log in</title>\"",
        ),
        ("", "application/json \"\""),
        ("[]", "application/json"),
        (r#"{"id": "another"}"#, "another"),
        (r#"{"id": null}"#, "null"),
    ] {
        for status in [200, 201] {
            let sent = upload(&node, &[(status, page), (status, page)]);
            assert_eq!(sent.code, 1, "{page}: {}", sent.stderr);
            let said = format!("answered {status}, but not that it has the report: ");
            assert!(
                sent.stderr.contains(&said) && sent.stderr.contains(shown),
                "{page}: {}",
                sent.stderr
            );
            assert!(sent.stdout.is_empty(), "{}", sent.stdout);
            assert_eq!(fs::read(&kept).unwrap(), bytes);
        }
    }
    let taken = upload(&node, &[(201, "{}"), (200, "{}")]);
    assert_eq!(taken.code, 0, "{}", taken.stderr);
    assert!(files_in(&node.path("spool")).is_empty());
}

#[test]
fn a_proxys_refusal_puts_no_report_aside() {
    let node = node_with(2);
    let spool = node.path("spool");
    let page = "<html>Request Entity Too Large</html>";
    // Asked first for the server's sake, then with the others; then a round that brings nothing.
    let answers = [(413, page), (413, page), (201, "{}"), (413, page), (413, page)];
    let sent = upload(&node, &answers);
    assert_eq!(sent.code, 1, "{}", sent.stderr);
    assert!(
        sent.stderr
            .contains("answered 413: text/html \"<html>Request Entity Too Large"),
        "{}",
        sent.stderr
    );
    let left = files_in(&spool);
    assert_eq!(left.len(), 1, "{left:?}");
    assert!(left[0].to_str().unwrap().ends_with(".json.zst"), "{left:?}");
}

#[test]
fn what_was_refused_for_good_is_not_forgotten() {
    let node = node_with(1);
    let spool = node.path("spool");
    let problem = r#"{"title": "Damaged", "code": "bad_encoding"}"#;
    let refused = upload(&node, &[(400, problem), (400, problem)]);
    let left = files_in(&spool).remove(0);
    assert!(left.to_str().unwrap().ends_with(".json.zst.rejected"), "{left:?}");
    let later = upload(&node, &[]);
    for told in [refused, later] {
        assert_eq!(told.code, 1, "{}", told.stderr);
        let said = format!("{} was refused for good", left.display());
        assert!(told.stderr.contains(&said), "{}", told.stderr);
    }
    fs::remove_file(left).unwrap();
    assert_eq!(upload(&node, &[]).code, 0);
}
