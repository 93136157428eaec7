//! `peerless-agent enrol`: this node gets a credential of its own.

use anyhow::Context as _;

use crate::cli::EnrolArgs;
use crate::files::{FOR_OWNER, write_whole};
use crate::host;
use crate::process::say;
use crate::upload::{Uploader, credential_file};

use super::print;

/// The server refused, or did not answer.
const REFUSED: u8 = 1;

pub(crate) fn enrol(arguments: &EnrolArgs) -> anyhow::Result<u8> {
    let file = credential_file(&arguments.state.folder());
    if file.is_file() && !arguments.again {
        print(&format!(
            "{} is there; --again asks for another\n",
            file.display()
        ))?;
        return Ok(0);
    }
    let root = arguments.host_root();
    let uploader = Uploader::new(
        &arguments.server,
        Some(&arguments.join_token_file),
        arguments.ca_file.as_deref(),
    )?;
    for warning in uploader.warnings() {
        say(&format!("warning: {warning}"));
    }
    let node = match &arguments.node_id {
        Some(node) => node.clone(),
        None => host::node(&root).context("name this node")?.id,
    };
    // Before the server is asked: a credential that cannot be kept is lost.
    let probe = file.with_file_name(".enrolling");
    write_whole(&probe, b"", FOR_OWNER).with_context(|| format!("write into {}", probe.display()))?;
    std::fs::remove_file(&probe).with_context(|| format!("remove {}", probe.display()))?;
    match uploader.enrol(&node, &host::machine(&root)) {
        Ok(credential) => {
            let text = format!("{}\n", credential.token);
            write_whole(&file, text.as_bytes(), FOR_OWNER)
                .with_context(|| format!("write {}", file.display()))?;
            let again = if credential.again {
                "; the former credential of this machine is revoked"
            } else {
                ""
            };
            print(&format!(
                "enrolled as {node}, credential in {}{again}\n",
                file.display()
            ))?;
            Ok(0)
        }
        Err(error) => {
            say(&format!("not enrolled: {error}"));
            Ok(REFUSED)
        }
    }
}
