//! What logrotate has put aside of a file of syslog's: `kern.log.1`, or `kern.log-20261129` where it names files by date.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt as _;

use super::super::HostRoot;
use super::boots::{OfThisBoot, has_beginning};
use super::files::{at_tail, boot_second, open};
use super::last_line::is_torn;
use super::lines::{Kind, Lines};
use super::origin::LARGEST_CLOCK_STEP;

/// Files that are read behind the one that is written to, at most.
const MOST_FILES: usize = 3;

/// Lines from the beginning of this boot on, as far as they are there.
pub(super) struct SinceBoot {
    pub(super) of: OfThisBoot,
    pub(super) is_whole: bool,
    /// The newest file put aside, read to its end, where its successor is empty: the writer has not noticed yet.
    pub(super) still_written: Option<Lines>,
}

/// Reads a file that was just opened, and before it what was put aside of this boot.
pub(super) fn since_boot(root: &HostRoot, name: &str, file: &mut Lines) -> io::Result<SinceBoot> {
    let mut is_cut = !file.is_at_beginning()?;
    let mut records = file.read()?;
    let is_empty = !is_cut && file.is_at_beginning()? && file.unended().is_empty();
    let (mut still_written, mut is_torn_aside) = (None, false);
    let booted = boot_second(root);
    let mut is_whole = has_beginning(&records);
    for path in files(root, name).iter().take(MOST_FILES) {
        if is_whole || is_cut {
            break;
        }
        let Ok(file) = open(root, path) else { break };
        let is_long_before = |booted: i64| {
            let data = file.metadata();
            data.is_ok_and(|data| data.mtime() < booted.saturating_sub(LARGEST_CLOCK_STEP))
        };
        if booted.is_some_and(is_long_before) {
            // All of this boot is in the newer ones.
            is_whole = true;
            break;
        }
        let mut aside = tail(root, file)?;
        is_cut = !aside.is_at_beginning()?;
        let newer = std::mem::replace(&mut records, aside.read()?);
        if !is_empty {
            // Nobody ends its last line any more.
            let last = aside.last_line();
            is_torn_aside |= last.iter().any(is_torn);
            records.extend(last);
        }
        records.extend(newer);
        is_whole = has_beginning(&records);
        if is_empty && still_written.is_none() {
            still_written = Some(aside);
        }
    }
    let of = OfThisBoot::of(records);
    Ok(SinceBoot {
        // What is of an earlier boot lies before all that is of this one.
        is_whole: (is_whole || of.is_behind_another) && !is_torn_aside,
        of,
        still_written,
    })
}

/// The newest file that was put aside, if it is this one.
pub(super) fn newest(root: &HostRoot, name: &str, (device, inode): (u64, u64)) -> Option<File> {
    let file = open(root, files(root, name).first()?).ok()?;
    let data = file.metadata().ok()?;
    ((data.dev(), data.ino()) == (device, inode)).then_some(file)
}

/// Whether something of this boot was put aside.
pub(super) fn has_some_of_this_boot(root: &HostRoot, name: &str) -> bool {
    let newest = files(root, name).into_iter().next();
    let data = newest.and_then(|path| open(root, &path).ok()?.metadata().ok());
    let booted = boot_second(root);
    data.is_some_and(|data| data.len() > 0 && booted.is_none_or(|booted| data.mtime() >= booted))
}

/// Paths, newest first. Compressed ones are not read.
fn files(root: &HostRoot, name: &str) -> Vec<String> {
    let name = name.trim_start_matches('/');
    let (folder, file) = name.rsplit_once('/').unwrap_or(("", name));
    let names = root.names(folder).value.unwrap_or_default();
    let is_numbered = |name: &&String| name.strip_prefix(file) == Some(".1");
    let is_dated = |name: &&String| {
        let date = name.strip_prefix(file).and_then(|rest| rest.strip_prefix('-'));
        date.is_some_and(|date| date.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-'))
    };
    let numbered = names.iter().filter(is_numbered);
    let dated = names.iter().rev().filter(is_dated);
    let both = numbered.chain(dated);
    both.map(|name| format!("{folder}/{name}")).collect()
}

/// The end of a file of syslog's that was put aside.
fn tail(root: &HostRoot, file: File) -> io::Result<Lines> {
    Ok(Lines::of(root, at_tail(file)?, Kind::Syslog))
}
