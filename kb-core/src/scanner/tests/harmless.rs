//! Messages that tell of nothing lost, and those that are harmless: what they are no cause of, and where they are neither.

use std::sync::Arc;

use super::super::testing::{matcher_of, scan_text};
use super::causes::{causes, log, records};
use crate::matcher::Matcher;
use crate::severity::Severity;
use crate::signature::{LOST, RecordSignatures};

/// The same records, of which these tell of nothing that is lost.
fn with_notices(edges: &[(&str, &str)], notices: &str) -> Arc<Matcher> {
    let mut records = records(edges);
    for record in &mut records {
        record.notice = notices.contains(record.id.as_str().trim_start_matches("cuda/"));
    }
    matcher_of(records)
}

#[test]
fn a_notice_is_no_cause_beside_a_fault_that_it_does_not_lead_to() {
    for (edges, text, expected) in [
        (&[][..], "ba", vec!["a"]),
        (&[], "b", vec!["b"]),
        (&[("b", "a")], "ba", vec!["b>a"]),
        (&[("a", "c")], "bac", vec!["a>c"]),
        (&[("b", "d")], "ba", vec!["a"]),
    ] {
        let summary = scan_text(&with_notices(edges, "b"), log(text));
        assert_eq!(causes(&summary), expected, "{edges:?} in {text}");
        assert_eq!(summary.matches.len(), text.len(), "it stays among the matches");
    }
}

#[test]
fn what_is_harmless_is_no_cause_even_alone() {
    let mut records = records(&[("b", "c")]);
    for record in &mut records {
        record.harmless = (record.id.as_str() == "cuda/b").then(|| "it comes twice".to_owned());
    }
    let matcher = matcher_of(records);
    for (text, expected) in [
        ("b", vec![]),
        ("ba", vec!["a".to_owned()]),
        ("bc", vec!["c".to_owned()]),
    ] {
        let summary = scan_text(&matcher, log(text));
        assert_eq!(causes(&summary), expected, "{text}");
        assert_eq!(summary.matches.len(), text.len(), "it stays among the matches");
    }
}

/// The record speaks of all lines of a number; the driver of this one.
#[test]
fn a_line_that_the_driver_calls_fatal_is_not_harmless() {
    let mut records = records(&[]);
    for record in &mut records {
        record.harmless = Some("it comes twice".to_owned());
        record.notice = true;
    }
    let matcher = matcher_of(records);
    for (told, is_harmless) in [("Nonfatal", true), ("Fatal", false)] {
        let text = log("a").replacen(
            '\n',
            &format!(" NVRM: Xid (PCI:0000:af:00): 147, TREX {told}\n"),
            1,
        );
        let summary = scan_text(&matcher, &text);
        assert_eq!(summary.matches[0].harmless, is_harmless, "{text}");
        assert_eq!(causes(&summary).is_empty(), is_harmless, "{text}");
    }
}

/// A code of CUDA may be ignored; where a program ends beside it, it was not.
#[test]
fn an_error_of_cuda_with_which_a_program_ends_is_not_harmless() {
    let mut records = records(&[]);
    records[0].harmless = Some("it comes twice".to_owned());
    records[1].wraps_others = true;
    let matcher = matcher_of(records);
    let traceback =
        "Traceback (most recent call last):\n  File \"/srv/x.py\", line 1, in <module>\nRuntimeError: ";
    for (text, is_harmless) in [
        (format!("{}{}", log("b"), log("a")), false),
        (format!("{}{}", log("a"), log("b")), false),
        (format!("{}\nfar\n{}", log("b"), log("a")), true),
        (log("a"), true),
        (format!("{traceback}{}", log("a")), false),
    ] {
        let found = scan_text(&matcher, &text);
        let code = found
            .matches
            .iter()
            .find(|found| found.id.as_str() == "cuda/a")
            .unwrap();
        assert_eq!(code.harmless, is_harmless, "{text}");
        assert_eq!(
            found.root_cause.is_some_and(|id| id.as_str() == "cuda/a"),
            !is_harmless,
            "{text}"
        );
    }
}

/// A record that matters only alone, `b`, beside another: harmless, a notice, an error.
#[test]
fn what_matters_only_alone_yields_to_nothing_slighter() {
    let told_of = |text: &str, change: &dyn Fn(&mut RecordSignatures)| {
        let mut records = records(&[]);
        for record in &mut records {
            record.severity = Some(Severity::Error);
            record.only_alone = record.id.as_str() == "cuda/b";
            change(record);
        }
        let summary = scan_text(&matcher_of(records), log(text));
        summary.matches.iter().any(|found| found.id.as_str() == "cuda/b")
    };
    let is = |record: &RecordSignatures, name: &str| record.id.as_str() == name;
    let harmless = |record: &mut RecordSignatures| {
        record.notice = true;
        record.harmless = Some("it comes twice".to_owned());
    };
    for text in ["ab", "ba"] {
        assert!(!told_of(text, &|_| {}), "beside an error");
        assert!(
            told_of(text, &|record| if is(record, "cuda/a") {
                harmless(record);
            }),
            "an error beside what is harmless"
        );
        assert!(
            told_of(text, &|record| if is(record, "cuda/a") {
                record.notice = true;
            }),
            "an error beside a notice"
        );
        assert!(
            told_of(text, &|record| match record.id.as_str() {
                "cuda/a" => harmless(record),
                _ => record.severity = Some(Severity::Warning),
            }),
            "a warning beside what is harmless"
        );
        assert!(!told_of(text, &harmless), "both are harmless");
        assert!(
            told_of(text, &|record| if is(record, "cuda/a") {
                record.only_with = vec!["cuda/c".parse().unwrap()];
            }),
            "beside what counts for nothing itself"
        );
    }
}

#[test]
fn a_module_that_a_program_does_without_is_no_error() {
    let matcher = matcher_of(records(&[]));
    for (prefix, is_match) in [
        (
            "WARNING 06-25 16:32:09 [import_utils.py:408] ImportError: ",
            false,
        ),
        ("WARNING:root:no fast path: ModuleNotFoundError: ", false),
        ("ERROR 06-25 16:32:09 [x.py:1] ImportError: ", true),
        ("ImportError: ", true),
        ("WARNING: ", true),
    ] {
        let found = scan_text(&matcher, format!("{prefix}{}", log("a")));
        assert_eq!(!found.matches.is_empty(), is_match, "{prefix}");
    }
}

#[test]
fn a_harmless_record_speaks_of_no_line_that_tells_of_a_lost_gpu() {
    let mut records = records(&[]);
    for record in &mut records {
        record.notice = true;
        record.harmless = (record.id.as_str() == "cuda/b").then(|| "it comes twice".to_owned());
    }
    let matcher = matcher_of(records);
    for told in LOST {
        let with = |name: &str| log(name).replacen('\n', &format!(" [{told}]\n"), 1);
        let summary = scan_text(&matcher, with("b"));
        assert_eq!(summary.matches, [], "{told}");
        assert_eq!(summary.candidates, [], "{told}");
        // The record of a notice is no word against the status: it stays, as an error.
        let summary = scan_text(&matcher, with("a") + &log("c"));
        assert_eq!(causes(&summary), ["a"], "{told}");
    }
    let summary = scan_text(
        &matcher,
        log("b").replacen('\n', " [NV_ERR_OBJECT_NOT_FOUND]\n", 1),
    );
    assert!(summary.matches[0].harmless);
}
