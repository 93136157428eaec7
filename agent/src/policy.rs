//! The site's policy as the server gave it last, kept in the state folder, so that a node judges by it without a network.

use std::path::{Path, PathBuf};
use std::{fs, io};

use kb_core::ids::NodeId;
use kb_core::policy::{Given, Policy};
use kb_core::report::{Fact, Meaning, Report, fact_name};
use serde::{Deserialize, Serialize};

use crate::files::{FOR_ALL, read_plain, write_whole};
use crate::upload::{UploadError, Uploader};

const NAME: &str = "policy.json";
/// The one that was read last, for when the file cannot be read.
const LAST: &str = "policy.last.json";
/// The version of a policy that is there and cannot be read.
const UNREADABLE: &str = "unreadable";
/// The version of a policy that was given to another node.
const FOREIGN: &str = "foreign";
/// What an older server says of the call.
const NO_SUCH_CALL: u16 = 404;

/// Whose a policy is, by the node that it was given to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whose {
    ThisNodes,
    AnotherNodes,
    /// Nobody says which node asks. The policy is used, and is no proof of what this node's was.
    NotAsked,
    /// Nothing that can be read knows this node by that name, or as another one.
    NotKnown,
}

/// What was fetched, and where from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Kept {
    server: String,
    node: NodeId,
    etag: String,
    #[serde(flatten)]
    pub(crate) given: Given,
}

impl Kept {
    /// Which policy it is, in one line.
    pub(crate) fn told(&self) -> String {
        let Given {
            stage,
            rule_set,
            policy,
        } = &self.given;
        let rules = policy.rules.len();
        format!(
            "policy {} ({}, {rules} rules for this node), rule set {rule_set}",
            policy.version,
            stage.word()
        )
    }
}

/// The file of a state folder.
#[derive(Debug, Clone)]
pub(crate) struct PolicyFile(PathBuf);

impl PolicyFile {
    pub(crate) fn of(folder: &Path) -> Self {
        Self(folder.join(NAME))
    }

