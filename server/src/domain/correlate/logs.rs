//! The matcher over what the report says in words: log lines, and failures of the run.

use std::borrow::Cow;
use std::collections::BTreeMap;

use kb_core::ids::RecordId;
use kb_core::report::{Failure, Report};
use kb_core::scanner::{Event, Hit, Marked, MatchedLine, ScanOptions, message_start};
use serde_json::{Value, json};

use super::evidence::Evidence;
use crate::feed::Generation;
use crate::store::{Gravity, NewFinding};

/// Text is read in pieces of this size, in bytes: an event for each of its hits lives no longer than its piece.
pub(super) const PIECE_BYTES: usize = 64 * 1024;

/// What pointers to logs begin with.
pub(super) const LOGS: &str = "/logs/";
pub(super) const SUBJECT: &str = "report";

type Shown = fn(&Marked) -> &str;

pub(super) fn findings<'a>(
    generation: &'a Generation,
    report: &'a Report,
) -> impl Iterator<Item = NewFinding> + 'a {
    let logs = report.logs.iter().enumerate();
    let logs = logs.map(|(number, log)| {
        let shown: Shown = without_prefix;
        (format!("{LOGS}{number}/text"), Cow::from(&log.text), shown)
    });
    let failures = report.failures.iter().enumerate();
    let failures = failures.map(|(number, failure)| {
        let shown: Shown = |marked| &marked.text;
        (format!("/failures/{number}"), Cow::from(sentence(failure)), shown)
    });
    logs.chain(failures)
        .flat_map(|(pointer, text, shown)| in_text(generation, &pointer, &text, shown))
}

fn in_text(generation: &Generation, pointer: &str, text: &str, shown: Shown) -> Vec<NewFinding> {
    let mut scanner = generation.matcher.scanner(ScanOptions::default());
    let mut first_hits: BTreeMap<RecordId, Hit> = BTreeMap::new();
    let mut note = |events: Vec<Event>| {
        for event in events {
            if let Event::Hit(hit) = event {
                first_hits.entry(hit.record.clone()).or_insert(hit);
            }
        }
    };
    for piece in text.as_bytes().chunks(PIECE_BYTES) {
        note(scanner.push(piece));
    }
    let (last, summary) = scanner.finish_with_events();
    note(last);
    // The summary has the last word: it knows which hits cancel each other.
    let matches = summary.matches.into_iter().filter_map(|found| {
        let published = generation.record(&found.id)?;
        let hit = first_hits.remove(&found.id);
        let line = found.lines.first();
        let mut evidence = Evidence::new();
        evidence.pointer(
            pointer,
            &json!({
                "line": line.map(|line| line.line),
                "text": line.and_then(|line| line.text.as_ref()).map(|marked| &marked.text),
                "captures": line.map(|line| &line.captures),
                "count": found.count,
            }),
        );
        Some(NewFinding {
            record: Some((found.id, found.revision)),
            rule: hit.map_or_else(|| "matcher".to_owned(), |hit| hit.pattern),
            subject: SUBJECT.to_owned(),
            title: own_words(line, shown, &published.record.document.signature),
            evidence: evidence.into_json(),
            gravity: Gravity::default(),
            by_policy: None,
        })
    });
    matches.collect()
}

/// Which log that came with the report led to a finding, by its place among them; `None` where none did.
pub(in crate::domain) fn log_of(finding: &NewFinding) -> Option<usize> {
    if finding.subject != SUBJECT {
        return None;
    }
    let evidence: Value = serde_json::from_str(&finding.evidence).ok()?;
    let pointer = evidence.pointer("/0/pointer")?.as_str()?;
    let (number, _) = pointer.strip_prefix(LOGS)?.split_once('/')?;
    number.parse().ok()
}

/// The line as the node wrote it, without the blanks around it. A record's signature is a sample from somewhere else,
/// with another machine's numbers in it: it stands in only where there is no line to show.
fn own_words(line: Option<&MatchedLine>, shown: Shown, signature: &str) -> String {
    let text = line.and_then(|line| line.text.as_ref());
    let own = text.map(|marked| shown(marked).trim()).unwrap_or_default();
    if own.is_empty() { signature } else { own }.to_owned()
}

/// A line of a log from its message on, or from what matched where that begins earlier: the time and the host are of
/// the line, not of the fault, and stand with the evidence.
fn without_prefix(marked: &Marked) -> &str {
    let start = message_start(&marked.text).min(marked.mark_start as usize);
    marked.text.get(start..).unwrap_or(&marked.text)
}

/// A failure as a line that patterns can read: `cuInit: CUDA_ERROR_SYSTEM_NOT_READY (802): system not yet initialized`.
pub(super) fn sentence(failure: &Failure) -> String {
    let name = failure.code_name.as_deref().unwrap_or_default();
    let code = failure.code.map(|code| format!(" ({code})")).unwrap_or_default();
    format!("{}: {name}{code}: {}", failure.step, failure.message)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_the_message_and_keeps_what_matched() {
        let shown = |text: &str, mark: &str| {
            let start = text.find(mark).unwrap();
            let marked = Marked {
                text: text.to_owned(),
                mark_start: u32::try_from(start).unwrap(),
                mark_end: u32::try_from(start + mark.len()).unwrap(),
                cut: false,
            };
            without_prefix(&marked).to_owned()
        };
        let message = "NVRM: Xid (PCI:0000:3b:00): 79, pid=7, GPU has fallen off the bus.";
        for line in [
            format!("[ 2021.334455] {message}"),
            format!("6,1187,2021334455,-;{message}"),
            format!("Nov 21 07:22:01 gpu-7 kernel: {message}"),
            message.to_owned(),
        ] {
            assert!(shown(&line, "Xid").ends_with(message), "{line}");
        }
        assert_eq!(shown(&format!("[ 2021.334455] {message}"), "Xid"), message);
        let kernel = format!("Nov 21 07:22:01 gpu-7 kernel: {message}");
        assert_eq!(shown(&kernel, "Xid"), message);
        assert_eq!(shown(&kernel, "kernel:"), format!("kernel: {message}"));
    }
}
