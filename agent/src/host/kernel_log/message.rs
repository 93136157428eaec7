//! The messages within one record: the driver may write several, with line ends between them, or one behind the other in a line.

use std::fmt::Write as _;

use kb_core::health::read_message;
use kb_core::observation::What;

/// How `/dev/kmsg` writes the end of a line within a message (Linux ABI `dev-kmsg`), and how rsyslog does.
const LINE_ENDS: [&str; 2] = [r"\x0a", "#012"];
/// Messages that begin behind the first of a record, at most. What stands behind them is told as not read.
const MOST: usize = 64;
const XID: &str = "NVRM: Xid (PCI:";
const SWITCH: &str = "nvidia-nvswitch";
const SXID: &str = ": SXid (PCI:";

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Messages {
    /// Each in one line.
    pub(super) texts: Vec<String>,
    /// There are more of them than are read.
    pub(super) is_cut: bool,
}

/// A record's text as it is kept in a log. Without a second message in it, it is one, whatever lines it has.
pub(super) fn messages(text: &str) -> Messages {
    let text = decoded(text);
    let mut starts = starts(&text);
    let is_cut = starts.len() > MOST;
    starts.truncate(MOST);
    // The letter behind a number that may be cut stays with it, so that nobody takes it for a whole one.
    let end_before = |start: usize| {
        let is_cut = text.get(..start).is_some_and(ends_in_number);
        if is_cut { start + 1 } else { start }
    };
    let ends = starts.iter().map(|start| end_before(*start)).chain([text.len()]);
    let begins = std::iter::once(0).chain(starts.iter().copied());
    let pieces = begins.zip(ends).filter_map(|(begin, end)| text.get(begin..end));
    let pieces = pieces.flat_map(|piece| without_the_next(piece.trim_matches('\n')));
    let one_line = |piece: &str| piece.trim_matches('\n').replace('\n', " ");
    let texts = pieces.map(one_line).filter(|piece| !piece.is_empty()).collect();
    Messages { texts, is_cut }
}

/// The message whose first line tells of something, and the one without a number in the lines behind it. That may have its device in the
/// first of several lines, and is too long for the name of a program.
fn without_the_next(piece: &str) -> impl Iterator<Item = &str> {
    let (first, rest) = piece.split_once('\n').unwrap_or((piece, ""));
    let next = read_message(&rest.replace('\n', " ")).map(|event| event.what);
    let is_without_number = matches!(next, Some(What::Message(_) | What::Bus(_)));
    let is_several = is_without_number && read_message(first).is_some();
    let (first, rest) = if is_several { (first, rest) } else { (piece, "") };
    [first, rest].into_iter()
}

/// `NVRM: Xid (PCI:0000:3b:00): 7`, where what comes next, or the end, may have cut the number.
pub(super) fn ends_in_number(text: &str) -> bool {
    let before = text.trim_end_matches(|letter: char| letter.is_ascii_digit());
    before.len() < text.len() && before.ends_with("): ")
}

/// With line ends, and with letters that are not ASCII. Other bytes stay as `\xNN`: what cannot be printed must not act on a terminal, and
/// a backslash must not make another letter of what stands behind it.
fn decoded(text: &str) -> String {
    let mut text = text.to_owned();
    for end in LINE_ENDS {
        text = text.replace(end, "\n");
    }
    let (mut whole, mut rest) = (String::new(), text.as_str());
    let mut bytes = Vec::new();
    while let Some(letter) = rest.chars().next() {
        if let Some(byte) = escaped(rest).filter(|byte| !byte.is_ascii()) {
            bytes.push(byte);
            rest = rest.get(r"\xNN".len()..).unwrap_or_default();
            continue;
        }
        push(&mut whole, &std::mem::take(&mut bytes));
        whole.push(letter);
        rest = rest.get(letter.len_utf8()..).unwrap_or_default();
    }
    push(&mut whole, &bytes);
    whole
}

fn push(whole: &mut String, bytes: &[u8]) {
    for chunk in bytes.utf8_chunks() {
        // U+0080 to U+009F are controls, too.
        for letter in chunk.valid().chars() {
            if letter.is_control() {
                let mut letters = [0; 4];
                push_escaped(whole, letter.encode_utf8(&mut letters).as_bytes());
            } else {
                whole.push(letter);
            }
        }
        push_escaped(whole, chunk.invalid());
    }
}

fn push_escaped(whole: &mut String, bytes: &[u8]) {
    for byte in bytes {
        // Writing into a String does not fail.
        let _ = write!(whole, r"\x{byte:02x}");
    }
}

