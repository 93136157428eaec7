//! Xids and SXids in the logs of a report that no record of this version is about: somebody should look, and what the driver itself calls
//! fatal is a fault.

use std::collections::BTreeMap;

use super::by_policy::ruled_event;
use super::counted::Counted;
use crate::ids::RecordId;
use crate::observation::{LineEvent, What, known, read_message};
use crate::policy::Policy;
use crate::report::{Bearing, Family, Report, Ruled};

/// One of them on one device, as the worst of its lines tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unrecorded {
    /// Xid or SXid.
    pub family: Family,
    /// Its number.
    pub number: u32,
    /// PCI address of the GPU or switch, or `node`.
    pub device: String,
    /// The log, by its place in the report.
    pub log: usize,
    /// The line in the log, from 1.
    pub line: usize,
    /// The message.
    pub text: String,
    /// How many lines tell of it.
    pub count: u64,
    /// What it means for the node.
    pub bearing: Bearing,
    /// What the site's policy has made of it.
    pub by_policy: Option<Ruled>,
}

/// The worst line of a number and a device, where it stands, and how many there are.
struct Worst {
    event: LineEvent,
    place: (usize, usize),
    count: u64,
}

/// All of them, before the run and during it, by number and device. `is_published` is asked whether there is a record, by the id that
/// agents know it by.
pub fn unrecorded(
    report: &Report,
    policy: &Policy,
    is_published: impl Fn(&RecordId) -> bool,
) -> Vec<Unrecorded> {
    let mut found: BTreeMap<(Family, u32, String), Worst> = BTreeMap::new();
    for (log, excerpt) in report.logs.iter().enumerate() {
        let lines = (1..).zip(excerpt.text.lines());
        // Most lines are no such line, and are not looked at closer.
        for (line, text) in lines.filter(|(_, text)| text.contains("Xid (")) {
            let Some(event) = read_message(text.trim()) else {
                continue;
            };
            let What::Numbered { family, number, .. } = event.what else {
                continue;
            };
            if known(family, number).is_some_and(|known| is_published(&known.record)) {
                continue;
            }
            let worst = found.entry((family, number, event.device.clone()));
            let worst = worst.or_insert_with(|| Worst {
                event: event.clone(),
                place: (log, line),
                count: 0,
            });
            worst.count = worst.count.saturating_add(1);
            if event.what.bearing() > worst.event.what.bearing() {
                worst.event = event;
                worst.place = (log, line);
            }
        }
    }
    let counted = Counted::of(report, policy);
    let found = found.into_iter().map(|((family, number, device), worst)| {
        let Worst { event, place, count } = worst;
        let by_policy = ruled_event(report, policy, &event, &counted);
        let was = event.what.bearing();
        Unrecorded {
            family,
            number,
            device,
            log: place.0,
            line: place.1,
            text: event.text,
            count,
            bearing: by_policy.as_ref().map_or(was, |ruled| ruled.is.bearing()),
            by_policy,
        }
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::tests::rule;
    use crate::report::{LogExcerpt, Meaning, When};
    use crate::verdict::logged::logged;
    use crate::verdict::tests::healthy;

    const UNCORRECTABLE: &str =
        "[    5.0] NVRM: Xid (PCI:0000:3b:00): 180, Uncorrectable fatal error, GPU requires reset";
    const FATAL: &str = "[    6.0] NVRM: Xid (PCI:0000:3b:00): 999, NETIR Fatal XC0";
    const SWITCH: &str =
        "[    7.0] nvidia-nvswitch0: SXid (PCI:0000:01:00.0): 29999, Fatal, Link 24 something new";
    const KNOWN: &str = "[    8.0] NVRM: Xid (PCI:0000:3b:00): 79, pid=7, GPU has fallen off the bus.";
    const OF_APPLICATION: &str = "[    9.0] NVRM: Xid (PCI:0000:3b:00): 31, pid=7, name=x, MMU Fault";

    fn with(when: When, lines: &[&str]) -> Report {
        let mut report = healthy(2);
        report.logs.push(LogExcerpt {
            source: "kmsg".to_owned(),
            when,
            text: lines.join("\n"),
        });
        report
    }

    fn told(report: &Report, policy: &Policy) -> Vec<(Family, u32, Bearing, u64)> {
        let found = unrecorded(report, policy, |_| true).into_iter();
        found
            .map(|one| (one.family, one.number, one.bearing, one.count))
            .collect()
    }

    #[test]
    fn a_number_without_a_record_is_a_warning_and_a_fault_where_its_line_says_fatal() {
        let lines = [UNCORRECTABLE, KNOWN, FATAL, OF_APPLICATION, SWITCH, UNCORRECTABLE];
        let report = with(When::Before, &lines);
        assert_eq!(
            told(&report, &Policy::default()),
            [
                (Family::Xid, 180, Bearing::Warning, 2),
                (Family::Xid, 999, Bearing::Fault, 1),
                (Family::Sxid, 29_999, Bearing::Fault, 1),
            ]
        );
        // The line that says most stands for all.
        let milder = FATAL.replace("Fatal", "Nonfatal");
        let report = with(When::Before, &[&milder, FATAL]);
        let found = unrecorded(&report, &Policy::default(), |_| true);
        assert_eq!((found[0].bearing, found[0].line), (Bearing::Fault, 2));
        // A record that is not published explains nothing.
        let found = unrecorded(&with(When::Before, &[KNOWN]), &Policy::default(), |_| false);
        assert_eq!(found[0].bearing, Bearing::Fault);
        // What somebody else writes is no line of the driver.
        let quoted = format!("a program said {FATAL}");
        assert_eq!(
            unrecorded(&with(When::Before, &[&quoted]), &Policy::default(), |_| true),
            []
        );
    }

    #[test]
    fn a_rule_of_the_site_is_about_it() {
        for (is, bearing, is_told) in [
            (Meaning::Event, Bearing::Event, false),
            (Meaning::Warning, Bearing::Warning, false),
            (Meaning::Fault, Bearing::Fault, true),
        ] {
            let policy = Policy::of(vec![rule("xid 999", is)]);
            let report = with(When::During, &[FATAL]);
            assert_eq!(told(&report, &policy), [(Family::Xid, 999, bearing, 1)]);
            assert!(unrecorded(&report, &policy, |_| true)[0].by_policy.is_some());
            // It is no line that nobody explains, either.
            assert_eq!(logged(&report, &policy).is_some(), is_told, "{is:?}");
        }
    }
}
