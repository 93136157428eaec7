//! Where a warning stands among the causes.

use super::super::testing::{matcher_of, scan_text};
use super::causes::{causes, log, records};
use crate::severity::Severity;

/// The causes of `text`, where `a` is a warning and `b` to `f` are errors.
fn with_warning(edges: &[(&str, &str)], text: &str) -> Vec<String> {
    let mut records = records(edges);
    records[0].severity = Some(Severity::Warning);
    causes(&scan_text(&matcher_of(records), log(text)))
}

#[test]
fn a_warning_that_explains_nothing_stands_behind_errors() {
    assert_eq!(with_warning(&[], "abc"), ["b", "c", "a"]);
    assert_eq!(with_warning(&[], "a"), ["a"]);
}

#[test]
fn a_warning_that_explains_what_an_error_explains_too_stands_behind_it() {
    assert_eq!(with_warning(&[("a", "c"), ("b", "c")], "abc"), ["b>c", "a>c"]);
}

#[test]
fn a_warning_that_alone_explains_an_error_stands_first() {
    assert_eq!(with_warning(&[("a", "b")], "abc"), ["a>b", "c"]);
    let edges = [("a", "c"), ("b", "c"), ("a", "d")];
    assert_eq!(with_warning(&edges, "abcd"), ["a>c>d", "b>c"]);
}
