//! Search as its callers see it.

mod edited;
mod later;
mod misspelt;
mod words;

use std::sync::Arc;

use kb_core::ids::Seq;
use proptest::prelude::*;

use super::*;

/// A record that says nothing but its signature.
pub(super) fn document(id: &str, signature: &str) -> SearchDoc {
    SearchDoc {
        id: id.parse().expect("a record id"),
        title: None,
        title_zh: None,
        asked_as: Vec::new(),
        examples: Vec::new(),
        signature: signature.to_owned(),
        signature_zh: None,
        codes: Vec::new(),
        root_cause: String::new(),
        root_cause_zh: None,
        workarounds: Vec::new(),
        dead_ends: Vec::new(),
        tags: Vec::new(),
        domain: id.split('/').next().unwrap_or_default().to_owned(),
        category: "runtime_error".to_owned(),
        tier: "ai_generated".to_owned(),
        locale: "en".to_owned(),
    }
}

fn peer_access() -> SearchDoc {
    SearchDoc {
        signature_zh: Some(
            "运行时错误：这两个设备之间不支持对等访问 (cudaErrorPeerAccessUnsupported)".to_owned(),
        ),
        codes: vec![
            "cudaErrorPeerAccessUnsupported".to_owned(),
            "error 217".to_owned(),
        ],
        root_cause:
            "The two GPUs do not support direct peer-to-peer (P2P) memory access, typically due to topology."
                .to_owned(),
        workarounds: vec!["Set NCCL_P2P_DISABLE=1 before launching the script.".to_owned()],
        tags: vec!["p2p".to_owned()],
        ..document(
            "cuda/peer-access-unsupported-by-hardware",
            "RuntimeError: CUDA error: peer access is not supported between these two devices",
        )
    }
}

fn fallen_off() -> SearchDoc {
    SearchDoc {
        codes: vec!["Xid 79".to_owned()],
        root_cause: "The GPU is not reachable over PCIe any more.".to_owned(),
        category: "hardware".to_owned(),
        ..document("xid/79", "NVRM: Xid 79, GPU has fallen off the bus")
    }
}

/// Unlike each other, with the words every record has.
fn filler(number: usize) -> SearchDoc {
    SearchDoc {
        codes: vec![format!("FILLER_CODE_{number}")],
        root_cause: format!(
            "The driver of the GPU reports condition{number} for the device when memory is low."
        ),
        tags: vec![format!("tag{}", number % 3)],
        ..document(
            &format!("filler/f{number}"),
            &format!("Filler failure word{number} in the GPU driver"),
        )
    }
}

fn index_of(documents: Vec<SearchDoc>) -> SearchIndex {
    let slots = (1u64..).zip(documents.into_iter().map(Arc::new));
    apply(&mut Indexer::new().unwrap(), [], slots)
}

pub(super) fn apply(
    indexer: &mut Indexer,
    remove: impl IntoIterator<Item = Slot>,
    add: impl IntoIterator<Item = (Slot, Arc<SearchDoc>)>,
) -> SearchIndex {
    for slot in remove {
        indexer.remove(slot);
    }
    for (slot, document) in add {
        indexer.add(slot, document).unwrap();
    }
    indexer.commit(|_| 1.0).unwrap()
}

fn sample() -> SearchIndex {
    let mut documents = vec![peer_access(), fallen_off()];
    documents.extend((0..60).map(filler));
    index_of(documents)
}

fn request(text: &str) -> SearchRequest {
    SearchRequest {
        text: text.to_owned(),
        ..SearchRequest::default()
    }
}

fn ids(index: &SearchIndex, text: &str) -> Vec<String> {
    let answer = index.search(&request(text), Seq(1)).unwrap();
    answer.hits.into_iter().map(|hit| hit.id.to_string()).collect()
}

const PEER: &str = "cuda/peer-access-unsupported-by-hardware";

