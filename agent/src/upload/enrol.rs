//! Enrolling this node: a join token goes out, a credential that writes this node alone comes back.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use kb_core::ids::NodeId;
use reqwest::Url;
use serde_json::{Value, json};

use super::secret::Secret;
use super::{ConfigurationError, UploadError, Uploader};
use crate::files::{FOR_OWNER, write_whole};

const FILE: &str = "credential";
/// Name of the file that says which server gave it.
const GIVEN_BY: &str = "credential.server";

pub(crate) fn credential_file(state: &Path) -> PathBuf {
    state.join(FILE)
}

/// A state folder's credential, if it is for this server. Whoever has it can write this node: for another it is an error.
pub(crate) fn own_credential(state: &Path, server: &str) -> Result<Option<PathBuf>, String> {
    let file = credential_file(state);
    if !file.is_file() {
        return Ok(None);
    }
    let given_by = state.join(GIVEN_BY);
    let given_by = match std::fs::read_to_string(&given_by) {
        Ok(text) => text,
        // A credential that a person has put there.
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => {
            return Err(format!(
                "the credential is not used: {}: {error}",
                given_by.display()
            ));
        }
    };
    let given_by = given_by.trim();
    if given_by.is_empty() || origin(server).is_some_and(|asked| asked == given_by) {
        return Ok(Some(file));
    }
    Err(format!(
        "the credential in {} was given by {given_by} and is not sent to another server: enrol with that one",
        file.display()
    ))
}

/// Why a state folder's credential is none, as far as this user may see it.
pub(crate) fn unusable_credential(state: &Path) -> Option<ConfigurationError> {
    let path = credential_file(state);
    // Only the daemon's user may read it.
    let is_seen = path.is_file() && File::open(&path).is_ok();
    let read = is_seen.then(|| Secret::read(Some(&path)))?;
    Some(read.err()?.of_credential(&path))
}

impl ConfigurationError {
    /// Of the node's own credential, which nobody named.
    pub(crate) fn of_credential(self, credential: &Path) -> Self {
        match self {
            Self::File { path, why, .. } if path == credential => Self::Credential { path, why },
            other => other,
        }
    }
}

pub(crate) fn keep_credential(state: &Path, server: &str, credential: &Credential) -> io::Result<PathBuf> {
    let given_by = origin(server).unwrap_or_default();
    write_whole(
        &state.join(GIVEN_BY),
        format!("{given_by}\n").as_bytes(),
        FOR_OWNER,
    )?;
    let file = credential_file(state);
    write_whole(&file, format!("{}\n", credential.token).as_bytes(), FOR_OWNER)?;
    Ok(file)
}

fn origin(server: &str) -> Option<String> {
    let address = Url::parse(server).ok()?;
    Some(address.origin().ascii_serialization())
}

#[derive(Debug)]
pub(crate) struct Credential {
    /// The token; never printed.
    pub(crate) token: String,
    /// Whether this machine had one before, which is revoked now.
    pub(crate) again: bool,
}

impl Uploader {
    /// Enrols the node with the token that the uploader was made with. `machine` tells this machine from others.
    pub(crate) fn enrol(&self, node: &NodeId, machine: &str) -> Result<Credential, UploadError> {
        const MADE: u16 = 201;
        let said = self.ask("enrol", &json!({ "node": node, "machine": machine }), MADE)?;
        let token = said.get("token").and_then(Value::as_str);
        let is_ours = said.get("node").and_then(Value::as_str) == Some(node.as_str());
        match token {
            Some(token) if is_ours => Ok(Credential {
                token: token.to_owned(),
                again: said.get("again").and_then(Value::as_bool) == Some(true),
            }),
            _ => Err(self.foreign(MADE)),
        }
    }
}
