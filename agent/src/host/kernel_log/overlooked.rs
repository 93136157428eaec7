//! Lines of a file of syslog's that hold a message of the driver's which was not read: its form is not known, or another line stands in
//! front of it, torn (the disk was full).

use kb_core::health::{has_unread_number, read_line, read_message};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::message::messages;
use super::origin::MONTHS;
use super::record::Record;
use super::rfc5424;

const KERNEL: &str = " kernel: ";
/// Words between the time and the end of a program's name: the name of the host and, at most, of a program of three words.
const MOST_WORDS: usize = 4;
/// The driver's own names, which end as a program's does.
const DRIVER: [&str; 2] = ["NVRM", "nvidia-nvswitch"];

/// Whether a text has a line of the driver's that tells of something, wherever in it.
pub(super) fn tells_anywhere(text: &str) -> bool {
    text.contains("NVRM: Xid (") || text.contains(": SXid (") || read_line(text).is_some()
}

/// Whether a message of the kernel tells of something, or may.
pub(super) fn tells(message: &str) -> bool {
    let mut texts = messages(message).texts.into_iter();
    texts.any(|text| read_message(&text).is_some() || has_unread_number(&text))
}

/// Whether a line tells of more than its records do. `is_own` is asked for the name of a host.
pub(super) fn is_overlooked(line: &str, records: &[Record], is_own: impl Fn(&str) -> bool) -> bool {
    if line.trim_start().starts_with('{') {
        // Who wrote an object of JSON is told by its fields.
        return false;
    }
    let Some(text) = behind_header(line) else {
        return !records.iter().any(|record| tells(&record.message)) && tells_anywhere(line);
    };
    // Behind a header stands what anybody may have written. A second header begins another line.
    let inner = inner_lines(text, is_own);
    let Some(first) = inner.first() else { return false };
    let before = line.len() - text.len() + first.begin;
    let of_first = line.get(..before).and_then(Record::from_text);
    let told_before = of_first.is_some_and(|record| tells(&record.message));
    let expected = usize::from(told_before) + inner.iter().filter(|line| tells(line.message)).count();
    records.iter().filter(|record| tells(&record.message)).count() < expected
}

/// The text behind what syslog or `dmesg` puts in front: a time, a host and a program, or the kernel's own time.
fn behind_header(line: &str) -> Option<&str> {
    if rfc5424::has_form(line) {
        return line.splitn(4, ' ').last();
    }
    let bare = line.strip_prefix('<').and_then(|rest| rest.split_once('>'));
    let line = bare.map_or(line, |(_, rest)| rest);
    if let Some((stamp, text)) = line.strip_prefix('[').and_then(|rest| rest.split_once("] ")) {
        let is_stamp = stamp
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b" .:".contains(&byte));
        return (is_stamp && stamp.contains(['.', ':'])).then_some(text);
    }
    let text = behind_stamp(line)?;
    let mut at = 0;
    for word in text.split_inclusive(' ').take(MOST_WORDS) {
        at += word.len();
        if let Some(name) = word.trim_end().strip_suffix(':') {
            let is_driver = DRIVER.iter().any(|driver| name.starts_with(driver));
            return if is_driver { None } else { text.get(at..) };
        }
    }
    None
}

/// Behind `Nov 30 02:50:00 `, `2026-11-30T02:50:00+00:00 ` or `2026-11-30 02:50:00 `.
fn behind_stamp(line: &str) -> Option<&str> {
    let (first, rest) = line.split_once(' ')?;
    if MONTHS.contains(&first) {
        let (day, rest) = rest.trim_start().split_once(' ')?;
        let (time, rest) = rest.split_once(' ')?;
        return (is_day(day) && is_time(time)).then_some(rest);
    }
    if is_iso(first) {
        return Some(rest);
    }
    let (time, rest) = rest.split_once(' ')?;
    let is_date = first.len() == 10 && first.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
    (is_date && is_time(time)).then_some(rest)
}

/// A line of this host's kernel in the middle of another line, which is torn.
struct Inner<'a> {
    /// Where its header begins.
    begin: usize,
    message: &'a str,
}

fn inner_lines(text: &str, is_own: impl Fn(&str) -> bool) -> Vec<Inner<'_>> {
    let inner = text.match_indices(KERNEL).filter_map(|(end, _)| {
        let (before, host) = text.get(..end)?.rsplit_once(' ')?;
        let begin = header_begin(before)?;
        let message = text.get(end + KERNEL.len()..)?;
        // What begins with a header is a line that a program repeats.
        (begin > 0 && is_own(host)).then_some(Inner { begin, message })
    });
    inner.collect()
}

/// Where the time at the end of a text begins. What stands in front of it may be glued to it.
fn header_begin(before: &str) -> Option<usize> {
    let (rest, last) = before.rsplit_once(' ').unwrap_or(("", before));
    if let Some(at) = last
        .char_indices()
        .map(|(at, _)| at)
        .find(|at| last.get(*at..).is_some_and(is_iso))
    {
        return Some(before.len() - last.len() + at);
    }
    let (rest, day) = rest.trim_end().rsplit_once(' ')?;
    let rest = rest.trim_end();
    let month = MONTHS.iter().find(|month| rest.ends_with(*month))?;
    (is_time(last) && is_day(day)).then(|| rest.len() - month.len())
}

