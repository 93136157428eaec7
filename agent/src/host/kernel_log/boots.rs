//! Of which boot the lines of a file of syslog's are. Where a boot begins in the file decides before any time: a clock may be set while the
//! node runs, and the time of the boot with it.

use kb_core::health::{has_unread_number, read_message};

use super::record::{Record, Written};

/// How the kernel's first line begins.
const FIRST_LINE: &str = "Linux version ";
/// Before this the kernel has said its first line, in microseconds since boot.
const BEGINNING: u64 = 1_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whose {
    ThisBoot,
    Earlier,
    /// Place and time contradict each other, or neither tells.
    NotKnown,
}

/// The records of this boot.
pub(super) struct OfThisBoot {
    pub(super) records: Vec<Record>,
    /// Something of an earlier boot stood before them.
    pub(super) is_behind_another: bool,
    /// Those that tell something, and that may be of this boot or of an earlier one.
    pub(super) in_doubt: Vec<Record>,
}

impl OfThisBoot {
    /// `aside`: how many of them, the first, are from files that were put aside and are not written to any more.
    pub(super) fn of(records: Vec<Record>, aside: usize) -> Self {
        let mut whose = whose(&records);
        if !has_beginning(&records) {
            let of_aside = whose.iter_mut().zip(&records).take(aside);
            for (whose, _) in of_aside.filter(|(_, record)| tells_no_boot(record)) {
                *whose = Whose::NotKnown;
            }
        }
        let is_behind_another = whose.contains(&Whose::Earlier);
        let (mut kept, mut in_doubt) = (Vec::new(), Vec::new());
        for (record, whose) in records.into_iter().zip(whose) {
            match whose {
                Whose::ThisBoot => kept.push(record),
                Whose::NotKnown if tells(&record) => in_doubt.push(record),
                Whose::Earlier | Whose::NotKnown => {}
            }
        }
        Self {
            records: kept,
            is_behind_another,
            in_doubt,
        }
    }
}

fn tells(record: &Record) -> bool {
    record.is_unread || read_message(&record.message).is_some() || has_unread_number(&record.message)
}

/// True of a record that only its place among others can tell the boot of: it has neither the kernel's own time nor a time that is clearly
/// since the boot.
fn tells_no_boot(record: &Record) -> bool {
    record.microseconds.is_none() && matches!(record.written, Written::Unknown | Written::Near)
}

fn whose(records: &[Record]) -> Vec<Whose> {
    let start = start_of_boot(records);
    let last = records.get(start..).unwrap_or_default();
    // Where none of the last boot in the file is of a time since this boot, it may be an earlier one.
    let is_current = last.iter().any(|record| may_be_since(record.written));
    let is_begun = is_current && has_beginning(records);
    let of = |record: &Record| match record.written {
        Written::Unknown | Written::Near | Written::Since => Whose::ThisBoot,
        Written::Shortly if is_begun => Whose::ThisBoot,
        Written::LongBefore if is_begun && record.microseconds.is_some() => Whose::ThisBoot,
        Written::LongBefore if !is_begun && record.microseconds.is_none() => Whose::Earlier,
        Written::Shortly | Written::LongBefore => Whose::NotKnown,
    };
    let earlier = records.iter().take(start).map(|_| Whose::Earlier);
    earlier.chain(last.iter().map(of)).collect()
}

/// True of a time that says nothing against this boot.
fn may_be_since(written: Written) -> bool {
    match written {
        Written::Unknown | Written::Near | Written::Since => true,
        Written::Shortly | Written::LongBefore => false,
    }
}

/// Where the last boot begins: a stamp smaller than the one before it, or the kernel's first line, which is there without
/// stamps, too. Stamps of different processors may be out of order by moments.
pub(super) fn start_of_boot(records: &[Record]) -> usize {
    const MOMENT: u64 = 1_000_000;
    let mut start = 0;
    let mut newest = 0;
    for (index, record) in records.iter().enumerate() {
        if record.message.starts_with(FIRST_LINE) {
            start = index;
            newest = 0;
        }
        let Some(time) = record.microseconds else { continue };
        if time.saturating_add(MOMENT) < newest {
            start = index;
            newest = time;
        }
        newest = newest.max(time);
    }
    start
}

/// Whether lines that came behind a look of an earlier boot go on into this one. They may all be of that boot: the kernel's lines no
/// longer come to every file that they came to once.
pub(super) fn is_of_current_boot(records: &[Record]) -> bool {
    has_beginning(records) || records.iter().any(|record| may_be_since(record.written))
}

