//! Which device a line is about. The kernel words the faults of a drive, a network card and a GPU alike; patterns that a
//! record lists as being of a GPU count only where the text says what the device is.
//!
//! A device is named by a driver's prefix (`nvidia 0000:3b:00.0:`), by `NVRM:` lines, by nvidia-smi's tables and by the
//! head lines of lspci (`3b:00.0 3D controller: NVIDIA …`), which hold for the indented lines below them. Where a line names only a
//! port or no device, it is of another device if the same host tells of trouble with one and the text names not one GPU. That a
//! drive is there, or that one is at another address or on another host, explains no error.

use std::cell::LazyCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::BuildHasher;

use rustc_hash::FxBuildHasher;

use super::MatchedLine;
use super::address::{Address, address, addresses};
use super::fold::{Place, Tally};
use super::score::Score;
use crate::signature::DeviceRule;

/// Devices and head lines that are remembered of a text.
const MAX_DEVICES: usize = 4_096;
/// Hits that wait until their device is named.
const MAX_HELD: usize = 1_024;
/// Furthest that a line of lspci stands below its head line, in lines.
const MAX_BLOCK: u64 = 200;
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

/// The hash of a host's name; that of nothing where a line names none.
type Host = u64;

#[derive(Debug, Default)]
pub(super) struct Devices {
    by_address: HashMap<(Host, Address), Kind>,
    /// Addresses of GPUs of any host.
    gpus: HashSet<Address>,
    /// Of a port: the first device that an error was received from there.
    below: HashMap<(Host, Address), Address>,
    /// Head lines of lspci, in order.
    heads: Vec<(u64, Kind)>,
    /// Whether the text names any GPU.
    has_gpu: bool,
    /// Hosts that tell of trouble with another device.
    troubled: HashSet<Host>,
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
    /// `true`: the line names a port and the device below it.
    Address(Host, Address, bool),
    Line(Host, u64),
}

impl About {
    fn host(self) -> Host {
        match self {
            Self::Address(host, ..) | Self::Line(host, _) => host,
        }
    }
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
    pub(super) fn read<'t>(&mut self, text: &[u8], host: impl Fn() -> &'t [u8], line: u64) {
        let host = LazyCell::new(|| hash(host()));
        let text = String::from_utf8_lossy(text);
        let message = super::message_start(&text);
        let message = text.get(message..).unwrap_or(&text);
        let is_nvidia = contains(message, "nvidia") || contains(message, "nvrm:");
        self.has_gpu |= is_nvidia;
        if let Some(kind) = head(message, is_nvidia) {
            if self.heads.len() < MAX_DEVICES {
                self.heads.push((line, kind));
            }
            self.has_gpu |= kind == Kind::Gpu && !is_bridge(message);
            // The kernel prints a port's address for errors of what is below it.
            if let Some((address, _)) = addresses(message).next().filter(|_| !is_bridge(message)) {
                self.name(*host, address, kind);
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
            self.name(*host, address, kind);
            if kind == Kind::Other && self.troubled.len() < MAX_DEVICES && tells_of_trouble(message) {
                self.troubled.insert(*host);
            }
        }
    }

    fn name(&mut self, host: Host, address: Address, kind: Kind) {
        self.has_gpu |= kind == Kind::Gpu;
        let place = (host, address);
        if self.by_address.len() < MAX_DEVICES || self.by_address.contains_key(&place) {
            // A GPU stays one: a driver that hands devices on may print the address too.
            let known = self.by_address.entry(place).or_insert(kind);
            if kind == Kind::Gpu {
                *known = kind;
                self.gpus.insert(address);
            }
        }
    }

    pub(super) fn judge(
        &mut self,
        rule: DeviceRule,
        text: &[u8],
        host: &[u8],
        captures: &BTreeMap<String, String>,
        line: u64,
    ) -> Judged {
        let host = hash(host);
        let text = String::from_utf8_lossy(text);
        let named = captures.get("device").and_then(|value| addresses(value).next());
        let all: Vec<(Address, &str)> = addresses(&text).collect();
        let first = all.first().map(|(address, _)| *address);
        let address = named.map(|(address, _)| address).or(first);
        let port = first.filter(|first| address.is_some_and(|address| address != *first));
        if let (Some(port), Some(address)) = (port, address)
            && self.below.len() < MAX_DEVICES
        {
            self.below.entry((host, port)).or_insert(address);
        }
        let about = match address {
            Some(address) => About::Address(host, address, port.is_some()),
            None => About::Line(host, line),
        };
        let by_prefix = all
            .iter()
            .filter(|(found, _)| Some(*found) == address)
            .find_map(|(_, before)| by_driver(before));
        let counts_so_far = rule == DeviceRule::NotOther && (self.has_gpu || !self.is_of_troubled(about));
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
            About::Address(host, address, _) => {
                let below = self.below.get(&(host, address));
                let of = |address: &Address| self.of_address(host, *address);
                of(&address).or_else(|| below.and_then(of))
            }
            About::Line(_, line) => {
                let behind = self.heads.partition_point(|(head, _)| *head < line);
                let (head, kind) = self.heads.get(behind.checked_sub(1)?)?;
                (line - head <= MAX_BLOCK).then_some(*kind)
            }
        }
    }

    /// A GPU is one wherever that is said; another device only where the same host says so.
    fn of_address(&self, host: Host, address: Address) -> Option<Kind> {
        let known = self.by_address.get(&(host, address)).copied();
        let of_gpu = || self.gpus.contains(&address).then_some(Kind::Gpu);
        known.or_else(of_gpu)
    }

    /// Whether what names no device of its own may be of another that is in trouble on its host.
    fn is_of_troubled(&self, about: About) -> bool {
        !matches!(about, About::Address(_, _, true)) && self.troubled.contains(&about.host())
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

    /// What waited is a match where the device is a GPU, or may be one because nothing says that it is another; else a candidate.
    pub(super) fn settle(&mut self, tally: &mut Tally) {
        // What counts already tells of a GPU too, as a CUDA error does.
        let has_gpu = self.has_gpu || !tally.records.is_empty();
        for held in std::mem::take(&mut self.held) {
            let counts = match self.kind(held.about) {
                Some(kind) => kind == Kind::Gpu,
                None => held.rule == DeviceRule::NotOther && (has_gpu || !self.is_of_troubled(held.about)),
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

fn hash(host: &[u8]) -> Host {
    FxBuildHasher.hash_one(host)
}

/// Whether a line of a device's driver tells of trouble, and not only that the device is there.
fn tells_of_trouble(message: &str) -> bool {
    const WORDS: [&str; 9] = [
        "error",
        "fail",
        "not ready",
        "timeout",
        "timed out",
        "reset",
        "removed",
        "response:0x",
        "aer:",
    ];
    WORDS.iter().any(|word| contains(message, word))
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

fn contains(text: &str, word: &str) -> bool {
    let mut windows = text.as_bytes().windows(word.len());
    windows.any(|window| window.eq_ignore_ascii_case(word.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_name_their_devices() {
        let kind = |line: &str| {
            let mut devices = Devices::default();
            devices.read(line.as_bytes(), || b"", 1);
            devices.kind(About::Address(hash(b""), (0, 0x3b, 0), false))
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
