//! Who comes first: the record that is meant, before those that explain as much.

use super::super::testing::{matcher_of, pattern, record, scan_text};

#[test]
fn the_record_whose_signature_is_the_message_comes_first() {
    let mut other = record("cloud/lambda-storage", "Lambda /tmp is full");
    other.patterns = vec![pattern(
        "0",
        "frobnicator (?:pipe|queue) broke|no widget left on gadget",
    )];
    let meant = record("docker/no-widget-left", "no widget left on gadget");
    let longer = record("docker/error-no-widget-left", "Error: no widget left on gadget");
    let matcher = matcher_of(vec![other, meant, longer]);
    let first = |text: &str| scan_text(&matcher, text).matches[0].id.to_string();
    assert_eq!(first("no widget left on gadget"), "docker/no-widget-left");
    assert_eq!(
        first("2026-01-01T00:00:00Z Error: no widget left on gadget"),
        "docker/error-no-widget-left"
    );
}

#[test]
fn a_generic_pattern_with_wildcards_must_explain_some_of_the_line() {
    let mut nan = record("pytorch/loss-nan", "");
    nan.patterns = vec![pattern("0", "loss.*nan")];
    let matcher = matcher_of(vec![nan]);
    let long =
        "torch: step 12 loss 1.25 scale 1.0 grad norm 0.5 skipped 0 nan iterations 0, samples 12, rate 3.5";
    assert_eq!(scan_text(&matcher, "torch: loss is nan").matches.len(), 1);
    let summary = scan_text(&matcher, long);
    assert_eq!((summary.matches.len(), summary.candidates.len()), (0, 1));
}
