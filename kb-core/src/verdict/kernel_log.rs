//! The lines of the kernel log that decide a verdict, read strictly: what does not look exactly so is not evidence.
//!
//! The matcher explains a log to people by records; here only a few forms count, each with the device it is about.

use crate::observation::{RECOVERY_ACTION_CHANGED, What, is_of_process, read_line, without_stamp};
use crate::report::{Family, Report, When};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    /// `NVRM: Xid (PCI:0000:0a:00): 79, …`.
    Xid(u32),
    /// Xid 144 to 150, of the fifth NVLink generation, with the word `Fatal`; without it they are warnings.
    FatalNvlinkXid,
    /// `nvidia-nvswitch3: SXid (PCI:0000:c5:00.0): 20034, Fatal, …`. Those that are not fatal are daily business.
    FatalSxid,
    /// The IOMMU stopped a device: `AMD-Vi: … [IO_PAGE_FAULT device=…`, `DMAR: [DMA Write …] Request device [3b:00.0]`.
    IommuFault,
    /// PCIe error reporting: `pcieport 0000:3a:00.0: AER: …`, `PCIe Bus Error: severity=…`.
    Aer,
}

/// Domain, bus and device; functions of a device share its fate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Slot(u32, u8, u8);

/// A line that was written while the run went on.
#[derive(Debug, Clone)]
pub(super) struct Line<'a> {
    pub(super) event: Event,
    pub(super) slot: Slot,
    pub(super) text: &'a str,
    /// JSON pointer to the excerpt that holds it.
    pub(super) pointer: String,
}

pub(super) fn lines(report: &Report) -> Vec<Line<'_>> {
    let during = report.logs.iter().enumerate();
    during
        .filter(|(_, log)| log.when == When::During)
        .flat_map(|(number, log)| {
            log.text.lines().filter_map(move |text| {
                let (event, slot) = read(text)?;
                Some(Line {
                    event,
                    slot,
                    text: text.trim(),
                    pointer: format!("/logs/{number}/text"),
                })
            })
        })
        .collect()
}

pub(super) fn read(line: &str) -> Option<(Event, Slot)> {
    if is_of_process(without_stamp(line)) {
        return None;
    }
    if let Some(told) = read_line(line) {
        let event = match told.what {
            What::Numbered {
                family: Family::Sxid,
                fatal,
                ..
            } => fatal.filter(|fatal| *fatal).map(|_| Event::FatalSxid)?,
            What::Numbered {
                number: 144..=150,
                fatal: Some(true),
                ..
            } => Event::FatalNvlinkXid,
            What::Numbered { number, .. } => Event::Xid(number),
            What::RecoveryAction(_) => Event::Xid(RECOVERY_ACTION_CHANGED),
            What::Message(_) | What::Bus(_) => return others(line),
        };
        return Some((event, slot(&told.device)?));
    }
    others(line)
}

fn others(line: &str) -> Option<(Event, Slot)> {
    if let Some((before, rest)) = line.split_once("[IO_PAGE_FAULT ") {
        let named = rest
            .strip_prefix("device=")
            .and_then(|rest| slot(rest.split(' ').next()?));
        return Some((Event::IommuFault, named.or_else(|| device_of(before))?));
    }
    if let Some((_, rest)) = line.split_once("DMAR: [")
        && let Some((_, rest)) = rest.split_once("Request device [")
    {
        let (address, _) = rest.split_once(']')?;
        return Some((Event::IommuFault, slot(address)?));
    }
    if line.contains(": AER: ") || line.contains("PCIe Bus Error: severity=") {
        return Some((Event::Aer, device_of(line)?));
    }
    None
}

/// The device that a driver's message begins with: `nvidia 0000:41:00.0: …`.
fn device_of(message: &str) -> Option<Slot> {
    message.split(' ').find_map(|word| slot(word.strip_suffix(':')?))
}

