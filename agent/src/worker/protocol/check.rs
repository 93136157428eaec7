//! The checks of the ladder: which there are, and what one came to.

use kb_core::report::{Engine, Mismatch, ReasonCode};
use serde::{Deserialize, Serialize};

use super::CallFailure;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CheckKind {
    /// Rung 2: `cuCtxEnablePeerAccess`.
    EnablePeerAccess,
    /// Rung 3: the initiator's copy engine writes to the owner.
    CopyPush,
    /// Rung 3: the initiator's copy engine reads from the owner.
    CopyPull,
    /// Rung 4: a kernel of the initiator stores to the owner and fences the system.
    SmStore,
    /// Rung 4: a kernel of the initiator loads from the owner.
    SmLoad,
    /// Rung 4: a kernel of the initiator adds to counters of the owner, system-wide.
    SmAtomic,
    /// Rung 5: the owner's kernel observes the initiator's stores while both run.
    ResidentExchange,
    /// On no rung, of one GPU by itself: its kernel fills its own memory, and the host looks at a copy.
    OwnMemory,
}

impl CheckKind {
    pub(crate) fn rung(self) -> u8 {
        match self {
            Self::EnablePeerAccess => 2,
            Self::CopyPush | Self::CopyPull => 3,
            Self::SmStore | Self::SmLoad | Self::SmAtomic => 4,
            Self::OwnMemory => 0,
            Self::ResidentExchange => 5,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::EnablePeerAccess => "enable_peer_access",
            Self::CopyPush => "copy_push",
            Self::CopyPull => "copy_pull",
            Self::SmStore => "sm_store",
            Self::SmLoad => "sm_load",
            Self::SmAtomic => "sm_atomic",
            Self::ResidentExchange => "resident_exchange",
            Self::OwnMemory => "own_memory",
        }
    }

    pub(crate) fn engine(self) -> Engine {
        match self {
            Self::EnablePeerAccess => Engine::Api,
            Self::CopyPush | Self::CopyPull => Engine::Ce,
            Self::SmStore | Self::SmLoad | Self::SmAtomic | Self::ResidentExchange | Self::OwnMemory => {
                Engine::Sm
            }
        }
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Checked {
    pub(crate) result: CheckResult,
    pub(crate) compared_by: String,
    pub(crate) bytes: u64,
    pub(crate) windows: u32,
    /// As [`kb_core::report::Check::spread_bytes`].
    pub(crate) spread_bytes: u64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CheckResult {
    /// The right data, or code 0.
    Pass,
    Wrong {
        mismatch: Mismatch,
    },
    Error {
        failure: CallFailure,
    },
    /// The access, or the owner's check after it, did not end in time.
    Hang {
        failure: CallFailure,
    },
    /// Something that is no access between the two failed first, so nothing is shown.
    Unprepared {
        failure: CallFailure,
    },
    Skipped {
        reason: String,
        code: ReasonCode,
        /// What the call returned that failed before, if that is why.
        earlier_code: Option<i32>,
    },
}
