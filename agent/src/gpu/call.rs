//! The one place through which every call of a driver's library goes.

use std::time::Duration;

#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum CallError {
    #[error("{call} returned {code} ({name})")]
    Code {
        call: &'static str,
        /// The code as returned, known or not.
        code: i32,
        /// Its name, `unknown code` where nobody knows it.
        name: String,
    },
    #[error("this driver lacks {call}: it is older than the function")]
    Missing { call: &'static str },
    #[error("the work of {call} did not end within {} s", .limit.as_secs_f64())]
    Deadline { call: &'static str, limit: Duration },
    /// The work has ended, and means nothing: the host took too long to queue it.
    #[error("{call}: the host took longer than {} s to queue the work", .limit.as_secs_f64())]
    QueuedLate { call: &'static str, limit: Duration },
    /// The agent itself asked for something that cannot be: a window outside its buffer, lengths that differ.
    #[error("{call} was not made: {why}")]
    Refused { call: &'static str, why: &'static str },
}

impl CallError {
    pub(crate) fn call(&self) -> &'static str {
        match self {
            Self::Code { call, .. }
            | Self::Missing { call }
            | Self::Deadline { call, .. }
            | Self::QueuedLate { call, .. }
            | Self::Refused { call, .. } => call,
        }
    }

    /// The result code and its name, where the call returned one.
    pub(crate) fn code(&self) -> Option<(i32, &str)> {
        match self {
            Self::Code { code, name, .. } => Some((*code, name)),
            _ => None,
        }
    }
}

/// Calls `$name` of the table: breadcrumb first, then the call, then its code as a `Result<(), CallError>`.
///
/// An expression that is unsafe exactly as the function is; the caller writes `unsafe` and says why it is sound.
macro_rules! call {
    ($api:expr, $name:ident($($argument:expr),* $(,)?)) => {{
        let api = &$api;
        match api.symbols.$name {
            None => Err($crate::gpu::call::CallError::Missing { call: stringify!($name) }),
            Some(function) => {
                api.trace.about_to(stringify!($name));
                api.checked(stringify!($name), function($($argument),*))
            }
        }
    }};
}
pub(super) use call;
