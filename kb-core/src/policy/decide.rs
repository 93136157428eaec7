//! The one place where a policy decides: the rule for something that was seen, and what becomes of it.

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::code::{is_protected, is_protected_cause};
use super::{Policy, Rule};
use crate::observation::canonical;
use crate::report::{Bearing, Entry, Family, Gpu, Meaning, Ruled};

/// Times of an event that are kept, and so the highest count of a rule.
pub const MOST_TIMES: usize = 32;

/// Something that was seen, as rules know it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Subject<'a> {
    /// Xid or SXid, with its number.
    pub numbered: Option<(Family, u32)>,
    /// The record that explains it.
    pub record: Option<&'a str>,
    /// Its cause, in the words of a look or of the table of verdicts.
    pub cause: Option<&'a str>,
    /// Models of the GPUs that it is about; none where they are not known.
    pub models: &'a [Option<&'a str>],
}

impl Policy {
    /// What the first rule that fits makes of it. Where a model is not known, or only some of several GPUs have it, a rule that names
    /// one may fit or not: then the worst of all that may fit counts, up to the first that fits for certain.
    fn decide(&self, subject: Subject<'_>, was: Bearing, is: impl Fn(&Rule) -> Meaning) -> Option<Ruled> {
        let Subject {
            numbered,
            record,
            cause,
            models,
        } = subject;
        let about = self.rules.iter();
        let about = about.filter(|rule| rule.code.fits(numbered, record, cause));
        let mut outcomes = Vec::new();
        let mut is_certain = false;
        for rule in about {
            let fit = fit(rule, models);
            if fit != Fit::No {
                outcomes.push(ruled(rule, is(rule), subject, was));
            }
            if fit == Fit::Certain {
                is_certain = true;
                break;
            }
        }
        if !is_certain {
            // Perhaps no rule is about it.
            outcomes.insert(0, None);
        }
        let weight = |of: &Option<Ruled>| of.as_ref().map_or(was, |ruled| ruled.is.bearing());
        // The first of the worst.
        outcomes.into_iter().rev().max_by_key(weight).flatten()
    }

    /// What becomes of an entry of a ledger. A rule that was applied before is taken back first, so that the same entry may be judged
    /// by one policy after another.
    pub fn judge_entry(&self, entry: &mut Entry, gpus: &[Gpu]) {
        if let Some(before) = entry.by_policy.take() {
            entry.bearing = before.was;
        }
        if self.rules.is_empty() {
            return;
        }
        let models = models_at(&entry.device, gpus);
        let family = match entry.cause.as_str() {
            "sxid" => Family::Sxid,
            _ => Family::Xid,
        };
        let subject = Subject {
            numbered: entry.number.map(|number| (family, number)),
            record: entry.record.as_ref().map(crate::ids::RecordId::as_str),
            cause: Some(&entry.cause),
            models: &models,
        };
        let is = |rule: &Rule| {
            if is_reached(rule, entry) {
                rule.is
            } else {
                Meaning::Event
            }
        };
        if let Some(ruled) = self.decide(subject, entry.bearing, is) {
            entry.bearing = ruled.is.bearing();
            entry.by_policy = Some(ruled);
        }
    }

    /// What becomes of something of which only one occurrence is known: a rule with a count counts as reached.
    pub fn judge(&self, subject: Subject<'_>, was: Bearing) -> Option<Ruled> {
        self.decide(subject, was, |rule| rule.is)
    }
}

/// What is not known to be sound stays as it is, and so does what tells of a lost GPU, unless it is made worse.
fn ruled(rule: &Rule, is: Meaning, subject: Subject<'_>, was: Bearing) -> Option<Ruled> {
    let is_milder = is.bearing() < was;
    let Subject {
        numbered,
        record,
        cause,
        ..
    } = subject;
    let is_kept = was == Bearing::Unknown || is_protected(numbered, record, cause);
    let is_kept = is_kept || cause.is_some_and(is_protected_cause);
    (!(is_milder && is_kept)).then(|| Ruled {
        rule: rule.number,
        is,
        was,
        reason: rule.reason.clone(),
        cause: None,
    })
}

/// Whether a rule is about GPUs of these models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fit {
    No,
    /// A model is not known, or only some of the GPUs have it.
    Perhaps,
    Certain,
}

fn fit(rule: &Rule, models: &[Option<&str>]) -> Fit {
    let Some(pattern) = &rule.model else {
        return Fit::Certain;
    };
    let known = models.iter().flatten();
    let fitting = known.filter(|model| fits_pattern(pattern, model)).count();
    let are_known = !models.is_empty() && models.iter().all(Option::is_some);
    match fitting {
        0 if are_known => Fit::No,
        all if are_known && all == models.len() => Fit::Certain,
        _ => Fit::Perhaps,
    }
}

/// Models of the GPU at this address, or of all GPUs where it is none of them.
pub(crate) fn models_at<'g>(device: &str, gpus: &'g [Gpu]) -> Vec<Option<&'g str>> {
    let is_there = |gpu: &&Gpu| gpu.pci_address.value.as_deref().map(canonical).as_deref() == Some(device);
    let own: Vec<Option<&str>> = gpus.iter().filter(is_there).map(model).collect();
    if own.is_empty() {
        gpus.iter().map(model).collect()
    } else {
        own
    }
}

fn model(gpu: &Gpu) -> Option<&str> {
    gpu.name.value.as_deref()
}

/// `*` stands for any characters, upper and lower case are alike.
pub(super) fn fits_pattern(pattern: &str, model: &str) -> bool {
    let (pattern, model) = (pattern.to_lowercase(), model.to_lowercase());
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = model.strip_prefix(first) else {
        return false;
    };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        let Some(at) = rest.find(part) else { return false };
        rest = rest.get(at + part.len()..).unwrap_or_default();
    }
    true
}

/// Whether the event was seen as often as the rule asks, within its window, since it opened: no time ends it again.
fn is_reached(rule: &Rule, entry: &Entry) -> bool {
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
        let of = |times: &[i64]| match (times.first(), times.last()) {
            (Some(first), Some(last)) => last.abs_diff(*first),
            _ => u64::MAX,
        };
        let Some(shortest) = times.windows(count).map(of).min() else {
            continue;
        };
        match spans.get_mut(count - 2) {
            Some(span) => *span = shortest.min(*span),
            None => spans.push(shortest),
        }
    }
}
