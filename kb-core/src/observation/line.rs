//! Lines of the kernel log that are events: read strictly, each with the device it is about.

use super::Recovery;
use super::messages::{FatalMessage, find};
use super::mixed::is_mixed;
use crate::report::{Family, NODE};

/// Longest text kept of a line, in characters.
const LONGEST_TEXT: usize = 300;

/// Characters that tell the driver's name: `NVRM: Xi`, `nvidia-n`.
const HEAD: usize = 8;
/// How `/dev/kmsg` writes the end of a line within a message (Linux ABI `dev-kmsg`).
const LINE_END: &str = r"\x0a";

/// What a line tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// `NVRM: Xid (PCI:0000:3b:00): 79, …`, `nvidia-nvswitch3: SXid (PCI:0000:c5:00.0): 20034, Fatal, …`.
    Numbered {
        /// Xid or SXid.
        family: Family,
        /// Its number; the largest where the line has a larger one.
        number: u32,
        /// The driver's own word, where the line has one: `Fatal`, `Nonfatal`, `Non-fatal`.
        fatal: Option<bool>,
    },
    /// Xid 154: what the driver asks for from now on.
    RecoveryAction(Recovery),
    /// A fatal line without an Xid, with the record that explains it.
    Message(Option<&'static str>),
    /// A fatal line of PCI Express, with its record. It counts where its device is a GPU or a bridge above one.
    Bus(&'static str),
}

/// An event of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineEvent {
    /// What it tells.
    pub what: What,
    /// PCI address of the GPU or switch, with function: `0000:3b:00.0`. `node` where the line names none: a message of
    /// several lines has the address in another of them, which a file of syslog keeps apart.
    pub device: String,
    /// The device that sent the message which stopped a port, where it is named beside that: `0000:3b:00.0`.
    pub source: Option<String>,
    /// The message, from the driver's name on.
    pub text: String,
    /// When, by the kernel's own clock since boot, where it stands in front of the message: no clock that is set changes it.
    pub microseconds: Option<u64>,
}

impl LineEvent {
    /// The devices that it is about.
    pub fn devices(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.device.as_str()).chain(self.source.as_deref())
    }
}

/// Xid whose line says what the driver asks for.
pub(crate) const RECOVERY_ACTION_CHANGED: u32 = 154;

/// Reads one message of the kernel, with or without what stands in front of it.
pub fn read_line(line: &str) -> Option<LineEvent> {
    // The first in the line is the driver's: behind it may stand the name of a process, which a user chooses.
    let markers = [("SXid (", Family::Sxid), ("NVRM: Xid (", Family::Xid)];
    let places = markers
        .into_iter()
        .filter_map(|(marker, family)| Some((line.find(marker)?, marker, family)));
    if let Some((place, marker, family)) = places.min_by_key(|(place, ..)| *place) {
        return numbered(line, place, marker, family);
    }
    let line = line.replace(LINE_END, " ");
    let FatalMessage { start, what } = find(&line)?;
    let rest = line.get(start..)?;
    let mut words = rest.split([' ', ',']);
    let device = match what {
        // The port that tells of it comes first, the device that it is about last.
        What::Bus(_) => words.rev().find_map(address),
        _ => words.find_map(address),
    };
    let source = device.as_deref().and_then(|port| source(rest, port));
    Some(LineEvent {
        what,
        device: device.unwrap_or_else(|| NODE.to_owned()),
        source,
        text: text(rest),
        microseconds: None,
    })
}

/// `DPC: containment event, status:0x1f01 source:0x3b00`: the sender's bus, device and function, in the port's domain. Zero: nobody.
fn source(text: &str, port: &str) -> Option<String> {
    let (_, rest) = text.split_once("DPC: containment event")?;
    let (_, rest) = rest.split_once(" source:0x")?;
    let digits = rest.split([' ', ',', ':']).next()?;
    let id = u16::from_str_radix(digits, 16).ok().filter(|id| *id != 0)?;
    let (domain, _) = port.split_once(':')?;
    let [bus, function] = id.to_be_bytes();
    Some(format!(
        "{domain}:{bus:02x}:{:02x}.{}",
        function >> 3,
        function & 0b111
    ))
}

/// As [`read_line`], for a message of the kernel with its time at most in front of it. The message of a crashed program names
/// the program, which may be called like a line of the driver.
pub fn read_message(message: &str) -> Option<LineEvent> {
    let microseconds = stamp(message);
    let message = without_stamp(message);
    if is_of_process(message) {
        return None;
    }
    let message = without_device(message);
    let event = read_line(message)?;
    let begins = event
        .text
        .chars()
        .take(HEAD)
        .zip(message.chars())
        .all(|(one, other)| one == other);
    begins.then_some(LineEvent {
        microseconds,
        ..event
    })
}

/// Whether a message of the kernel begins as that of an Xid or SXid, and its number cannot be read: it is cut, or another line is written
/// into it.
pub fn has_unread_number(message: &str) -> bool {
    let bare = without_device(without_stamp(message));
    let of_switch = || bare.starts_with("nvidia-nvswitch") && bare.contains(": SXid (");
    (bare.starts_with("NVRM: Xid (") || of_switch()) && read_message(message).is_none()
}

/// The kernel's time in front: `[   12.345678] `, in microseconds since boot.
fn stamp(message: &str) -> Option<u64> {
    const DIGITS: usize = 6;
    let (stamp, _) = message.trim_start().strip_prefix('[')?.split_once("] ")?;
    let (seconds, fraction) = stamp.trim().split_once('.')?;
    let seconds: u64 = seconds.parse().ok()?;
    let fraction: u64 = fraction.parse().ok().filter(|_| fraction.len() == DIGITS)?;
    seconds.checked_mul(1_000_000)?.checked_add(fraction)
}

