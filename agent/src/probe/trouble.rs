//! Why the driver could not be opened or asked.

use crate::worker::handle::Fault;
use crate::worker::protocol::CallFailure;

#[derive(Debug, Clone)]
pub(super) enum Trouble {
    Call(CallFailure),
    Worker(Fault),
}
