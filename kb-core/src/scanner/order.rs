//! What came before what. Times of one clock are trusted. Clocks of different hosts differ by nobody knows how much: the
//! difference is estimated from errors that both report, and times decide only beyond what is uncertain of it. Within
//! that, and wherever no error tells the difference, the graph decides.

use std::collections::{BTreeMap, BTreeSet};

use super::clock::{Clocks, StampKind};
use super::entry::{Entry, MAX_MATCHES};
use super::fold::TimeSpan;
use super::summary::Order;

/// How far an estimated difference may be off at least, because two hosts do not report an error at the same time: 30 s.
const LEAST_TOLERANCE_MICROS: u64 = 30_000_000;
/// Lines of one traceback are written within this: 1 s.
const ONE_TIME_MICROS: u64 = 1_000_000;

pub(super) struct First {
    pub(super) record: u32,
    pub(super) line: u64,
    pub(super) captures: BTreeMap<String, String>,
    /// The host of the earliest hit, if the line names one.
    pub(super) host: Option<String>,
    pub(super) tells: Tells,
    times: Vec<TimeSpan>,
    untimed: bool,
}

/// What a match tells of the program that wrote it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tells {
    /// It is harmless.
    Harmless,
    /// Nothing is lost.
    Notice,
    Warning,
    Error,
}

