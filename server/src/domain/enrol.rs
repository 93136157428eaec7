//! A node's own credential: it enrols with a join token, and what it gets writes this node alone.

use kb_core::ids::NodeId;
use time::OffsetDateTime;

use super::tokens::{Actor, IssuedToken, draw, hash};
use crate::clock::{Random, RandomError};
use crate::store::{Bounds, Enrolled, Labels, Scope, StoreError, TokenStore};

/// Longest text that names a machine, in bytes.
pub const MAX_MACHINE_BYTES: usize = 200;

/// Why a node was not enrolled. Nothing was kept.
#[derive(Debug, thiserror::Error)]
pub enum EnrolError {
    #[error(
        "another machine is enrolled as {0}: give this one an id of its own, take the other's credential back with \
         `peerless token list` and `peerless token revoke`, or enrol with a join token that may take ids over \
         (`peerless token create --scope enrol --adopt --uses N --expires-in 1d`; one without both bounds takes none over)"
    )]
    Taken(NodeId),
    #[error(
        "the join token has no enrolment left: make another with `peerless token create --scope enrol --uses N`"
    )]
    UsedUp,
    #[error(
        "the join token was revoked, or its time is over: make another with `peerless token create --scope enrol`"
    )]
    Over,
    #[error("a node enrols with a join token: make one with `peerless token create --scope enrol`")]
    NoToken,
    #[error(
        "machine has 1 to {MAX_MACHINE_BYTES} bytes: the machine id, or another text that stays when the node is installed anew"
    )]
    Machine,
    #[error(transparent)]
    Random(#[from] RandomError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

pub struct Credential {
    pub token: IssuedToken,
    /// Whether the machine had one before, which is revoked now.
    pub again: bool,
    /// Whether others wrote reports of this node before: another machine, or tokens for any node.
    pub adopted: bool,
}

/// Enrols a node. `machine` is kept as a hash: equal again it is the same machine installed anew, another one is a clone.
pub async fn enrol(
    store: &dyn TokenStore,
    random: &dyn Random,
    by: &Actor,
    (node, machine): (NodeId, &str),
    now: OffsetDateTime,
) -> Result<Credential, EnrolError> {
    if machine.is_empty() || machine.len() > MAX_MACHINE_BYTES {
        return Err(EnrolError::Machine);
    }
    let with = by.token().ok_or(EnrolError::NoToken)?;
    let bounds = Bounds {
        node: Some(node.clone()),
        machine_sha256: Some(hash(machine)),
        enrolled_by: Some(with.to_owned()),
        uses_left: None,
        labels: Labels::new(),
        adopts: false,
    };
    let name = format!("node {node}");
    let token = draw(random, &name, vec![Scope::Report], (now, None), bounds)?;
    let enrolled = store.enrol_node(with, token.token.clone(), &by.by()).await?;
    match enrolled {
        Enrolled::New | Enrolled::Known | Enrolled::Adopted | Enrolled::Again => {}
        Enrolled::Taken => return Err(EnrolError::Taken(node)),
        Enrolled::UsedUp => return Err(EnrolError::UsedUp),
        Enrolled::Over => return Err(EnrolError::Over),
    }
    Ok(Credential {
        token,
        again: enrolled == Enrolled::Again,
        adopted: matches!(enrolled, Enrolled::Known | Enrolled::Adopted),
    })
}

#[derive(Debug, Clone)]
pub struct Writer {
    /// The only node that may be written; any where it is not said.
    pub node: Option<NodeId>,
    pub enrol_only: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WriterError {
    #[error("this credential writes reports of {own} alone, and the report is of {named}")]
    OtherNode { own: NodeId, named: NodeId },
    #[error(
        "this server takes reports from enrolled nodes alone (--enrol-only): enrol the node with a join token \
         (POST /api/v1/enrol), which gives it a credential of its own"
    )]
    Unbound,
}

impl Writer {
    pub fn may_write(&self, node: &NodeId) -> Result<(), WriterError> {
        match &self.node {
            Some(own) if own == node => Ok(()),
            Some(own) => Err(WriterError::OtherNode {
                own: own.clone(),
                named: node.clone(),
            }),
            None if self.enrol_only => Err(WriterError::Unbound),
            None => Ok(()),
        }
    }
}
