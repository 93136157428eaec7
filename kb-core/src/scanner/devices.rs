//! Which device a line is about. The kernel words the faults of a drive, a network card and a GPU alike; patterns that a
//! record lists as being of a GPU count only where the text says what the device is.
//!
//! A device is named by a driver's prefix (`nvidia 0000:3b:00.0:`), by `NVRM:` lines, by nvidia-smi's tables and by the
//! head lines of lspci (`3b:00.0 3D controller: NVIDIA …`), which hold for the indented lines below them. Where a line names a
//! port or no device, a text that names other devices and not one GPU does not speak of GPUs.

use std::collections::{BTreeMap, HashMap};

use super::MatchedLine;
use super::fold::{Place, Tally};
use super::score::Score;
use crate::signature::DeviceRule;

/// Devices and head lines that are remembered of a text.
const MAX_DEVICES: usize = 4_096;
/// Hits that wait until their device is named.
const MAX_HELD: usize = 1_024;
/// Furthest that a line of lspci stands below its head line, in lines.
const MAX_BLOCK: u64 = 200;
/// Addresses that are read of a line, and how much before each, in bytes: a line costs no more than its length.
const MAX_ON_LINE: usize = 32;
const MAX_BEFORE: usize = 64;
/// PCI numbers the devices of a bus with five bits.
const DEVICES_OF_A_BUS: u8 = 32;
/// Words before an address that say nothing of the device there: buses, drivers that hand devices on, the audio of a graphics board,
/// and the adapters of the fabric, whose faults are wanted as those of GPUs are.
const SAYS_NOTHING: [&str; 11] = [
    "pcieport",
    "pci",
    "vfio-pci",
    "vfio",
    "pci-stub",
    "pciehp",
    "dpc",
    "device",
    "aer",
    "snd_hda_intel",
    "mlx5_core",
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Gpu,
    Other,
}

/// A device's place on the bus: domain, bus, device. The functions of a board (its audio, its USB) count as the board.
type Address = (u32, u8, u8);

#[derive(Debug, Default)]
pub(super) struct Devices {
    by_address: HashMap<Address, Kind>,
    /// Head lines of lspci, in order.
    heads: Vec<(u64, Kind)>,
    /// Whether the text names any GPU, and any other device.
    has_gpu: bool,
    has_other: bool,
    held: Vec<Held>,
}

#[derive(Debug)]
pub(super) struct Held {
    about: About,
    rule: DeviceRule,
    pub(super) on_line: MatchedLine,
    pub(super) place: Place,
    pub(super) record: u32,
    pub(super) signal: u32,
    pub(super) score: Score,
}

#[derive(Debug, Clone, Copy)]
enum About {
    Address(Address),
    Line(u64),
}

pub(super) enum Judged {
    Counts,
    /// It is of another device, or of none that is known to be a GPU.
    Not,
    /// As soon as something names the device.
    Waits(Waiting),
}

pub(super) struct Waiting {
    about: About,
    rule: DeviceRule,
    /// It counts unless the rest of the text says otherwise: who follows a log cannot wait for its end.
    pub(super) counts_so_far: bool,
}

impl Devices {
    /// Reads a line that holds one of [`NAMING`](crate::matcher::statements::NAMING), given as it is.
    pub(super) fn read(&mut self, text: &[u8], line: u64) {
        let text = String::from_utf8_lossy(text);
        let message = super::message_start(&text);
        let message = text.get(message..).unwrap_or(&text);
        let is_nvidia = contains(message, "nvidia") || contains(message, "nvrm:");
        self.has_gpu |= is_nvidia;
        if let Some(kind) = head(message, is_nvidia) {
            if self.heads.len() < MAX_DEVICES {
                self.heads.push((line, kind));
            }
            if !is_bridge(message) {
                self.note(kind);
            }
            // The kernel prints a port's address for errors of what is below it.
            if let Some((address, _)) = addresses(message).next().filter(|_| !is_bridge(message)) {
                self.name(address, kind);
            }
            return;
        }
        for (address, before) in addresses(message) {
            let kind = match by_driver(before) {
                // Only the kernel's own prefix names a driver; elsewhere the word may be any.
                Some(Kind::Other) if !is_first_word(message, before) => continue,
                Some(kind) => kind,
                None if is_nvidia || contains(before, "gpu") => Kind::Gpu,
                None if contains(before, "pci function") => Kind::Other,
                None => continue,
            };
            self.name(address, kind);
        }
    }

    fn note(&mut self, kind: Kind) {
        match kind {
            Kind::Gpu => self.has_gpu = true,
            Kind::Other => self.has_other = true,
        }
    }

    fn name(&mut self, address: Address, kind: Kind) {
        self.note(kind);
        if self.by_address.len() < MAX_DEVICES || self.by_address.contains_key(&address) {
            // A GPU stays one: a driver that hands devices on may print the address too.
            let known = self.by_address.entry(address).or_insert(kind);
            if kind == Kind::Gpu {
                *known = kind;
            }
        }
    }

