//! From the ledger and a look to the look's verdict and its one sentence.

use std::time::Duration;

use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::by_policy::{made_milder, milder_of, milder_sentence};
use crate::observation::{open_entry, unread_ledger};
use crate::report::{Bearing, Entry, Health, Pair, Proof, Report, Seen, Verdict};
use crate::verdict::{cause, untested, worst_absent};

/// What an unread ledger comes to.
pub const UNREAD_LEDGER: &str = "what is open is not known, since the ledger could not be read or kept";

/// Open entries that a sentence names.
const NAMED: usize = 3;
/// As far into the future as a result or a proof may be, by a clock that was corrected since.
pub const CLOCK_SKEW: Duration = Duration::from_mins(5);

/// Puts what is known of the node into a report. The conclusion of a look becomes what the look can say; that of a run
/// which tried what GPUs can do with each other stays, since it is about that.
///
/// What the look itself found is not lost: a pair that the driver refuses, or a run that failed, weighs as before.
/// A report that was concluded is concluded anew when the ledger has changed.
pub fn conclude(report: &mut Report, mut health: Health, now: OffsetDateTime) {
    if !report.was_tried() {
        let before = report.health.take().and_then(|health| health.look);
        let look = before.unwrap_or_else(|| Seen {
            verdict: own_verdict(report),
            reason: report.conclusion.reason.clone(),
        });
        let verdict = look.verdict.max(health.verdict);
        let known = sentence(&health, now);
        report.conclusion.reason = if look.verdict <= Verdict::NoFaultSeen {
            known
        } else if look.verdict < health.verdict {
            format!("{known}; {}", look.reason)
        } else {
            format!("{}; {known}", look.reason)
        };
        report.conclusion.verdict = verdict;
        report.conclusion.exit_code = verdict.exit_code();
        health.look = Some(look);
    }
    report.health = Some(health);
    if let Some(known) = of_ledger(report) {
        report.conclusion.exit_code = report.conclusion.verdict.max(known).exit_code();
    }
}

/// What the ledger of a report comes to on its GPUs; nothing where it holds nothing against them.
pub(super) fn of_ledger(report: &Report) -> Option<Verdict> {
    let open = open_entry(report).map(|(verdict, _)| verdict);
    let unread = unread_ledger(report).map(|_| Verdict::Unknown);
    open.max(unread)
}

/// What the look says without the ledger. That nothing was proven does not count here: a look proves nothing. What a GPU asks for is a
/// state, which the ledger has.
fn own_verdict(report: &Report) -> Verdict {
    let of_pair = |pair: &Pair| match pair.verdict.cause.as_deref() {
        Some(cause::NOT_PROVEN | cause::GPU_NEEDS_SERVICE) => Verdict::NoFaultSeen,
        _ => pair.verdict.verdict,
    };
    let counting = report.pairs.iter().filter(|pair| !pair.verdict.information);
    let of_pairs = counting.map(of_pair).max().unwrap_or(Verdict::NoFaultSeen);
    let concluded = report.conclusion.verdict;
    if report.failures.is_empty() && !report.gpus.is_empty() {
        let beside = [worst_absent(&report.absent), untested(report)];
        let beside = beside.into_iter().flatten().map(|(verdict, _)| verdict);
        of_pairs.max(beside.max().unwrap_or(Verdict::NoFaultSeen))
    } else {
        of_pairs.max(concluded).max(Verdict::Unknown)
    }
}

fn sentence(health: &Health, now: OffsetDateTime) -> String {
    let mut parts = Vec::new();
    let weighing: Vec<&Entry> = health
        .open
        .iter()
        .filter(|entry| entry.bearing != Bearing::Event)
        .collect();
    parts.extend(weighing.iter().take(NAMED).map(|entry| told(entry)));
    if weighing.len() > NAMED {
        parts.push(format!("{} more", weighing.len() - NAMED));
    }
    let unread: Vec<String> = health
        .unread
        .iter()
        .take(NAMED)
        .map(|unread| format!("{} ({})", unread.what, unread.why))
        .collect();
    if !unread.is_empty() {
        let more = health.unread.len().saturating_sub(NAMED);
        let more = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        parts.push(format!("could not be read: {}{more}", unread.join(", ")));
    }
    parts.extend(milder_sentence(&milder_of(health)));
    parts.push(proof(health.last_proof.as_ref(), now));
    parts.join("; ")
}

/// What a report says of its GPUs in one line, by a verdict and a sentence. A fault or a warning that is open and that the run does not
/// end stands before what the run proved, whose verdict `word` writes, and so does a ledger that could not be read.
pub fn headline(report: &Report, word: impl Fn(Verdict) -> String) -> String {
    let conclusion = &report.conclusion;
    // A look's own reason has it.
    let milder = milder_sentence(&made_milder(report)).filter(|_| report.was_tried());
    let milder = milder.map_or_else(String::new, |told| format!("{told}; "));
    let of_run = format!("{}: {milder}{}", word(conclusion.verdict), conclusion.reason);
    let known = match of_ledger(report) {
        Some(Verdict::Broken) if conclusion.verdict > Verdict::Unknown => None,
        known => known.filter(|known| *known > conclusion.verdict),
    };
    let Some(known) = known else { return of_run };
    let why = match known {
        Verdict::Unknown => unread_ledger(report).map(|why| format!("{UNREAD_LEDGER}: {why}")),
        _ => open_entry(report).map(|(_, entry)| told(entry)),
    };
    let why = why.unwrap_or_default();
    format!("{}: {why}; this run: {of_run}", word(known))
}

/// An entry in a sentence.
pub fn told(entry: &Entry) -> String {
    let times = if entry.count > 1 && entry.number.is_some() {
        format!(", {} times", entry.count)
    } else {
        String::new()
    };
    format!("{}{times} since {}: {}", entry.id, entry.first_at, entry.text)
}

fn proof(proof: Option<&Proof>, now: OffsetDateTime) -> String {
    let Some(proof) = proof else {
        return "never proven here".to_owned();
    };
    let at = OffsetDateTime::parse(&proof.at, &Rfc3339);
    let age = match at {
        Ok(at) if at - now > CLOCK_SKEW => {
            format!(
                "of {}, which is yet to come: a clock was set back, or is wrong",
                proof.at
            )
        }
        Ok(at) => format!("{} ago", age(now - at)),
        Err(_) => proof.at.clone(),
    };
    match proof.counting() {
        // A policy that passes over all that the proof showed leaves the records' reason with nothing to say.
        Verdict::Healthy | Verdict::NoFaultSeen => format!("last proof {age}"),
        verdict => format!("last proof {age}: {}: {}", verdict.word(), proof.reason),
    }
}

/// `3 d`, `5 h`, `12 min`: whole units, the largest that fits.
pub fn age(age: time::Duration) -> String {
    let (days, hours, minutes) = (age.whole_days(), age.whole_hours(), age.whole_minutes());
    match (days, hours) {
        (1.., _) => format!("{days} d"),
        (_, 1..) => format!("{hours} h"),
        _ => format!("{} min", minutes.max(0)),
    }
}
