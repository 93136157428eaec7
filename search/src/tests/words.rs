//! Other names, other forms, misspellings, beginnings, and what the answer says of them.

use super::*;

fn field() -> SearchIndex {
    let mut documents = vec![
        peer_access(),
        fallen_off(),
        SearchDoc {
            root_cause: "A rank waits for a collective that another rank never enters.".to_owned(),
            root_cause_zh: Some("一个进程卡住，集合操作超时。".to_owned()),
            ..document("nccl/watchdog", "Watchdog caught collective operation timeout")
        },
        SearchDoc {
            root_cause: "The allocator finds no free block on the GPU.".to_owned(),
            ..document("pytorch/oom", "torch.OutOfMemoryError: CUDA out of memory")
        },
        SearchDoc {
            root_cause: "The InfiniBand port is down.".to_owned(),
            ..document(
                "rdma/port",
                "ibv_modify_qp failed with error Network is unreachable",
            )
        },
        SearchDoc {
            root_cause: "User space and kernel module come from different drivers.".to_owned(),
            ..document(
                "driver/mismatch",
                "Failed to initialize NVML: Driver/library version mismatch",
            )
        },
    ];
    documents.extend((0..60).map(filler));
    index_of(documents)
}

fn first(index: &SearchIndex, text: &str) -> Option<String> {
    ids(index, text).into_iter().next()
}

#[test]
fn other_names_of_a_thing_find_it_in_both_languages() {
    let index = field();
    for (text, wanted) in [
        ("互访", PEER),
        ("显卡之间点对点不通", PEER),
        ("peer-to-peer", PEER),
        ("掉卡", "xid/79"),
        ("GPU 掉线了怎么办", "xid/79"),
        ("gpu fell off bus", "xid/79"),
        ("训练卡死", "nccl/watchdog"),
        ("collective timed out", "nccl/watchdog"),
        ("爆显存", "pytorch/oom"),
        ("OOM", "pytorch/oom"),
        ("roce port down", "rdma/port"),
        ("版本不一致", "driver/mismatch"),
        ("ＮＶＭＬ　驱动版本不匹配", "driver/mismatch"),
    ] {
        assert_eq!(
            first(&index, text).as_deref(),
            Some(wanted),
            "{text}: {:?}",
            ids(&index, text)
        );
    }
}

#[test]
fn the_words_of_the_query_come_before_other_names() {
    let index = index_of(vec![
        SearchDoc {
            root_cause: "Peer access is off.".to_owned(),
            ..document("a/peer", "GPU cannot reach the other")
        },
        SearchDoc {
            root_cause: "P2P is off.".to_owned(),
            ..document("b/p2p", "GPU cannot reach the other")
        },
        filler(1),
    ]);
    assert_eq!(ids(&index, "p2p"), ["b/p2p", "a/peer"]);
    assert_eq!(ids(&index, "peer access"), ["a/peer", "b/p2p"]);
}

#[test]
fn other_forms_of_a_word_find_it() {
    let index = field();
    assert_eq!(
        first(&index, "initialising nvml fails").as_deref(),
        Some("driver/mismatch")
    );
    assert_eq!(
        first(&index, "gpus that fall from the bus").as_deref(),
        Some("xid/79")
    );
    assert_eq!(
        first(&index, "ranks never entering collectives").as_deref(),
        Some("nccl/watchdog")
    );
}

#[test]
fn a_word_without_its_end_is_found_wherever_it_stands() {
    let index = index_of(vec![
        document("a/one", "Duplicate GPU detected"),
        document("b/two", "CUDNN duplicated entries"),
        filler(1),
    ]);
    assert_eq!(first(&index, "duplicat gpu").as_deref(), Some("a/one"));
}

#[test]
fn a_code_is_named_however_it_is_written() {
    let index = field();
    for text in [
        "xid79",
        "Xid:79",
        "XID-79",
        "xid=79?",
        "Xid 79",
        "NVRM xid 79 again",
    ] {
        assert_eq!(first(&index, text).as_deref(), Some("xid/79"), "{text}");
        let answer = index.search(&request(text), Seq(1)).unwrap();
        assert!(!answer.near, "{text}");
    }
}

#[test]
fn the_commonest_word_that_is_close_is_meant_first() {
    let mut documents: Vec<SearchDoc> = (0..20)
        .map(|number| document(&format!("fabric/f{number}"), &format!("Fabric state{number}")))
        .collect();
    documents.push(document("a/fabrik", "Fabrig of another kind"));
    let index = index_of(documents);
    let answer = index.search(&request("fabrix"), Seq(1)).unwrap();
    assert_eq!(answer.read_as[0].meant[0], "fabric");
    assert!(
        answer.hits[0].id.as_str().starts_with("fabric/"),
        "{:?}",
        answer.hits[0].id
    );
}

#[test]
fn the_answer_says_what_it_did_with_words_that_no_record_has() {
    let index = field();
    let answer = index.search(&request("acess frobnicate peer"), Seq(1)).unwrap();
    assert_eq!(answer.read_as.len(), 1);
    assert_eq!(
        (
            answer.read_as[0].typed.as_str(),
            answer.read_as[0].meant[0].as_str()
        ),
        ("acess", "access")
    );
    assert_eq!(answer.unknown, ["frobnicate"]);
    assert_eq!(answer.hits[0].id.as_str(), PEER);
    let plain = index.search(&request("peer access"), Seq(1)).unwrap();
    assert!(plain.read_as.is_empty() && plain.unknown.is_empty() && !plain.near);
}