/// Whether the beginning of the last boot is among them.
pub(super) fn has_beginning(records: &[Record]) -> bool {
    let is_first = |record: &Record| {
        record.message.starts_with(FIRST_LINE) || record.microseconds.is_some_and(|time| time < BEGINNING)
    };
    start_of_boot(records) > 0 || records.first().is_some_and(is_first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Whose::{Earlier, NotKnown, ThisBoot};
    use Written::{LongBefore, Near, Shortly, Since, Unknown};

    fn stamped(seconds: u64, message: &str, written: Written) -> Record {
        let line = format!("[{seconds:5}.000000] {message}");
        Record {
            written,
            ..Record::from_text(&line).unwrap()
        }
    }

    fn bare(message: &str, written: Written) -> Record {
        Record {
            written,
            ..Record::from_text(&format!("Nov 21 10:00:00 gpu-17 kernel: {message}")).unwrap()
        }
    }

    #[test]
    fn a_boot_that_begins_behind_a_line_shows_that_it_is_of_an_earlier_one() {
        for written in [Unknown, Near, Since, Shortly, LongBefore] {
            let stamped = [
                stamped(900, "x", written),
                stamped(0, "y", Since),
                stamped(9, "z", Since),
            ];
            assert_eq!(whose(&stamped), [Earlier, ThisBoot, ThisBoot], "{written:?}");
            let bare = [
                bare("x", written),
                bare("Linux version 6", Since),
                bare("z", Since),
            ];
            assert_eq!(whose(&bare), [Earlier, ThisBoot, ThisBoot], "{written:?}");
        }
    }

    #[test]
    fn behind_the_beginning_of_the_last_boot_no_clock_that_was_set_makes_a_line_an_earlier_one() {
        for (written, without_stamp) in [(Shortly, ThisBoot), (LongBefore, NotKnown)] {
            let first = || stamped(0, "Linux version 6", written);
            let is = whose(&[first(), stamped(9, "x", written), stamped(500, "y", Since)]);
            assert_eq!(is, [ThisBoot; 3], "{written:?}");
            let is = whose(&[first(), bare("x", written), bare("y", Since)]);
            assert_eq!(is, [ThisBoot, without_stamp, ThisBoot], "{written:?}");
            // Nobody has written since the boot.
            let is = whose(&[first(), stamped(9, "x", written)]);
            assert_eq!(is, [NotKnown; 2], "{written:?}");
        }
    }

    #[test]
    fn without_the_beginning_of_a_boot_the_time_decides_where_it_can() {
        for (written, with_stamp, without) in [
            (Unknown, ThisBoot, ThisBoot),
            (Near, ThisBoot, ThisBoot),
            (Since, ThisBoot, ThisBoot),
            (Shortly, NotKnown, NotKnown),
            (LongBefore, NotKnown, Earlier),
        ] {
            let is = whose(&[stamped(9, "x", written), stamped(900, "y", Since)]);
            assert_eq!(is, [with_stamp, ThisBoot], "{written:?}");
            assert_eq!(
                whose(&[bare("x", written), bare("y", Since)]),
                [without, ThisBoot],
                "{written:?}"
            );
        }
    }

    #[test]
    fn only_a_line_that_tells_something_is_in_doubt() {
        let xid = "NVRM: Xid (PCI:0000:3b:00): 79, x";
        for (message, is_in_doubt) in [("usb 1-1: x", false), (xid, true)] {
            let of = OfThisBoot::of(vec![bare(message, Shortly), bare("y", Since)], 0);
            assert_eq!(of.records.len(), 1, "{message}");
            assert_eq!(!of.in_doubt.is_empty(), is_in_doubt, "{message}");
        }
    }

    #[test]
    fn a_line_put_aside_whose_boot_nothing_tells_is_in_doubt() {
        let xid = "NVRM: Xid (PCI:0000:3b:00): 79, x";
        for (written, is_in_doubt) in [(Unknown, true), (Near, true), (Since, false), (LongBefore, false)] {
            let records = || vec![bare(xid, written), bare("y", Since)];
            let of = OfThisBoot::of(records(), 1);
            assert_eq!(!of.in_doubt.is_empty(), is_in_doubt, "{written:?}");
            assert_eq!(of.records.len(), 1 + usize::from(written == Since), "{written:?}");
            // In the file that is written to, and behind the beginning of the boot, it is of this one.
            let of = OfThisBoot::of(records(), 0);
            assert_eq!(
                (of.records.len(), of.in_doubt.len()),
                (if written == LongBefore { 1 } else { 2 }, 0)
            );
            let begun = [vec![bare("Linux version 6", written)], records()].concat();
            let of = OfThisBoot::of(begun, 2);
            assert_eq!(!of.in_doubt.is_empty(), written == LongBefore, "{written:?}");
        }
        let stamped = OfThisBoot::of(vec![stamped(9, xid, Unknown), stamped(900, "y", Since)], 1);
        assert_eq!((stamped.records.len(), stamped.in_doubt.len()), (2, 0));
    }
}
