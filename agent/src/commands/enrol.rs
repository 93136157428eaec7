//! `peerless-agent enrol`: this node gets a credential of its own. A daemon that was given a join token does the same.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use kb_core::ids::NodeId;

use crate::cli::EnrolArgs;
use crate::files::{FOR_OWNER, write_whole};
use crate::host::{self, HostRoot};
use crate::process::say;
use crate::upload::{UploadError, Uploader, credential_file, keep_credential};

use super::print;

/// The server refused, or did not answer.
const REFUSED: u8 = 1;

pub(crate) fn enrol(arguments: &EnrolArgs) -> anyhow::Result<u8> {
    let state = arguments.state.folder();
    let file = credential_file(&state);
    if file.is_file() && !arguments.again {
        print(&format!(
            "{} is there; --again asks for another\n",
            file.display()
        ))?;
        return Ok(0);
    }
    let joining = Joining {
        server: &arguments.server,
        join_token_file: &arguments.join_token_file,
        ca_file: arguments.ca_file.as_deref(),
        root: arguments.host_root(),
        node_id: arguments.node_id.as_ref(),
        state: &state,
        within: Duration::MAX,
    };
    match joining.join()? {
        Ok(joined) => {
            print(&format!("{joined}\n"))?;
            Ok(0)
        }
        Err(error) => {
            say(&format!("not enrolled: {error}"));
            Ok(REFUSED)
        }
    }
}

pub(super) struct Joined {
    node: NodeId,
    file: PathBuf,
    again: bool,
}

impl fmt::Display for Joined {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "enrolled as {}, credential in {}",
            self.node,
            self.file.display()
        )?;
        if self.again {
            formatter.write_str("; the former credential of this machine is revoked")?;
        }
        Ok(())
    }
}

pub(super) struct Joining<'a> {
    pub(super) server: &'a str,
    pub(super) join_token_file: &'a Path,
    pub(super) ca_file: Option<&'a Path>,
    pub(super) root: HostRoot,
    pub(super) node_id: Option<&'a NodeId>,
    pub(super) state: &'a Path,
    /// Longest wait for the answer.
    pub(super) within: Duration,
}

impl Joining<'_> {
    /// Asks the server, and keeps what it gives. The outer error is this machine's, the inner one the server's.
    pub(super) fn join(&self) -> anyhow::Result<Result<Joined, UploadError>> {
        let uploader =
            Uploader::new(self.server, Some(self.join_token_file), self.ca_file)?.within(self.within);
        for warning in uploader.warnings() {
            say(&format!("warning: {warning}"));
        }
        let node = match self.node_id {
            Some(node) => node.clone(),
            None => host::node(&self.root).context("name this node")?.id,
        };
        let machine = host::machine(&self.root).context(
            "this machine has no board id, no machine id and no host name: write an id into /etc/machine-id",
        )?;
        self.check_folder()?;
        let credential = match uploader.enrol(&node, &machine) {
            Ok(credential) => credential,
            Err(error) => return Ok(Err(error)),
        };
        let file = keep_credential(self.state, self.server, &credential)
            .with_context(|| format!("keep the credential in {}", self.state.display()))?;
        Ok(Ok(Joined {
            node,
            file,
            again: credential.again,
        }))
    }

    /// Before the server is asked: a credential that cannot be kept is lost.
    fn check_folder(&self) -> anyhow::Result<()> {
        let probe: PathBuf = self.state.join(".enrolling");
        write_whole(&probe, b"", FOR_OWNER).with_context(|| format!("write into {}", probe.display()))?;
        std::fs::remove_file(&probe).with_context(|| format!("remove {}", probe.display()))
    }
}
