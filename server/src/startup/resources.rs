//! What the system lets the process have: file descriptors for connections, and addresses for memory.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::StartupError;

/// Descriptors that are asked for where the system has no limit.
const MANY: u64 = 65_536;
/// Fewest addresses that a start gets by with, in bytes: the allocator takes them by the gigabyte, most of them never used.
/// Below it the start ends in the middle of something, or not at all.
const LEAST_ADDRESSES: u64 = 3 << 30;

/// Raises the soft limit of descriptors as far as it goes, and returns it. The usual 1024 is for programs with select(2).
pub(super) fn descriptors() -> usize {
    let limit = getrlimit(Resource::Nofile);
    let most = limit.maximum.unwrap_or(MANY).min(MANY);
    let raised = Rlimit {
        current: Some(most),
        maximum: limit.maximum,
    };
    let now = limit.current.unwrap_or(MANY);
    let there = if now < most && setrlimit(Resource::Nofile, raised).is_ok() {
        most
    } else {
        now
    };
    usize::try_from(there).unwrap_or(usize::MAX)
}

pub(super) fn check_addresses() -> Result<(), StartupError> {
    match getrlimit(Resource::As).current {
        Some(limit) if limit < LEAST_ADDRESSES => Err(StartupError::Addresses {
            limit: limit / 1_000_000,
            least: LEAST_ADDRESSES / 1_000_000,
        }),
        _ => Ok(()),
    }
}
