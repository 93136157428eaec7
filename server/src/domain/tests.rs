//! Reading use cases over one small generation.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use kb_core::scanner::Applies;
use proptest::prelude::*;
use serde_json::json;

use super::lookup::{
    BatchItem, LookupError, MAX_ITEM_BYTES, MatchAnswer, MatchOptions, Matching, SuggestedBy, look_up,
    look_up_item,
};
use super::records::{Found, by_code, find};
use super::work_time::WorkTime;
use crate::feed::Generation;
use crate::feed::samples::{PEER_ACCESS, document, generation_of};

const PEER: &str = "cuda/peer-access-unsupported-by-hardware";
const LINE: &str = "RuntimeError: CUDA error: peer access is not supported between these two devices";

fn sample() -> Arc<Generation> {
    let mut bus = document("xid/79", "NVRM: Xid 79, GPU has fallen off the bus");
    bus["aliases"] = json!(["xid/gpu-lost"]);
    let annex = json!({
        "schema_version": 1,
        "codes": ["Xid 79", "cudaErrorPeerAccessUnsupported"],
        "applies_to": [{ "component": "driver", "introduced": "550" }],
    });
    generation_of(&[
        (PEER_ACCESS.0.to_owned(), PEER_ACCESS.1.to_owned()),
        (bus.to_string(), annex.to_string()),
    ])
}

fn matched(answer: &MatchAnswer) -> Vec<&str> {
    answer.matches.iter().map(|found| found.id.as_str()).collect()
}

#[test]
fn a_pasted_error_is_explained_and_the_answer_says_by_what_state() {
    let text = format!("starting\n{LINE}\ndone\n");
    let answer = look_up(&sample(), text.as_bytes(), MatchOptions::default()).unwrap();
    assert_eq!(matched(&answer), [PEER]);
    assert_eq!((answer.matches[0].lines[0].line, answer.lines_scanned), (2, 3));
    assert_eq!(
        answer.root_cause.as_ref().map(ToString::to_string).as_deref(),
        Some(PEER)
    );
    assert_eq!(answer.candidates, []);
    let json = serde_json::to_value(&answer).unwrap();
    assert_eq!(json["kb"], json!({ "seq": 2 }));
    for key in [
        "matches",
        "candidates",
        "root_cause",
        "root_causes",
        "order",
        "lines_scanned",
        "bytes_scanned",
    ] {
        assert!(json.get(key).is_some(), "{key}");
    }
}

#[test]
fn the_environment_marks_what_does_not_apply() {
    let applies = |driver: &str| {
        let environment = BTreeMap::from([("driver".to_owned(), driver.to_owned())]);
        let options = MatchOptions {
            environment,
            without_text: false,
        };
        look_up(&sample(), b"NVRM: Xid 79, GPU has fallen off the bus", options)
            .unwrap()
            .matches[0]
            .applies
    };
    assert_eq!(
        (applies("535.54"), applies("555.42")),
        (Applies::No, Applies::Yes)
    );
}

#[test]
fn search_suggests_only_where_nothing_matched() {
    let answer = look_up(
        &sample(),
        b"direct P2P memory access: GPUs do not support it, PCIe topology",
        MatchOptions::default(),
    )
    .unwrap();
    assert_eq!(matched(&answer), Vec::<&str>::new());
    let [candidate] = answer.candidates.as_slice() else {
        panic!("{:?}", answer.candidates)
    };
    assert_eq!((candidate.id.as_str(), candidate.by), (PEER, SuggestedBy::Search));
    assert!(candidate.why.contains("topology"), "{}", candidate.why);
    for text in [
        "",
        "please water the plants on Friday",
        "今天天气很好，我们去公园散步吧",
    ] {
        let answer = look_up(&sample(), text.as_bytes(), MatchOptions::default()).unwrap();
        assert_eq!((answer.matches.len(), answer.candidates.len()), (0, 0), "{text}");
    }
}

#[test]
fn a_batch_item_has_its_own_limit() {
    let item = |text: String| BatchItem {
        text,
        environment: BTreeMap::new(),
    };
    let time = WorkTime::start(Duration::from_mins(1));
    assert_eq!(
        matched(&look_up_item(&sample(), item(LINE.to_owned()), &time).unwrap()),
        [PEER]
    );
    let error = look_up_item(&sample(), item("x".repeat(MAX_ITEM_BYTES + 1)), &time).unwrap_err();
    assert!(error.to_string().contains("65537"), "{error}");
    let over = WorkTime::start(Duration::ZERO);
    let error = look_up_item(&sample(), item(LINE.to_owned()), &over).unwrap_err();
    assert!(matches!(error, LookupError::OutOfTime(_)), "{error}");
}

#[test]
fn records_are_found_by_id_former_id_and_code() {
    let generation = sample();
    assert!(matches!(find(&generation, PEER), Ok(Found::Published(record)) if record.id().as_str() == PEER));
    assert!(matches!(find(&generation, "xid/gpu-lost"), Ok(Found::Moved(id)) if id.as_str() == "xid/79"));
    assert!(matches!(find(&generation, "xid/80"), Ok(Found::Unpublished(_))));
    for bad in ["", "xid", "../x", "cuda//x", "xid/79\0"] {
        assert!(find(&generation, bad).is_err(), "{bad:?}");
    }
    let ids = |code: &str| -> Vec<String> {
        by_code(&generation, code)
            .iter()
            .map(|record| record.id().to_string())
            .collect()
    };
    assert_eq!(ids("CUDAERRORPEERACCESSUNSUPPORTED"), [PEER, "xid/79"]);
    assert_eq!(ids("xid  79"), ["xid/79"]);
    assert_eq!(ids("xid 7"), Vec::<String>::new());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn how_a_text_arrives_does_not_matter(
        lines in proptest::collection::vec(prop_oneof!["[ -~]{0,40}", Just(LINE.to_owned()), "\\PC{0,20}"], 0..12),
        cuts in proptest::collection::vec(0_usize..600, 0..6),
    ) {
        static GENERATION: std::sync::OnceLock<Arc<Generation>> = std::sync::OnceLock::new();
        let generation = GENERATION.get_or_init(sample);
        let text = lines.join("\n").into_bytes();
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(text.len())).collect();
        cuts.push(text.len());
        cuts.sort_unstable();
        let mut matching = Matching::start(Arc::clone(generation), MatchOptions::default());
        let mut at = 0;
        for cut in cuts {
            matching.push(&text[at..cut]);
            at = cut;
        }
        prop_assert_eq!(matching.finish(), look_up(generation, &text, MatchOptions::default()));
    }
}
