//! Which matches count beside others: one may take another away, some matter only alone or only with others.

use std::collections::BTreeMap;

use super::clock::Clocks;
use super::entry::Entry;
use crate::reason::Why;

/// For each place of a record that does not count: why.
pub(super) fn discounted(entries: &[Entry<'_>], clocks: &Clocks) -> BTreeMap<u32, Why> {
    let company = Company { entries, clocks };
    let mut gone: BTreeMap<u32, Why> = entries
        .iter()
        .filter_map(|entry| {
            let why = company.cancelled(entry).or_else(|| company.missed(entry))?;
            Some((entry.place, why))
        })
        .collect();
    // What does not count itself takes nothing away.
    let is_gone = |entry: &Entry<'_>| gone.contains_key(&entry.place);
    let crowded: Vec<(u32, Why)> = entries
        .iter()
        .filter(|entry| !is_gone(entry))
        .filter_map(|entry| Some((entry.place, company.crowded(entry, is_gone)?)))
        .collect();
    gone.extend(crowded);
    gone
}

/// Whether one is too slight to explain the other: what is harmless explains only what is harmless, and a notice no error.
fn is_nothing_beside(one: &Entry<'_>, other: &Entry<'_>) -> bool {
    one.harmless && !other.harmless || one.notice && other.is_error && !other.notice
}

struct Company<'e, 'r> {
    entries: &'e [Entry<'r>],
    clocks: &'e Clocks,
}

impl<'e, 'r> Company<'e, 'r> {
    /// Taken away by another match, unless the two take each other away. The window is the other's.
    fn cancelled(&self, entry: &Entry<'_>) -> Option<Why> {
        if entry.record.cancels.is_empty() {
            return None;
        }
        let by = self.others(entry).find(|other| {
            entry.record.cancels.contains(&other.place)
                && !other.record.cancels.contains(&entry.place)
                && self.in_window(other.record.window_seconds, entry, other)
                && self.is_on_all_hosts(entry, other)
        })?;
        Some(Why::TakenAway {
            by: by.record.id.clone(),
            line: by.first_line(),
        })
    }

    /// None of the records is here without which it means nothing.
    fn missed(&self, entry: &Entry<'_>) -> Option<Why> {
        let wanted = entry.record.only_with.as_ref()?;
        let window = entry.record.window_seconds;
        let has_company = self
            .others(entry)
            .any(|other| wanted.contains(&other.place) && self.in_window(window, entry, other));
        (!has_company).then_some(Why::OnlyWithOthers { window })
    }

    fn crowded(&self, entry: &Entry<'_>, is_gone: impl Fn(&Entry<'_>) -> bool) -> Option<Why> {
        if !entry.record.only_alone {
            return None;
        }
        let window = entry.record.window_seconds;
        let other = self.others(entry).find(|other| {
            !other.record.only_alone
                && !is_gone(other)
                && !is_nothing_beside(other, entry)
                && self.in_window(window, entry, other)
                && self.is_on_all_hosts(entry, other)
        })?;
        Some(Why::OnlyAlone {
            beside: other.record.id.clone(),
            line: other.first_line(),
            window,
        })
    }

    fn others(&self, entry: &Entry<'_>) -> impl Iterator<Item = &'e Entry<'r>> {
        let place = entry.place;
        self.entries.iter().filter(move |other| other.place != place)
    }

    /// Whether hits of two records lie within a window of each other. On one clock its times tell; lines of different
    /// hosts do not bear on each other; where nothing tells, the whole text is the window.
    fn in_window(&self, seconds: Option<u32>, one: &Entry<'_>, other: &Entry<'_>) -> bool {
        let Some(seconds) = seconds else {
            return true;
        };
        let (own, their) = (&one.tally.times, &other.tally.times);
        let mut apart = own.iter().filter_map(|span| {
            let on_same_clock = their.iter().find(|their| their.clock == span.clock)?;
            Some(span.apart(on_same_clock))
        });
        let limit = u64::from(seconds) * 1_000_000;
        match apart.next() {
            Some(first) => apart.fold(first, u64::min) <= limit,
            None => !self.on_different_hosts(one, other),
        }
    }

    fn on_different_hosts(&self, one: &Entry<'_>, other: &Entry<'_>) -> bool {
        let hosts = self.hosts(one).zip(self.hosts(other));
        hosts.is_some_and(|(own, their)| !own.iter().any(|host| their.contains(host)))
    }

    /// Whether the other is on every host of the one: no host explains another's errors. True where the lines do not tell.
    fn is_on_all_hosts(&self, one: &Entry<'_>, other: &Entry<'_>) -> bool {
        let hosts = self.hosts(one).zip(self.hosts(other));
        hosts.is_none_or(|(own, their)| own.iter().all(|host| their.contains(host)))
    }

    /// The hosts of a record's lines; `None` where a line does not name its own.
    fn hosts(&self, entry: &Entry<'_>) -> Option<Vec<&'e [u8]>> {
        let times = entry.tally.times.iter();
        let hosts: Vec<&[u8]> = times.map(|span| self.clocks.host(span.clock)).collect();
        let are_named =
            !hosts.is_empty() && !entry.tally.untimed && hosts.iter().all(|host| !host.is_empty());
        are_named.then_some(hosts)
    }
}
