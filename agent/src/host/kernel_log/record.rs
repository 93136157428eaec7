//! One line of the kernel log, in either of the forms that it is kept in.

use kb_core::health::read_message;

use super::message::{Messages, messages};
use super::rfc5424;

/// A priority is a facility and, in the lower bits, a severity (RFC 5424, 6.2.1).
const SEVERITY_BITS: u32 = 3;
const KERNEL: u32 = 0;
/// Copies that are made of one message: more than a rule of a policy may count.
const MOST_TIMES: u32 = 1_000;

/// When a line of a file was written, by its own time beside that of the boot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Written {
    /// It has no time, or that of the boot is not known.
    #[default]
    Unknown,
    Since,
    /// Within a day of the boot, before it or since: its time has no zone.
    Near,
    /// Before the boot, by no more than a clock is set while a node runs.
    Shortly,
    LongBefore,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Record {
    /// Position in the log of this boot, where the form has it.
    pub(super) sequence: Option<u64>,
    /// Since boot, by the kernel's own clock for its log, in microseconds.
    pub(super) microseconds: Option<u64>,
    pub(super) message: String,
    pub(super) written: Written,
    /// How often the message came, where syslog wrote equal ones as one.
    pub(super) times: u32,
    /// The last of a record of the log that holds more messages than are read.
    pub(super) is_cut: bool,
    /// A line that the kernel may have written, in a form that is not known.
    pub(super) is_unread: bool,
    /// It was told already, when its line had no end.
    pub(super) is_told: bool,
}

impl Record {
    /// `priority,sequence,microseconds,flags[,…];message`, then lines that begin with a blank and hold properties;
    /// Linux ABI `dev-kmsg`. Bytes that are not printable are written as `\xNN` there, and stay so until the
    /// record is split.
    pub(super) fn from_kmsg(text: &str) -> Option<Self> {
        let first = text.lines().next()?;
        let (prefix, message) = first.split_once(';')?;
        let mut fields = prefix.split(',');
        let priority: u32 = fields.next()?.parse().ok()?;
        // Anybody may write to the device; what programs write has another facility than the kernel's.
        if priority >> SEVERITY_BITS != KERNEL {
            return None;
        }
        Some(Self {
            sequence: Some(fields.next()?.parse().ok()?),
            microseconds: Some(fields.next()?.parse().ok()?),
            message: message.to_owned(),
            ..Self::default()
        })
    }

    /// Stands for a line whose message cannot be found.
    pub(super) fn unread() -> Self {
        Self {
            is_unread: true,
            ..Self::default()
        }
    }

    /// Whether a line is a record of the device, whoever wrote it.
    pub(super) fn has_form(line: &str) -> bool {
        let prefix = line.split_once(';').map_or("", |(prefix, _)| prefix);
        let numbers = prefix.split(',').take(3).flat_map(str::parse::<u64>);
        numbers.count() == 3
    }

    /// `[ 1234.567890] message`, which `dmesg` prints, or the same behind what syslog puts in front
    /// (`Nov 21 10:00:00 gpu-17 kernel: `). In a file of syslog's only lines with that mark are the kernel's.
    pub(super) fn from_text(line: &str) -> Option<Self> {
        let line = line.trim_end();
        if rfc5424::has_form(line) {
            let line = rfc5424::of_kernel(line)?.ok()?;
            return Some(Self::stamped(line.message));
        }
        let text = match line.split_once(" kernel: ") {
            // What a program says of a kernel stands behind the program's own name.
            Some((before, _)) if before.ends_with(':') || before.contains(": ") => return None,
            Some((_, text)) => text,
            None if line.starts_with('[') => line,
            None => return None,
        };
        Some(Self::stamped(text))
    }

    /// `[ 1234.567890] message`, or a message alone.
    fn stamped(text: &str) -> Self {
        let (outer, text) = without_stamp(text);
        let (times, inner, message) = match repeated(text) {
            Some((times, text)) => {
                let (inner, message) = without_stamp(text);
                (times, inner, message)
            }
            None => (1, None, text),
        };
        Self {
            microseconds: inner.or(outer),
            message: message.to_owned(),
            times,
            ..Self::default()
        }
    }

