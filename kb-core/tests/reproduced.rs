//! What is called reproduced shows in a report that is kept, or in what a program printed on that machine in that hour;
//! and every labelled line of those outputs finds its record first.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests, which clippy does not recognise as tests here"
)]

mod kb_seed;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use kb_core::annex::Reproduction;
use kb_core::ids::Revision;
use kb_core::matcher::Matcher;
use kb_core::record::{Record, VerificationTier, signature_set};
use kb_core::scanner::{ScanOptions, scan};
use regex_automata::meta::Regex;
use serde::Deserialize;
use serde_json::Value;

/// What one program printed, and which of its lines the records must know.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Output {
    name: String,
    /// What the program did, and so why it failed.
    did: String,
    text: String,
    /// Lines from 1 on, each with its record.
    finds: Vec<(usize, String)>,
}

struct Kept {
    report: Value,
    outputs: Vec<Output>,
}

/// Every report that is kept, with the outputs beside it.
fn kept() -> Vec<Kept> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/reports");
    let reports = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let reports = reports.filter(|path| path.extension().is_some_and(|kind| kind == "json"));
    let read = |path: PathBuf| Kept {
        report: serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap(),
        outputs: match fs::read_to_string(path.with_extension("jsonl")) {
            Ok(text) => text
                .lines()
                .map(|line| serde_json::from_str(line).unwrap())
                .collect(),
            Err(_) => Vec::new(),
        },
    };
    reports.map(read).collect()
}

/// Why a reproduction does not show the record, or nothing where it does. Lines of a report are told by the record's own
/// `regex`; those of outputs are labelled, and the labels have a test of their own.
fn fault(record: &Record, named: &Reproduction, kept: &[Kept]) -> Option<&'static str> {
    let of_id = |kept: &&Kept| kept.report["report_id"] == named.report.as_str();
    let Some(Kept { report, outputs }) = kept.iter().find(of_id) else {
        return Some("is not kept");
    };
    if report["simulated"] != false {
        return Some("is simulated");
    }
    if !report["started_at"].as_str().unwrap().starts_with(&named.on) {
        return Some("is of another day");
    }
    let shows = if let Some(name) = &named.output {
        let mut labels = outputs.iter().filter(|output| output.name == *name);
        labels.any(|output| output.finds.iter().any(|(_, id)| id == record.id().as_str()))
    } else {
        let pattern = Regex::new(record.document.regex.as_deref().unwrap()).unwrap();
        let mut logs = report["logs"].as_array().unwrap().iter();
        logs.any(|log| pattern.is_match(log["text"].as_str().unwrap()))
    };
    (!shows).then_some("does not show it")
}

#[test]
fn what_is_called_reproduced_shows_in_what_is_kept() {
    let kept = kept();
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for record in &kb_seed::records() {
        let claimed = record.document.tier() == Some(VerificationTier::Reproduced);
        if claimed == record.annex.reproduced.is_empty() {
            wrong.push(format!("{}: the tier and the reports disagree", record.id()));
        }
        for named in &record.annex.reproduced {
            seen += 1;
            let fault = fault(record, named, &kept);
            wrong.extend(fault.map(|fault| format!("{}: {named:?} {fault}", record.id())));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(seen > 100, "{seen} reproductions");
}

/// What a run is said to bear out beside the error: an edge, whose target the same output must show. The rest of the rule
/// that a record cites what its edges rest on is the checker's.
fn edge_fault(record: &Record, pointer: &str, output: &Output) -> Option<String> {
    let edge = pointer.strip_prefix("/transition_graph/leads_to/");
    let index = edge.and_then(|index| index.parse::<usize>().ok());
    let leads_to = &record.document.transition_graph.leads_to;
    let Some(edge) = index.and_then(|index| leads_to.get(index)) else {
        return Some(format!("{pointer} is no edge to what follows"));
    };
    let shows = |id: &str| output.finds.iter().any(|(_, found)| found == id);
    (!shows(&edge.error_id)).then(|| format!("{} does not show {}", output.name, edge.error_id))
}

#[test]
fn what_a_run_bears_out_of_the_graph_shows_in_its_output() {
    let kept = kept();
    let (mut wrong, mut edges) = (Vec::new(), 0);
    for record in &kb_seed::records() {
        for named in &record.annex.reproduced {
            let of_id = kept
                .iter()
                .find(|kept| kept.report["report_id"] == named.report.as_str());
            let outputs = of_id.map_or(&[][..], |kept| &kept.outputs);
            let output = outputs
                .iter()
                .find(|output| Some(&output.name) == named.output.as_ref());
            for pointer in &named.supports {
                edges += 1;
                let fault = output.map_or(Some("is without an output".to_owned()), |output| {
                    edge_fault(record, pointer, output)
                });
                wrong.extend(fault.map(|fault| format!("{}: {fault}", record.id())));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(edges > 10, "{edges} edges");
}

#[test]
fn each_labelled_line_of_a_real_output_finds_its_record_first() {
    let records = kb_seed::records();
    let (matcher, _) = Matcher::build(signature_set(records.iter().map(|record| (record, Revision(1)))));
    let matcher = Arc::new(matcher);
    let (mut wrong, mut lines) = (Vec::new(), 0);
    for output in kept().iter().flat_map(|kept| &kept.outputs) {
        assert!(!output.did.trim().is_empty(), "{}", output.name);
        for (number, record) in &output.finds {
            lines += 1;
            let line = output.text.lines().nth(number - 1).unwrap();
            let found = scan(&matcher, line.as_bytes(), ScanOptions::default()).matches;
            let found: Vec<&str> = found.iter().map(|hit| hit.id.as_str()).collect();
            if found.first() != Some(&record.as_str()) {
                wrong.push(format!(
                    "{} line {number}: {record}, not {found:?}: {line}",
                    output.name
                ));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {lines} lines:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert!(lines > 500, "{lines} lines");
}

#[test]
fn a_name_stands_for_one_output() {
    for kept in kept() {
        let mut names = BTreeMap::new();
        for output in &kept.outputs {
            *names.entry(output.name.as_str()).or_insert(0) += 1;
        }
        assert!(names.values().all(|count| *count == 1), "{names:?}");
    }
}
