//! `peerless feedback`: votes and suggestions to a server.

use crate::process::{Server, folder, peerless, token};

const RECORD: &str = "xid/79-gpu-has-fallen-off-the-bus";

fn feedback(server: &str, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = peerless();
    command.args(["feedback", "--server", server]).args(arguments);
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn votes_and_suggestions_reach_the_server() {
    let (folder, data) = folder();
    let token = token(&["--data-dir", &data], &["report"]);
    let server = Server::start(&["--data-dir", &data], &folder.path().join("log"));
    let address = server.url.clone();
    let told = |arguments: &[&str]| feedback(&address, &[&["--token", &token], arguments].concat());
    let (code, text, why) = told(&[RECORD, "/workarounds/0", "worked", "--env", "driver=550.54.14"]);
    assert_eq!((code, text.as_str()), (Some(0), "The vote is taken.\n"), "{why}");
    let (_, text, _) = told(&[RECORD, "/workarounds/0", "came-back", "--env", "driver=550.54.14"]);
    assert_eq!(text, "The vote takes the place of the one before.\n");
    let (_, text, _) = told(&[RECORD, "--suggest", "The cause is the riser."]);
    assert_eq!(text, "The suggestion waits for an editor.\n");
    let (code, _, why) = told(&[RECORD, "/workarounds/99", "worked"]);
    assert_eq!(code, Some(1));
    assert!(why.contains("is no action"), "{why}");
    // Without a token, and not allowed by the operator.
    let (code, _, why) = feedback(&address, &[RECORD, "/workarounds/0", "worked"]);
    assert_eq!(code, Some(1));
    assert!(why.contains("log in"), "{why}");
    let (code, ..) = told(&[RECORD, "/workarounds/0"]);
    assert_eq!(code, Some(64));
}
