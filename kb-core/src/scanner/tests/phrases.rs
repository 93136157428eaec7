//! Phrases in whole texts: behind log prefixes, between carriage returns, beside other records.

use std::sync::Arc;

use super::super::testing::{record, scan_text};
use crate::matcher::Matcher;
use crate::signature::{PhraseSpec, RecordSignatures};

/// A record that a phrase tells.
fn told(id: &str, context: &str, text: Option<&str>, numbers: &[u32]) -> RecordSignatures {
    let mut record = record(id, "");
    record.phrases = vec![PhraseSpec {
        id: "said".to_owned(),
        context: context.to_owned(),
        text: text.map(ToOwned::to_owned),
        numbers: numbers.to_vec(),
    }];
    record
}

fn records() -> Vec<RecordSignatures> {
    vec![
        told("cuda/argument", "cuda-error", Some("invalid argument"), &[]),
        told("cuda/address", "managed-cuda", Some("Illegaladdress"), &[]),
        told("cuda/number", "cuda-number", None, &[77, 700]),
        told("cuda/other-number", "cuda-number", None, &[7, 701]),
    ]
}

/// What a text is said to hold, and where.
fn found(matcher: &Arc<Matcher>, text: &str) -> Vec<(String, String)> {
    let summary = scan_text(matcher, text);
    let shown = |from: u64, to: u64| {
        let place = |at| usize::try_from(at).unwrap();
        text[place(from)..place(to)].to_owned()
    };
    let all = summary.matches.iter();
    all.map(|found| {
        (
            found.id.to_string(),
            shown(found.lines[0].start, found.lines[0].end),
        )
    })
    .collect()
}

#[test]
fn phrases_are_found_behind_prefixes_and_between_carriage_returns() {
    let (matcher, rejected) = Matcher::build(records());
    assert_eq!(rejected, []);
    let (again, rejected) = matcher.rebuild(records());
    assert_eq!(rejected, []);
    for matcher in [Arc::new(matcher), Arc::new(again)] {
        for (text, id, span) in [
            (
                "2026-11-21T10:00:00Z node-a x[7]: cudaMalloc failed: invalid argument\n",
                "cuda/argument",
                "cudaMalloc failed: invalid argument",
            ),
            (
                "progress 7%\rCUDA error: Invalid argument\rprogress 8%\n",
                "cuda/argument",
                "CUDA error: Invalid argument",
            ),
            (
                "2026-11-21 10:00:00 [INFO] ErrorIllegalAddress: While executing a kernel\n",
                "cuda/address",
                "ErrorIllegalAddress: While",
            ),
            (
                "ERROR: CUDACore.CuError(code=700)\n",
                "cuda/number",
                "CuError(code=700)",
            ),
            (
                "ERROR: CUDACore.CuError(code=701)\n",
                "cuda/other-number",
                "CuError(code=701)",
            ),
        ] {
            assert_eq!(
                found(&matcher, text),
                [(id.to_owned(), span.to_owned())],
                "{text}"
            );
        }
        for text in [
            "open(): invalid argument\n",
            "x ErrorIllegalAddress: While executing\n",
            "CuError(code=7000)\n",
        ] {
            assert_eq!(found(&matcher, text), [], "{text}");
        }
    }
}

#[test]
fn a_context_that_is_not_known_is_listed_and_the_rest_of_its_record_is_in() {
    let mut record = told("cuda/argument", "cuda-eror", Some("invalid argument"), &[]);
    record.codes = vec!["cudaErrorInvalidValue".to_owned()];
    let (matcher, rejected) = Matcher::build(vec![record]);
    let [rejected] = rejected.as_slice() else {
        panic!("{rejected:?}");
    };
    assert_eq!(rejected.pattern, "said");
    assert!(rejected.reason.contains("cuda-eror") && rejected.reason.contains("cuda-error-loose"));
    assert_eq!(found(&Arc::new(matcher), "cudaErrorInvalidValue\n").len(), 1);
}