#[test]
fn a_record_is_found_by_what_people_ask_and_does_not_show_it() {
    let mut documents: Vec<SearchDoc> = (0..60).map(filler).collect();
    documents.push(SearchDoc {
        asked_as: vec!["card vanished overnight".to_owned(), "显卡消失".to_owned()],
        ..fallen_off()
    });
    let index = index_of(documents);
    for text in ["why has my card vanished", "显卡消失了"] {
        let answer = index.search(&request(text), Seq(1)).unwrap();
        assert_eq!(answer.hits[0].id.as_str(), "xid/79", "{text}");
        let shown = format!("{:?}", answer.hits[0].highlights);
        assert!(!shown.contains("vanished") && !shown.contains("消失"), "{shown}");
    }
}

#[test]
fn a_record_is_found_by_any_of_its_names() {
    let index = sample();
    for text in [
        "peer access",
        "PEER ACCESS not supported",
        "peerAccess",
        "cudaErrorPeerAccessUnsupported",
        "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED",
        "cudaErrorPeer",
        "NCCL_P2P_DISABLE",
        "nccl_p2p_dis",
        "对等访问",
        "不支持对等",
        "p2p",
        "Error  217",
        PEER,
        "how do I fix \"peer access\"?",
        "\"peer access",
    ] {
        assert_eq!(
            ids(&index, text).first().map(String::as_str),
            Some(PEER),
            "{text}"
        );
    }
    for text in ["访对", "frobnicate", "\"", "????", "--"] {
        assert_eq!(ids(&index, text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn a_named_code_comes_before_those_who_speak_of_it() {
    let mut talkative = document("xid/overview", "Xid 79 Xid 79 Xid 79 and other numbers");
    talkative.root_cause = "Xid 79 is Xid 79, see Xid 79".to_owned();
    talkative.codes = vec!["Xid 79 family".to_owned(), "xid 79 overview".to_owned()];
    let index = index_of(vec![talkative, fallen_off(), filler(1)]);
    assert_eq!(ids(&index, "what is xid 79?"), ["xid/79", "xid/overview"]);
    let better_words = "Xid 79: peer access is not supported between these two devices";
    assert_eq!(
        ids(&sample(), better_words).first().map(String::as_str),
        Some("xid/79")
    );
}

#[test]
fn records_that_are_named_first_stand_first_in_their_order_whatever_their_prior() {
    let mut indexer = Indexer::new().unwrap();
    for (slot, document) in (1..).zip([fallen_off(), peer_access(), filler(1)]) {
        indexer.add(slot, Arc::new(document)).unwrap();
    }
    let general = |document: &SearchDoc| if document.id.as_str() == PEER { 9.0 } else { 1.0 };
    let index = indexer.commit(general).unwrap();
    let asked = SearchRequest {
        first: vec!["filler/f1".parse().unwrap(), "xid/79".parse().unwrap()],
        ..request("peer access is not supported")
    };
    let answer = index.search(&asked, Seq(1)).unwrap();
    let ids: Vec<&str> = answer.hits.iter().map(|hit| hit.id.as_str()).collect();
    assert_eq!(ids, ["filler/f1", "xid/79", PEER]);
}

#[test]
fn one_common_word_of_several_is_not_enough() {
    assert_eq!(ids(&sample(), "the driver says peerAccess"), [PEER]);
    assert_eq!(sample().search(&request("driver"), Seq(1)).unwrap().total, 60);
}

#[test]
fn an_empty_text_lists_everything_by_id() {
    let index = index_of(vec![fallen_off(), peer_access()]);
    assert_eq!(ids(&index, " \n"), [PEER, "xid/79"]);
    assert_eq!(ids(&index_of(Vec::new()), ""), Vec::<String>::new());
    assert_eq!(ids(&index_of(Vec::new()), "peer access"), Vec::<String>::new());
}

#[test]
fn facets_filter_and_count_what_the_other_choices_leave() {
    let index = sample();
    let mut asked = request("gpu");
    let open = index.search(&asked, Seq(1)).unwrap();
    assert_eq!(open.total, 62);
    asked.filters.tag = Some("tag1".to_owned());
    let chosen = index.search(&asked, Seq(1)).unwrap();
    assert_eq!(chosen.total, 20);
    let count = |values: &[FacetValue], value: &str| {
        let found = values.iter().find(|entry| entry.value == value);
        found.map(|entry| entry.count)
    };
    assert_eq!(count(&chosen.facets.domain, "filler"), Some(20));
    assert_eq!(count(&chosen.facets.domain, "xid"), None);
    assert_eq!(
        count(&chosen.facets.tag, "tag0"),
        Some(20),
        "other values of a chosen facet stay"
    );
    asked.filters.domain = Some("xid".to_owned());
    assert_eq!(index.search(&asked, Seq(1)).unwrap().total, 0);
}

#[test]
fn pages_follow_each_other_and_belong_to_one_state() {
    let index = sample();
    let mut asked = request("filler failure");
    asked.limit = Some(25);
    let mut seen = Vec::new();
    loop {
        let page = index.search(&asked, Seq(7)).unwrap();
        assert_eq!(page.total, 60);
        seen.extend(page.hits.into_iter().map(|hit| hit.id));
        match page.next_cursor {
            Some(next) => asked.cursor = Some(next),
            None => break,
        }
    }
    assert_eq!(seen.len(), 60);
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 60, "no record twice");

    let cursor = asked.cursor.clone();
    assert!(matches!(
        index.search(&asked, Seq(8)),
        Err(SearchError::CursorExpired {
            given: Seq(7),
            current: Seq(8)
        })
    ));
    let mut other = request("gpu");
    other.cursor = cursor;
    assert!(matches!(
        index.search(&other, Seq(7)),
        Err(SearchError::CursorOfOtherQuery)
    ));
    for bad in [
        "",
        "x",
        "7.25",
        "7.-1.00",
        "7.25.00.1",
        "99999999999999999999.1.00",
        "é",
    ] {
        other.cursor = Some(bad.to_owned());
        assert!(index.search(&other, Seq(7)).is_err(), "{bad}");
    }
    for bad in [0, MAX_LIMIT + 1] {
        other = request("gpu");
        other.limit = Some(bad);
        assert!(matches!(index.search(&other, Seq(7)), Err(SearchError::Limit(_))));
    }
}

#[test]
fn hits_show_where_the_words_stand() {
    let answer = sample()
        .search(&request("peerAccess nccl_p2p_disable"), Seq(1))
        .unwrap();
    let hit = answer.hits.first().unwrap();
    let marked: Vec<&str> = hit
        .highlights
        .iter()
        .flat_map(|highlight| &highlight.segments)
        .filter(|segment| segment.hit)
        .map(|segment| segment.text.as_str())
        .collect();
    assert!(
        marked.contains(&"peer access") && marked.contains(&"PeerAccess"),
        "{marked:?}"
    );
}

#[test]
fn an_excerpt_keeps_its_brackets_and_repeats_no_id() {
    let titled = SearchDoc {
        title: Some("(Watchdog) got stuck (heartbeat timeout)".to_owned()),
        codes: vec!["pytorch/heartbeat-timeout".to_owned()],
        ..document("pytorch/heartbeat-timeout", "no heartbeat")
    };
    let answer = index_of(vec![titled, filler(1)])
        .search(&request("watchdog heartbeat timeout"), Seq(1))
        .unwrap();
    let highlights = &answer.hits[0].highlights;
    let fields: Vec<&str> = highlights.iter().map(|highlight| highlight.field).collect();
    assert_eq!(fields, ["title", "signature"]);
    let title: String = highlights[0]
        .segments
        .iter()
        .map(|segment| segment.text.as_str())
        .collect();
    assert_eq!(title, "(Watchdog) got stuck (heartbeat timeout)");
}

#[test]
fn the_keeper_replaces_single_records_and_old_snapshots_stay() {
    let mut keeper = Indexer::new().unwrap();
    let first = apply(
        &mut keeper,
        [],
        [(1, Arc::new(peer_access())), (2, Arc::new(fallen_off()))],
    );
    let edited = SearchDoc {
        signature: "zebra crossing".to_owned(),
        ..peer_access()
    };
    let second = apply(&mut keeper, [1], [(3, Arc::new(edited))]);
    let third = apply(&mut keeper, [2], []);
    assert_eq!(ids(&first, "zebra"), Vec::<String>::new());
    assert_eq!(ids(&second, "zebra"), [PEER]);
    assert_eq!(ids(&second, "xid 79"), ["xid/79"]);
    assert_eq!(ids(&third, "xid 79"), Vec::<String>::new());
    assert_eq!((first.len(), second.len(), third.len()), (2, 2, 1));
}

#[test]
fn a_pasted_line_has_candidates_only_where_most_of_it_is_known() {
    let index = sample();
    let candidates = |text: &str| -> Vec<String> {
        let found = index.candidates(text, 3).unwrap();
        found
            .into_iter()
            .map(|candidate| candidate.id.to_string())
            .collect()
    };
    assert_eq!(
        candidates("p2p: direct peer to peer memory access is not supported by topology"),
        [PEER]
    );
    assert_eq!(
        candidates("12:01:33 node17 cudaErrorPeerAccessUnsupported at 0x7ffe31"),
        [PEER]
    );
    assert_eq!(
        candidates("first line\n\nGPU has fallen from the bus\n"),
        ["xid/79"]
    );
    for everyday in [
        "please open the window before the meeting starts",
        "I can not access my email account on this device",
        "The quick brown fox jumps over the lazy dog",
        "memory access",
        "the driver of the bus has fallen asleep on the way home",
        "the GPU price has fallen while tourists waited downtown for the bus",
        "今天天气很好，我们去公园散步吧",
        "ERROR: failed to connect to database server at 10.0.0.1:5432",
        "",
        "\n\n",
        "217",
    ] {
        assert_eq!(candidates(everyday), Vec::<String>::new(), "{everyday}");
    }
    let tiny = index_of(vec![peer_access(), fallen_off()]);
    assert!(
        tiny.candidates("access the memory of my phone please", 3)
            .unwrap()
            .is_empty()
    );
}

#[test]
fn what_many_records_say_by_chance_suggests_none_of_them() {
    // Each of three words stands in half of the records, all three in an eighth.
    let common = |number: usize| {
        let bits = ["flange", "gasket", "spigot"].into_iter().enumerate();
        let said = bits
            .filter(|(bit, _)| number >> bit & 1 == 1)
            .map(|(_, word)| word);
        let said: Vec<&str> = said.collect();
        document(
            &format!("t/d{number}"),
            &format!("{} own{number} other{number} own{number}CodeWord", said.join(" ")),
        )
    };
    let suggested = |count: usize, line: &str| {
        let documents = (1..).zip((0..count).map(|number| Arc::new(common(number))));
        let index = apply(&mut Indexer::new().unwrap(), [], documents);
        !index.candidates(line, 3).unwrap().is_empty()
    };
    assert!(!suggested(160, "flange gasket spigot"));
    assert!(suggested(160, "flange own33 other33"));
    assert!(
        suggested(160, "12:01:33 node17 own33CodeWord at 0x7ffe31"),
        "one code word"
    );
    assert!(suggested(24, "flange gasket spigot"), "too few to tell");
}

#[test]
fn of_two_records_that_cover_a_line_the_one_about_nothing_else_comes_first() {
    let mut documents = vec![
        document(
            "a/wider",
            "could not extend file: no space left on device in the data folder",
        ),
        document("b/same", "no space left on device"),
    ];
    documents.extend((0..20).map(filler));
    let found = index_of(documents)
        .candidates("no space left on device", 5)
        .unwrap();
    let ids: Vec<&str> = found.iter().map(|candidate| candidate.id.as_str()).collect();
    assert_eq!(ids, ["b/same", "a/wider"]);
}

#[test]
fn what_stands_beside_a_code_is_a_question_too() {
    let index = sample();
    let found = ids(&index, "FILLER_CODE_7 GPU has fallen off the bus");
    assert_eq!(found.first().map(String::as_str), Some("filler/f7"));
    assert!(found.iter().any(|id| id == "xid/79"), "{found:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_a_query(text in "(\\PC|[\"'*?:~^(){}\\[\\]\\\\/+!&|<>=. \n\t-]|AND|OR|NOT|peer|不支){0,60}") {
        static INDEX: std::sync::OnceLock<SearchIndex> = std::sync::OnceLock::new();
        let index = INDEX.get_or_init(|| index_of(vec![peer_access(), fallen_off()]));
        let found = index.search(&request(&text), Seq(1));
        prop_assert!(found.is_ok(), "{found:?}");
        prop_assert!(index.candidates(&text, 3).is_ok());
    }
}
