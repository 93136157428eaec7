//! Files of the host's log: how they are opened, how much of them is read, and when the machine was booted.

use std::fs::File;
use std::io::{self, Seek as _, SeekFrom};
use std::os::unix::fs::OpenOptionsExt as _;

use rustix::fs::OFlags;

use super::super::HostRoot;

/// Kept with a place in a log; an agent that learns to read another form of lines has a larger one. Before it was kept, an agent read
/// the classic form alone, and of each line the first message.
pub(super) const FORMS: u32 = 1;
/// How much of the end of a file is read: some ten thousand lines.
pub(super) const TAIL_BYTES: u64 = 1024 * 1024;
/// Records taken in one go. The kernel's buffer holds fewer (`log_buf_len` of 16 MiB has some hundred thousand); one
/// that is written to as fast as it is read must not hold up the agent.
pub(super) const MOST_RECORDS: usize = 400_000;

/// Never waits: neither for a writer nor for a record.
pub(super) fn open(root: &HostRoot, path: &str) -> io::Result<File> {
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    File::options()
        .read(true)
        .custom_flags(i32::try_from(flags.bits()).unwrap_or(0))
        .open(root.path(path)?)
}

pub(super) fn at_tail(mut file: File) -> io::Result<File> {
    let bytes = file.metadata()?.len();
    file.seek(SeekFrom::Start(bytes.saturating_sub(TAIL_BYTES)))?;
    Ok(file)
}

/// When the machine was booted, in seconds since 1970.
pub(super) fn boot_second(root: &HostRoot) -> Option<i64> {
    let stat = root.text("proc/stat").value?;
    let second = stat.lines().find_map(|line| line.strip_prefix("btime "))?;
    second.trim().parse().ok()
}
