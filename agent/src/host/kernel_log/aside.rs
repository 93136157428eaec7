//! What logrotate has put aside of a file of syslog's: `kern.log.1`, or `kern.log-20261129` where it names files by date.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt as _;

use super::super::HostRoot;
use super::boots::{OfThisBoot, has_beginning};
use super::files::{at_tail, boot_second, open};
use super::last_line::is_torn_for_good;
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
    // So many, the last, are of the file that syslog writes to.
    let mut of_written = records.len();
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
            is_torn_aside |= last.iter().any(is_torn_for_good);
            records.extend(last);
        }
        if is_empty && still_written.is_none() {
            of_written = records.len();
            still_written = Some(aside);
        }
        records.extend(newer);
        is_whole = has_beginning(&records);
    }
    let aside = records.len().saturating_sub(of_written);
    let of = OfThisBoot::of(records, aside);
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

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::super::events;
    use super::*;
    use crate::host::tests::tree::tree;

    const KERN: &str = "var/log/kern.log";

    #[test]
    fn what_was_put_aside_without_a_sign_of_its_boot_is_in_doubt() {
        let line = |message: &str| format!("Nov 14 22:03:20 gpu-17 kernel: {message}\n");
        let (lost, later) = (line("NVRM: Xid (PCI:0000:3b:00): 79, x"), line("usb 1-1: x"));
        let first = line("Linux version 6.8.0");
        for (aside, told, is_in_doubt) in [
            (lost.clone(), 1, true),
            (line("usb 1-1: y"), 1, false),
            (first + &lost, 3, false),
        ] {
            // 2023-11-14T22:13:20Z, ten minutes behind the lines, if they are in UTC.
            for stat in ["btime 1700000000\n", ""] {
                let root = tree(&[
                    ("proc/stat", stat),
                    (KERN, &later),
                    ("var/log/kern.log.1", &aside),
                ]);
                let root = HostRoot::new(root.path());
                let file = open(&root, KERN).unwrap();
                let mut file = Lines::of(&root, file, Kind::Syslog);
                let of = since_boot(&root, KERN, &mut file).unwrap().of;
                assert_eq!(
                    (of.records.len(), !of.in_doubt.is_empty()),
                    (told, is_in_doubt),
                    "{aside} {stat}"
                );
            }
        }
    }

    /// Between the renaming by logrotate and the moment at which syslog opens the new file.
    #[test]
    fn the_file_that_is_still_written_to_is_not_put_aside_yet() {
        let xid = "Nov 14 22:23:20 gpu-17 kernel: NVRM: Xid (PCI:0000:3b:00): 79, x\n";
        for (current, in_doubt) in [("", 0), ("Nov 14 22:24:20 gpu-17 kernel: usb 1-1: x\n", 1)] {
            let root = tree(&[
                ("proc/stat", "btime 1700000000\n"),
                (KERN, current),
                ("var/log/kern.log.1", xid),
            ]);
            let root = HostRoot::new(root.path());
            let mut file = Lines::of(&root, open(&root, KERN).unwrap(), Kind::Syslog);
            let since = since_boot(&root, KERN, &mut file).unwrap();
            assert_eq!(since.still_written.is_some(), current.is_empty());
            assert_eq!((since.of.records.len(), since.of.in_doubt.len()), (1, in_doubt));
        }
    }

    #[test]
    fn what_a_line_in_doubt_tells_is_told_as_in_doubt() {
        let line = |message: &str| format!("Nov 14 22:03:20 gpu-17 kernel: {message}\n");
        let xid = |number: u32| line(&format!("NVRM: Xid (PCI:0000:3b:00): {number}, x"));
        for later in [line("usb 1-1: x"), xid(31), String::from("a line of a program\n")] {
            let root = tree(&[
                ("proc/stat", "btime 1700000000\n"),
                (KERN, &later),
                ("var/log/kern.log.1", &xid(79)),
            ]);
            let root = HostRoot::new(root.path());
            let now = datetime!(2023-11-15 10:00 UTC);
            let read = events(&root, Some("a"), None, now);
            let (in_doubt, certain): (Vec<_>, Vec<_>) =
                read.occurrences.into_iter().partition(|seen| seen.is_in_doubt);
            assert_eq!(in_doubt.len(), 1, "{later}");
            assert_eq!(in_doubt[0].event.microseconds, None);
            assert_eq!(certain.len(), usize::from(later.contains("Xid")), "{later}");
            assert!(read.unread.unwrap().contains("of an earlier one"), "{later}");
            let next = events(&root, Some("a"), read.place.as_ref(), now);
            assert_eq!((next.occurrences.len(), next.unread), (0, None), "{later}");
        }
    }
}