fn escaped(text: &str) -> Option<u8> {
    let digits = text.strip_prefix(r"\x")?.get(..2)?;
    u8::from_str_radix(digits, 16).ok()
}

/// Where messages of the driver begin behind the first.
///
/// Only those with a whole PCI address count. The kernel also writes names that users choose: that of a program is too short for one,
/// and behind what may hold a longer name, such as a path, no line is taken for the driver's.
fn starts(text: &str) -> Vec<usize> {
    let mut found = Vec::new();
    let (mut at, mut is_trusted) = (0, true);
    for line in text.split('\n') {
        let is_of_driver = is_trusted && begins_message(without_device(line));
        if is_of_driver {
            if at > 0 {
                found.push(at);
            }
            let within = line.len() - without_device(line).len();
            found.extend(behind_the_first(line, within).map(|place| at + place));
        }
        is_trusted &= is_of_driver || !line.contains(['\'', '"', '`', '/', '[']);
        at += line.len() + 1;
    }
    found
}

fn behind_the_first(line: &str, first: usize) -> impl Iterator<Item = usize> {
    let mut places: Vec<usize> = [XID, SWITCH]
        .into_iter()
        .flat_map(|marker| line.match_indices(marker))
        .map(|(place, _)| place)
        .filter(|place| *place > first && line.get(*place..).is_some_and(begins_message))
        .collect();
    places.sort_unstable();
    places.into_iter()
}

/// True of `NVRM: Xid (PCI:0000:3b:00…` and `nvidia-nvswitch3: SXid (PCI:0000:c5:00…`.
fn begins_message(text: &str) -> bool {
    let of_switch = || {
        let rest = text.strip_prefix(SWITCH)?;
        rest.trim_start_matches(|letter: char| letter.is_ascii_digit())
            .strip_prefix(SXID)
    };
    text.strip_prefix(XID)
        .or_else(of_switch)
        .is_some_and(begins_with_address)
}

/// Without what the kernel puts in front for a device of the driver: `nvidia 0000:3b:00.0: `.
fn without_device(line: &str) -> &str {
    let of_device = line
        .strip_prefix("nvidia ")
        .and_then(|rest| rest.split_once(": "));
    let bare = of_device.filter(|(device, _)| begins_with_address(device));
    bare.map_or(line, |(_, rest)| rest)
}

