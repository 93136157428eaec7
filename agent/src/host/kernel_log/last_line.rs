//! A last line without an end: its writer is in the middle of it, or dead, as where the disk is full. Then nobody ends it any more.

use kb_core::health::{Unended, What, read_message};

use super::lines::{Earlier, Lines};
use super::message::ends_in_number;
use super::record::Record;

/// When such a line counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Counts {
    /// Where it did not grow since the look before.
    AtTheNextLook,
    /// At once: nobody may look again.
    Now,
}

#[derive(Default)]
pub(super) struct LastLine {
    pub(super) records: Vec<Record>,
    pub(super) unended: Option<Unended>,
    /// Why it may tell something that cannot be read.
    pub(super) unread: Option<&'static str>,
}

/// What a look makes of it, which goes on from the place of the look before and has read up to another one.
pub(super) fn last_line(
    lines: &mut Lines,
    from: Option<&Earlier>,
    place: &Earlier,
    counts: Counts,
) -> LastLine {
    let length = lines.unended().len() as u64;
    if length == 0 {
        return LastLine::default();
    }
    let is_there = |from: &&Earlier| {
        let place_of = |of: &Earlier| (of.device, of.inode, of.offset);
        place_of(from) == place_of(place)
    };
    let before = from.filter(is_there).and_then(|from| from.unended);
    let told = before.map_or(0, |before| before.told);
    let has_stood = before.is_some_and(|before| before.length == length);
    let unread_yet = LastLine {
        unended: Some(Unended { length, told }),
        ..LastLine::default()
    };
    if counts == Counts::AtTheNextLook && !has_stood {
        return unread_yet;
    }
    let records = lines.last_line();
    let unread = if records.iter().any(is_torn) {
        Some("its last line is cut within an Xid or SXid")
    } else if !is_settled(lines, &records) {
        Some("its last line has no end yet, and tells of something")
    } else {
        None
    };
    if unread.is_some() {
        return LastLine { unread, ..unread_yet };
    }
    LastLine {
        records,
        unended: Some(Unended { length, told: length }),
        unread: None,
    }
}

/// What the line tells that was written during a run, as far as more of it would not make it tell something else.
pub(super) fn settled(lines: &mut Lines) -> Vec<Record> {
    let records = lines.last_line();
    if is_settled(lines, &records) {
        records
    } else {
        Vec::new()
    }
}

/// Whether it tells the same without its last byte: the number of an Xid may be cut.
fn is_settled(lines: &mut Lines, records: &[Record]) -> bool {
    let mut shorter = lines.unended().to_vec();
    shorter.pop();
    what(&lines.messages(&shorter, &[])) == what(records)
}

fn what(records: &[Record]) -> Vec<(What, String)> {
    let events = records.iter().filter_map(|record| read_message(&record.message));
    events.map(|event| (event.what, event.device)).collect()
}

/// True of a message in a last line that nobody ends any more, where its number is missing or may be cut.
pub(super) fn is_torn_for_good(record: &Record) -> bool {
    let message = &record.message;
    let may_be_cut = || read_message(message).is_some() && ends_in_number(message);
    is_torn(record) || may_be_cut()
}

/// True of a message that begins as that of an Xid and has no number.
fn is_torn(record: &Record) -> bool {
    let begins = ["NVRM: Xid (", ": SXid ("];
    begins.iter().any(|begin| record.message.contains(begin)) && read_message(&record.message).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_at_which_a_file_ends_for_good_may_be_cut() {
        for (message, expected) in [
            ("NVRM: Xid (PCI:0000:3b", true),
            ("NVRM: Xid (PCI:0000:3b:00): 7", true),
            ("NVRM: Xid (PCI:0000:3b:00): 79,", false),
            ("usb (1-1): 7", false),
        ] {
            let record = Record::from_text(&format!("Nov 21 10:00:00 gpu-17 kernel: {message}")).unwrap();
            assert_eq!(is_torn_for_good(&record), expected, "{message}");
        }
    }
}
