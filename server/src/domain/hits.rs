//! The hits of a text: on which lines each record stands, and who wrote them.

use std::collections::{BTreeMap, HashMap};

use kb_core::ids::RecordId;
use kb_core::scanner::{Event, Hit, written_by};
use kb_core::terminal::harmless;

use super::lookup::MatchAnswer;

const MOST_LINES: usize = 200_000;
/// Most hosts, ranks or GPUs of one record that are noted.
const MOST_WRITERS: usize = 64;

#[derive(Debug, Default)]
pub struct Hits {
    of: HashMap<RecordId, HitsOfRecord>,
    lines: usize,
    complete_to: Option<u64>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HitsOfRecord {
    /// Line numbers, from 1, as they were found.
    pub lines: Vec<u64>,
    pub hosts: Vec<String>,
    pub ranks: Vec<String>,
    /// Numbers, or addresses on the bus.
    pub gpus: Vec<String>,
    pub are_more: bool,
}

impl Hits {
    /// Of an answer whose text is not there: its own lines are all that is known.
    pub fn of_answer(answer: &MatchAnswer) -> Self {
        let mut hits = Self::default();
        for found in &answer.matches {
            let of = hits.of.entry(found.id.clone()).or_default();
            for line in &found.lines {
                of.lines.push(line.line);
                if let Some(marked) = &line.text {
                    of.note_writer(&marked.text);
                }
                of.note_captured(&line.captures);
            }
        }
        hits
    }

    pub fn note(&mut self, events: &[Event]) {
        for event in events {
            if let Event::Hit(hit) = event {
                self.note_hit(hit);
            }
        }
    }

    fn note_hit(&mut self, hit: &Hit) {
        let of = self.of.entry(hit.record.clone()).or_default();
        if self.lines < MOST_LINES {
            let before = of.lines.len();
            of.lines.push(hit.line);
            of.lines.extend(hit.parts.iter().map(|part| part.line));
            self.lines += of.lines.len() - before;
        } else {
            self.complete_to.get_or_insert(hit.line.saturating_sub(1));
        }
        if let Some(marked) = &hit.text {
            of.note_writer(&marked.text);
        }
        of.note_captured(&hit.captures);
    }

    pub fn of(&self, id: &RecordId) -> Option<&HitsOfRecord> {
        self.of.get(id)
    }

    /// The last line before the first hit that is not noted; `None` where all are.
    pub fn complete_to(&self) -> Option<u64> {
        self.complete_to
    }
}

impl HitsOfRecord {
    fn note_writer(&mut self, line: &str) {
        let by = written_by(line);
        let mut is_kept = note(&mut self.hosts, by.host);
        is_kept &= note(&mut self.ranks, by.rank);
        is_kept &= note(&mut self.gpus, by.gpu);
        self.are_more |= !is_kept;
    }

    fn note_captured(&mut self, captures: &BTreeMap<String, String>) {
        let value = |name: &str| captures.get(name).map(String::as_str);
        let device = value("pci")
            .or_else(|| value("device"))
            .map(|device| device.trim_start_matches("PCI:"));
        let device = device.filter(|device| is_address(device));
        // The GPU is function 0 of its device; the kernel names it with the function, the driver without.
        let device = device.map(|device| device.trim_end_matches(".0"));
        let mut is_kept = note(&mut self.ranks, value("rank"));
        is_kept &= note(&mut self.gpus, device);
        is_kept &= note(&mut self.gpus, value("gpu"));
        self.are_more |= !is_kept;
    }
}

/// An address on the PCI bus: `0000:3b:00`, `0000:3b:00.0`.
fn is_address(device: &str) -> bool {
    let is_part = |c: char| c.is_ascii_hexdigit() || c == ':' || c == '.';
    device.contains(':') && device.chars().all(is_part)
}

/// Notes a value once. False where there is no room for it.
fn note(known: &mut Vec<String>, value: Option<&str>) -> bool {
    let Some(value) = value.map(str::trim).filter(|value| !value.is_empty()) else {
        return true;
    };
    let value = harmless(value);
    if known.contains(&value) {
        return true;
    }
    let has_room = known.len() < MOST_WRITERS;
    if has_room {
        known.push(value);
    }
    has_room
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
    fn a_value_for_which_there_is_no_room_is_told() {
        let mut known = Vec::new();
        for n in 0..MOST_WRITERS {
            assert!(note(&mut known, Some(&format!("gpu{n:02}"))));
        }
        assert!(note(&mut known, Some("gpu01")) && note(&mut known, Some(" ")) && note(&mut known, None));
        assert!(!note(&mut known, Some("gpu99")));
        assert_eq!(known.len(), MOST_WRITERS);
    }
}