/// `0000:0a:00.0`, `0a:00.0` (domain 0) or `0000:0a:00`.
pub(super) fn slot(address: &str) -> Option<Slot> {
    let (address, function) = match address.split_once('.') {
        Some((address, function)) => (address, Some(function)),
        None => (address, None),
    };
    if !function.is_none_or(|function| matches!(function.as_bytes(), [b'0'..=b'7'])) {
        return None;
    }
    let parts: Vec<&str> = address.split(':').collect();
    let (domain, bus, device) = match (parts.as_slice(), function) {
        ([domain, bus, device], _) => (*domain, *bus, *device),
        ([bus, device], Some(_)) => ("0", *bus, *device),
        _ => return None,
    };
    if bus.len() != 2 || device.len() != 2 {
        return None;
    }
    Some(Slot(
        u32::from_str_radix(domain, 16).ok()?,
        u8::from_str_radix(bus, 16).ok()?,
        u8::from_str_radix(device, 16).ok()?,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_form_gives_its_event_and_device() {
        let device = Slot(0, 0x3b, 0);
        for (line, event) in [
            (
                "[ 12.3] NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', GPU has fallen off the bus.",
                Event::Xid(79),
            ),
            ("NVRM: Xid (0000:3b:00): 48, An uncorrectable", Event::Xid(48)),
            (
                "NVRM: Xid (PCI:0000:3b:00): 149, NETIR Fatal XC0 i0 Link -1 (0x000fe406 0x00000000)",
                Event::FatalNvlinkXid,
            ),
            (
                "NVRM: Xid (PCI:0000:3b:00): 144, SAW_MVB Nonfatal XC0 i0 Link 0 (0x00000001 0x00000008)",
                Event::Xid(144),
            ),
            (
                "nvidia-nvswitch2: SXid (PCI:0000:3b:00.0): 20034, Fatal, Link 30 LTSSM Fault Up",
                Event::FatalSxid,
            ),
            (
                "AMD-Vi: Event logged [IO_PAGE_FAULT device=3b:00.0 domain=0x001a address=0x1 flags=0x0020]",
                Event::IommuFault,
            ),
            (
                "nvidia 0000:3b:00.0: AMD-Vi: Event logged [IO_PAGE_FAULT domain=0x0013 address=0x1 flags=0x0]",
                Event::IommuFault,
            ),
            (
                "DMAR: [DMA Write NO_PASID] Request device [3b:00.0] fault addr 0x1 [fault reason 0x05] PTE Write",
                Event::IommuFault,
            ),
            (
                "pcieport 0000:3b:00.0: AER: Corrected error received: 0000:3b:00.0",
                Event::Aer,
            ),
            (
                "nvidia 0000:3b:00.0: PCIe Bus Error: severity=Corrected, type=Physical Layer",
                Event::Aer,
            ),
        ] {
            assert_eq!(read(line), Some((event, device)), "{line}");
        }
    }

    #[test]
    fn anything_else_is_no_evidence() {
        for line in [
            "",
            "NVRM: loading NVIDIA UNIX x86_64 Kernel Module  580.159.04",
            "NVRM: Xid (PCI:0000:3b:00): x, pid=1",
            "NVRM: Xid (PCI:zz:3b:00): 79, pid=1",
            "nvidia-nvswitch2: SXid (PCI:0000:3b:00.0): 12028, Non-fatal, Link 32 egress non-posted PRIV error",
            "someone said Xid 79 once",
            "AMD-Vi: Event logged [IO_PAGE_FAULT domain=0x0013]",
            "DMAR: DRHD: handling fault status reg 2",
            "pcieport: AER: enabled with IRQ 26",
        ] {
            assert_eq!(read(line), None, "{line}");
        }
    }

    #[test]
    fn addresses_are_compared_by_slot() {
        assert_eq!(slot("0000:00:06.0"), slot("00:06.1"));
        assert_eq!(slot("0001:00:06.0"), Some(Slot(1, 0, 6)));
        for bad in ["", "00:06", "0:0:6.0", "0000:00:06.9", "0000:00:06.", "a:b:c:d"] {
            assert_eq!(slot(bad), None, "{bad}");
        }
    }
}
