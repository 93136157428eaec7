//! What came first, what it led to, and what takes what away.

use std::sync::Arc;

use super::super::testing::{lines, matcher_of, record, scan_text};
use super::super::{Order, Summary};
use crate::matcher::Matcher;
use crate::signature::RecordSignatures;

/// Records `cuda/a` to `cuda/f`, each found by a word of its own, with these edges.
pub(super) fn records(edges: &[(&str, &str)]) -> Vec<RecordSignatures> {
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
pub(super) fn causes(summary: &Summary) -> Vec<String> {
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
pub(super) fn log(letters: &str) -> String {
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
fn order_is_by_time_within_a_clock_by_graph_between_clocks_else_by_line() {
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
            Order::TimeByClock,
            vec!["a>b"],
        ),
        (
            at("Nov 21 07:00:05 node-1 kernel:", "b") + &at("Nov 21 07:00:01 node-1 kernel:", "a"),
            Order::Time,
            vec!["a>b"],
        ),
        (
            at("Nov 21 07:00:05 node-1 kernel:", "b") + &at("Nov 21 07:00:01 node-2 kernel:", "a"),
            Order::TimeByClock,
            vec!["a>b"],
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
            Order::TimeByClock,
            vec!["b", "a"],
        ),
        // A new year has begun.
        (
            at("Dec 31 23:59:59 node-1 kernel:", "a") + &at("Jan  1 00:00:01 node-1 kernel:", "b"),
            Order::TimeByClock,
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

/// Records whose relations are set as given: record, only alone, only with, window.
fn related(name: &str, change: impl Fn(&mut RecordSignatures)) -> Arc<Matcher> {
    let mut records = records(&[]);
    let id = format!("cuda/{name}");
    records
        .iter_mut()
        .filter(|record| record.id.as_str() == id)
        .for_each(change);
    matcher_of(records)
}

fn at(time: &str, letter: &str) -> String {
    format!("{time} CUDA {} here\n", word(letter))
}

/// The matches and the reasons of the others.
fn matches_and_reasons(matcher: &Arc<Matcher>, text: &str) -> (String, Vec<String>) {
    let summary = scan_text(matcher, text);
    let mut found: Vec<_> = summary
        .matches
        .iter()
        .map(|m| m.id.as_str().trim_start_matches("cuda/").to_owned())
        .collect();
    found.sort();
    let reasons = summary.candidates.into_iter().map(|candidate| candidate.why);
    (found.concat(), reasons.collect())
}

#[test]
fn some_errors_matter_only_alone() {
    let matcher = related("a", |record| record.only_alone = true);
    assert_eq!(matches_and_reasons(&matcher, &log("a")).0, "a");
    let (found, reasons) = matches_and_reasons(&matcher, &log("ab"));
    assert_eq!(found, "b");
    assert_eq!(reasons, ["it matters only alone, and cuda/b is on line 2"]);
}

#[test]
fn what_happens_on_one_host_takes_nothing_away_on_another() {
    let on = |host: &str, letter: &str| at(&format!("Nov 21 03:00:00 {host} kernel:"), letter);
    let mut records = records(&[]);
    records[1].cancels = vec!["cuda/a".parse().unwrap()];
    let taking = matcher_of(records);
    let alone = related("b", |record| record.only_alone = true);
    for matcher in [taking, alone] {
        let found = |text: String| matches_and_reasons(&matcher, &text).0;
        assert_eq!(found(on("gpu-1", "b") + &on("gpu-1", "a")), "a");
        assert_eq!(found(on("gpu-2", "b") + &on("gpu-1", "a")), "ab");
        assert_eq!(
            found(on("gpu-1", "b") + &on("gpu-2", "b") + &on("gpu-1", "a")),
            "ab"
        );
    }
}

#[test]
fn some_errors_matter_only_with_others() {
    let matcher = related("a", |record| {
        record.only_with = vec!["cuda/b".parse().unwrap(), "cuda/c".parse().unwrap()];
    });
    assert_eq!(matches_and_reasons(&matcher, &log("ac")).0, "ac");
    let (found, reasons) = matches_and_reasons(&matcher, &log("ad"));
    assert_eq!(found, "d");
    assert_eq!(
        reasons,
        ["it matters only together with other errors, and none of them is here"]
    );
    // Records that are not there can be no company, and the record stays unmatched.
    let matcher = related("a", |record| {
        record.only_with = vec!["cuda/unknown".parse().unwrap()];
    });
    assert_eq!(matches_and_reasons(&matcher, &log("ab")).0, "b");
}

#[test]
fn relations_hold_within_their_window() {
    let minute = |second: u32| format!("2026-11-21T07:00:{second:02}Z");
    let near = at(&minute(0), "a") + &at(&minute(9), "b");
    let far = at(&minute(0), "a") + &at(&minute(11), "b");
    let other_host = at("Nov 21 07:00:00 gpu-1 kernel:", "a") + &at("Nov 21 07:00:01 gpu-2 kernel:", "b");
    let with = related("a", |record| {
        record.only_with = vec!["cuda/b".parse().unwrap()];
        record.window_seconds = Some(10);
    });
    let found = |matcher: &Arc<Matcher>, text: &str| matches_and_reasons(matcher, text).0;
    assert_eq!(
        (found(&with, &near), found(&with, &far)),
        ("ab".into(), "b".into())
    );
    assert_eq!(
        found(&with, &other_host),
        "b",
        "another host's error is no company"
    );
    let alone = related("a", |record| {
        record.only_alone = true;
        record.window_seconds = Some(10);
    });
    assert_eq!(
        (found(&alone, &near), found(&alone, &far)),
        ("b".into(), "ab".into())
    );
    assert_eq!(
        found(&alone, &log("ab")),
        "b",
        "without times the text is the window"
    );
}

#[test]
fn between_hosts_the_graph_decides_where_clocks_cannot() {
    let graph = graph(&[("a", "b"), ("b", "c")]);
    // gpu-2 is the cause, but its clock is 2 minutes ahead.
    let text = at("2026-11-21T07:00:05Z gpu-1 python[7]:", "b")
        + &at("2026-11-21T07:00:06Z gpu-1 python[7]:", "c")
        + &at("2026-11-21T07:02:01Z gpu-2 kernel:", "a");
    let summary = scan_text(&graph, &text);
    assert_eq!(
        (summary.order, causes(&summary)),
        (Order::TimeByClock, vec!["a>b>c".to_owned()])
    );
    let cause = &summary.root_causes[0];
    assert_eq!((cause.line, cause.host.as_deref()), (3, Some("gpu-2")));
    assert_eq!(
        cause.why,
        "no earlier match leads to it; it leads to cuda/b on line 1, cuda/c on line 2; no common clock tells which came \
         first, the graph does"
    );
    assert!(
        summary.notes[0].ends_with("between clocks the graph decides which error led to which"),
        "{:?}",
        summary.notes
    );
}

#[test]
fn without_an_error_that_both_report_no_skew_misleads_the_graph() {
    let graph = graph(&[("a", "b")]);
    // gpu-1 is the cause at 12:00 and its line came first; gpu-2's clock is anything.
    for clock in [
        "08:00:00", "11:00:05", "11:58:35", "12:00:05", "12:01:35", "13:00:05", "19:00:00",
    ] {
        for zone in ["", "Z"] {
            let of = |time: &str, host: &str, letter: &str| {
                at(&format!("2026-11-21T{time}{zone} {host} train[7]:"), letter)
            };
            let text = of("12:00:00", "gpu-1", "a") + &of(clock, "gpu-2", "b");
            assert_eq!(causes(&scan_text(&graph, &text)), ["a>b"], "{text}");
            let syslog = text.replace("2026-11-21T", "Nov 21 ").replace("Z ", " ");
            assert_eq!(causes(&scan_text(&graph, &syslog)), ["a>b"], "{syslog}");
            // What no edge joins stays apart.
            let independent = text.replace(&word("b"), &word("c"));
            assert_eq!(scan_text(&graph, &independent).root_causes.len(), 2);
        }
    }
}

#[test]
fn an_error_that_two_hosts_report_tells_how_their_clocks_differ() {
    let graph = graph(&[("a", "b")]);
    // Both report c; gpu-2's clock is 15 minutes ahead. So a came 4 minutes before b.
    let shared =
        at("2026-11-21T07:10:00Z gpu-1 python[7]:", "c") + &at("2026-11-21T07:25:00Z gpu-2 python[7]:", "c");
    let text = at("2026-11-21T07:08:00Z gpu-1 python[7]:", "b")
        + &at("2026-11-21T07:19:00Z gpu-2 kernel:", "a")
        + &shared;
    let summary = scan_text(&graph, &text);
    assert_eq!(causes(&summary), ["a>b", "c"]);
    assert!(
        summary.notes[0]
            .starts_with("the clock of gpu-2 is taken to be 900 s ahead of that of gpu-1, by an error"),
        "{:?}",
        summary.notes
    );
    // And here, after the same correction, a came 5 minutes after b.
    let text = text.replace("07:19:00Z", "07:28:00Z");
    assert_eq!(causes(&scan_text(&graph, &text)), ["b", "c", "a"]);
}

#[test]
fn the_kernel_log_behind_the_application_log_holds_the_cause() {
    let graph = graph(&[("a", "b")]);
    for text in [
        at("[rank3]:", "b") + &at("[ 5000.000000]", "a"),
        at("2026-11-21 07:00:05,123", "b") + &at("[ 5000.000000]", "a"),
        at("[rank3]:", "b") + &at("Nov 21 07:00:01 gpu-1 kernel:", "a"),
    ] {
        assert_eq!(causes(&scan_text(&graph, &text)), ["a>b"], "{text}");
    }
}

#[test]
fn independent_faults_of_two_hosts_are_two() {
    let graph = graph(&[("a", "b"), ("c", "d")]);
    let text = at("Nov 21 07:00:01 gpu-1 kernel:", "a")
        + &at("Nov 21 07:00:02 gpu-2 kernel:", "c")
        + &at("Nov 21 07:00:03 gpu-1 kernel:", "b")
        + &at("Nov 21 07:00:04 gpu-2 kernel:", "d");
    assert_eq!(causes(&scan_text(&graph, text)), ["a>b", "c>d"]);
}

#[test]
fn what_only_says_that_another_error_ended_the_program_is_no_cause_beside_one() {
    let with = |severity: &str| {
        let mut records = records(&[]);
        records[1].wraps_others = true;
        records[0].severity = serde_json::from_value(severity.into()).unwrap();
        let far = format!("{}\n{}", log("b"), "a line of the traceback\n".repeat(90));
        causes(&scan_text(&matcher_of(records), format!("{far}{}", log("a"))))
    };
    assert_eq!(with("error"), ["a>b"]);
    assert_eq!(with("warning"), ["b", "a"], "a warning ends no program");
    let mut alone = records(&[]);
    alone[1].wraps_others = true;
    assert_eq!(causes(&scan_text(&matcher_of(alone), log("b"))), ["b"]);
}

#[test]
fn a_wrapper_that_holds_the_error_in_its_own_line_stays_first() {
    let mut records = records(&[]);
    records[1].wraps_others = true;
    let both = format!("{} {}\n", log("b"), log("a"));
    let found = scan_text(&matcher_of(records.clone()), both.replace('\n', " "));
    let ids: Vec<&str> = found.matches.iter().map(|found| found.id.as_str()).collect();
    assert!(ids.contains(&"cuda/b") && causes(&found).len() == 1, "{ids:?}");
    let apart = scan_text(&matcher_of(records), format!("{both}{}", log("a")));
    assert_eq!(causes(&apart), ["a>b"]);
}