/// Without the kernel's time in front: `[   12.345678] `.
pub(crate) fn without_stamp(message: &str) -> &str {
    let message = message.trim_start();
    let stamped = message.strip_prefix('[').and_then(|rest| rest.split_once("] "));
    stamped.map_or(message, |(_, message)| message.trim_start())
}

/// Without what the kernel puts in front for a device of the driver: `nvidia 0000:3b:00.0: NVRM: Xid …`. Other messages of the
/// device have its address there alone.
fn without_device(message: &str) -> &str {
    let of_device = message
        .strip_prefix("nvidia ")
        .and_then(|rest| rest.split_once(": "));
    let bare = of_device.filter(|(device, rest)| address(device).is_some() && rest.starts_with("NVRM: "));
    bare.map_or(message, |(_, rest)| rest)
}

/// Longest name of a process that the kernel keeps, in bytes (proc(5), comm). A user chooses it.
const LONGEST_NAME: usize = 15;

/// `name[123]: segfault at …`: the kernel begins what it says of a process with its name and its number.
pub(crate) fn is_of_process(message: &str) -> bool {
    let mut brackets = message
        .match_indices('[')
        .take_while(|(at, _)| *at <= LONGEST_NAME);
    brackets.any(|(at, _)| {
        let rest = message.get(at + 1..).unwrap_or_default();
        let number = rest.split_once("]: ").map_or("", |(number, _)| number);
        !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

fn numbered(line: &str, place: usize, marker: &str, family: Family) -> Option<LineEvent> {
    let rest = line.get(place + marker.len()..)?;
    if is_mixed(rest.as_bytes()) {
        return None;
    }
    let (place_of, rest) = rest.split_once("): ")?;
    // `PCI:0000:3b:00`, and with MIG `PCI:0000:3b:00 GPU-I:05`. A place in another form is no reason to hear nothing.
    let device = place_of.split(' ').next().and_then(address);
    let device = device.unwrap_or_else(|| NODE.to_owned());
    let end = rest.find(|letter: char| !letter.is_ascii_digit());
    let digits = rest
        .get(..end.unwrap_or(rest.len()))
        .filter(|digits| !digits.is_empty())?;
    let number = digits.parse().unwrap_or(u32::MAX);
    let (before, behind) = around_the_name(rest);
    let words = || before.split([' ', ',']).chain(behind.split([' ', ',']));
    let fatal = if words().any(|word| word == "Nonfatal" || word == "Non-fatal") {
        Some(false)
    } else {
        words().any(|word| word == "Fatal").then_some(true)
    };
    let what = if family == Family::Xid && number == RECOVERY_ACTION_CHANGED {
        What::RecoveryAction(Recovery::of_line(rest).unwrap_or(Recovery::Other(String::new())))
    } else {
        What::Numbered {
            family,
            number,
            fatal,
        }
    };
    let begin = match family {
        Family::Xid => place,
        // `nvidia-nvswitch3: ` stands before it.
        Family::Sxid => line.find("nvidia-nvswitch").unwrap_or(place),
    };
    Some(LineEvent {
        what,
        device,
        source: None,
        text: text(line.get(begin..)?),
        microseconds: None,
    })
}

/// The driver's text around `name=python`. A name may hold commas: the last that can end a longest name ends it.
fn around_the_name(text: &str) -> (&str, &str) {
    let Some((before, named)) = text.split_once("name=") else {
        return (text, "");
    };
    let mut end = None;
    let (mut at, mut length) = (0, 0);
    while length <= LONGEST_NAME {
        let rest = named.get(at..).unwrap_or_default();
        if rest.starts_with(", ") {
            end = Some(at);
        }
        let first = rest.chars().next().map_or(1, char::len_utf8);
        // `/dev/kmsg` writes a byte that cannot be printed as `\x0a`.
        let (bytes, written) = if is_escaped(rest) { (1, 4) } else { (first, first) };
        length += bytes;
        at += written;
    }
    (before, named.get(end.unwrap_or(at)..).unwrap_or_default())
}

fn is_escaped(text: &str) -> bool {
    let digits = text.strip_prefix(r"\x").and_then(|rest| rest.get(..2));
    digits.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// `PCI:0000:3b:00`, `0000:3b:00.0:`, `0000:3b:00` as `0000:3b:00.0`.
fn address(word: &str) -> Option<String> {
    let word = word
        .trim_start_matches("PCI:")
        .trim_end_matches([':', '.', ',', ')']);
    let (slot, function) = word.split_once('.').unwrap_or((word, "0"));
    let hex = |text: &str, widths: std::ops::RangeInclusive<usize>| {
        widths.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    let parts: Vec<&str> = slot.split(':').collect();
    let [domain, bus, device] = parts.as_slice() else {
        return None;
    };
    let fits = hex(domain, 4..=8) && hex(bus, 2..=2) && hex(device, 2..=2);
    let function_fits = matches!(function.as_bytes(), [b'0'..=b'7']);
    (fits && function_fits).then(|| canonical(&format!("{domain}:{bus}:{device}.{function}")))
}

/// The address as sysfs writes it: lower case, a domain of eight digits without its leading zeros.
pub fn canonical(address: &str) -> String {
    let lower = address.to_ascii_lowercase();
    match lower.split_once(':') {
        Some((domain, rest)) if domain.len() > 4 => {
            let significant = domain.trim_start_matches('0');
            format!("{significant:0>4}:{rest}")
        }
        _ => lower,
    }
}

fn text(message: &str) -> String {
    let printable = |letter: char| if letter.is_control() { ' ' } else { letter };
    message.trim().chars().take(LONGEST_TEXT).map(printable).collect()
}
