//! What came first, what it led to, and what takes what away.

use std::sync::Arc;

use super::super::testing::{lines, matcher_of, record, scan_text};
use super::super::{Order, Summary};
use crate::matcher::Matcher;
use crate::signature::RecordSignatures;

/// Records `cuda/a` to `cuda/f`, each found by a word of its own, with these edges.
fn records(edges: &[(&str, &str)]) -> Vec<RecordSignatures> {
    let mut records: Vec<_> = ["a", "b", "c", "d", "e", "f"]
        .map(|name| record(&format!("cuda/{name}"), &word(name)))
        .to_vec();
    for (from, to) in edges {
        let target = format!("cuda/{to}").parse().unwrap();
        records
            .iter_mut()
            .find(|record| record.id.as_str() == format!("cuda/{from}"))
            .unwrap()
            .leads_to
            .push(target);
    }
    records
}

fn word(name: &str) -> String {
    format!("frobnicator_{name}_infarction")
}

fn graph(edges: &[(&str, &str)]) -> Arc<Matcher> {
    matcher_of(records(edges))
}

/// The causes with their chains, as `a>b>c`, in order.
fn causes(summary: &Summary) -> Vec<String> {
    let chain = |cause: &super::super::RootCause| {
        let names: Vec<_> = cause
            .chain
            .iter()
            .map(|id| id.as_str().trim_start_matches("cuda/"))
            .collect();
        names.join(">")
    };
    summary.root_causes.iter().map(chain).collect()
}

/// One line for each letter.
fn log(letters: &str) -> String {
    let letters: Vec<String> = letters.chars().map(String::from).collect();
    lines(letters.len(), |n| format!("CUDA {} here", word(&letters[n])))
}

#[test]
fn the_first_that_leads_to_the_others_is_the_cause() {
    for (edges, text, expected) in [
        (&[("a", "b"), ("b", "c")][..], "abc", vec!["a>b>c"]),
        // Only what came before can be a cause.
        (&[("a", "b"), ("b", "c")], "cba", vec!["c", "b", "a"]),
        (&[("a", "b"), ("b", "c")], "bcab", vec!["b>c", "a"]),
        // The record between the two need not stand in the text.
        (&[("a", "b"), ("b", "c")], "ac", vec!["a>c"]),
        (&[("a", "b"), ("c", "d")], "abcd", vec!["a>b", "c>d"]),
        (&[("a", "b"), ("c", "d")], "acbd", vec!["a>b", "c>d"]),
        (&[], "ab", vec!["a", "b"]),
        // Two causes of one effect, and a circle.
        (&[("a", "c"), ("b", "c")], "abc", vec!["a>c", "b>c"]),
        (&[("a", "b"), ("b", "a")], "ba", vec!["b>a"]),
        (&[("a", "a")], "aa", vec!["a"]),
    ] {
        let summary = scan_text(&graph(edges), log(text));
        assert_eq!(causes(&summary), expected, "{edges:?} in {text}");
        assert_eq!(
            summary.root_cause,
            summary.root_causes.first().map(|cause| cause.id.clone())
        );
    }
}

#[test]
fn order_is_by_time_within_one_clock_else_by_line() {
    let edges = [("a", "b")];
    let at = |time: &str, letter: &str| format!("{time} CUDA {} here\n", word(letter));
    for (text, order, expected) in [
        (
            at("2026-11-21T07:00:05Z", "b") + &at("2026-11-21T08:00:01+01:00", "a"),
            Order::Time,
            vec!["a>b"],
        ),
        (
            at("2026-11-21T07:00:05Z", "b") + &at("", "a"),
            Order::Line,
            vec!["b", "a"],
        ),
        // A local and an absolute time are two clocks.
        (
            at("2026-11-21T07:00:05Z", "b") + &at("2026-11-21 07:00:01", "a"),
            Order::Line,
            vec!["b", "a"],
        ),
        (
            at("Nov 21 07:00:05 node-1 kernel:", "b") + &at("Nov 21 07:00:01 node-1 kernel:", "a"),
            Order::Time,
            vec!["a>b"],
        ),
        (
            at("Nov 21 07:00:05 node-1 kernel:", "b") + &at("Nov 21 07:00:01 node-2 kernel:", "a"),
            Order::Line,
            vec!["b", "a"],
        ),
        (
            at("[   50.000000]", "b") + &at("[   20.000000]", "a"),
            Order::Time,
            vec!["a>b"],
        ),
        // A record with one hit of unknown time has no first time.
        (
            at("2026-11-21T07:00:05Z", "b") + &at("", "b") + &at("2026-11-21T07:00:01Z", "a"),
            Order::Line,
            vec!["b", "a"],
        ),
        // Back by more than a minute: the machine has booted again.
        (
            at("[ 5000.000000]", "b") + &at("[   20.000000]", "a"),
            Order::Line,
            vec!["b", "a"],
        ),
        // A new year has begun.
        (
            at("Dec 31 23:59:59 node-1 kernel:", "a") + &at("Jan  1 00:00:01 node-1 kernel:", "b"),
            Order::Line,
            vec!["a>b"],
        ),
    ] {
        let summary = scan_text(&graph(&edges), &text);
        assert_eq!(
            (summary.order, causes(&summary)),
            (order, expected.into_iter().map(str::to_owned).collect()),
            "{text}"
        );
    }
}

#[test]
fn a_record_that_another_takes_away_becomes_a_candidate() {
    let mut records = records(&[]);
    records[1].cancels = vec!["cuda/a".parse().unwrap()];
    let matcher = matcher_of(records.clone());
    let summary = scan_text(&matcher, log("ba"));
    let ids: Vec<_> = summary.matches.iter().map(|found| found.id.as_str()).collect();
    assert_eq!(ids, ["cuda/a"]);
    assert_eq!(summary.candidates[0].why, "cuda/a on line 2 takes it away");
    assert_eq!(scan_text(&matcher, log("b")).matches.len(), 1);
    records[0].cancels = vec!["cuda/b".parse().unwrap()];
    assert_eq!(
        scan_text(&matcher_of(records), log("ba")).matches.len(),
        2,
        "neither wins"
    );
}
