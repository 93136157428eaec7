//! What Prometheus reads from a file (text exposition format, version 0.0.4).

use std::fmt::Write as _;

use kb_core::report::Report;
use kb_core::verdict::Verdict;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// The last result of each kind of run as gauges, and how many reports wait.
pub(crate) fn metrics(runs: &[(&str, &Report)], waiting: usize) -> String {
    let mut text = String::new();
    let mut gauge = |name: &str, help: &str, lines: &[(String, String)]| {
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "# HELP peerless_agent_{name} {help}\n# TYPE peerless_agent_{name} gauge"
        );
        for (labels, value) in lines {
            let _ = writeln!(text, "peerless_agent_{name}{labels} {value}");
        }
    };
    let by_verdict = |count: &dyn Fn(&Report, Verdict) -> usize| -> Vec<(String, String)> {
        let of_run = |(kind, report): &(&str, &Report)| {
            Verdict::ALL.map(|verdict| {
                let labels = format!("{{run=\"{kind}\",verdict=\"{}\"}}", verdict.word());
                (labels, count(report, verdict).to_string())
            })
        };
        runs.iter().flat_map(of_run).collect()
    };
    let by_run = |value: &dyn Fn(&Report) -> String| -> Vec<(String, String)> {
        let of_run = |(kind, report): &(&str, &Report)| (format!("{{run=\"{kind}\"}}"), value(report));
        runs.iter().map(of_run).collect()
    };
    let is = |report: &Report, verdict| usize::from(report.conclusion.verdict == verdict);
    gauge("verdict", "1 for the verdict of the last run.", &by_verdict(&is));
    let pairs = |report: &Report, verdict| {
        let pairs = report.pairs.iter();
        pairs.filter(|pair| pair.verdict.verdict == verdict).count()
    };
    gauge("pairs", "Pairs of GPUs by verdict.", &by_verdict(&pairs));
    let gpus = |report: &Report| report.gpus.len().to_string();
    gauge("gpus", "GPUs that the driver lists.", &by_run(&gpus));
    let finished = |report: &Report| {
        let finished = OffsetDateTime::parse(&report.finished_at, &Rfc3339);
        finished.map_or(0, OffsetDateTime::unix_timestamp).to_string()
    };
    gauge(
        "finished_timestamp_seconds",
        "End of the last run.",
        &by_run(&finished),
    );
    gauge(
        "spool_reports",
        "Reports that wait to be uploaded.",
        &[(String::new(), waiting.to_string())],
    );
    text
}
