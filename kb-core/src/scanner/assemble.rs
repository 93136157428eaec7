//! From counts to the answer: order, ranks, causes, and the sentences that say why.

use std::collections::BTreeMap;

use super::cause::root_causes;
use super::clock::Clocks;
use super::crowd::{Crowded, MAX_RECORDS_OF_LINE};
use super::entry::{Entry, MAX_MATCHES};
use super::environment::Environment;
use super::fold::{Best, CandidateTally, MAX_CANDIDATES, MAX_FOLDS_OF_RECORD, Seen, Tally};
use super::lines::LONG_LINE_BYTES;
use super::order::Timeline;
use super::relations::discounted;
use super::sequence::MAX_OPEN;
use super::stated::Told;
use super::summary::{Applies, Candidate, Match, Summary};
use super::wrapper::{layer, put_wrappers_behind};
use super::{MatchedLine, OVERLAP_BYTES, ScanOptions};
use crate::ids::RecordId;
use crate::matcher::{Kind, Matcher};

/// Sums up a scan.
pub(super) fn sum_up(mut tally: Tally, matcher: &Matcher, options: &ScanOptions, seen: &Seen<'_>) -> Summary {
    let environment = Environment::new(&options.environment, seen.stated);
    let mut entries = entries(&mut tally, matcher, &environment);
    let mut notes = notes(&tally, &entries, matcher, seen);
    let mut candidates = candidates(tally, &entries, matcher);
    candidates.extend(take_discounted(&mut entries, seen.clocks));
    entries.sort_by(|a, b| {
        // What is for another environment comes last; what is known to be for this one is only better among equals.
        let elsewhere = |entry: &Entry<'_>| entry.applies == Applies::No;
        let score = b.tally.best.score.value.total_cmp(&a.tally.best.score.value);
        elsewhere(a)
            .cmp(&elsewhere(b))
            .then(score)
            .then(a.applies.cmp(&b.applies))
            .then_with(|| a.first_line().cmp(&b.first_line()))
            .then(a.place.cmp(&b.place))
    });
    let wraps = put_wrappers_behind(&mut entries);
    let timeline = Timeline::new(&entries, seen.clocks);
    notes.extend(timeline.notes());
    if entries.len() > MAX_MATCHES {
        notes.push(format!(
            "first causes were looked for among the earliest {MAX_MATCHES} matches"
        ));
    }
    let root_causes = root_causes(matcher, &timeline, &wraps);
    candidates.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.id.cmp(&b.id)));
    Summary {
        matches: entries
            .into_iter()
            .map(|entry| {
                let inner = wraps.get(&entry.place).and_then(|inner| matcher.record(*inner));
                to_match(entry, matcher, &environment, inner.map(|inner| inner.id.clone()))
            })
            .collect(),
        candidates,
        root_cause: root_causes.first().map(|cause| cause.id.clone()),
        root_causes,
        order: timeline.order,
        lines_scanned: seen.end.lines,
        bytes_scanned: seen.end.bytes,
        notes,
        environment: environment.known(),
    }
}

fn entries<'a>(tally: &mut Tally, matcher: &'a Matcher, environment: &Environment<'_>) -> Vec<Entry<'a>> {
    let mut entries: Vec<Entry<'a>> = std::mem::take(&mut tally.records)
        .into_iter()
        .filter_map(|(place, tally)| {
            let record = matcher.record(place)?;
            let applies = environment.applies(&record.applies_to);
            Some(Entry {
                place,
                record,
                tally,
                applies,
                layer: layer(record.domain_word()),
            })
        })
        .collect();
    entries.sort_by_key(|entry| entry.place);
    entries
}

/// What was capped or left out, in sentences.
fn notes(tally: &Tally, entries: &[Entry<'_>], matcher: &Matcher, seen: &Seen<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    if seen.end.long_lines > 0 {
        notes.push(format!(
            "{} {} longer than {LONG_LINE_BYTES} bytes and read in pieces that overlap by {OVERLAP_BYTES} bytes; a \
             longer match there may be missed, and a record is counted once on such a line",
            seen.end.long_lines,
            if seen.end.long_lines == 1 { "line is" } else { "lines are" },
        ));
    }
    for entry in entries.iter().filter(|entry| entry.tally.overflow > 0) {
        notes.push(format!(
            "{} lines of {} have captured values beyond the {MAX_FOLDS_OF_RECORD} that are told apart; they are counted",
            entry.tally.overflow, entry.record.id,
        ));
    }
    if tally.crowded.lines > 0 {
        let Crowded {
            lines,
            tests,
            records,
        } = tally.crowded;
        notes.push(format!(
            "{lines} {} too many possible matches: {tests} tests were skipped there, and {records} records beyond \
             {MAX_RECORDS_OF_LINE} of a line were not counted; split the text into its lines",
            if lines == 1 { "line has" } else { "lines have" },
        ));
    }
    if tally.dropped_candidates > 0 {
        notes.push(format!(
            "{} lines hold candidates beyond the {MAX_CANDIDATES} that are listed",
            tally.dropped_candidates,
        ));
    }
    if seen.given_up > 0 {
        notes.push(format!(
            "{} errors of several lines were begun and not followed further, because more than {MAX_OPEN} were open",
            seen.given_up,
        ));
    }
    for (component, told) in seen.stated.told() {
        if let Told::Several(values) = told {
            notes.push(format!(
                "the text speaks of {component} {}, so none of them is taken for that of the errors",
                values.join(" and ")
            ));
        }
    }
    for signal in seen.broken.iter().filter_map(|place| matcher.signal(*place)) {
        if let Some(record) = matcher.record(signal.record) {
            notes.push(format!(
                "pattern {} of {} does not compile and was left out",
                signal.name, record.id
            ));
        }
    }
    notes
}