#[test]
fn what_is_only_near_is_called_near() {
    let index = field();
    let far = index
        .search(
            &request("how do I bake sourdough bread on my infiniband oven tonight"),
            Seq(1),
        )
        .unwrap();
    assert!(far.near, "{far:?}");
    assert_eq!(far.hits[0].id.as_str(), "rdma/port");
    let nothing = index.search(&request("sourdough bread"), Seq(1)).unwrap();
    assert!(!nothing.near && nothing.hits.is_empty(), "{nothing:?}");
    // Two letters off in a short word are too much, unless there is nothing else.
    let misspelt = index.search(&request("wathcodg"), Seq(1)).unwrap();
    assert_eq!(misspelt.hits[0].id.as_str(), "nccl/watchdog");
}

#[test]
fn words_are_found_while_they_are_typed_and_when_run_together() {
    let index = field();
    let typed = |text: &str| {
        let typing = SearchRequest {
            is_typing: true,
            ..request(text)
        };
        let answer = index.search(&typing, Seq(1)).unwrap();
        answer.hits.first().map(|hit| hit.id.to_string())
    };
    for (text, wanted) in [
        ("watc", "nccl/watchdog"),
        ("wacthd", "nccl/watchdog"),
        ("peeraccess", PEER),
        ("ibv_mod", "rdma/port"),
        ("eper access", PEER),
    ] {
        assert_eq!(typed(text).as_deref(), Some(wanted), "{text}");
    }
}

#[test]
fn only_so_many_unknown_words_are_corrected() {
    let index = field();
    let strange: Vec<String> = (0..12)
        .map(|number| format!("zq{}xv", "j".repeat(number)))
        .collect();
    let few = format!("{} acess", strange[..3].join(" "));
    let many = format!("{} acess", strange.join(" "));
    let with_known = format!("peer {many}");
    let read_as = |text: &str| index.search(&request(text), Seq(1)).unwrap().read_as.len();
    assert_eq!((read_as(&few), read_as(&many), read_as(&with_known)), (1, 0, 0));
}

#[test]
fn the_last_word_is_a_beginning_only_while_it_is_typed() {
    let index = index_of(vec![
        document("a/port", "port"),
        document("b/portable", "portable"),
    ]);
    assert_eq!(ids(&index, "port"), ["a/port"]);
    let typing = SearchRequest {
        is_typing: true,
        ..request("port")
    };
    let answer = index.search(&typing, Seq(1)).unwrap();
    assert_eq!(answer.total, 2);
    assert_eq!(answer.hits[0].id.as_str(), "a/port");
}

#[test]
fn other_names_are_marked_where_they_stand() {
    let answer = field().search(&request("互访"), Seq(1)).unwrap();
    let marked = answer.hits[0]
        .highlights
        .iter()
        .flat_map(|highlight| &highlight.segments);
    let marked: Vec<&str> = marked
        .filter(|segment| segment.hit)
        .map(|segment| segment.text.as_str())
        .collect();
    assert!(
        marked.contains(&"对等访问") || marked.contains(&"peer access"),
        "{marked:?}"
    );
}

#[test]
fn a_misspelt_name_of_several_words_finds_what_has_other_names_for_it() {
    let index = index_of(vec![
        SearchDoc {
            root_cause: "P2P is unsupported.".to_owned(),
            ..document("a/meant", "GPUs cannot reach each other")
        },
        document("b/words", "one peer asks, and access is refused"),
        filler(1),
    ]);
    for text in ["peer access", "peer acess"] {
        let hits = ids(&index, text);
        assert!(hits.iter().any(|id| id == "a/meant"), "{text}: {hits:?}");
    }
}

#[test]
fn traditional_characters_find_what_simplified_ones_find() {
    let index = index_of(vec![
        SearchDoc {
            title_zh: Some("显卡驱动版本不匹配".to_owned()),
            ..document("a/meant", "driver/library version mismatch")
        },
        SearchDoc {
            title_zh: Some("显存不足".to_owned()),
            ..document("b/memory", "out of memory")
        },
        filler(1),
    ]);
    for (text, meant) in [
        ("顯示卡驅動程式版本不匹配", "a/meant"),
        ("記憶體不足", "b/memory"),
    ] {
        assert_eq!(
            ids(&index, text).first().map(String::as_str),
            Some(meant),
            "{text}"
        );
    }
}

#[test]
fn the_longer_the_query_the_less_the_prior_counts() {
    let mut indexer = Indexer::new().unwrap();
    let general = document("cuda/out-of-memory", "out of memory");
    let special = document("painter/out-of-memory", "Painter node zebra ran out of memory");
    let fillers = (0..60).map(filler);
    for (slot, document) in (1..).zip([general, special].into_iter().chain(fillers)) {
        indexer.add(slot, Arc::new(document)).unwrap();
    }
    let prior = |document: &SearchDoc| {
        if document.id.as_str() == "cuda/out-of-memory" {
            2.5
        } else {
            1.0
        }
    };
    let index = indexer.commit(prior).unwrap();
    for (text, first) in [
        ("out of memory", "cuda/out-of-memory"),
        ("painter node zebra out of memory", "painter/out-of-memory"),
    ] {
        assert_eq!(ids(&index, text)[0], first, "{text}");
    }
}
