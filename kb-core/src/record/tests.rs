//! The views against records in the form of the seeds.

use super::{Record, is_real_code, signature_set, signature_set_by};
use crate::annex::EMPTY;
use crate::ids::{RecordId, Revision};
use crate::text::insert_member;
use crate::transition::EdgeKind;

const SMALL: &str = r#"{
  "id": "cuda/a",
  "signature": "CUDA error: a",
  "regex": "cuda error: a",
  "domain": "cuda",
  "category": "runtime_error",
  "root_cause": "a",
  "error_code": "GPA",
  "fleet_note": {"seen": [1, null]},
  "transition_graph": {
    "leads_to": [
      {"error_id": "cuda/b", "probability": 0.5, "condition": "when hot", "typical_delay": "1 min"},
      {"error_id": "see the manual"}
    ],
    "preceded_by": [{"error_id": "cuda/c", "probability": null}],
    "frequently_confused_with": [{"error_id": "cuda/d", "distinction": "d is cold", "probability": 0.1}]
  }
}"#;

fn small(annex: &str) -> Record {
    Record::parse(SMALL, annex).unwrap()
}

#[test]
fn texts_are_kept_and_unknown_keys_are_there() {
    let record = small(EMPTY);
    assert_eq!(record.document_text, SMALL);
    assert_eq!(record.annex_text, EMPTY);
    assert_eq!(record.document.extra["fleet_note"]["seen"][0], 1);
    let confused = &record.document.transition_graph.frequently_confused_with[0];
    assert_eq!(confused.extra["probability"], 0.1);
}

#[test]
fn edges_keep_what_is_stated_and_targets_that_are_no_ids() {
    let edges = small(EMPTY).edges();
    let shown: Vec<_> = edges
        .iter()
        .map(|edge| {
            (
                edge.kind,
                edge.to_text.as_str(),
                edge.to.is_some(),
                edge.probability,
            )
        })
        .collect();
    assert_eq!(
        shown,
        [
            (EdgeKind::LeadsTo, "cuda/b", true, Some(0.5)),
            (EdgeKind::LeadsTo, "see the manual", false, None),
            (EdgeKind::PrecededBy, "cuda/c", true, None),
            (EdgeKind::FrequentlyConfusedWith, "cuda/d", true, None),
        ]
    );
    assert_eq!(edges[0].condition.as_deref(), Some("when hot"));
    assert_eq!(edges[0].typical_delay.as_deref(), Some("1 min"));
    assert_eq!(edges[3].distinction.as_deref(), Some("d is cold"));
}

#[test]
fn signatures_start_with_the_documents_regex_and_leave_out_a_made_up_code() {
    let annex = r#"{"schema_version": 1, "codes": ["Xid 1"],
        "patterns": [{"id": "numbered", "regex": "cuda error (\\d)", "captures": ["number"]}]}"#;
    let signatures = small(annex).signatures(Revision(3));
    let ids: Vec<_> = signatures
        .patterns
        .iter()
        .map(|p| (p.id.as_str(), p.flags.as_str()))
        .collect();
    assert_eq!(ids, [("0", "i"), ("numbered", "")]);
    assert_eq!(signatures.codes, ["Xid 1"]);
    assert_eq!(signatures.revision, Revision(3));
    let leads_to: Vec<_> = signatures.leads_to.iter().map(RecordId::as_str).collect();
    assert_eq!(leads_to, ["cuda/b"]);

    let real = SMALL.replace("\"GPA\"", "\"cudaErrorA\"");
    let record = Record::parse(&real, EMPTY).unwrap();
    assert_eq!(record.codes(), ["cudaErrorA"]);
}