    pub(super) fn judge(
        &self,
        rule: DeviceRule,
        text: &[u8],
        captures: &BTreeMap<String, String>,
        line: u64,
    ) -> Judged {
        let text = String::from_utf8_lossy(text);
        let named = captures.get("device").and_then(|value| addresses(value).next());
        let all: Vec<(Address, &str)> = addresses(&text).collect();
        let address = named.or_else(|| all.first().copied()).map(|(address, _)| address);
        let about = address.map_or(About::Line(line), About::Address);
        let by_prefix = all
            .iter()
            .filter(|(found, _)| Some(*found) == address)
            .find_map(|(_, before)| by_driver(before));
        let counts_so_far = rule == DeviceRule::NotOther && (self.has_gpu || !self.has_other);
        match by_prefix.or_else(|| self.kind(about)) {
            Some(Kind::Gpu) => Judged::Counts,
            None if rule == DeviceRule::NotOther && self.has_gpu => Judged::Counts,
            None if self.held.len() < MAX_HELD => Judged::Waits(Waiting {
                about,
                rule,
                counts_so_far,
            }),
            None if counts_so_far => Judged::Counts,
            Some(Kind::Other) | None => Judged::Not,
        }
    }

    fn kind(&self, about: About) -> Option<Kind> {
        match about {
            About::Address(address) => self.by_address.get(&address).copied(),
            About::Line(line) => {
                let behind = self.heads.partition_point(|(head, _)| *head < line);
                let (head, kind) = self.heads.get(behind.checked_sub(1)?)?;
                (line - head <= MAX_BLOCK).then_some(*kind)
            }
        }
    }

    pub(super) fn hold(
        &mut self,
        waiting: &Waiting,
        on_line: MatchedLine,
        place: Place,
        by: (u32, u32),
        score: Score,
    ) {
        let (record, signal) = by;
        self.held.push(Held {
            about: waiting.about,
            rule: waiting.rule,
            on_line,
            place,
            record,
            signal,
            score,
        });
    }

    /// What waited is a match where the device is a GPU, or may be one in a text of GPUs or of no other device; else a candidate.
    pub(super) fn settle(&mut self, tally: &mut Tally) {
        // What counts already tells of a GPU too, as a CUDA error does.
        let may_be_gpu = self.has_gpu || !self.has_other || !tally.records.is_empty();
        for held in std::mem::take(&mut self.held) {
            let counts = match self.kind(held.about) {
                Some(kind) => kind == Kind::Gpu,
                None => held.rule == DeviceRule::NotOther && may_be_gpu,
            };
            let Held {
                on_line,
                place,
                record,
                signal,
                score,
                ..
            } = held;
            // A line that was escaped is read twice.
            if counts && !tally.stands_on(record, std::iter::once(on_line.line)) {
                tally.add(on_line, place, record, signal, || score);
            } else if !counts {
                tally.add_candidate(on_line, record, signal, || score);
            }
        }
    }
}

/// What a head line of lspci says, `59:00.0 Non-Volatile memory controller: Kingston …`.
fn head(message: &str, is_nvidia: bool) -> Option<Kind> {
    let line = message.trim_end();
    let (first, rest) = line.split_once(' ')?;
    address(first)?;
    let (class, _) = rest.split_once(": ")?;
    let is_class = class.len() <= 60
        && class
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b" -/[]".contains(&b));
    let is_gpu = is_nvidia || class.starts_with("3D controller");
    is_class.then_some(if is_gpu { Kind::Gpu } else { Kind::Other })
}

fn is_bridge(message: &str) -> bool {
    let class = message.split(": ").next().unwrap_or_default();
    contains(class, "bridge")
}

fn by_driver(before: &str) -> Option<Kind> {
    let word = before.trim_end().rsplit([' ', '\t']).next()?;
    let is_driver = word.len() >= 2
        && word.starts_with(|c: char| c.is_ascii_lowercase())
        && word
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"_-".contains(&b));
    if !is_driver || SAYS_NOTHING.contains(&word) || !before.ends_with(' ') {
        return None;
    }
    match word {
        _ if word.starts_with("nvidia") || word == "nouveau" => Some(Kind::Gpu),
        // English before an address: `error received from 0000:3b:00.0`, `limited by … link at 0000:00:01.0`.
        "from" | "at" | "of" | "for" | "on" | "to" | "in" | "by" | "is" | "and" | "root" | "port"
        | "function" | "id" | "gpu" | "received" | "source" => None,
        _ => Some(Kind::Other),
    }
}

/// Whether the word before an address is the first of its line, or of the message behind tags such as `[   T53331]`.
fn is_first_word(message: &str, before: &str) -> bool {
    let before = before.trim_end();
    let word = before.rsplit([' ', '\t']).next().unwrap_or_default();
    let ahead = before.strip_suffix(word).unwrap_or_default().trim_end();
    ahead.ends_with(']') || ahead.is_empty() && message.trim_start().starts_with(word)
}