    /// Nothing where none was ever fetched; an error where it cannot be read.
    pub(crate) fn read(&self) -> Result<Option<Kept>, String> {
        let told = |why: String| format!("{}: {why}", self.0.display());
        match read_plain(&self.0) {
            Ok(bytes) => serde_json::from_slice(&bytes)
                .map(Some)
                .map_err(|error| told(error.to_string())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(told(error.to_string())),
        }
    }

    /// The policy. Where one is there that cannot be read, or that was given to another node, the records decide, and its version says
    /// so. What the one that was read last made a fault stays one; so does what a policy does that may be this node's.
    pub(crate) fn policy(&self, whose: &dyn Fn(&NodeId) -> Whose, say: &dyn Fn(&str)) -> Policy {
        match self.read() {
            Ok(None) => Policy::default(),
            Ok(Some(kept)) => {
                match whose(&kept.node) {
                    Whose::ThisNodes => {
                        self.remember(&kept);
                        return kept.given.policy;
                    }
                    Whose::NotAsked => return kept.given.policy,
                    Whose::AnotherNodes | Whose::NotKnown => {}
                }
                let node = kept.node.clone();
                let policy = self.faults_of(Some(kept), FOREIGN, whose, say);
                if !policy.rules.is_empty() {
                    say(&format!(
                        "the policy is of the node {node}, and whether this node was called so cannot be told: what it makes a fault is \
                         one, the records decide all else"
                    ));
                }
                policy
            }
            Err(why) => {
                let last = self.last();
                let policy = last.faults_of(last.read().ok().flatten(), UNREADABLE, whose, say);
                if policy.rules.iter().any(|rule| rule.is == Meaning::Fault) {
                    say(&format!(
                        "the policy cannot be read: what it made a fault before stays one, the records decide all else: {why}"
                    ));
                } else {
                    say(&format!("no policy is used, the records alone decide: {why}"));
                }
                policy
            }
        }
    }

    /// Of what this file holds, the faults; nothing of a policy that is known to be another node's.
    fn faults_of(
        &self,
        mut kept: Option<Kept>,
        version: &str,
        whose: &dyn Fn(&NodeId) -> Whose,
        say: &dyn Fn(&str),
    ) -> Policy {
        if let Some(foreign) = kept.take_if(|kept| whose(&kept.node) == Whose::AnotherNodes) {
            say(&format!(
                "{}: it is of the node {}, and is not used",
                self.0.display(),
                foreign.node
            ));
        }
        Policy {
            version: version.to_owned(),
            rules: kept.map(|kept| kept.given.policy.rules).unwrap_or_default(),
            faults_only: true,
        }
    }

    fn last(&self) -> Self {
        Self(self.0.with_file_name(LAST))
    }

    /// A user who may not write here, and a full disk, keep nobody from using the policy.
    fn remember(&self, kept: &Kept) {
        let last = self.last();
        if last.read().is_ok_and(|last| last.as_ref() == Some(kept)) {
            return;
        }
        if let Ok(json) = serde_json::to_vec(kept) {
            let _ = write_whole(&last.0, &json, FOR_ALL);
        }
    }

    /// Asks the server whether there is another one. What cannot be fetched is no reason to forget the one that is here, unless that is
    /// of another node, as in a copied folder.
    pub(crate) fn refresh(&self, server: &Uploader, node: &NodeId, say: &dyn Fn(&str)) {
        let kept = self.read().ok().flatten();
        let known = kept
            .as_ref()
            .filter(|kept| kept.server == server.address() && kept.node == *node);
        let fetched = self.fetch(server, node, known.map(|kept| kept.etag.as_str()));
        let foreign = kept.as_ref().filter(|kept| kept.node != *node);
        if let (Err(why), Some(foreign)) = (&fetched, foreign) {
            say(&format!(
                "the policy was not fetched: {why}; the one that is kept is of the node {}, so the records alone decide",
                foreign.node
            ));
            if let Err(error) = fs::remove_file(&self.0) {
                say(&format!("{}: it cannot be removed: {error}", self.0.display()));
            }
            let _ = fs::remove_file(self.last().0);
            return;
        }
        match fetched {
            Ok(()) => {}
            // A server of before there were policies; one that was kept may be of another server, or of a newer one.
            Err(Failed::Server(UploadError::Refused {
                status: NO_SUCH_CALL, ..
            })) => {
                if let Some(kept) = &kept {
                    say(&format!(
                        "the server gives no policy ({NO_SUCH_CALL}): policy {} is used on",
                        kept.given.policy.version
                    ));
                }
            }
            Err(why) => {
                let stays = match &kept {
                    Some(kept) => format!("policy {} is used on", kept.given.policy.version),
                    None => "the records alone decide".to_owned(),
                };
                say(&format!("the policy was not fetched: {why}; {stays}"));
            }
        }
    }

    fn fetch(&self, server: &Uploader, node: &NodeId, known: Option<&str>) -> Result<(), Failed> {
        let Some((etag, bytes)) = server.policy(node, known)? else {
            return Ok(());
        };
        let given: Given = serde_json::from_slice(&bytes)
            .map_err(|error| Failed::Answer(format!("it is none that this agent understands: {error}")))?;
        let kept = Kept {
            server: server.address().to_owned(),
            node: node.clone(),
            etag,
            given,
        };
        let json = serde_json::to_vec(&kept).map_err(|error| Failed::Answer(error.to_string()))?;
        write_whole(&self.0, &json, FOR_ALL)
            .map_err(|error| Failed::Answer(format!("{}: {error}", self.0.display())))
    }
}

#[derive(Debug, thiserror::Error)]
enum Failed {
    #[error(transparent)]
    Server(#[from] UploadError),
    #[error("{0}")]
    Answer(String),
}

/// What is said of a policy that is there, and that cannot be read or is another node's.
pub(crate) fn doubt(policy: &Policy) -> Option<String> {
    let why = match policy.version.as_str() {
        UNREADABLE => "cannot be read",
        FOREIGN => "was given to another node",
        _ => return None,
    };
    Some(format!("warning: the site's policy ({NAME}) {why}"))
}

/// Notes in a report by which policy it was judged.
pub(crate) fn stamp(report: &mut Report, policy: &Policy) {
    let version = Fact::read(policy.version.clone().into(), NAME);
    report.host.insert(fact_name::POLICY_VERSION.to_owned(), version);
}
