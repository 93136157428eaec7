//! Lines that a report takes along, bounded: of a flood not all, but the first line of each event that a line tells.

use std::collections::{BTreeSet, VecDeque};

use kb_core::health::read_message;

/// Of the time before the run the newest lines are kept, of the run the first ones: a flood follows its cause.
pub(super) const MOST: usize = 200;
/// Events, each of one kind and device, of which a line is kept beside those.
const MOST_EVENTS: usize = 200;

#[derive(Debug, Default)]
pub(super) struct Kept {
    /// First lines of events that are older than those that are kept as the newest.
    older: Vec<String>,
    lines: VecDeque<Line>,
    /// First lines of events that are newer than those that are kept as the first.
    newer: Vec<String>,
    /// The events of which a line is kept.
    events: BTreeSet<String>,
    left_out: u64,
}

#[derive(Debug)]
struct Line {
    text: String,
    /// Where it is the first that tells of its event.
    is_first: bool,
}

impl Kept {
    pub(super) fn push_newest(&mut self, message: &str, text: String) {
        let is_first = self.is_first(message);
        if self.lines.len() == MOST
            && let Some(oldest) = self.lines.pop_front()
        {
            if oldest.is_first {
                self.older.push(oldest.text);
            } else {
                self.left_out += 1;
            }
        }
        self.lines.push_back(Line { text, is_first });
    }

    pub(super) fn push_first(&mut self, message: &str, text: String) {
        let is_first = self.is_first(message);
        if self.lines.len() < MOST {
            self.lines.push_back(Line { text, is_first });
        } else if is_first {
            self.newer.push(text);
        } else {
            self.left_out += 1;
        }
    }

    pub(super) fn leave_out(&mut self) {
        self.left_out += 1;
    }

    /// How many lines there were beside those that are kept.
    pub(super) fn left_out(&self) -> u64 {
        self.left_out
    }

    /// In the order in which they were pushed.
    pub(super) fn into_lines(self) -> Vec<String> {
        let lines = self.lines.into_iter().map(|line| line.text);
        self.older.into_iter().chain(lines).chain(self.newer).collect()
    }

    fn is_first(&mut self, message: &str) -> bool {
        let Some(event) = read_message(message) else {
            return false;
        };
        self.events.len() < MOST_EVENTS && self.events.insert(format!("{:?} {}", event.what, event.device))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn xid(number: u32, device: u32) -> String {
        format!("NVRM: Xid (PCI:0000:{device:02x}:00): {number}, pid=1, x")
    }

    /// A flood of one Xid with another in it.
    fn flood(at: usize) -> Vec<String> {
        let mut lines = vec![xid(43, 6); 3 * MOST];
        lines[at] = xid(48, 6);
        lines
    }

    #[test]
    fn a_flood_hides_no_other_event() {
        for at in [0, MOST, 2 * MOST, 3 * MOST - 1] {
            let (mut before, mut during) = (Kept::default(), Kept::default());
            for line in flood(at) {
                before.push_newest(&line, line.clone());
                during.push_first(&line, line.clone());
            }
            for kept in [before, during] {
                let left_out = kept.left_out();
                let lines = kept.into_lines();
                assert!(lines.contains(&xid(43, 6)), "{at}");
                let place = lines.iter().position(|line| *line == xid(48, 6)).unwrap();
                let is_before_all = at == 0;
                assert_eq!(place == 0, is_before_all, "in its order: {at}, {place}");
                assert_eq!(u64::try_from(lines.len()).unwrap() + left_out, 3 * MOST as u64);
                assert!(lines.len() <= MOST + 2);
            }
        }
    }

    #[test]
    fn many_events_are_bounded_and_told_as_left_out() {
        let mut during = Kept::default();
        for device in 0..200 {
            for number in [31, 43, 48] {
                let line = xid(number, device);
                during.push_first(&line, line.clone());
            }
        }
        assert!(during.left_out() > 0);
        assert!(during.into_lines().len() <= MOST + MOST_EVENTS);
    }
}
