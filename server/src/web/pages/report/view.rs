//! From a stored report and its findings to what its page shows.

use kb_core::report::{Failure, Measurement, Report};
use kb_core::verdict::Verdict;

use super::{ReportPage, absent, checks, compared, facts, matrix, nccl, times};
use crate::domain::baseline::Review;
use crate::feed::Generation;
use crate::render::i18n::{Locale, baseline, report::Words};
use crate::render::words::{Link, Mark, Row, encoded, moment, record_href, severity, verdict};
use crate::store::{ReportListing, StoredFinding};
use crate::web::pages::layout::{Layout, Section};
use crate::web::pages::nodes::report_href;

#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// What the store says of the report.
    pub listing: &'a ReportListing,
    pub report: &'a Report,
    pub findings: &'a [StoredFinding],
    /// What was measured, beside figures of its kind.
    pub review: &'a Review,
    pub generation: &'a Generation,
    pub locale: Locale,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FindingView {
    pub subject: String,
    pub subject_href: Option<String>,
    pub title: String,
    /// How bad the record that explains it says it is.
    pub severity: Option<Mark>,
    pub record: Option<Link>,
    /// Rule that found it; none where the matcher did, which has no rules.
    pub rule: Option<String>,
    pub evidence: Vec<Row>,
}

pub fn page(source: Source<'_>) -> ReportPage {
    let Source {
        listing,
        report,
        findings,
        review,
        generation,
        locale,
    } = source;
    let words = Words::of(locale.language);
    let node = report.node.id.to_string();
    let mark = verdict(listing.verdict, locale.language);
    ReportPage {
        layout: Layout::new(format!("{} · {node} · Peerless", mark.label), Section::Nodes)
            .spoken(locale)
            .in_both(&report_href(listing, Locale::ENGLISH)),
        words,
        heading: words.report_of(&node),
        node_href: locale.href(format!("/nodes/{}", encoded(&node))),
        json_href: format!("/api/v1/reports/{}", encoded(report.report_id.as_str())),
        verdict: mark,
        reason: listing.reason.clone(),
        simulated: report.simulated,
        facts: run_facts(listing, report, words),
        failures: failures(&report.failures, locale),
        absent: report
            .absent
            .iter()
            .map(|gpu| absent::absent(gpu, locale))
            .collect(),
        notes: failures(&report.notes, locale),
        findings: findings
            .iter()
            .map(|stored| finding(stored, report, generation, locale))
            .collect(),
        no_findings: no_findings(listing.verdict, words),
        matrix: matrix::pairs(report, words),
        nccl: nccl::section(report, locale.language),
        compared: compared::view(review, report, locale.language),
        case_href: format!("/api/v1/nodes/{}/case?format=markdown", encoded(&node)),
        case_file: baseline::Words::of(locale.language).case_file,
        measurements: measurements(report, review, locale),
        times: times::section(report, words),
        pairs: pairs(report, locale),
        gpus: report
            .gpus
            .iter()
            .enumerate()
            .map(|(index, gpu)| facts::gpu(index, gpu, locale.language))
            .collect(),
        gaps: facts::gaps(report, locale.language),
        host: facts::host(report),
        node,
        logs: report
            .logs
            .iter()
            .map(|excerpt| facts::excerpt(excerpt, locale.language))
            .collect(),
    }
}

fn failures(failures: &[Failure], locale: Locale) -> Vec<facts::FailureView> {
    let each = failures.iter();
    each.map(|failure| facts::failure(failure, locale)).collect()
}

/// The pairs that call for a look first.
fn pairs(report: &Report, locale: Locale) -> Vec<checks::PairView> {
    let pairs = report.pairs.iter().map(|pair| checks::pair(pair, locale));
    let mut pairs: Vec<checks::PairView> = pairs.collect();
    pairs.sort_by_key(|pair| !pair.open);
    pairs
}

/// Direct copies first, since the first is shown open: copies through the host, measured earlier, do not show the links.
fn measurements(report: &Report, review: &Review, locale: Locale) -> Vec<matrix::MeasurementView> {
    let items = report.measurements.iter().enumerate();
    let mut items: Vec<(usize, &Measurement)> =
        items.filter(|(_, item)| !nccl::is_collective(item)).collect();
    let is_direct = |item: &Measurement| {
        item.peer_access == Some(true) && item.cells.iter().any(|cell| !cell.samples.is_empty())
    };
    items.sort_by_key(|(_, item)| !is_direct(item));
    let items = items.into_iter();
    items
        .filter_map(|(number, item)| {
            let figures = compared::of_measurement(review, number);
            matrix::measurement(report, (item, &figures), locale.language)
        })
        .collect()
}

/// By so much a clock may differ without being called wrong.
const CLOCK_TOLERANCE: time::Duration = time::Duration::minutes(2);

fn run_facts(listing: &ReportListing, report: &Report, words: &Words) -> Vec<String> {
    let mut facts = vec![
        words.gpu_count(report.gpus.len() as u64),
        words.pair_count(report.pairs.len() as u64),
    ];
    if let Some(hostname) = &report.node.hostname {
        facts.push(words.host_is(hostname));
    }
    facts.push(words.ended(&moment(listing.finished_at)));
    facts.push(words.received(&moment(listing.received_at)));
    if (listing.finished_at - listing.ended()).abs() > CLOCK_TOLERANCE {
        facts.push(words.counts_from(&moment(listing.ended())));
    }
    facts.push(words.agent(&report.agent_version));
    if let Some(expect) = &report.conclusion.expect {
        facts.push(words.expected(expect));
    }
    facts
}

