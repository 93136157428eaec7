//! From counts to the answer: order, ranks, causes, and why.

use super::cause::root_causes;
use super::clock::Clocks;
use super::crowd::{Crowded, MAX_RECORDS_OF_LINE};
use super::entry::{Entry, MAX_MATCHES};
use super::environment::Environment;
use super::fatal::put_ends_right;
use super::fold::{Best, CandidateTally, MAX_CANDIDATES, MAX_FOLDS_OF_RECORD, Seen, Tally};
use super::lines::LONG_LINE_BYTES;
use super::order::Timeline;
use super::relations::discounted;
use super::sequence::MAX_OPEN;
use super::stated::Told;
use super::summary::{Applies, Candidate, Match, RootCause, Summary};
use super::unexplained::UnexplainedXids;
use super::unknown::{Around, UnknownCause, unknown_cause};
use super::wrapper::{layer, lines, put_wrappers_behind};
use super::{MatchedLine, OVERLAP_BYTES, ScanOptions};
use crate::ids::RecordId;
use crate::matcher::{Kind, Matcher};
use crate::reason::{Condition, Found, Sign, Why};
use crate::render;

pub(super) fn sum_up(mut tally: Tally, matcher: &Matcher, options: &ScanOptions, seen: &Seen<'_>) -> Summary {
    let environment = Environment::new(&options.environment, seen.stated);
    let mut entries = entries(&mut tally, matcher, &environment);
    put_ends_right(&mut entries, seen.raised.chains());
    let mut notes = notes(&tally, &entries, matcher, seen);
    let mut error_lines = std::mem::take(&mut tally.error_lines);
    let mut candidates = candidates(tally, &entries, matcher);
    let discounted = take_discounted(&mut entries, seen.clocks);
    for (place, candidate) in discounted {
        // What means nothing without others explains no line either.
        if matches!(candidate.reason, Some(Why::OnlyWithOthers { .. })) {
            error_lines.doubt(place);
        }
        candidates.push(candidate);
    }
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
    let mut root_causes = root_causes(matcher, &timeline, &wraps);
    let unknown_cause = unknown_of(&entries, &root_causes, seen, options.keep_text);
    if let Some(unknown) = &unknown_cause {
        let by = root_causes
            .iter_mut()
            .find(|cause| unknown.wrapped_by.as_ref() == Some(&cause.id));
        if let Some(by) = by {
            by.behind_line = Some(unknown.line);
        }
    }
    candidates.sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.id.cmp(&b.id)));
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
        unexplained: error_lines.unexplained(
            unknown_cause.as_ref().map(|unknown| unknown.line),
            options.keep_text,
        ),
        unknown_cause,
        order: timeline.order,
        lines_scanned: seen.end.lines,
        bytes_scanned: seen.end.bytes,
        notes,
        environment: environment.known(),
    }
}

fn entries<'a>(tally: &mut Tally, matcher: &'a Matcher, environment: &Environment<'_>) -> Vec<Entry<'a>> {
    let fatal = std::mem::take(&mut tally.fatal);
    let mut entries: Vec<Entry<'a>> = std::mem::take(&mut tally.records)
        .into_iter()
        .filter_map(|(place, tally)| {
            let record = matcher.record(place)?;
            let applies = environment.applies(&record.applies_to);
            let is_fatal = fatal.contains(&place);
            Some(Entry {
                place,
                record,
                tally,
                applies,
                harmless: record.harmless && !is_fatal,
                notice: record.notice && !is_fatal,
                is_error: record.is_error || is_fatal,
                layer: layer(record.domain_word()),
            })
        })
        .collect();
    entries.sort_by_key(|entry| entry.place);
    entries
}