fn is_day(word: &str) -> bool {
    word.parse::<u8>().is_ok_and(|day| (1..=31).contains(&day))
}

/// `02:50:00`, also with a fraction.
fn is_time(word: &str) -> bool {
    let mut parts = word.split(['.', ',']).next().unwrap_or_default().split(':');
    let mut is_number = || {
        parts
            .next()
            .is_some_and(|part| part.len() == 2 && part.parse::<u8>().is_ok())
    };
    is_number() && is_number() && is_number()
}

fn is_iso(word: &str) -> bool {
    OffsetDateTime::parse(word, &Rfc3339).is_ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const XID: &str = "NVRM: Xid (PCI:0000:3b:00): 79, pid=1, GPU has fallen off the bus.";
    const HEAD: &str = "Nov 30 02:50:00 gpu-17 kernel: [ 1000.000000] ";

    fn overlooked(line: &str) -> bool {
        let records = Record::from_text(line).into_iter().flat_map(Record::split);
        is_overlooked(line, &records.collect::<Vec<_>>(), |host| host == "gpu-17")
    }

    #[test]
    fn what_no_form_explains_is_told() {
        for line in [
            XID.to_owned(),
            format!("  {XID}"),
            format!("[1796094001.0, {{\"msg\":\"{XID}\"}}]"),
            format!("[0] kmsg: [[1796094001.0, {{}}], {{\"msg\"=>\"{XID}\"}}]"),
            format!("kmsg.local: [1796094001.0, {{\"msg\":\"{XID}\"}}]"),
            format!("level=crit tag=kernel msg=\"{XID}\""),
            format!("kern  :crit  : [ 1000.000000] {XID}"),
            format!("2026-12-01T03:00:01.0Z stdout F [ 1000.0] {XID}"),
            format!("Nov 30 02:50:00 [kernel] {XID}"),
            format!("Nov 30 02:50:00 gpu-17 kernel {XID}"),
            "MESSAGE=NVRM: GPU 0000:3b:00.0: RmInitAdapter failed! (0x24:0x65:1462)".to_owned(),
            "MESSAGE=nvidia-nvswitch0: SXid (PCI:0000:c5:00.0): 20034, Fatal".to_owned(),
            "MESSAGE=NVRM: Xid (PCI:0000".to_owned(),
        ] {
            assert!(overlooked(&line), "{line}");
        }
    }

    #[test]
    fn a_line_behind_one_that_is_torn_is_told() {
        let iso = "2026-11-30T02:50:00.000000+00:00 gpu-17 kernel: ";
        for torn in ["usb 1-1: new USB de", "NVRM: GPU at PCI:0000:0", "x "] {
            for head in [HEAD, iso] {
                assert!(overlooked(&format!("{HEAD}{torn}{head}{XID}")), "{torn}{head}");
                assert!(
                    !overlooked(&format!("{HEAD}{torn}{head}usb 1-1: x")),
                    "{torn}{head}"
                );
            }
        }
        let of_program = "Nov 30 02:50:00 gpu-17 sshd[1]: Accep";
        assert!(overlooked(&format!("{of_program}{HEAD}{XID}")));
        for torn in ["Nov 30 02:5", "2026-11-30T02:50:00"] {
            assert!(!overlooked(&format!("{torn}{HEAD}{XID}")), "read: {torn}");
        }
        let both = format!("{HEAD}NVRM: Xid (PCI:0000:3b:00): 31, pid=1, {HEAD}{XID}");
        assert!(!overlooked(&both), "both are read");
        let other = HEAD.replace("gpu-17", "gpu-18");
        assert!(!overlooked(&format!("{HEAD}usb 1-1: new{other}{XID}")));
    }

    #[test]
    fn what_was_read_and_what_a_program_says_is_not() {
        for line in [
            format!("{HEAD}{XID}"),
            format!("[ 1000.000000] {XID}"),
            format!("[Mon Nov 30 02:50:00 2026] {XID}"),
            format!("Nov 30 02:50:00 gpu-17 alice[7]: {XID}"),
            format!("<13>Nov 30 02:50:00 gpu-17 alice: saw {XID}"),
            format!("2026-11-30T02:50:00Z gpu-17 alice: kernel: {XID}"),
            format!("2026-11-30 02:50:00 gpu-17 peerless agent: {XID}"),
            format!("<13>1 2026-11-30T02:50:00Z gpu-17 alice 7 - - {XID}"),
            format!("Nov 30 02:50:00 gpu-17 logger: {HEAD}{XID}"),
            format!("{HEAD}a[7]: segfault at 8 in {XID}"),
            format!("{HEAD}usb 1-1: new"),
            format!("{{\"program\":\"alice\",\"msg\":\"{XID}\"}}"),
            String::new(),
        ] {
            assert!(!overlooked(&line), "{line}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(
            text in "\\PC{0,80}",
            parts in proptest::collection::vec(
                prop_oneof![Just(HEAD), Just(XID), Just(" kernel: "), Just("Nov"), Just("é"), Just(" 30 02:50:00 ")],
                0..8,
            ),
        ) {
            let _ = (overlooked(&text), overlooked(&parts.concat()));
        }
    }
}
