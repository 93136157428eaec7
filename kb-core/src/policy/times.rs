//! How often something was seen, and how close together.

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::Rule;
use crate::report::Entry;

/// Times of an event that are kept, and so the highest count of a rule.
pub const MOST_TIMES: usize = 32;

/// How often the lines of one log tell of something on one device, where no ledger counts it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seen {
    /// Seconds by the clock of the log.
    at: Vec<i64>,
    /// Lines without a time.
    untimed: u64,
}

impl Seen {
    /// Adds a line of the kernel, with its time in front or without.
    pub fn note(&mut self, line: &str) {
        match stamp(line) {
            Some(at) => self.at.push(at),
            None => self.untimed = self.untimed.saturating_add(1),
        }
    }

    /// Whether it was seen as often as the rule asks, within its window.
    pub(super) fn reaches(&self, rule: &Rule) -> bool {
        let (Some(count), Some(window)) = (rule.count, rule.window_seconds) else {
            return true;
        };
        // What has no time may have come with the others.
        let needed = u64::from(count).saturating_sub(self.untimed);
        let needed = usize::try_from(needed).unwrap_or(usize::MAX);
        if needed == 0 {
            return true;
        }
        let mut at = self.at.clone();
        at.sort_unstable();
        at.windows(needed).any(|times| span(times) <= window)
    }
}

/// `[ 1234.567890] `: the kernel's seconds since boot.
fn stamp(line: &str) -> Option<i64> {
    let (stamp, _) = line.trim_start().strip_prefix('[')?.split_once(']')?;
    let (seconds, _) = stamp.trim().split_once('.')?;
    seconds.parse().ok()
}

/// Whether the event was seen as often as the rule asks, within its window, since it opened: no time ends it again.
pub(super) fn is_reached(rule: &Rule, entry: &Entry) -> bool {
    let (Some(count), Some(window)) = (rule.count, rule.window_seconds) else {
        return true;
    };
    if entry.count < u64::from(count) {
        return false;
    }
    let count = usize::try_from(count).unwrap_or(usize::MAX).max(2);
    // An older agent's entry has times alone, and perhaps not even these.
    let mut spans = entry.spans.clone();
    note_spans(&mut spans, &entry.times);
    match spans.get(count - 2) {
        Some(span) => *span <= window,
        // How often within the window is not known.
        None => spans.len() + 1 < MOST_TIMES,
    }
}

/// Adds a time to those of an entry, of which the newest are kept, and notes how close together they came: the shortest span in which
/// two, three and more were ever seen outlives the times themselves.
pub(crate) fn add_time(entry: &mut Entry, at: &str) {
    entry.times.push(at.to_owned());
    note_spans(&mut entry.spans, &entry.times);
    let surplus = entry.times.len().saturating_sub(MOST_TIMES);
    entry.times.drain(..surplus);
}

/// The shortest spans in seconds, of two times first.
fn note_spans(spans: &mut Vec<u64>, times: &[String]) {
    let read = |text: &String| OffsetDateTime::parse(text, &Rfc3339).ok();
    let mut times: Vec<i64> = times
        .iter()
        .filter_map(read)
        .map(OffsetDateTime::unix_timestamp)
        .collect();
    times.sort_unstable();
    for count in 2..=times.len().min(MOST_TIMES) {
        let Some(shortest) = times.windows(count).map(span).min() else {
            continue;
        };
        match spans.get_mut(count - 2) {
            Some(span) => *span = shortest.min(*span),
            None => spans.push(shortest),
        }
    }
}

/// From the first of these times to the last.
fn span(times: &[i64]) -> u64 {
    match (times.first(), times.last()) {
        (Some(first), Some(last)) => last.abs_diff(*first),
        _ => u64::MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{Code, Policy};
    use crate::report::Meaning;

    fn is_reached(lines: &[&str]) -> bool {
        let rule = Rule {
            count: Some(3),
            window_seconds: Some(60),
            ..crate::policy::tests::rule("xid 63", Meaning::Fault)
        };
        let mut seen = Seen::default();
        for line in lines {
            seen.note(line);
        }
        seen.reaches(&rule)
    }

    #[test]
    fn lines_count_within_the_window() {
        let (one, two, three) = ("[    5.000001] x", "[   35.0] x", "[   64.9] x");
        assert!(!is_reached(&[]) && !is_reached(&[one]) && !is_reached(&[one, two]));
        assert!(is_reached(&[one, two, three]) && is_reached(&[three, one, two]));
        assert!(!is_reached(&[one, two, "[  165.0] x"]));
        // What has no time may be of any.
        assert!(!is_reached(&[one, "x"]) && is_reached(&[one, "x", "[x] x"]) && is_reached(&["x", "x", "x"]));
    }

    #[test]
    fn below_its_count_a_rule_makes_an_event_and_without_any_count_it_is_reached() {
        let rule = Rule {
            count: Some(2),
            window_seconds: Some(60),
            ..crate::policy::tests::rule("xid 63", Meaning::Fault)
        };
        assert_eq!(rule.code, Code::read("xid 63"));
        let policy = Policy::of(vec![rule]);
        let subject = crate::policy::Subject {
            numbered: Some((crate::report::Family::Xid, 63)),
            ..crate::policy::Subject::default()
        };
        let is = |seen: &[Seen]| {
            let ruled = policy.judge_seen(subject, crate::report::Bearing::Warning, seen);
            ruled.map(|ruled| ruled.is)
        };
        let mut once = Seen::default();
        once.note("[ 5.0] x");
        let mut twice = once.clone();
        twice.note("[ 6.0] x");
        assert_eq!(is(&[]), Some(Meaning::Fault));
        assert_eq!(
            is(&[once.clone(), once.clone()]),
            Some(Meaning::Event),
            "of two devices"
        );
        assert_eq!(is(&[once, twice]), Some(Meaning::Fault));
    }
}