#[test]
fn what_a_record_cancels_is_told_to_the_cancelled() {
    let cancelling = small(r#"{"schema_version": 1, "relations": {"cancels": ["cuda/b", "cuda/nowhere"]}}"#);
    let cancelled = Record::parse(&SMALL.replacen("cuda/a", "cuda/b", 1), EMPTY).unwrap();
    let set = signature_set([(&cancelling, Revision(1)), (&cancelled, Revision(2))]);
    assert!(set[0].cancels.is_empty());
    assert_eq!(set[1].cancels, [cancelling.id().clone()]);
}

/// A store keeps who became whom apart from the documents.
#[test]
fn former_ids_that_no_document_names_lead_on() {
    let cancelling = small(r#"{"schema_version": 1, "relations": {"cancels": ["cuda/former-b"]}}"#);
    let cancelled = Record::parse(&SMALL.replacen("cuda/a", "cuda/b", 1), EMPTY).unwrap();
    let former: RecordId = "cuda/former-b".parse().unwrap();
    let records = [(&cancelling, Revision(1)), (&cancelled, Revision(2))];
    assert!(signature_set(records)[1].cancels.is_empty());
    let set = signature_set_by(records, [(&former, cancelled.id())]);
    assert_eq!(set[1].cancels, [cancelling.id().clone()]);
}

#[test]
fn what_precedes_a_record_leads_to_it_and_former_ids_lead_on() {
    let record = |id: &str, more: &str| {
        let text = format!(
            r#"{{"id": "cuda/{id}", "signature": "{id}", "domain": "cuda", "category": "x", "root_cause": "x" {more}}}"#
        );
        Record::parse(
            &text,
            r#"{"schema_version": 1, "relations": {"cancels": ["cuda/former-b"]}}"#,
        )
        .unwrap()
    };
    let a = record(
        "a",
        r#", "transition_graph": {"leads_to": [{"error_id": "cuda/former-b"}, {"error_id": "cuda/x"}]}"#,
    );
    let b = record("b", r#", "aliases": ["cuda/former-b", "cuda/a"]"#);
    let c = record(
        "c",
        r#", "transition_graph": {"preceded_by": [{"error_id": "cuda/a"}, {"error_id": "cuda/former-b"}, {"error_id": "?"}]}"#,
    );
    let set = signature_set([&a, &b, &c].map(|record| (record, Revision(1))));
    let leads_to = |place: usize| -> Vec<&str> { set[place].leads_to.iter().map(RecordId::as_str).collect() };
    assert_eq!(
        leads_to(0),
        ["cuda/b", "cuda/x", "cuda/c"],
        "an id of today is no former one"
    );
    assert_eq!(leads_to(1), ["cuda/c"]);
    assert_eq!(leads_to(2), [""; 0]);
    let cancels: Vec<&str> = set[1].cancels.iter().map(RecordId::as_str).collect();
    assert_eq!(cancels, ["cuda/a", "cuda/b", "cuda/c"]);
}

#[test]
fn a_refusal_names_every_error_of_both_texts() {
    let document = SMALL.replace("\"cuda/a\"", "\"Cuda/a\"").replace("0.5", "1.5");
    let violations = Record::parse(&document, r#"{"schema_version": 2, "codes": [7]}"#).unwrap_err();
    let shown: Vec<_> = violations.iter().map(|v| (v.pointer.as_str(), v.rule)).collect();
    assert_eq!(
        shown,
        [
            ("/id", "id"),
            ("/transition_graph/leads_to/0/probability", "range"),
            ("/schema_version", "version"),
            ("/codes/0", "type"),
        ]
    );
}

#[test]
fn null_is_read_as_absent_where_the_seeds_have_it_and_refused_elsewhere() {
    let with =
        |pointer: &str, value: &str| Record::parse(&insert_member(SMALL, pointer, value).unwrap(), EMPTY);
    for pointer in [
        "/subcategory",
        "/official_doc_section",
        "/official_doc_url",
        "/confidence",
        "/last_confirmed",
    ] {
        assert!(with(pointer, "null").is_ok(), "{pointer}");
    }
    for pointer in ["/dead_ends", "/tags", "/os_specific", "/aliases"] {
        assert_eq!(with(pointer, "null").unwrap_err()[0].pointer, pointer);
    }
}

#[test]
fn codes_are_told_from_labels_and_bare_numbers() {
    for real in [
        "cudaErrorPeerAccessUnsupported",
        "CUDA_ERROR_NOT_FOUND",
        "Xid 79",
        "error 217",
        "ENOMEM",
        "SIGSEGV",
        "ncclSystemError",
    ] {
        assert!(is_real_code(real), "{real}");
    }
    for label in [
        "GPA",
        "",
        "217",
        "error",
        "  Xid 79",
        "PEER",
        "Xid\n79",
        "错误 217",
    ] {
        assert!(!is_real_code(label), "{label:?}");
    }
}
