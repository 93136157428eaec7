//! One PCI device as sysfs shows it: its place in the tree, its identity, its link.

use std::os::unix::fs::FileExt;

use kb_core::report::{Fact, GapKind};
use serde_json::{Value, json};

use super::super::{HostRoot, absent, embedded, root::unread};
use super::acs::Acs;

/// Folder of links, one a device; Linux ABI `sysfs-bus-pci`.
const DEVICES: &str = "sys/bus/pci/devices";

/// A device by its address, such as `0000:3b:00.0`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Device<'a> {
    root: &'a HostRoot,
    pub(super) address: &'a str,
}

impl<'a> Device<'a> {
    pub(super) fn new(root: &'a HostRoot, address: &'a str) -> Self {
        Self { root, address }
    }

    fn file(&self, name: &str) -> String {
        format!("{DEVICES}/{}/{name}", self.address)
    }

    pub(super) fn attribute(&self, name: &str) -> Fact<String> {
        self.root.line(&self.file(name))
    }

    pub(super) fn find<T>(
        &self,
        name: &str,
        otherwise: &str,
        pick: impl FnOnce(&str) -> Option<T>,
    ) -> Fact<T> {
        self.root.find(&self.file(name), otherwise, pick)
    }

    pub(super) fn link_name(&self, name: &str) -> Fact<String> {
        let target = self.root.link(&self.file(name));
        target.map(|path| path.rsplit('/').next().unwrap_or_default().to_owned())
    }

    /// The addresses from the root port down to the device itself. sysfs nests a device in the folder of the bridge
    /// above it, below one folder a root bus (`pci0000:00`).
    pub(super) fn ancestry(&self) -> Fact<Vec<String>> {
        let path = format!("{DEVICES}/{}", self.address);
        if !is_address(self.address) {
            return absent(
                GapKind::Failed,
                DEVICES,
                format!("{:?} is no PCI address", self.address),
            );
        }
        let target = self.root.link(&path);
        target.map(|target| {
            let parts = target.split('/').filter(|part| is_address(part));
            parts.map(str::to_owned).collect()
        })
    }

    pub(super) fn acs(&self) -> Fact<Acs> {
        let path = self.file("config");
        let config = match self.root.open(&path) {
            Ok(config) => config,
            Err(error) => return unread(&path, &error),
        };
        let dword = |at: usize| {
            let mut bytes = [0; 4];
            let at = u64::try_from(at).ok()?;
            config.read_exact_at(&mut bytes, at).ok()?;
            Some(u32::from_le_bytes(bytes))
        };
        match Acs::parse(dword) {
            Ok(acs) => Fact::read(acs, format!("/{path}")),
            Err((kind, reason)) => absent(kind, &path, reason),
        }
    }

    pub(super) fn describe(&self) -> Value {
        let width = |name| self.find(name, NO_LINK, link_width);
        let generation = |name| self.find(name, NO_LINK, link_generation);
        json!({
            "address": self.address,
            "vendor": embedded(self.attribute("vendor")),
            "device": embedded(self.attribute("device")),
            "class": embedded(self.attribute("class")),
            "link_generation": embedded(generation("current_link_speed")),
            "link_generation_max": embedded(generation("max_link_speed")),
            "link_width": embedded(width("current_link_width")),
            "link_width_max": embedded(width("max_link_width")),
            "acs": embedded(self.acs().map(Acs::to_json)),
        })
    }
}

const NO_LINK: &str = "the kernel does not know it: the device has no PCIe link, or the link is down";

/// `16.0 GT/s PCIe` is generation 4. `Unknown` is what the kernel writes for a speed that it does not know.
fn link_generation(text: &str) -> Option<u64> {
    let speed = text.split_whitespace().next()?;
    let known = ["2.5", "5.0", "8.0", "16.0", "32.0", "64.0", "128.0"];
    // Kernels before 4.17 wrote `5 GT/s`.
    let is_it = |known: &&str| *known == speed || known.strip_suffix(".0") == Some(speed);
    let index = known.iter().position(is_it)?;
    u64::try_from(index + 1).ok()
}

/// Lanes. 0 is a link that is down, 255 one that the kernel knows nothing of (`PCIE_LNK_WIDTH_UNKNOWN`).
fn link_width(text: &str) -> Option<u64> {
    let width = text.trim().parse().ok()?;
    (1..=32).contains(&width).then_some(width)
}

/// `0000:3b:00.0`: domain of four digits or more, bus, device, function.
pub(super) fn is_address(text: &str) -> bool {
    let hex = |text: &str, digits: std::ops::RangeInclusive<usize>| {
        digits.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    let mut parts = text.split(':');
    let (Some(domain), Some(bus), Some(rest), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    let Some((device, function)) = rest.split_once('.') else {
        return false;
    };
    hex(domain, 4..=8) && hex(bus, 2..=2) && hex(device, 2..=2) && hex(function, 1..=1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speeds_of_all_kernels_are_generations() {
        for (text, generation) in [
            ("2.5 GT/s PCIe", Some(1)),
            ("5.0 GT/s PCIe", Some(2)),
            ("8 GT/s", Some(3)),
            ("16.0 GT/s PCIe", Some(4)),
            ("32.0 GT/s PCIe", Some(5)),
            ("64.0 GT/s PCIe", Some(6)),
            ("Unknown", None),
            ("", None),
        ] {
            assert_eq!(link_generation(text), generation, "{text}");
        }
    }

    #[test]
    fn a_width_that_is_none_is_no_width() {
        for (text, width) in [("16\n", Some(16)), ("0", None), ("255", None), ("x16", None)] {
            assert_eq!(link_width(text), width, "{text}");
        }
    }

    #[test]
    fn only_addresses_are_addresses() {
        for address in ["0000:3b:00.0", "10000:e0:01.0", "0009:01:00.7"] {
            assert!(is_address(address), "{address}");
        }
        for other in [
            "pci0000:00",
            "0000:3b:00",
            "0000:3b:00.0/..",
            "",
            "devices",
            "0000:3b:0g.0",
        ] {
            assert!(!is_address(other), "{other}");
        }
    }
}