fn addresses(text: &str) -> impl Iterator<Item = (Address, &str)> {
    let is_part = |c: char| c.is_ascii_hexdigit() || matches!(c, ':' | '.');
    let mut from = 0;
    std::iter::from_fn(move || {
        loop {
            let rest = text.get(from..)?;
            let start = from + rest.find(|c: char| c.is_ascii_hexdigit())?;
            let length = text
                .get(start..)?
                .find(|c| !is_part(c))
                .unwrap_or(text.len() - start);
            let word = text.get(start..start + length)?;
            from = start + length;
            let before = text.get(text.floor_char_boundary(start.saturating_sub(MAX_BEFORE))..start)?;
            let is_alone = !before.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '-');
            if let Some(address) = address(word.trim_end_matches([':', '.'])).filter(|_| is_alone) {
                return Some((address, before));
            }
        }
    })
    .take(MAX_ON_LINE)
}

/// `3b:00.0`, `0000:3b:00.0`, `00000000:3B:00.0`, and `0000:3b:00` as the GPU's driver writes it.
fn address(word: &str) -> Option<Address> {
    let (place, function) = match word.split_once('.') {
        Some((place, function)) => (place, Some(function)),
        None => (word, None),
    };
    let parts: Vec<&str> = place.split(':').collect();
    let (domain, bus, device) = match parts.as_slice() {
        [domain, bus, device] if matches!(domain.len(), 4 | 8) => (*domain, *bus, *device),
        // Two numbers without a function are a time.
        [bus, device] if function.is_some() => ("0", *bus, *device),
        _ => return None,
    };
    let is_function = function.is_none_or(|function| matches!(function.as_bytes(), [b'0'..=b'7']));
    if bus.len() != 2 || device.len() != 2 || !is_function {
        return None;
    }
    let number = |digits: &str| u8::from_str_radix(digits, 16).ok();
    let device = number(device).filter(|device| *device < DEVICES_OF_A_BUS)?;
    Some((u32::from_str_radix(domain, 16).ok()?, number(bus)?, device))
}

fn contains(text: &str, word: &str) -> bool {
    let mut windows = text.as_bytes().windows(word.len());
    windows.any(|window| window.eq_ignore_ascii_case(word.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_told_from_times_and_numbers() {
        let found = |text: &str| addresses(text).map(|(address, _)| address).collect::<Vec<_>>();
        let gpu = (0, 0x3b, 0);
        for text in [
            "3b:00.0 3D controller",
            "nvidia 0000:3b:00.0: AER",
            "| 00000000:3B:00.0 Off |",
            "NVRM: Xid (PCI:0000:3b:00): 79",
            "Request device [3b:00.0] fault addr fffff000",
        ] {
            assert_eq!(found(text), [gpu], "{text}");
        }
        for text in [
            "10:50:06.313201823",
            "at 10:50:06 it",
            "[139.513963]",
            "1.0",
            "0x3b00",
            "10:50.25",
            "::1",
        ] {
            assert_eq!(found(text), [], "{text}");
        }
    }

    #[test]
    fn lines_name_their_devices() {
        let kind = |line: &str| {
            let mut devices = Devices::default();
            devices.read(line.as_bytes(), 1);
            devices.kind(About::Address((0, 0x3b, 0)))
        };
        for line in [
            "3b:00.0 3D controller: NVIDIA Corporation GH100 [H100 SXM5 80GB] (rev a1)",
            "0000:3b:00.0 VGA compatible controller: NVIDIA Corporation AD102",
            "[   12.3] nvidia 0000:3b:00.0: enabling device (0140 -> 0142)",
            "NVRM: GPU at PCI:0000:3b:00: GPU-b850f46d-d5ea-c752-ddf3-c4453e44d3f7",
            "kernel: NVRM: Xid (PCI:0000:3b:00): 79, pid=1, GPU has fallen off the bus.",
            "|   0  NVIDIA H100 80GB HBM3          On  | 00000000:3B:00.0 Off |                    0 |",
        ] {
            assert_eq!(kind(line), Some(Kind::Gpu), "{line}");
        }
        for line in [
            "3b:00.0 Non-Volatile memory controller: Kingston Technology Company, Inc. OM8PGP4",
            "3b:00.0 Ethernet controller: Intel Corporation I350",
            "nvme nvme0: pci function 0000:3b:00.0",
        ] {
            assert_eq!(kind(line), Some(Kind::Other), "{line}");
        }
        assert_eq!(kind("pcieport 0000:3b:00.0: bridge: window"), None);
        assert_eq!(
            kind("3b:00.0 PCI bridge: Intel Corporation Sky Lake-E PCI Express Root Port A"),
            None
        );
    }
}
