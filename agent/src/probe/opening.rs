//! Opening the driver, twice where its process hangs or dies.

use std::time::Duration;

use kb_core::report::Failure;
use kb_core::verdict::cause;

use crate::worker::handle::Fault;
use crate::worker::protocol::Opened;

use super::failure::failure_from;
use super::session::{Session, Trouble};

/// Why the driver could not be opened.
pub(super) enum Opening {
    Failed(Trouble),
    /// It hung twice, each time for as long as a driver may take.
    Unresponsive(Trouble),
}

impl Opening {
    /// True where the driver answered: a call failed.
    pub(super) fn is_answer(&self) -> bool {
        matches!(self, Self::Failed(Trouble::Call(_)))
    }

    pub(super) fn failure(&self) -> Failure {
        match self {
            Self::Failed(trouble) => failure_from(trouble),
            Self::Unresponsive(trouble) => Failure {
                cause: Some(cause::DRIVER_UNRESPONSIVE.to_owned()),
                ..failure_from(trouble)
            },
        }
    }
}

/// A call of the driver that takes so long, in two fresh processes, does not return. Starting the driver of eight GPUs
/// without persistence mode takes ten seconds and more.
const UNRESPONSIVE: Duration = Duration::from_secs(30);

/// A worker that hangs or dies while opening is tried once more; a library that is missing stays missing.
pub(super) fn open(session: &mut Session<'_>) -> Result<Opened, Opening> {
    let first = match session.open() {
        Err(Trouble::Worker(fault @ (Fault::Hang { .. } | Fault::Died { .. }))) => fault,
        result => return result.map_err(Opening::Failed),
    };
    session.open().map_err(|second| {
        let long = |fault: &Fault| matches!(fault, Fault::Hang { limit, .. } if *limit >= UNRESPONSIVE);
        match second {
            Trouble::Worker(fault) if long(&first) && long(&fault) => {
                Opening::Unresponsive(Trouble::Worker(fault))
            }
            second => Opening::Failed(second),
        }
    })
}
