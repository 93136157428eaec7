//! `peerless-agent feedback`: whether something that a record advises helped on this node.

use serde_json::{Map, Value, json};

use crate::cli::{FeedbackArgs, Outcome};
use crate::host;
use crate::process::say;
use crate::upload::Uploader;

use super::print;

/// The server refused, or did not answer.
const REFUSED: u8 = 1;

pub(crate) fn feedback(arguments: &FeedbackArgs) -> anyhow::Result<u8> {
    let token_file = arguments.token_file.as_deref();
    let server = Uploader::new(&arguments.server, token_file, arguments.ca_file.as_deref())?;
    for warning in server.warnings() {
        say(&format!("warning: {warning}"));
    }
    let root = arguments.host_root();
    let told = [
        ("driver", host::driver_version(&root).value),
        ("gpu_model", host::gpu_model(&root)),
    ];
    let environment: Map<String, Value> = told
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), Value::from(value?))))
        .collect();
    let vote = json!({
        "tried": arguments.tried,
        "worked": arguments.outcome != Outcome::DidNotHelp,
        // Not yet known of what worked just now.
        "came_back": (arguments.outcome == Outcome::CameBack).then_some(true),
        "environment": environment,
    });
    match server.vote(&arguments.id, &vote) {
        Ok(outcome) if outcome == "queued" => print("the vote waits for an editor\n")?,
        Ok(outcome) => print(&format!("the vote is {outcome}\n"))?,
        Err(error) => {
            say(&format!("not taken: {error}"));
            return Ok(REFUSED);
        }
    }
    Ok(0)
}