fn no_findings(verdict: Verdict, words: &Words) -> &'static str {
    match verdict {
        Verdict::Healthy | Verdict::NoFaultSeen => words.nothing_to_explain,
        Verdict::Degraded | Verdict::Refused | Verdict::Unknown | Verdict::Broken => words.nothing_known,
    }
}

fn finding(stored: &StoredFinding, report: &Report, generation: &Generation, locale: Locale) -> FindingView {
    let finding = &stored.finding;
    let record = finding.record.as_ref().map(|(id, revision)| Link {
        href: locale.href(record_href(id.as_str())),
        text: format!("{id} ({revision})"),
    });
    let published = finding.record.as_ref().and_then(|(id, _)| generation.record(id));
    let word = published.and_then(|published| published.record.annex.severity);
    FindingView {
        severity: word.map(|word| severity(word, locale.language)),
        subject: subject(&finding.subject, Words::of(locale.language)),
        subject_href: subject_href(&finding.subject, report),
        title: finding.title.clone(),
        record,
        // A pattern is known by its place in its record, which says nothing to a reader.
        rule: Some(finding.rule.clone()).filter(|rule| rule.parse::<u32>().is_err()),
        evidence: evidence(&finding.evidence),
    }
}

/// `pair 0-1` -> `Pair 0-1`.
fn subject(text: &str, words: &Words) -> String {
    match text.split_once(' ') {
        Some(("pair", ends)) => words.pair(ends),
        Some(("direction", ends)) => words.direction(ends),
        Some(("gpu", index)) => format!("GPU {index}"),
        None if text == "report" => words.report.to_owned(),
        _ => text.to_owned(),
    }
}

/// Where on the page a subject stands: `pair 0-1`, `direction 1-0`, `gpu 3`.
fn subject_href(subject: &str, report: &Report) -> Option<String> {
    let (kind, number) = subject.split_once(' ')?;
    match kind {
        "gpu" => {
            let index: usize = number.parse().ok()?;
            (index < report.gpus.len()).then(|| format!("#gpu-{index}"))
        }
        "pair" | "direction" => {
            let (one, other) = number.split_once('-')?;
            let (one, other): (u32, u32) = (one.parse().ok()?, other.parse().ok()?);
            let (a, b) = (one.min(other), one.max(other));
            let known = report.pairs.iter().any(|pair| pair.a == a && pair.b == b);
            known.then(|| checks::anchor_link(a, b))
        }
        _ => None,
    }
}

/// Evidence is kept as a JSON list of objects: each has a place (`pointer`, `expression`, …) and a `value`.
fn evidence(json: &str) -> Vec<Row> {
    let Ok(serde_json::Value::Array(items)) = serde_json::from_str(json) else {
        return if json.trim().is_empty() {
            Vec::new()
        } else {
            vec![Row::new("evidence", json)]
        };
    };
    items.iter().map(evidence_row).collect()
}

fn evidence_row(item: &serde_json::Value) -> Row {
    let place = ["pointer", "expression", "line", "source"]
        .into_iter()
        .find_map(|key| item.get(key));
    let line = item.get("value").and_then(|value| {
        let (line, text) = (value.get("line")?.as_u64()?, value.get("text")?.as_str()?);
        Some((line, text.trim()))
    });
    if let (Some(place), Some((line, text))) = (place, line) {
        return Row::new(format!("{}:{line}", facts::plain(place)), text);
    }
    match (place, item.get("value")) {
        (Some(place), Some(value)) => Row::new(facts::plain(place), facts::plain(value)),
        _ => Row::new("evidence", facts::plain(item)),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_was_matched_is_shown_as_a_line() {
        let json = r#"[{"pointer": "/logs/0/text", "value": {"captures": {}, "count": 1, "line": 7, "text": " Xid 79 "}},
            {"expression": "a", "value": {"line": null, "text": null}}]"#;
        let rows = evidence(json);
        assert_eq!(rows[0], Row::new("/logs/0/text:7", "Xid 79"));
        assert_eq!(rows[1].name, "a");
    }

    #[test]
    fn direct_copies_stand_before_those_through_the_host() {
        let bytes = include_bytes!("../../../../../kb-core/tests/data/reports/h200-x2-bench.json");
        let mut report: Report = serde_json::from_slice(bytes).unwrap();
        let review = Review::alone(&report);
        let first = |report: &Report| measurements(report, &review, Locale::ENGLISH)[0].title.clone();
        assert_eq!(report.measurements[0].peer_access, Some(false));
        assert_eq!(
            first(&report),
            "GPU to GPU, copy engine, written by the source, peer access on, 512 MiB"
        );
        let count = report.measurements.len();
        assert_eq!(measurements(&report, &review, Locale::ENGLISH).len(), count);
        // Where none was to be had, what was measured stands first.
        for item in &mut report.measurements {
            if item.peer_access == Some(true) {
                item.cells.iter_mut().for_each(|cell| cell.samples.clear());
            }
        }
        assert!(!first(&report).contains("peer access on"), "{}", first(&report));
    }
}