fn candidates(tally: Tally, entries: &[Entry<'_>], matcher: &Matcher) -> Vec<Candidate> {
    let is_match = |place: u32| entries.binary_search_by_key(&place, |entry| entry.place).is_ok();
    let unmatched = tally
        .candidates
        .into_iter()
        .filter(|(place, _)| !is_match(*place));
    unmatched
        .filter_map(|(place, candidate)| {
            let CandidateTally {
                count,
                first,
                score,
                signal,
            } = candidate;
            let record = matcher.record(place)?;
            let signal = matcher.signal(signal)?;
            let what = describe(&signal.name, &signal.kind);
            let why = if signal.device.is_some() {
                format!(
                    "{what} stands on line {}, but the text does not say that its device is a GPU",
                    first.line
                )
            } else {
                format!(
                    "{what} stands on line {}, but nothing on that line says that it is about {}",
                    first.line,
                    record.domain_word(),
                )
            };
            let (id, revision) = (record.id.clone(), record.revision);
            Some(Candidate {
                id,
                revision,
                score: rounded(score.value),
                count,
                line: first,
                why,
            })
        })
        .collect()
}

/// Takes out the records that do not count beside the others.
fn take_discounted(entries: &mut Vec<Entry<'_>>, clocks: &Clocks) -> Vec<Candidate> {
    let mut why = discounted(entries, clocks);
    let mut taken = Vec::new();
    entries.retain(|entry| {
        let why = why.remove(&entry.place);
        let Some((why, first)) = why.zip(entry.tally.first.first()) else {
            return true;
        };
        taken.push(Candidate {
            id: entry.record.id.clone(),
            revision: entry.record.revision,
            score: rounded(entry.tally.best.score.value),
            count: entry.tally.count,
            line: first.clone(),
            why,
        });
        false
    });
    taken
}

fn to_match(
    entry: Entry<'_>,
    matcher: &Matcher,
    environment: &Environment<'_>,
    wraps: Option<RecordId>,
) -> Match {
    let Entry {
        place: _,
        record,
        mut tally,
        applies,
        layer: _,
    } = entry;
    let mut why = why(&tally.best, matcher);
    if let Some(inner) = &wraps {
        why.push_str("; it only wraps ");
        why.push_str(inner.as_str());
    }
    if let Some(condition) = environment.why(&record.applies_to) {
        why.push_str("; ");
        why.push_str(&condition);
    }
    let folds = tally.take_folds();
    let lines: Vec<MatchedLine> = tally.first.into_iter().chain(tally.last).collect();
    Match {
        id: record.id.clone(),
        revision: record.revision,
        score: rounded(tally.best.score.value),
        applies,
        count: tally.count,
        lines,
        folds,
        overflow: tally.overflow,
        wraps,
        why,
    }
}

/// A score as it is shown: more places would pretend to know more.
fn rounded(score: f32) -> f32 {
    (score.clamp(0.0, 1.0) * 1_000.0).round() / 1_000.0
}

/// One sentence: what stands where, how much of the line it covers, what it captured.
fn why(best: &Best, matcher: &Matcher) -> String {
    let what = matcher.signal(best.signal).map_or_else(
        || "a pattern of the record".to_owned(),
        |signal| describe(&signal.name, &signal.kind),
    );
    let percent = (best.score.share * 100.0).round();
    let mut sentence = format!("{what} covers {percent} % of line {}", best.line);
    if best.score.whole_signature && !what.starts_with("the whole signature") {
        sentence.push_str(", which holds the whole signature");
    }
    if !best.captures.is_empty() {
        sentence.push_str("; it captured ");
        sentence.push_str(&list(&best.captures));
    }
    sentence
}

fn list(captures: &BTreeMap<String, String>) -> String {
    captures
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect::<Vec<_>>()
        .join(", ")
}

fn describe(name: &str, kind: &Kind) -> String {
    match kind {
        Kind::Pattern(_) => "a pattern of the record".to_owned(),
        Kind::Part(..) if name != "signature" => "a pattern of the record, over several lines,".to_owned(),
        Kind::Part(..) => "the whole signature, over several lines,".to_owned(),
        Kind::Signature => "the whole signature".to_owned(),
        Kind::Word(_) | Kind::Number { .. } => {
            format!("the code {}", name.strip_prefix("code:").unwrap_or(name))
        }
    }
}
