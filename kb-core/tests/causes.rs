//! The table of causes as others see it: every record that it names exists, and docs/AGENT.md says what it says.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests, which clippy does not recognise as tests here"
)]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use kb_core::health::{Bearing, Family, WATCHED, known_xids};
use kb_core::report::Report;
use kb_core::verdict::{ExitCode, Expect, FailOn, Named, Verdict, table};

/// Any report: its verdict is replaced.
const ONE_LOOK: &str = include_str!("data/reports/h200-x2-healthy.json");

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[test]
fn every_record_that_a_cause_names_is_in_kb_seed() {
    let mut named: Vec<&str> = table().filter_map(|row| row.record).collect();
    assert!(!named.is_empty());
    named.sort_unstable();
    named.dedup();
    let seeds = repository().join("kb-seed");
    named.retain(|id| !seeds.join(format!("{id}.json")).is_file());
    assert_eq!(
        named,
        [] as [&str; 0],
        "records that causes name and nobody wrote"
    );
}

/// `BEGIN name` and `END name` in the page, with what belongs between them.
fn generated() -> [(&'static str, String); 7] {
    let rows: Vec<&Named> = table().collect();
    let last_of_pair = rows
        .iter()
        .position(|row| row.cause == kb_core::verdict::cause::SLOWED_BY_OTHERS)
        .unwrap();
    let (of_pair, others) = rows.split_at(last_of_pair + 1);
    let last_of_run = others
        .iter()
        .position(|row| row.cause == kb_core::verdict::cause::NVML_MISSING)
        .unwrap();
    let (of_run, of_load) = others.split_at(last_of_run + 1);
    [
        ("exit codes", exit_codes()),
        ("fail-on", fail_on()),
        ("causes of pairs", causes(of_pair)),
        ("causes of runs", causes(of_run)),
        ("causes of loads", causes(of_load)),
        ("watched", watched()),
        ("xids", xids()),
    ]
}

fn exit_codes() -> String {
    let mut text = "| code | means | verdicts |\n| --- | --- | --- |\n".to_owned();
    for code in ExitCode::ALL {
        let verdicts: Vec<&str> = Verdict::ALL
            .into_iter()
            .filter(|verdict| ExitCode::of(*verdict) == code)
            .map(Verdict::word)
            .collect();
        writeln!(
            text,
            "| {} | {} | {} |",
            code.number(),
            code.means(),
            verdicts.join(", ")
        )
        .unwrap();
    }
    text
}

fn fail_on() -> String {
    let mut text =
        "| verdict | without `--fail-on`, `fault,unknown` | `fault` | `warning` | `unknown` |\n| --- | --- | --- | --- | --- |\n"
            .to_owned();
    for verdict in Verdict::ALL.into_iter().rev() {
        let all = [FailOn::default(), FailOn::FAULT, FailOn::WARNING, FailOn::UNKNOWN];
        let codes = all.map(|fail_on| {
            let mut report: Report = serde_json::from_str(ONE_LOOK).unwrap();
            report.pairs.clear();
            report.health = None;
            report.conclusion.verdict = verdict;
            fail_on.exit_code(&report).to_string()
        });
        writeln!(text, "| {} | {} |", verdict.word(), codes.join(" | ")).unwrap();
    }
    text
}

fn causes(rows: &[&Named]) -> String {
    let mut text = "| cause | verdict | means | record |\n| --- | --- | --- | --- |\n".to_owned();
    for row in rows {
        let record = row.record.map_or_else(String::new, |id| format!("`{id}`"));
        let (cause, verdict, means) = (row.cause, row.verdict.word(), row.means);
        writeln!(text, "| `{cause}` | {verdict} | {means} | {record} |").unwrap();
    }
    text
}

fn watched() -> String {
    let mut text =
        "| cause | for the node | ends as | means | read from | record |\n| --- | --- | --- | --- | --- | --- |\n"
            .to_owned();
    for row in WATCHED {
        let record = row.record.map_or_else(String::new, |id| format!("`{id}`"));
        let bearing = row.bearing.map_or("depends", weight);
        let (cause, nature) = (row.cause, row.nature.word());
        let (means, from) = (row.means, row.read_from);
        writeln!(
            text,
            "| `{cause}` | {bearing} | {nature} | {means} | {from} | {record} |"
        )
        .unwrap();
    }
    text
}

fn weight(bearing: Bearing) -> &'static str {
    match bearing {
        Bearing::Fault => "fault",
        Bearing::Warning => "warning",
        Bearing::Unknown => "could not tell",
        Bearing::Event => "counted only",
    }
}

/// Every Xid and SXid that a record is about, by what it means where its line does not say Fatal or Nonfatal.
fn xids() -> String {
    let mut text = "| for the node | Xid | SXid |\n| --- | --- | --- |\n".to_owned();
    for bearing in [Bearing::Fault, Bearing::Warning, Bearing::Event] {
        let numbers = |family: Family| {
            let of_it = known_xids()
                .iter()
                .filter(|xid| xid.family == family && xid.bearing(None) == bearing);
            let numbers: Vec<String> = of_it.map(|xid| xid.number.to_string()).collect();
            numbers.join(", ")
        };
        let (xids, switch) = (numbers(Family::Xid), numbers(Family::Sxid));
        writeln!(text, "| {} | {xids} | {switch} |", weight(bearing)).unwrap();
    }
    text
}

/// With `WRITE_DOCS=1` the page is written; otherwise it must be as it would be.
#[test]
fn the_agents_page_says_what_the_tables_say() {
    let path = repository().join("docs/AGENT.md");
    let page = fs::read_to_string(&path).unwrap();
    let mut current = page.clone();
    for (name, content) in generated() {
        let (begin, end) = (format!("<!-- BEGIN {name} -->\n"), format!("<!-- END {name} -->"));
        let (before, rest) = current.split_once(&begin).unwrap();
        let (_, after) = rest.split_once(&end).unwrap();
        current = format!("{before}{begin}\n{content}\n{end}{after}");
    }
    if std::env::var_os("WRITE_DOCS").is_some() {
        fs::write(&path, &current).unwrap();
        return;
    }
    assert_eq!(page, current, "WRITE_DOCS=1 writes the page");
}

#[test]
fn the_agents_page_names_every_expectation() {
    let page = fs::read_to_string(repository().join("docs/AGENT.md")).unwrap();
    for (expect, _) in Expect::ALL {
        assert!(page.contains(&format!("| `{}` |", expect.words())), "{expect:?}");
    }
}
