//! The one place where a policy decides: the rule for something that was seen, and what becomes of it.

use super::code::{is_protected, is_protected_cause};
use super::times::is_reached;
use super::{Policy, Rule, Seen};
use crate::observation::{canonical, is_fault_in_doubt};
use crate::report::{Bearing, Entry, Family, Gpu, Meaning, Ruled};

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
    /// Whether its record tells of a GPU that is gone, under whatever id.
    pub tells_of_loss: bool,
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
            ..
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
        let worst = outcomes.into_iter().rev().max_by_key(weight).flatten();
        worst.filter(|ruled| !self.faults_only || ruled.is == Meaning::Fault)
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
            ..Subject::default()
        };
        let is = |rule: &Rule| {
            if is_reached(rule, entry) {
                rule.is
            } else {
                Meaning::Event
            }
        };
        let was = entry.bearing;
        let is_in_doubt = is_fault_in_doubt(entry);
        let certain = if is_in_doubt { Bearing::Fault } else { was };
        if let Some(ruled) = self.decide(subject, certain, is) {
            // A rule says what it is, and not of which boot.
            let most = if is_in_doubt { was } else { Bearing::Fault };
            entry.bearing = ruled.is.bearing().min(most);
            entry.by_policy = Some(Ruled { was, ..ruled });
        }
    }

    /// What becomes of something of which only one occurrence is known: a rule with a count counts as reached.
    pub fn judge(&self, subject: Subject<'_>, was: Bearing) -> Option<Ruled> {
        self.judge_seen(subject, was, &[])
    }

    /// The same of something that logs tell of, so often in each log and on each device. Without any of them nothing is known of how often.
    pub fn judge_seen(&self, subject: Subject<'_>, was: Bearing, seen: &[Seen]) -> Option<Ruled> {
        let is = |rule: &Rule| {
            if seen.is_empty() || seen.iter().any(|seen| seen.reaches(rule)) {
                rule.is
            } else {
                Meaning::Event
            }
        };
        self.decide(subject, was, is)
    }
}

/// What is not known to be sound stays as it is, and so does what tells of a lost GPU, unless it is made worse.
fn ruled(rule: &Rule, is: Meaning, subject: Subject<'_>, was: Bearing) -> Option<Ruled> {
    let is_milder = is.bearing() < was;
    let Subject {
        numbered,
        record,
        cause,
        tells_of_loss,
        ..
    } = subject;
    let is_kept = was == Bearing::Unknown || tells_of_loss || is_protected(numbered, record, cause);
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
