//! Lines that an older agent passed over, since it did not know their form. Its place in the log is behind them.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};

use kb_core::health::read_message;

use super::super::HostRoot;
use super::aside;
use super::boots::{has_beginning, start_of_boot};
use super::files::{FORMS, MOST_RECORDS, TAIL_BYTES, open};
use super::lines::{Earlier, Kind, Lines};
use super::record::{Record, Written};
use super::rfc5424;

const REPEATED: &str = "message repeated ";

/// Whether an older agent may have passed over something in front of its place that is of the boot in which it read, which is this one or
/// an earlier one. What cannot be looked at may hold something. A file that is gone or was emptied is told by whoever goes on from the
/// place.
pub(super) fn has_passed_over(root: &HostRoot, name: &str, earlier: &Earlier, is_of_this_boot: bool) -> bool {
    if earlier.forms >= FORMS {
        return false;
    }
    let Some(file) = file_of(root, name, earlier) else {
        return false;
    };
    let start = earlier.offset.saturating_sub(TAIL_BYTES);
    let bytes = match read_between(&file, start, earlier.offset) {
        Ok(bytes) => bytes,
        Err(error) => return error.kind() != io::ErrorKind::UnexpectedEof,
    };
    let mut lines = Lines::of(root, file, Kind::Syslog);
    let cut = usize::from(start > 0);
    let (mut records, mut newer) = (Vec::new(), Vec::new());
    for line in bytes.split(|byte| *byte == b'\n').skip(cut) {
        let messages = lines.messages(line, &[]);
        let is_newer = is_in_newer_form(line, &messages);
        newer.extend(
            messages
                .iter()
                .map(|record| is_newer && may_tell(record, is_of_this_boot)),
        );
        records.extend(messages);
        if records.len() >= MOST_RECORDS {
            return true;
        }
    }
    // Lines of the same boot are in front of those that were looked at, or in a file that was put aside.
    if !has_beginning(&records) {
        return true;
    }
    let start = start_of_boot(&records);
    newer.into_iter().skip(start).any(|is_newer| is_newer)
}

fn read_between(file: &File, start: u64, end: u64) -> io::Result<Vec<u8>> {
    let length = usize::try_from(end.saturating_sub(start)).map_err(io::Error::other)?;
    let mut bytes = vec![0; length];
    file.read_exact_at(&mut bytes, start)?;
    Ok(bytes)
}

fn file_of(root: &HostRoot, name: &str, earlier: &Earlier) -> Option<File> {
    let place = (earlier.device, earlier.inode);
    let current = open(root, name.trim_start_matches('/')).ok().filter(|file| {
        let data = file.metadata();
        data.is_ok_and(|data| (data.dev(), data.ino()) == place)
    });
    current.or_else(|| aside::newest(root, name, place))
}

fn is_in_newer_form(line: &[u8], messages: &[Record]) -> bool {
    let text = String::from_utf8_lossy(line);
    messages.len() > 1
        || messages.iter().any(|record| record.is_unread)
        || rfc5424::has_form(&text)
        || text.contains(REPEATED)
}

/// The time of a line is held against that of this boot, and says nothing of what an agent read in an earlier one.
fn may_tell(record: &Record, is_of_this_boot: bool) -> bool {
    let is_of_earlier = is_of_this_boot && record.written == Written::LongBefore;
    !is_of_earlier && (record.is_unread || read_message(&record.message).is_some())
}

#[cfg(test)]
mod tests {
    use kb_core::health::{LogPlace, Missed, Place};
    use time::OffsetDateTime;
    use time::macros::datetime;

    use super::super::events;
    use super::*;
    use crate::host::tests::tree::tree;

    const NOW: OffsetDateTime = datetime!(2026-11-24 10:00 UTC);
    const KERN: &str = "var/log/kern.log";
    const XID: &str = "NVRM: Xid (PCI:0000:3b:00): 79, x";

    fn classic(seconds: u32, message: &str) -> String {
        format!("Nov 21 10:00:00 gpu-17 kernel: [{seconds:5}.000000] {message}\n")
    }

