//! Words nearly as a record has them, and that no words of deleted records are among those meant.

use super::*;

#[test]
fn a_misspelt_word_is_taken_for_the_closest_ones() {
    let index = sample();
    for text in [
        "peer acess",
        "pere access unsuported by hardwaer",
        "falen off the bsu 79",
        "unsuportted peer",
    ] {
        let found = ids(&index, text);
        assert!(
            found.iter().any(|id| id == PEER || id == "xid/79"),
            "{text}: {found:?}"
        );
    }
    // A digit is no letter, and no short word is corrected.
    assert_eq!(ids(&index, "fa99en"), Vec::<String>::new());
    assert_eq!(ids(&index, "buz"), Vec::<String>::new());
}

/// Fillers as they are after some were revised and some withdrawn, far fewer than would have the index written anew.
#[test]
fn what_was_taken_out_counts_nowhere() {
    let revised = |number: usize| SearchDoc {
        root_cause: "The driver lost its memory of the device.".to_owned(),
        ..filler(number)
    };
    let mut keeper = Indexer::new().unwrap();
    // Its misspelt word will be gone, and so will the words that are as common and begin as another one.
    let mut misspelt = document("bus/link", "A periphral does not answer");
    misspelt.tags = (0..40).map(|number| format!("peripha{number}")).collect();
    let documents = (0..100).map(filler).chain([misspelt]).map(Arc::new);
    apply(&mut keeper, [], (1_u64..).zip(documents));
    apply(&mut keeper, [8], [(201, Arc::new(revised(7)))]);
    let grown = apply(&mut keeper, [10], [(202, Arc::new(revised(20)))]);
    apply(&mut keeper, [21], []);
    let corrected = document("bus/link", "A peripheral does not answer");
    let grown_once_more = apply(&mut keeper, [101], [(203, Arc::new(corrected))]);
    assert!(grown.len() == 101 && grown_once_more.len() == 100);
    let mut documents: Vec<SearchDoc> = (0..100)
        .filter(|number| ![7, 9, 20].contains(number))
        .map(filler)
        .collect();
    documents.extend([revised(7), revised(20)]);
    documents.push(document("bus/link", "A peripheral does not answer"));
    let at_once = index_of(documents);
    let told = |index: &SearchIndex, text: &str| {
        let answer = index.search(&request(text), Seq(1)).unwrap();
        let hits = answer
            .hits
            .iter()
            .map(|hit| format!("{} {:.3}", hit.id, hit.score));
        let hits: Vec<String> = hits.collect();
        (hits, answer.total, answer.facets, answer.unknown)
    };
    for text in [
        "gpu driver",
        "low memory",
        "driver memory",
        "word9",
        "condition20",
        "filler_code_9",
        "lost",
        "periphral",
        "periphrel",
        "peripherak",
        "periph",
        "",
    ] {
        assert_eq!(told(&grown_once_more, text), told(&at_once, text), "{text}");
    }
    for text in ["periphral", "periphrel", "periph"] {
        assert_eq!(ids(&grown_once_more, text), ["bus/link"], "{text}");
    }
}

#[test]
fn a_misspelt_stop_word_says_nothing() {
    let index = index_of(vec![
        document("a/meant", "NVLink is down"),
        document("b/worker", "a worker ended"),
        filler(1),
    ]);
    let answer = index.search(&request("nvlink not workng"), Seq(1)).unwrap();
    assert_eq!(answer.hits[0].id.as_str(), "a/meant");
    assert_eq!((answer.read_as, answer.unknown), (Vec::new(), Vec::new()));
}