impl Tells {
    fn of(entry: &Entry<'_>) -> Self {
        if entry.harmless {
            Self::Harmless
        } else if entry.notice {
            Self::Notice
        } else if entry.is_error {
            Self::Error
        } else {
            Self::Warning
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Before {
    /// It came first, or at the same time.
    Yes,
    No,
    /// Nothing in the text tells.
    Untold,
}

/// The earliest matches where they stand first, in order, and what tells their order.
pub(super) struct Timeline<'c> {
    /// At most [`MAX_MATCHES`].
    pub(super) firsts: Vec<First>,
    pub(super) order: Order,
    clocks: &'c Clocks,
    used: BTreeSet<usize>,
    skews: BTreeMap<(usize, usize), Skew>,
}

/// What one clock shows when another shows 0.
#[derive(Debug, Clone, Copy)]
struct Skew {
    micros: i64,
    tolerance: u64,
    /// Errors that both report.
    seen: usize,
}

impl<'c> Timeline<'c> {
    /// The order of the earliest of matches that are ranked, the better one first at the same place.
    pub(super) fn new(ranked: &[Entry<'_>], clocks: &'c Clocks) -> Self {
        let used: BTreeSet<usize> = ranked
            .iter()
            .flat_map(|entry| entry.tally.times.iter().map(|span| span.clock))
            .collect();
        let all_timed = ranked.iter().all(|entry| !entry.tally.untimed);
        let order = match (all_timed, used.len()) {
            (true, 1) => Order::Time,
            (true, 2..) => Order::TimeByClock,
            _ => Order::Line,
        };
        let mut timeline = Self {
            firsts: Vec::new(),
            order,
            clocks,
            skews: skews(ranked, &used, clocks),
            used,
        };
        let used = &timeline.used;
        let reference = used.first().copied();
        let comparable = |clock: &usize| {
            reference.is_some_and(|first| *clock == first || clocks.comparable(*clock, first))
        };
        let by_time = order == Order::Time || order == Order::TimeByClock && used.iter().all(comparable);
        let reference = reference.filter(|_| by_time);
        let mut earliest: Vec<((i64, u64), &Entry<'_>)> = ranked
            .iter()
            .filter_map(|entry| Some((timeline.begin(entry, reference)?, entry)))
            .collect();
        earliest.sort_by_key(|(at, _)| *at);
        earliest.truncate(MAX_MATCHES);
        let firsts = earliest
            .iter()
            .filter_map(|(_, entry)| timeline.first(entry, reference));
        timeline.firsts = firsts.collect();
        timeline
    }

    /// What sorts an entry: time on the reference clock if there is one, then the line.
    fn begin(&self, entry: &Entry<'_>, reference: Option<usize>) -> Option<(i64, u64)> {
        match self.earliest(entry, reference) {
            Some((at, span)) => Some((at, span.line)),
            None => Some((0, entry.tally.first.first()?.line)),
        }
    }

    fn earliest<'e>(&self, entry: &'e Entry<'_>, reference: Option<usize>) -> Option<(i64, &'e TimeSpan)> {
        let reference = reference?;
        let times = entry.tally.times.iter();
        let on_reference = times.map(|span| {
            let skew = self.skew(reference, span.clock);
            (span.first - skew.map_or(0, |skew| skew.micros), span)
        });
        on_reference.min_by_key(|(at, span)| (*at, span.line))
    }

    fn first(&self, entry: &Entry<'_>, reference: Option<usize>) -> Option<First> {
        let times = &entry.tally.times;
        let earliest = self.earliest(entry, reference).map(|(_, span)| span);
        let named = times.iter().find(|span| {
            let is_earliest = earliest.is_none_or(|earliest| earliest.clock == span.clock);
            is_earliest && !self.clocks.host(span.clock).is_empty()
        });
        let host = named.map(|span| self.clocks.host_name(span.clock));
        let (line, captures) = if let Some(span) = earliest {
            (span.line, span.captures.clone())
        } else {
            let matched = entry.tally.first.first()?;
            (matched.line, matched.captures.clone())
        };
        Some(First {
            record: entry.place,
            line,
            captures,
            host,
            tells: Tells::of(entry),
            times: times.clone(),
            untimed: entry.tally.untimed,
        })
    }

    pub(super) fn before(&self, one: &First, other: &First) -> Before {
        let is = |yes| if yes { Before::Yes } else { Before::No };
        let on_one_clock = one.times.iter().filter_map(|own| {
            let their = other.times.iter().find(|their| their.clock == own.clock)?;
            Some((own.first, own.line) <= (their.first, their.line))
        });
        let mut on_one_clock = on_one_clock.peekable();
        let untimed = one.untimed || other.untimed;
        if on_one_clock.peek().is_some() {
            return is(if untimed {
                one.line <= other.line
            } else {
                on_one_clock.any(|first| first)
            });
        }
        let apart = one.times.iter().flat_map(|own| {
            let others = other.times.iter();
            others.filter_map(|their| self.beyond_doubt(own, their))
        });
        let apart: Vec<bool> = apart.collect();
        match (one.times.is_empty(), other.times.is_empty()) {
            (true, true) => is(one.line <= other.line),
            // Lines of one program, some of them without a time; but the kernel's and a host's log are another source.
            (true, false) | (false, true) if !self.has_source(one) && !self.has_source(other) => {
                is(one.line <= other.line)
            }
            (false, false) if !apart.is_empty() => is(apart.contains(&true)),
            _ => Before::Untold,
        }
    }

    /// Which of two times on different clocks is the earlier, if that is beyond doubt.
    fn beyond_doubt(&self, own: &TimeSpan, their: &TimeSpan) -> Option<bool> {
        let (one, other) = (own.clock, their.clock);
        if self.clocks.precedes(one, other) || self.clocks.precedes(other, one) {
            return Some(self.clocks.precedes(one, other));
        }
        if !self.clocks.comparable(one, other) {
            return None;
        }
        let skew = self.skew(own.clock, their.clock)?;
        let later = their.first - skew.micros - own.first;
        (later.unsigned_abs() > skew.tolerance).then_some(later > 0)
    }

    fn has_source(&self, first: &First) -> bool {
        let mut clocks = first.times.iter().map(|span| span.clock);
        clocks.any(|clock| {
            !self.clocks.host(clock).is_empty() || self.clocks.kind(clock) == Some(StampKind::Boot)
        })
    }

    /// How two clocks differ; `None` where nothing tells.
    fn skew(&self, from: usize, to: usize) -> Option<Skew> {
        if from == to {
            return Some(Skew {
                micros: 0,
                tolerance: 0,
                seen: 0,
            });
        }
        let known = self.skews.get(&(from, to)).copied();
        known.or_else(|| {
            let skew = self.skews.get(&(to, from))?;
            Some(Skew {
                micros: -skew.micros,
                ..*skew
            })
        })
    }

    pub(super) fn notes(&self) -> Vec<String> {
        if self.order != Order::TimeByClock || self.firsts.len() < 2 {
            return Vec::new();
        }
        let mut notes: Vec<String> = self
            .skews
            .iter()
            .filter(|(_, skew)| skew.seen > 0)
            .map(|((from, to), skew)| {
                let (ahead, behind) = if skew.micros < 0 { (from, to) } else { (to, from) };
                format!(
                    "the clock of {} is taken to be {} s ahead of that of {}, by {} that both report; where two \
                     errors are less than {} s apart after that, the graph decides which led to which",
                    self.clocks.name(*ahead),
                    skew.micros.unsigned_abs() / 1_000_000,
                    self.clocks.name(*behind),
                    if skew.seen == 1 { "an error".to_owned() } else { format!("{} errors", skew.seen) },
                    skew.tolerance / 1_000_000,
                )
            })
            .collect();
        let hosts: BTreeSet<&[u8]> = self.used.iter().map(|clock| self.clocks.host(*clock)).collect();
        if notes.is_empty() && hosts.len() > 1 {
            notes.push(
                "the lines have the times of several clocks, and no error stands in two of them, which would tell how far \
                 the clocks are apart: between clocks the graph decides which error led to which"
                    .to_owned(),
            );
        }
        notes
    }
}

/// Whether no clock tells two matches apart by more than [`ONE_TIME_MICROS`].
pub(super) fn at_one_time(one: &First, other: &First) -> bool {
    if one.untimed || other.untimed {
        return true;
    }
    let shared = one.times.iter().flat_map(|own| {
        let others = other.times.iter().filter(|their| their.clock == own.clock);
        others.map(|their| their.first.abs_diff(own.first))
    });
    shared.min().is_none_or(|apart| apart <= ONE_TIME_MICROS)
}

/// For each two clocks that can be compared, how they differ, by the records that stand on lines of both.
fn skews(ranked: &[Entry<'_>], used: &BTreeSet<usize>, clocks: &Clocks) -> BTreeMap<(usize, usize), Skew> {
    if used.len() < 2 {
        return BTreeMap::new();
    }
    let clock_count = used.last().map_or(0, |last| last + 1);
    // For each pair, at the place of its first clock times their number, and that of its second.
    let mut seen: Vec<Vec<i64>> = vec![Vec::new(); clock_count * clock_count];
    for entry in ranked {
        for (at, one) in entry.tally.times.iter().enumerate() {
            for other in entry.tally.times.iter().skip(at + 1) {
                let (from, to) = if one.clock < other.clock {
                    (one, other)
                } else {
                    (other, one)
                };
                if clocks.comparable(from.clock, to.clock)
                    && let Some(apart) = seen.get_mut(from.clock * clock_count + to.clock)
                {
                    apart.push(to.first - from.first);
                }
            }
        }
    }
    let skew = |mut apart: Vec<i64>| {
        let (least, most) = (apart.iter().min().copied(), apart.iter().max().copied());
        let spread = most.unwrap_or_default().abs_diff(least.unwrap_or_default());
        let middle = apart.len() / 2;
        let (_, micros, _) = apart.select_nth_unstable(middle);
        Skew {
            micros: *micros,
            tolerance: spread.max(LEAST_TOLERANCE_MICROS),
            seen: apart.len(),
        }
    };
    seen.into_iter()
        .enumerate()
        .filter(|(_, apart)| !apart.is_empty())
        .map(|(pair, apart)| ((pair / clock_count, pair % clock_count), skew(apart)))
        .collect()
}
