//! A log with `NCCL_DEBUG=INFO` or `WARN`, and the lines of `NCCL_RUN_DIAGNOSTICS=1` (since NCCL 2.31).
//!
//! Read are versions, the GPU of each rank, how pairs are joined (P2P, shared memory), refusals of P2P, and what the
//! diagnostics found. Warnings and diagnostics are kept as they stand, so that the server can explain them.

use std::collections::{BTreeMap, BTreeSet};

use super::Options;
use super::draft::{Draft, address};
use super::error::ConvertError;
use super::format::Section;
use super::lines::{Kept, LONGEST_LINE, Line, MOST_LINES, between};
use crate::report::{Fact, Failure};

const TOOL: &str = "NCCL log";

struct Entry<'a> {
    /// Absent in the diagnostics, which rank 0 prints.
    host: Option<&'a str>,
    severe: bool,
    message: &'a str,
}

pub(super) fn read(draft: &mut Draft, section: &Section<'_>, options: &Options) -> Result<(), ConvertError> {
    let mut kept = Kept::default();
    let mut found = Found::default();
    for line in &section.lines {
        let Some(entry) = entry(&line.text) else { continue };
        match (entry.host, &options.host) {
            (Some(host), Some(wanted)) if host != wanted => continue,
            (Some(host), _) => draft.on_host(host, line.number)?,
            (None, _) => {}
        }
        found.lines += 1;
        let telling = found.learn(draft, &entry, line)?;
        if entry.severe || telling {
            kept.keep(line);
        }
    }
    if found.lines == 0 {
        let advice = match &options.host {
            Some(host) => format!("no line is of the host {host}: name it as the lines do"),
            None => "run the program with NCCL_DEBUG=INFO".to_owned(),
        };
        return Err(ConvertError::new("there are no lines of NCCL", advice));
    }
    found.finish(draft);
    if kept.left_out > 0 {
        draft.host.insert(
            "nccl.lines_left_out".to_owned(),
            Fact::read(kept.left_out.into(), TOOL),
        );
    }
    draft.logs.extend(kept.excerpt("nccl"));
    Ok(())
}

/// `host:pid:tid [dev] NCCL INFO message`, whatever stands before it, or `NCCL DIAG message`.
fn entry(text: &str) -> Option<Entry<'_>> {
    if let Some((_, message)) = text.split_once("NCCL DIAG ") {
        return Some(Entry {
            host: None,
            severe: true,
            message,
        });
    }
    if text.trim_start().starts_with("NCCL version ") {
        return Some(Entry {
            host: None,
            severe: false,
            message: text.trim().strip_prefix("NCCL ")?,
        });
    }
    let (before, message, severe) = match (text.split_once(" NCCL WARN "), text.split_once(" NCCL INFO ")) {
        (Some((before, message)), _) => (before, message, true),
        (None, Some((before, message))) => (before, message, false),
        (None, None) => return None,
    };
    // The word with process and thread; launchers put a rank before it (`[default0]:`, `3: `).
    let word = before
        .split_whitespace()
        .rfind(|word| word.matches(':').count() >= 2);
    let host = word.and_then(|word| {
        let mut parts = word.rsplit(':');
        let numbers = parts
            .by_ref()
            .take(2)
            .all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()));
        let host = parts.next()?;
        (numbers && !host.is_empty()).then_some(host)
    });
    Some(Entry {
        host,
        severe,
        message,
    })
}

/// `0[2]`: a rank of some communicator, and the device in brackets, NVML's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct End {
    rank: u32,
    nvml: Option<u32>,
}

impl End {
    fn read(text: &str) -> Option<Self> {
        let (rank, device) = text.trim().split_once('[').unwrap_or((text.trim(), ""));
        let nvml = device.split(']').next().and_then(|digits| digits.parse().ok());
        Some(Self {
            rank: rank.parse().ok()?,
            nvml,
        })
    }
}

#[derive(Default)]
struct Found {
    lines: u64,
    /// CUDA's number and NVML's of each rank; more than one where communicators number their ranks differently.
    devices: BTreeMap<u32, BTreeSet<(u32, u32)>>,
    ways: BTreeMap<(End, End), BTreeSet<String>>,
    diagnostics: Vec<String>,
    ended_well: bool,
}

impl Found {
    /// True where the line is worth keeping.
    fn learn(&mut self, draft: &mut Draft, entry: &Entry<'_>, line: &Line) -> Result<bool, ConvertError> {
        let message = entry.message.trim();
        if entry.host.is_none() && entry.severe {
            self.diagnostic(draft, message);
            return Ok(true);
        }
        if let Some(version) = message
            .strip_prefix("NCCL version ")
            .or_else(|| message.strip_prefix("version "))
        {
            let version = version.split_whitespace().next().unwrap_or_default();
            draft
                .host
                .insert("nccl.version".to_owned(), Fact::read(version.into(), TOOL));
            return Ok(true);
        }
        if message.contains(" cudaDev ") && message.contains(" rank ") {
            self.rank(draft, message, line)?;
            return Ok(false);
        }
        if let Some((channel, way)) = message.split_once(" via ")
            && channel.starts_with("Channel ")
        {
            self.way(channel, way);
            return Ok(false);
        }
        Ok([
            "P2P is disabled",
            "Could not enable P2P",
            "IPC not supported",
            "P2P not supported",
        ]
        .iter()
        .any(|text| message.contains(text)))
    }

