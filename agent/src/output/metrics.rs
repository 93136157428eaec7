//! What Prometheus reads from a file (text exposition format, version 0.0.4).

use std::fmt::Write as _;

use kb_core::report::Report;
use kb_core::verdict::Verdict;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// The last result as gauges.
pub(crate) fn metrics(report: &Report, active: bool, waiting: usize) -> String {
    let kind = if active { "active" } else { "passive" };
    let finished =
        OffsetDateTime::parse(&report.finished_at, &Rfc3339).map_or(0, OffsetDateTime::unix_timestamp);
    let mut text = String::new();
    let mut gauge = |name: &str, help: &str, lines: &[(String, String)]| {
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "# HELP peerless_agent_{name} {help}\n# TYPE peerless_agent_{name} gauge"
        );
        for (labels, value) in lines {
            let _ = writeln!(text, "peerless_agent_{name}{{{labels}}} {value}");
        }
    };
    let run = format!("run=\"{kind}\"");
    let verdicts = Verdict::ALL.map(|verdict| {
        let is = u8::from(report.conclusion.verdict == verdict);
        (format!("{run},verdict=\"{}\"", verdict.word()), is.to_string())
    });
    gauge("verdict", "1 for the verdict of the last run.", &verdicts);
    let pairs = Verdict::ALL.map(|verdict| {
        let of_verdict = report.pairs.iter().filter(|pair| pair.verdict.verdict == verdict);
        (
            format!("{run},verdict=\"{}\"", verdict.word()),
            of_verdict.count().to_string(),
        )
    });
    gauge("pairs", "Pairs of GPUs by verdict.", &pairs);
    let one = |value: String| [(run.clone(), value)];
    gauge(
        "gpus",
        "GPUs that the driver lists.",
        &one(report.gpus.len().to_string()),
    );
    gauge(
        "finished_timestamp_seconds",
        "End of the last run.",
        &one(finished.to_string()),
    );
    gauge(
        "spool_reports",
        "Reports that wait to be uploaded.",
        &one(waiting.to_string()),
    );
    text
}
