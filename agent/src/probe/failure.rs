//! What stopped a run or a part of it, as the report tells it.

use kb_core::report::Failure;
use kb_core::verdict::cause;

use crate::worker::handle::{Fault, Stuck};
use crate::worker::protocol::CallFailure;

use super::trouble::Trouble;

pub(super) fn failure_of(step: &str, message: String) -> Failure {
    Failure::new(step, message)
}

pub(super) fn failure_from(trouble: &Trouble) -> Failure {
    match trouble {
        Trouble::Call(CallFailure {
            call,
            code,
            code_name,
            message,
            reason_code,
            ..
        }) => Failure {
            code: *code,
            reason_code: *reason_code,
            code_name: code_name.clone(),
            ..Failure::new(call, message)
        },
        Trouble::Worker(fault) => {
            let (call, cause) = match fault {
                Fault::Hang { call, .. } => (call.as_deref(), Some(cause::HANG)),
                Fault::Died { call, .. } => (call.as_deref(), Some(cause::PROCESS_DIES)),
                _ => (None, None),
            };
            Failure {
                cause: cause.map(str::to_owned),
                ..Failure::new(call.unwrap_or("run a worker"), fault.to_string())
            }
        }
    }
}

pub(super) fn stuck_failure(stuck: &Stuck) -> Failure {
    let call = stuck.call.as_deref().unwrap_or("a driver call");
    let message = format!(
        "process {} does not end even when killed: it is stuck in the driver and was left behind",
        stuck.pid
    );
    Failure {
        cause: Some(cause::HANG.to_owned()),
        ..Failure::new(call, message)
    }
}