    /// `… rank 0 nranks 2 cudaDev 0 nvmlDev 0 busId 3b000 …`.
    fn rank(&mut self, draft: &mut Draft, message: &str, line: &Line) -> Result<(), ConvertError> {
        let after = |name: &str| {
            let mut words = message.split_whitespace().skip_while(|word| *word != name);
            words.nth(1)
        };
        let number = |name| after(name).and_then(|word| word.parse::<u32>().ok());
        let (Some(rank), Some(cuda)) = (number("rank"), number("cudaDev")) else {
            return Ok(());
        };
        let nvml = number("nvmlDev").unwrap_or(cuda);
        let bus = after("busId").and_then(|word| u64::from_str_radix(word.trim_start_matches("0x"), 16).ok());
        let gpu = draft.gpu(cuda, line.number)?;
        // Domain, bus, device and function in one number: 0x3b000 is 0000:3b:00.0.
        let part = |shift: u32, mask: u64| bus.and_then(|bus| u32::try_from(bus >> shift & mask).ok());
        if let (Some(domain), Some(bus), Some(device)) =
            (part(20, 0xffff_ffff), part(12, 0xff), part(4, 0xff))
            && let Some(address) = address(domain, bus, device)
            && gpu.pci_address.is_none()
        {
            gpu.pci_address = Some(Fact::read(address, TOOL));
        }
        self.devices.entry(rank).or_default().insert((cuda, nvml));
        Ok(())
    }

    /// `Channel 00/0 : 0[0] -> 1[1]` and `P2P/CUMEM`.
    fn way(&mut self, channel: &str, way: &str) {
        let Some((_, ends)) = channel.split_once(" : ") else {
            return;
        };
        let Some((from, to)) = ends.split_once(" -> ") else {
            return;
        };
        if let (Some(from), Some(to)) = (End::read(from), End::read(to)) {
            // `SHM/direct/direct` and `P2P/direct pointer` are known by their first parts.
            let name = way.split_whitespace().next().unwrap_or_default();
            self.ways
                .entry((from, to))
                .or_default()
                .insert(name.chars().take(40).collect());
        }
    }

    /// `[OK]   p2p: verified …`, `[INFO] p2p: only 52/56 …`.
    fn diagnostic(&mut self, draft: &mut Draft, message: &str) {
        if self.diagnostics.len() < MOST_LINES {
            self.diagnostics
                .push(message.chars().take(LONGEST_LINE).collect());
        }
        if message.starts_with("NCCL diagnostics completed") {
            self.ended_well = true;
        }
        if let Some(count) = between(message, "p2p: only ", " GPU-to-GPU") {
            let (passed, tested) = count.split_once('/').unwrap_or((count, "?"));
            draft.failures.push(Failure::new(
                "NCCL diagnostics p2p",
                format!("{passed} of {tested} peer accesses passed NCCL's own verification"),
            ));
        }
    }

    /// CUDA's number of an end of a way; none where its rank is that of several devices and the brackets do not tell.
    fn device(&self, end: End) -> Option<u32> {
        let devices = self.devices.get(&end.rank)?;
        let named = devices.iter().find(|(_, nvml)| end.nvml == Some(*nvml));
        let only = devices.first().filter(|_| devices.len() == 1);
        named.or(only).map(|(cuda, _)| *cuda)
    }

    fn finish(self, draft: &mut Draft) {
        let mut ways_of_pairs: BTreeMap<(u32, u32), BTreeSet<&str>> = BTreeMap::new();
        for ((from, to), ways) in &self.ways {
            if let (Some(from), Some(to)) = (self.device(*from), self.device(*to))
                && from != to
            {
                let of_pair = ways_of_pairs.entry((from, to)).or_default();
                of_pair.extend(ways.iter().map(String::as_str));
            }
        }
        for ((from, to), ways) in ways_of_pairs {
            let ways: Vec<&str> = ways.into_iter().collect();
            let name = format!("nccl.transport_{}", if from < to { "forth" } else { "back" });
            draft
                .pair(from, to)
                .facts
                .insert(name, Fact::read(ways.join(" ").into(), TOOL));
        }
        if !self.diagnostics.is_empty() {
            if !self.ended_well {
                draft.note(
                    TOOL,
                    "NCCL's diagnostics have no closing line: they did not end, or the log is cut",
                );
            }
            draft.host.insert(
                "nccl.diagnostics".to_owned(),
                Fact::read(self.diagnostics.into(), TOOL),
            );
        }
        if self.devices.is_empty() {
            draft.note(
                TOOL,
                "no line tells the GPU of a rank (NCCL_DEBUG=INFO does): pairs stay unnamed",
            );
        }
    }
}