/// The error that no record knows, where the first causes are none: they only tell that something failed, or are no errors.
fn unknown_of(
    entries: &[Entry<'_>],
    causes: &[RootCause],
    seen: &Seen<'_>,
    keep_text: bool,
) -> Option<UnknownCause> {
    let mut around = Vec::new();
    for cause in causes {
        let entry = entries.iter().find(|entry| entry.record.id == cause.id)?;
        if entry.is_error && !entry.record.wraps_others {
            return None;
        }
        if entry.record.wraps_others {
            around.push(Around {
                id: cause.id.clone(),
                lines: lines(entry),
            });
        }
    }
    unknown_cause(seen.raised.chains(), &around, keep_text)
}

/// What was left out and no record explains, as far as it is known before the text ends.
pub(super) fn notes_so_far(tally: &Tally, unexplained: &UnexplainedXids, long_lines: u64) -> Vec<String> {
    let mut notes: Vec<String> = unexplained.notes().collect();
    if long_lines > 0 {
        notes.push(format!(
            "{long_lines} {} longer than {LONG_LINE_BYTES} bytes and read in pieces that overlap by {OVERLAP_BYTES} bytes; a \
             longer match there may be missed, and a record is counted once on such a line",
            if long_lines == 1 { "line is" } else { "lines are" },
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
    notes
}

fn notes(tally: &Tally, entries: &[Entry<'_>], matcher: &Matcher, seen: &Seen<'_>) -> Vec<String> {
    let mut notes = notes_so_far(tally, seen.unexplained, seen.end.long_lines);
    notes.extend(seen.tables.notes());
    for entry in entries.iter().filter(|entry| entry.tally.overflow > 0) {
        notes.push(format!(
            "{} lines of {} have captured values beyond the {MAX_FOLDS_OF_RECORD} that are told apart; they are counted",
            entry.tally.overflow, entry.record.id,
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
            let (sign, line) = (sign(&signal.name, &signal.kind), first.line);
            let why = if signal.device.is_some() {
                Why::NoGpuNamed { sign, line }
            } else {
                Why::OtherSubject {
                    sign,
                    line,
                    subject: record.domain_word().to_owned(),
                }
            };
            let (id, revision) = (record.id.clone(), record.revision);
            Some(Candidate {
                id,
                revision,
                score: rounded(score.value),
                count,
                line: first,
                why: render::why(&why),
                why_code: Some(why.code()),
                reason: Some(why),
            })
        })
        .collect()
}

/// The matches that do not count after all, with their records.
fn take_discounted(entries: &mut Vec<Entry<'_>>, clocks: &Clocks) -> Vec<(u32, Candidate)> {
    let mut why = discounted(entries, clocks);
    let mut taken = Vec::new();
    entries.retain(|entry| {
        let why = why.remove(&entry.place);
        let Some((why, first)) = why.zip(entry.tally.first.first()) else {
            return true;
        };
        let candidate = Candidate {
            id: entry.record.id.clone(),
            revision: entry.record.revision,
            score: rounded(entry.tally.best.score.value),
            count: entry.tally.count,
            line: first.clone(),
            why: render::why(&why),
            why_code: Some(why.code()),
            reason: Some(why),
        };
        taken.push((entry.place, candidate));
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
        harmless,
        notice: _,
        is_error: _,
        layer: _,
    } = entry;
    let condition = environment.decided(&record.applies_to);
    let why = Why::Found(Box::new(found(&tally.best, matcher, wraps.clone(), condition)));
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
        harmless,
        why: render::why(&why),
        why_code: Some(why.code()),
        reason: Some(why),
    }
}

/// A score as it is shown: more places would pretend to know more.
fn rounded(score: f32) -> f32 {
    (score.clamp(0.0, 1.0) * 1_000.0).round() / 1_000.0
}

fn found(best: &Best, matcher: &Matcher, wraps: Option<RecordId>, condition: Option<Condition>) -> Found {
    let signal = matcher.signal(best.signal);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share is between 0 and 1"
    )]
    let percent = (best.score.share.clamp(0.0, 1.0) * 100.0).round() as u8;
    Found {
        sign: signal.map_or(Sign::Pattern, |signal| sign(&signal.name, &signal.kind)),
        percent,
        line: best.line,
        whole_signature: best.score.whole_signature,
        captures: best.captures.clone(),
        wraps,
        condition,
    }
}

fn sign(name: &str, kind: &Kind) -> Sign {
    match kind {
        Kind::Pattern(_) => Sign::Pattern,
        Kind::Part(..) if name != "signature" => Sign::PatternOverLines,
        Kind::Part(..) => Sign::SignatureOverLines,
        Kind::Signature => Sign::Signature,
        Kind::Word(_) | Kind::Number { .. } => {
            Sign::Code(name.strip_prefix("code:").unwrap_or(name).to_owned())
        }
    }
}
