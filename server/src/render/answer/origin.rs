//! Who wrote the lines of a match, and when, as far as the lines say so.

use std::collections::BTreeMap;

use kb_core::scanner::{Match, written_by};
use kb_core::terminal::harmless;

/// Most hosts, ranks or GPUs of one match that are named.
const MOST: usize = 8;

/// Where a match comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origin {
    /// The time of its first line, as that has it.
    pub time: Option<String>,
    pub hosts: Vec<String>,
    pub ranks: Vec<String>,
    /// Numbers, or addresses on the bus.
    pub gpus: Vec<String>,
}

/// What a reader wants to see alone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Only {
    pub host: Option<String>,
    pub rank: Option<String>,
    pub gpu: Option<String>,
}

impl Only {
    pub fn is_all(&self) -> bool {
        *self == Self::default()
    }

    /// Whether a match from there is wanted.
    pub fn wants(&self, origin: &Origin) -> bool {
        let wants = |only: &Option<String>, of: &[String]| only.as_ref().is_none_or(|only| of.contains(only));
        wants(&self.host, &origin.hosts) && wants(&self.rank, &origin.ranks) && wants(&self.gpu, &origin.gpus)
    }
}

pub fn of(found: &Match) -> Origin {
    let mut origin = Origin::default();
    for (nth, line) in found.lines.iter().enumerate() {
        if let Some(marked) = &line.text {
            let by = written_by(&marked.text);
            if nth == 0 {
                origin.time = by.time.map(harmless);
            }
            note(&mut origin.hosts, by.host);
            note(&mut origin.ranks, by.rank);
            note(&mut origin.gpus, by.gpu);
        }
        captured(&mut origin, &line.captures);
    }
    for fold in &found.folds {
        captured(&mut origin, &fold.captures);
    }
    origin
}

fn captured(origin: &mut Origin, captures: &BTreeMap<String, String>) {
    let value = |name: &str| captures.get(name).map(String::as_str);
    note(&mut origin.ranks, value("rank"));
    let device = value("pci")
        .or_else(|| value("device"))
        .map(|device| device.trim_start_matches("PCI:"));
    let device = device.filter(|device| is_address(device));
    // The GPU is function 0 of its device; the kernel names it with the function, the driver without.
    note(
        &mut origin.gpus,
        device.map(|device| device.trim_end_matches(".0")),
    );
    note(&mut origin.gpus, value("gpu"));
}

/// An address on the PCI bus: `0000:3b:00`, `0000:3b:00.0`.
fn is_address(device: &str) -> bool {
    let is_part = |c: char| c.is_ascii_hexdigit() || c == ':' || c == '.';
    device.contains(':') && device.chars().all(is_part)
}

fn note(known: &mut Vec<String>, value: Option<&str>) {
    let Some(value) = value.map(str::trim).filter(|value| !value.is_empty()) else {
        return;
    };
    let value = harmless(value);
    if known.len() < MOST && !known.contains(&value) {
        known.push(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_the_bus_are_gpus() {
        let devices = ["0000:3b:00", "0000:3B:00.0", "mlx5_0", "cuda:0", ""];
        let is = devices.map(is_address);
        assert_eq!(is, [true, true, false, false, false]);
    }

    #[test]
    fn what_is_chosen_alone_must_be_there() {
        let origin = Origin {
            hosts: vec!["gpu07".to_owned()],
            ranks: vec!["1".to_owned(), "2".to_owned()],
            ..Origin::default()
        };
        let only = |host: &str, rank: &str| Only {
            host: Some(host.to_owned()).filter(|host| !host.is_empty()),
            rank: Some(rank.to_owned()).filter(|rank| !rank.is_empty()),
            gpu: None,
        };
        assert!(Only::default().wants(&origin) && only("gpu07", "2").wants(&origin));
        assert!(!only("gpu08", "").wants(&origin) && !only("gpu07", "3").wants(&origin));
    }
}
