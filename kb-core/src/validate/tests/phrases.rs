//! Phrases are held against the record's own texts.

use super::{ANNEX, DOCUMENT, put, rules};
use crate::validate::Severity;

#[test]
fn a_phrase_is_held_against_examples_and_near_misses_like_a_pattern() {
    let phrase = r#"[{"id": "said", "context": "cuda-error", "text": "flange is bent"}]"#;
    let annex = put(ANNEX, "/phrases", phrase);
    assert_eq!(rules(DOCUMENT, &annex), [], "its context is proven already");
    let example = r#"[{"text": "CUDA error: flange is bent"}]"#;
    let shown = put(&put(&annex, "/patterns", "[]"), "/examples", example);
    assert_eq!(rules(DOCUMENT, &shown), []);
    let missed = put(&shown, "/examples", r#"[{"text": "the flange is bent"}]"#);
    let expected = ("/examples/0/text".to_owned(), "misses-example", Severity::Warning);
    assert_eq!(rules(DOCUMENT, &missed), [expected]);
    let near = put(&shown, "/near_misses", example);
    let expected = (
        "/near_misses/0/text".to_owned(),
        "near-miss-matches",
        Severity::Warning,
    );
    assert_eq!(rules(DOCUMENT, &near), [expected]);
}