    /// One for each message that it holds, in their order.
    pub(super) fn split(self) -> Vec<Self> {
        let Messages { texts, is_cut } = messages(&self.message);
        let last = texts.len().saturating_sub(1);
        let numbered = texts.into_iter().enumerate();
        let record = |(index, message): (usize, String)| Self {
            message,
            is_cut: is_cut && index == last,
            times: 1,
            ..self.clone()
        };
        let records: Vec<Self> = numbered.map(record).collect();
        if records.is_empty() {
            return vec![self];
        }
        // What tells nothing is not worth a copy.
        let times = |record: &Self| match read_message(&record.message) {
            Some(_) => self.times.clamp(1, MOST_TIMES),
            None => 1,
        };
        let copies = records.iter().map(|record| (record, times(record)));
        let copies = copies.flat_map(|(record, times)| (0..times).map(|_| record.clone()));
        copies.collect()
    }

    /// As `dmesg` prints it, which is how the records of the knowledge base know it.
    pub(super) fn line(&self) -> String {
        match self.microseconds {
            Some(time) => format!(
                "[{:5}.{:06}] {}",
                time / 1_000_000,
                time % 1_000_000,
                self.message
            ),
            None => self.message.clone(),
        }
    }
}

/// The kernel's own time in front of a message, and the message.
fn without_stamp(text: &str) -> (Option<u64>, &str) {
    let stamped = text.strip_prefix('[').and_then(|text| text.split_once(']'));
    let is_stamp = |stamp: &str| {
        let of_number = |byte: u8| byte.is_ascii_digit() || byte == b'.';
        stamp.contains('.') && stamp.bytes().all(of_number)
    };
    let stamped = stamped.filter(|(stamp, _)| is_stamp(stamp.trim()));
    stamped.map_or((None, text), |(stamp, message)| {
        (microseconds(stamp.trim()), message.trim_start())
    })
}

/// `message repeated 3 times: [ NVRM: x]`, as rsyslog writes equal messages that follow each other. It cuts long ones.
fn repeated(text: &str) -> Option<(u32, &str)> {
    let (times, message) = text.strip_prefix("message repeated ")?.split_once(" times: [")?;
    let is_number = !times.is_empty() && times.bytes().all(|byte| byte.is_ascii_digit());
    let message = message.strip_suffix(']').unwrap_or(message).trim();
    is_number.then(|| (times.parse().unwrap_or(MOST_TIMES), message))
}

