//! What Prometheus reads from a file (text exposition format, version 0.0.4).

use std::fmt::Write as _;

use kb_core::health::{Bearing, Counter, Entry, Family, Health};
use kb_core::report::Report;
use kb_core::verdict::Verdict;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

type Lines = Vec<(String, String)>;

pub(crate) fn metrics(runs: &[(&str, &Report)], health: Option<&Health>, waiting: usize) -> String {
    let mut text = String::new();
    let mut metric = |kind: &str, name: &str, help: &str, lines: &[(String, String)]| {
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "# HELP peerless_agent_{name} {help}\n# TYPE peerless_agent_{name} {kind}"
        );
        for (labels, value) in lines {
            let _ = writeln!(text, "peerless_agent_{name}{labels} {value}");
        }
    };
    let by_verdict = |count: &dyn Fn(&Report, Verdict) -> usize| -> Lines {
        let of_run = |(kind, report): &(&str, &Report)| {
            Verdict::ALL.map(|verdict| {
                let labels = format!("{{run=\"{kind}\",verdict=\"{}\"}}", verdict.word());
                (labels, count(report, verdict).to_string())
            })
        };
        runs.iter().flat_map(of_run).collect()
    };
    let by_run = |value: &dyn Fn(&Report) -> String| -> Lines {
        let of_run = |(kind, report): &(&str, &Report)| (format!("{{run=\"{kind}\"}}"), value(report));
        runs.iter().map(of_run).collect()
    };
    let is = |report: &Report, verdict| usize::from(report.conclusion.verdict == verdict);
    metric(
        "gauge",
        "verdict",
        "1 for the verdict of the last run.",
        &by_verdict(&is),
    );
    let pairs = |report: &Report, verdict| {
        let pairs = report.pairs.iter();
        pairs.filter(|pair| pair.verdict.verdict == verdict).count()
    };
    metric("gauge", "pairs", "Pairs of GPUs by verdict.", &by_verdict(&pairs));
    let simulated = |report: &Report| u8::from(report.simulated).to_string();
    metric(
        "gauge",
        "simulated",
        "1 where the last run was simulated.",
        &by_run(&simulated),
    );
    let gpus = |report: &Report| report.gpus.len().to_string();
    metric("gauge", "gpus", "GPUs that the driver lists.", &by_run(&gpus));
    metric(
        "gauge",
        "finished_timestamp_seconds",
        "End of the last run.",
        &by_run(&|report| seconds(&report.finished_at)),
    );
    if let Some(health) = health {
        of_health(health, &mut metric);
    }
    metric(
        "gauge",
        "spool_reports",
        "Reports that wait to be uploaded.",
        &[(String::new(), waiting.to_string())],
    );
    text
}

fn of_health(health: &Health, metric: &mut impl FnMut(&str, &str, &str, &[(String, String)])) {
    let open = |bearing: Bearing| -> Lines {
        let entries = health.open.iter().filter(|entry| entry.bearing == bearing);
        entries.map(|entry| (labels(entry), "1".to_owned())).collect()
    };
    metric(
        "gauge",
        "fault",
        "1 for each fault that is open on the node.",
        &open(Bearing::Fault),
    );
    metric(
        "gauge",
        "warning",
        "1 for each warning that is open on the node.",
        &open(Bearing::Warning),
    );
    let unread = health.unread.iter().map(|unread| unread.what.as_str());
    let lost = health
        .open
        .iter()
        .filter(|entry| entry.bearing == Bearing::Unknown);
    let unread: Lines = unread
        .chain(lost.map(|entry| entry.id.as_str()))
        .map(|what| (format!("{{what={}}}", quoted(what)), "1".to_owned()))
        .collect();
    metric(
        "gauge",
        "unread",
        "1 for each thing that the last look should have read and could not.",
        &unread,
    );
    let counted = |value: &dyn Fn(&Counter) -> String| -> Lines {
        let counters = health.counters.iter();
        let line = |counter: &Counter| {
            let labels = format!(
                "{{gpu={},{}=\"{}\"}}",
                quoted(&counter.device),
                match counter.family {
                    Family::Xid => "xid",
                    Family::Sxid => "sxid",
                },
                counter.number
            );
            (labels, value(counter))
        };
        counters.map(line).collect()
    };
    metric(
        "counter",
        "xids_total",
        "Xids and SXids of each GPU or switch, whatever they mean for the node.",
        &counted(&|counter| counter.count.to_string()),
    );
    metric(
        "gauge",
        "xid_last_timestamp_seconds",
        "When the last of them was seen.",
        &counted(&|counter| seconds(&counter.last_at)),
    );
    let proof = health.last_proof.iter();
    let proof: Lines = proof
        .map(|proof| {
            let labels = format!("{{verdict=\"{}\"}}", proof.verdict.word());
            (labels, seconds(&proof.at))
        })
        .collect();
    metric(
        "gauge",
        "last_proof_timestamp_seconds",
        "End of the last run that proved something; without a line there was none.",
        &proof,
    );
}

/// An empty label is one that the entry does not have.
fn labels(entry: &Entry) -> String {
    let number = entry.number.map(|number| number.to_string()).unwrap_or_default();
    let record = entry
        .record
        .as_ref()
        .map(kb_core::ids::RecordId::as_str)
        .unwrap_or_default();
    format!(
        "{{cause={},record={},gpu={},xid=\"{number}\"}}",
        quoted(&entry.cause),
        quoted(record),
        quoted(&entry.device)
    )
}

fn quoted(text: &str) -> String {
    let escaped = text
        .replace('\\', r"\\")
        .replace('"', "\\\"")
        .replace('\n', r"\n");
    format!("\"{escaped}\"")
}

fn seconds(time: &str) -> String {
    let time = OffsetDateTime::parse(time, &Rfc3339);
    time.map_or(0, OffsetDateTime::unix_timestamp).to_string()
}
