//! The one place where a policy decides: the rule for something that was seen, and what becomes of it.

use time::format_description::well_known::Rfc3339;
use time::{Duration, OffsetDateTime};

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
    /// The first rule that is about it.
    pub fn rule_for(&self, subject: Subject<'_>) -> Option<&Rule> {
        let Subject {
            numbered,
            record,
            cause,
            models,
        } = subject;
        self.rules
            .iter()
            .find(|rule| rule.code.fits(numbered, record, cause) && fits_models(rule, models))
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
        let Some(rule) = self.rule_for(subject) else {
            return;
        };
        let is = if is_reached(rule, entry) {
            rule.is
        } else {
            Meaning::Event
        };
        if let Some(ruled) = ruled(rule, is, subject, entry.bearing) {
            entry.bearing = ruled.is.bearing();
            entry.by_policy = Some(ruled);
        }
    }

    /// What becomes of something of which only one occurrence is known: a rule with a count counts as reached.
    pub fn judge(&self, subject: Subject<'_>, was: Bearing) -> Option<Ruled> {
        let rule = self.rule_for(subject)?;
        ruled(rule, rule.is, subject, was)
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

/// Of several GPUs all have to fit; a model that is not known fits no rule that names one.
fn fits_models(rule: &Rule, models: &[Option<&str>]) -> bool {
    let Some(pattern) = &rule.model else { return true };
    let fits = |model: &Option<&str>| model.is_some_and(|model| fits_pattern(pattern, model));
    !models.is_empty() && models.iter().all(fits)
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
    let read = |text: &String| OffsetDateTime::parse(text, &Rfc3339).ok();
    let mut times: Vec<OffsetDateTime> = entry.times.iter().filter_map(read).collect();
    times.sort_unstable();
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    if times.len() < count && times.len() < MOST_TIMES {
        // Of an older agent, or times that cannot be read: how often within the window is not known.
        return true;
    }
    let window = Duration::seconds(i64::try_from(window).unwrap_or(i64::MAX));
    let lasts = |of: &[OffsetDateTime]| match (of.first(), of.last()) {
        (Some(first), Some(last)) => *last - *first <= window,
        _ => false,
    };
    times.windows(count.max(1)).any(lasts)
}

/// Adds a time to those of an entry. Where they are too many, the one that is farthest from its neighbours goes: what came close
/// together is what counts are about.
pub(crate) fn add_time(times: &mut Vec<String>, at: &str) {
    times.push(at.to_owned());
    if times.len() <= MOST_TIMES {
        return;
    }
    let read =
        |text: &String| OffsetDateTime::parse(text, &Rfc3339).map_or(i64::MIN, |at| at.unix_timestamp());
    let seconds: Vec<i64> = times.iter().map(read).collect();
    let alone = |index: usize| {
        let own = seconds.get(index).copied().unwrap_or_default();
        let gap = |other: Option<&i64>| other.map_or(u64::MAX, |other| other.abs_diff(own));
        let before = index.checked_sub(1).and_then(|index| seconds.get(index));
        gap(before).min(gap(seconds.get(index + 1)))
    };
    // The newest stays: it may be the first of many.
    let farthest =
        (0..times.len().saturating_sub(1)).max_by_key(|index| (alone(*index), std::cmp::Reverse(*index)));
    if let Some(farthest) = farthest {
        times.remove(farthest);
    }
}