/// `0000:3b:00`, with a domain of four to eight digits.
fn begins_with_address(text: &str) -> bool {
    let mut parts = text.splitn(3, ':');
    let [Some(domain), Some(bus), Some(rest)] = [parts.next(), parts.next(), parts.next()] else {
        return false;
    };
    let is_hex = |part: &str| part.bytes().all(|byte| byte.is_ascii_hexdigit());
    (4..=8).contains(&domain.len())
        && is_hex(domain)
        && bus.len() == 2
        && is_hex(bus)
        && rest.get(..2).is_some_and(is_hex)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn xid(device: &str, number: u32) -> String {
        format!("NVRM: Xid (PCI:0000:{device}:00): {number}, pid=7, name=python3, x")
    }

    fn texts(text: &str) -> Vec<String> {
        messages(text).texts
    }

    #[test]
    fn an_xid_behind_a_line_end_is_a_message() {
        let (first, second) = (xid("06", 13), xid("07", 79));
        let switch = "nvidia-nvswitch3: SXid (PCI:0000:c5:00.0): 20034, Fatal, x";
        let of_device = format!("nvidia 0000:07:00.0: {second}");
        for end in LINE_ENDS {
            for front in ["NVRM: GPU at PCI:0000:07:00: GPU-1", "usb 1-1: x", &first] {
                for behind in [second.as_str(), switch, &of_device] {
                    assert_eq!(texts(&format!("{front}{end}{behind}")), [front, behind]);
                }
            }
        }
        assert_eq!(texts(&format!(r"\x0a{second}\x0a")), [second]);
    }

    #[test]
    fn messages_that_are_glued_are_several() {
        let (first, second) = (xid("06", 13), xid("07", 79));
        let both = format!("{first}, {second}");
        assert_eq!(texts(&both), [format!("{first}, "), second.clone()]);
        assert_eq!(texts(&format!("nvidia 0000:06:00.0: {both}")).len(), 2);
        let many = first.repeat(MOST + 1);
        assert_eq!(messages(&many).texts.len(), MOST + 1);
        assert!(!messages(&many).is_cut);
        let more = messages(&first.repeat(MOST + 2));
        assert!(more.is_cut && more.texts.len() == MOST + 1);
    }

    #[test]
    fn a_number_that_is_written_over_is_nobodys() {
        let (cut, second) = ("NVRM: Xid (PCI:0000:3b:00): 7", xid("4c", 31));
        let both = texts(&format!("{cut}{second}"));
        assert_eq!(both, [format!("{cut}N"), second.clone()]);
        assert!(kb_core::health::has_unread_number(&both[0]));
        // A line end, or a blank, is behind the whole number.
        assert_eq!(texts(&format!(r"{cut}\x0a{second}")), [cut, second.as_str()]);
        assert_eq!(texts(&format!("{cut} {second}"))[0], format!("{cut} "));
    }

    #[test]
    fn a_message_without_a_number_behind_another_is_told() {
        let first = xid("06", 31);
        let init = "NVRM: GPU 0000:07:00.0: RmInitAdapter failed! (0x24:0x65:1462)";
        assert_eq!(texts(&format!(r"{first}\x0a{init}")), [first.as_str(), init]);
        let lines = [
            "NVRM: The NVIDIA GPU 0000:3b:00.0",
            "NVRM: (PCI ID: 10de:2330) installed in this system has",
            "NVRM: fallen off the bus and is not responding to commands.",
        ];
        let both = format!(r"{first}\x0a{}", lines.join(r"\x0a"));
        assert_eq!(texts(&both), [first, lines.join(" ")]);
    }

    #[test]
    fn lines_of_one_message_stay_together() {
        let first = "NVRM: The NVIDIA GPU 0000:3b:00.0";
        let last = "NVRM: (PCI ID: 10de:2330) installed in this system has";
        assert_eq!(texts(&format!(r"{first}\x0a{last}")), [format!("{first} {last}")]);
    }

    /// Whoever gives a file or a program its name must not be able to report an Xid.
    #[test]
    fn names_that_users_choose_begin_no_message() {
        let faked = xid("07", 79);
        for text in [
            format!(r"traps: a[7] general protection fault ip:1 sp:2 error:0 in x\x0a{faked}"),
            format!(r"a[7]: segfault at 8 ip 1 sp 2 error 4 in x\x0a{faked}[1+2]"),
            format!(r"process 'a' launched '/tmp/\x0a{faked}' with NULL argv"),
            format!(r"process 'a' launched '/tmp/x\x0ay\x0a{faked}' with NULL argv"),
            format!("a[7]: segfault at 8 in {faked}"),
            format!("oom-kill:constraint=CONSTRAINT_MEMCG,task_memcg=/{faked}"),
            r"NVRM: Xid (PCI:0000:06:00): 13, name=\x0aNVRM: Xid (): 79, x".to_owned(),
            "NVRM: Xid (PCI:0000:06:00): 13, name=NVRM: Xid (): 7, x".to_owned(),
        ] {
            assert_eq!(texts(&text).len(), 1, "{text}");
        }
    }

    #[test]
    fn letters_are_read_and_what_cannot_be_printed_stays_written_out() {
        for (written, read) in [
            (r"Gr\xc3\xb6\xc3\x9fe", "Größe"),
            (r"\xff\xc3", r"\xff\xc3"),
            (r"a\x1b[31m", r"a\x1b[31m"),
            (r"\xc2\x9b31m", r"\xc2\x9b31m"),
            (r"\x5cx41", r"\x5cx41"),
            (r"\x", r"\x"),
        ] {
            assert_eq!(texts(written), [read]);
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_within_bounds(
            bytes in proptest::collection::vec(any::<u8>(), 0..400),
            parts in proptest::collection::vec(
                prop_oneof![
                    Just(r"\x0a".to_owned()),
                    Just(xid("07", 79)),
                    Just("nvidia 0000:07:00.0: ".to_owned()),
                    Just(r"\xc3".to_owned()),
                    "[ -~]{0,8}",
                ],
                0..200,
            ),
        ) {
            for text in [String::from_utf8_lossy(&bytes).into_owned(), parts.concat()] {
                let read = messages(&text);
                prop_assert!(read.texts.len() <= 2 * (MOST + 1));
                // A letter behind a number that is written over is told twice.
                let most = text.len() + read.texts.len();
                prop_assert!(read.texts.iter().map(String::len).sum::<usize>() <= most);
                prop_assert!(read.texts.iter().all(|text| !text.contains('\n') && !text.is_empty()));
            }
        }

        #[test]
        fn each_xid_of_a_record_is_read(numbers in proptest::collection::vec(1_u32..200, 1..60), glued: bool) {
            let all: Vec<String> = numbers.iter().map(|number| xid("07", *number)).collect();
            let end = if glued { "" } else { r"\x0a" };
            prop_assert_eq!(messages(&all.join(end)).texts, all);
        }
    }
}