    /// The place of an agent that kept no forms with it.
    fn older(place: LogPlace) -> LogPlace {
        let kind = match &place.place {
            Place::Kmsg { .. } => "kmsg",
            Place::File { .. } => "file",
        };
        let mut json = serde_json::to_value(place).unwrap();
        json["place"][kind]
            .as_object_mut()
            .unwrap()
            .remove("forms")
            .unwrap();
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn what_an_older_agent_passed_over_is_said_once() {
        let modern = format!("<4>1 2026-11-21T10:00:00Z gpu-17 kernel - - - {XID}\n");
        let in_json = format!("{{\"program\": \"kernel\", \"message\": \"{XID}\"}}\n");
        let repeated = classic(9, &format!("message repeated 3 times: [ {XID}]"));
        let second = classic(9, &format!("NVRM: x#012{XID}"));
        for (line, is_said) in [
            (modern.clone(), true),
            (in_json, true),
            (repeated, true),
            (second, true),
            (classic(9, XID), false),
            (modern.replace(XID, "usb 1-1: x"), false),
            // Before the boot in which it read.
            (modern + &classic(0, "Linux version 6.8.1"), false),
        ] {
            let log = [
                classic(0, "Linux version 6.8.0"),
                line.clone(),
                classic(20, "usb 1-1: y"),
            ]
            .concat();
            let root = tree(&[(KERN, &log)]);
            let host = HostRoot::new(root.path());
            let place = events(&host, Some("a"), None, NOW).place.unwrap();
            let next = events(&host, Some("a"), Some(&place), NOW);
            assert_eq!((next.unread, next.missed), (None, Missed::Nothing), "{line}");
            let place = older(place);
            // The ledger goes on over a boot, and what it was not told of is open there, too.
            for boot in ["a", "b"] {
                let first = events(&host, Some(boot), Some(&place), NOW);
                assert_eq!(
                    first.unread.is_some_and(|why| why.contains("older agent")),
                    is_said,
                    "{line}"
                );
                let missed = match boot {
                    "a" => Missed::BetweenLooks,
                    _ => Missed::InEarlierBoot(Some("a".to_owned())),
                };
                assert_eq!(first.missed == missed, is_said, "{line}");
                let place = first.place.unwrap();
                assert!(matches!(place.place, Place::File { forms: FORMS, .. }));
                let second = events(&host, Some(boot), Some(&place), NOW);
                assert_eq!((second.unread, second.missed), (None, Missed::Nothing), "{line}");
            }
        }
    }

    #[test]
    fn lines_of_a_file_that_was_put_aside_since_are_looked_at() {
        let modern = format!("<4>1 2026-11-21T10:00:00Z gpu-17 kernel - - - {XID}\n");
        let root = tree(&[(KERN, &(classic(0, "Linux version 6.8.0") + &modern))]);
        let host = HostRoot::new(root.path());
        let place = older(events(&host, Some("a"), None, NOW).place.unwrap());
        let aside = root.path().join("var/log/kern.log.1");
        std::fs::rename(root.path().join(KERN), aside).unwrap();
        std::fs::write(root.path().join(KERN), classic(30, "usb 1-1: x")).unwrap();
        let next = events(&host, Some("a"), Some(&place), NOW);
        assert!(next.unread.unwrap().contains("older agent"));
    }

    /// What an agent of another boot passed over is older than this boot, whatever lies between the two.
    #[test]
    fn the_time_of_a_line_counts_only_in_the_boot_in_which_it_was_read() {
        let modern = format!("<4>1 2023-11-10T10:00:00Z gpu-17 kernel - - - {XID}\n");
        let log = [classic(0, "Linux version 6.8.0"), modern].concat();
        // 2023-11-14T22:13:20Z.
        let root = tree(&[("proc/stat", "btime 1700000000\n"), (KERN, &log)]);
        let host = HostRoot::new(root.path());
        let place = older(events(&host, Some("a"), None, NOW).place.unwrap());
        for (boot, is_said) in [("a", false), ("b", true)] {
            let next = events(&host, Some(boot), Some(&place), NOW);
            let says_so = next.unread.is_some_and(|why| why.contains("older agent"));
            assert_eq!(says_so, is_said, "{boot}");
            // It was the boot before in which it read.
            let of_a = Missed::InEarlierBoot(Some("a".to_owned()));
            assert_eq!(next.missed == of_a, is_said, "{boot}");
        }
    }

    #[test]
    fn lines_of_the_boot_that_are_not_looked_at_may_hold_something() {
        let modern = format!("<4>1 2026-11-21T10:00:00Z gpu-17 kernel - - - {XID}\n");
        let begins = classic(0, "Linux version 6.8.0");
        let quiet = classic(20, "usb 1-1: y");
        let many = format!("message repeated 1000 times: [ {XID}]");
        for (log, is_said) in [
            (begins.clone() + &quiet, false),
            // Its beginning was put aside before.
            (quiet.clone(), true),
            // More than is looked at.
            (begins.clone() + &modern + &quiet.repeat(30_000), true),
            // More records than are made of so few bytes, so that the beginning behind them is not reached.
            (classic(9, &many).repeat(500) + &begins, true),
        ] {
            let root = tree(&[(KERN, &log)]);
            let host = HostRoot::new(root.path());
            let data = std::fs::metadata(root.path().join(KERN)).unwrap();
            let earlier = Earlier {
                device: data.dev(),
                inode: data.ino(),
                offset: data.len(),
                last_bytes: None,
                unended: None,
                forms: 0,
            };
            assert_eq!(has_passed_over(&host, KERN, &earlier, true), is_said);
        }
    }

    #[test]
    fn of_the_kernels_own_log_an_older_agent_read_the_first_message_of_each_record() {
        let record = |number: u64, text: &str| format!("3,{number},{number}000000,-;{text}\n");
        for (first, is_said) in [(0, false), (5, true)] {
            let log = [
                record(first, "usb 1-1: x"),
                record(first + 1, &format!(r"NVRM: x\x0a{XID}")),
                record(first + 2, XID),
            ]
            .concat();
            let root = tree(&[("dev/kmsg", &log)]);
            let host = HostRoot::new(root.path());
            let look = |boot: &str, place: &LogPlace| events(&host, Some(boot), Some(place), NOW);
            let place = events(&host, Some("a"), None, NOW).place.unwrap();
            assert_eq!(look("a", &place).occurrences.len(), 0);
            let place = older(place);
            let next = look("a", &place);
            assert_eq!(next.occurrences.len(), 1);
            // Records in front of the oldest are gone, and nobody has read the rest of them.
            let says_so = next.unread.is_some_and(|why| why.contains("older agent"));
            assert_eq!((says_so, next.missed == Missed::BetweenLooks), (is_said, is_said));
            let second = look("a", &next.place.unwrap());
            assert_eq!((second.occurrences.len(), second.unread), (0, None));
            // Another boot numbers anew, and nobody has read any of it.
            assert_eq!(look("b", &place).occurrences.len(), 2);
        }
    }
}