/// `1234.567890`, with six digits behind the point as the kernel writes them.
fn microseconds(stamp: &str) -> Option<u64> {
    let (seconds, fraction) = stamp.split_once('.')?;
    let seconds: u64 = seconds.parse().ok()?;
    let digits: u64 = fraction.parse().ok()?;
    if fraction.len() != 6 {
        return None;
    }
    seconds.checked_mul(1_000_000)?.checked_add(digits)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn records_of_kmsg_are_read_without_their_properties() {
        let text =
            "6,339,5140900,-,caller=T1;NET: Registered protocol family 10\n SUBSYSTEM=net\n DEVICE=+net:x\n";
        let record = Record::from_kmsg(text).unwrap();
        assert_eq!(
            (record.sequence, record.microseconds),
            (Some(339), Some(5_140_900))
        );
        assert_eq!(record.line(), "[    5.140900] NET: Registered protocol family 10");
        for bad in [
            "",
            "14,339,1,-;NVRM: x",
            "6,339;x",
            "x,339,1;x",
            "6,339,1",
            "6,-1,1;x",
        ] {
            assert_eq!(Record::from_kmsg(bad), None, "{bad}");
        }
    }

    #[test]
    fn both_messages_of_a_line_are_read_however_many_digits_its_time_has() {
        let xid = |number| format!("NVRM: Xid (PCI:0000:3b:00): {number}, pid=1, x");
        for stamp in ["", "[ 1000.0] ", "[ 1000.000000] "] {
            let line = format!("Nov 30 02:50:00 gpu-17 kernel: {stamp}{}#012{}", xid(31), xid(79));
            let records = Record::from_text(&line).unwrap().split();
            let messages: Vec<_> = records.into_iter().map(|record| record.message).collect();
            assert_eq!(messages, [xid(31), xid(79)], "{line}");
        }
    }

    #[test]
    fn lines_of_dmesg_and_of_syslog_are_read_alike() {
        let dmesg = "[12345.000678] NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.";
        let syslog = format!("Nov 21 10:00:00 gpu-17 kernel: {dmesg}");
        let record = Record::from_text(dmesg).unwrap();
        assert_eq!(Record::from_text(&syslog), Some(record.clone()));
        assert_eq!(record.line(), dmesg);
        let bare = Record::from_text("Nov 21 10:00:00 gpu-17 kernel: NVRM: x").unwrap();
        assert_eq!((bare.microseconds, bare.line().as_str()), (None, "NVRM: x"));
        assert_eq!(
            Record::from_text("Nov 21 10:00:00 gpu-17 sshd[12]: NVRM: faked"),
            None
        );
    }

    #[test]
    fn a_line_in_the_form_of_rfc_5424_is_read_in_that_form_alone() {
        let line = "<3>1 2026-11-30T02:50:00Z gpu-17 kernel - - - [    9.000001] NVRM: x";
        let record = Record::from_text(line).unwrap();
        assert_eq!(record.line(), "[    9.000001] NVRM: x");
        let faked = "<38>1 2026-11-30T02:50:00Z gpu-17 sshd 7 - - a kernel: NVRM: x";
        assert_eq!(Record::from_text(faked), None);
    }

    #[test]
    fn a_record_is_split_into_its_messages() {
        let xid = "NVRM: Xid (PCI:0000:3b:00): 79, x";
        let record = Record::from_kmsg(&format!("3,7,9,-;NVRM: x\\x0a{xid}")).unwrap();
        let split = record.split();
        assert_eq!(
            split.iter().map(|of| of.sequence).collect::<Vec<_>>(),
            [Some(7); 2]
        );
        assert_eq!(
            (split[0].message.as_str(), split[1].message.as_str()),
            ("NVRM: x", xid)
        );
        let empty = Record::from_kmsg("3,7,9,-;").unwrap();
        assert_eq!(empty.clone().split(), [empty]);
    }

    #[test]
    fn a_message_that_is_said_to_be_repeated_counts_as_often() {
        let xid = "NVRM: Xid (PCI:0000:3b:00): 79, x";
        for (text, time) in [
            (format!("message repeated 3 times: [ {xid}]"), None),
            (
                format!("[    9.000001] message repeated 3 times: [ {xid}]"),
                Some(9_000_001),
            ),
            (
                format!("message repeated 3 times: [ [    9.000001] {xid}]"),
                Some(9_000_001),
            ),
        ] {
            let record = Record::from_text(&format!("Nov 21 10:00:00 gpu-17 kernel: {text}\n")).unwrap();
            let told: Vec<_> = record
                .split()
                .into_iter()
                .map(|of| (of.microseconds, of.message))
                .collect();
            assert_eq!(told, vec![(time, xid.to_owned()); 3], "{text}");
        }
        for (message, copies) in [(xid, 1_000), ("usb 1-1: x", 1)] {
            let text = format!("[    9.000001] message repeated 99999999999 times: [ {message}]");
            assert_eq!(Record::from_text(&text).unwrap().split().len(), copies);
        }
        let other = Record::from_text("[    9.000001] message repeated many times: [ x]").unwrap();
        assert_eq!(other.message, "message repeated many times: [ x]");
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in "\\PC{0,80}", bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let lossy = String::from_utf8_lossy(&bytes);
            for text in [text.as_str(), &lossy] {
                let _ = Record::from_kmsg(text).map(|record| (record.line(), record.split()));
                let _ = Record::from_text(text).map(|record| (record.line(), record.split()));
            }
        }

        #[test]
        fn what_is_written_is_read_back(sequence: u64, time: u64, message in "[ -~]{0,60}") {
            let record = Record::from_kmsg(&format!("4,{sequence},{time},-;{message}\n")).unwrap();
            prop_assert_eq!(record.sequence, Some(sequence));
            let again = Record::from_text(&record.line()).unwrap();
            prop_assert_eq!(again.microseconds, Some(time));
            prop_assert_eq!(again.message.trim(), message.trim());
        }
    }
}
