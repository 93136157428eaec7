//! What stopped a run or a part of it, as the report tells it.

use kb_core::report::Failure;

use crate::worker::handle::{Fault, Stuck};
use crate::worker::protocol::CallFailure;

use super::session::Trouble;

pub(super) fn failure_of(step: &str, message: String) -> Failure {
    Failure {
        step: step.to_owned(),
        code: None,
        code_name: None,
        message,
        cause: None,
        record: None,
        fix: None,
    }
}

pub(super) fn failure_from(trouble: &Trouble) -> Failure {
    match trouble {
        Trouble::Call(CallFailure {
            call,
            code,
            code_name,
            message,
            ..
        }) => Failure {
            step: call.clone(),
            code: *code,
            code_name: code_name.clone(),
            message: message.clone(),
            cause: None,
            record: None,
            fix: None,
        },
        Trouble::Worker(fault) => {
            let step = match fault {
                Fault::Hang { call: Some(call), .. } | Fault::Died { call: Some(call), .. } => call.as_str(),
                _ => "run a worker",
            };
            failure_of(step, fault.to_string())
        }
    }
}

pub(super) fn stuck_failure(stuck: &Stuck) -> Failure {
    let call = stuck.call.as_deref().unwrap_or("a driver call");
    let message = format!(
        "process {} does not end even when killed: it is stuck in the driver and was left behind",
        stuck.pid
    );
    failure_of(call, message)
}
