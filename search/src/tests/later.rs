//! An index that is built when it is asked for.

use super::*;

fn added(slot: u64, id: &str) -> Edit {
    Edit::Add(slot, Arc::new(document(id, "zebra crossed")))
}

fn hits(index: &SearchIndex) -> Vec<String> {
    let request = SearchRequest {
        text: "zebra".to_owned(),
        ..SearchRequest::default()
    };
    let answer = index.search(&request, Seq(1)).unwrap();
    answer.hits.into_iter().map(|hit| hit.id.to_string()).collect()
}

#[test]
fn it_is_built_once_and_by_who_asks_first() {
    let edits = vec![added(1, "t/one"), added(2, "t/two"), Edit::Remove(1)];
    let (index, pending) = SearchIndex::later(Indexer::new, edits, |_| 1.0);
    assert!(!index.is_built() && !pending.is_built());
    let asked: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| hits(&index))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(asked, vec![vec!["t/two"]; 4]);
    assert!(index.is_built() && pending.is_built() && !pending.has_failed());
    let mut indexer = pending.wait().unwrap();
    indexer.edit(added(3, "t/three")).unwrap();
    let next = indexer.commit(|_| 1.0).unwrap();
    assert_eq!(hits(&next), ["t/three", "t/two"]);
    assert_eq!(hits(&index), ["t/two"], "readers keep theirs");
}

#[test]
fn who_follows_it_has_it_built() {
    let (index, pending) = SearchIndex::later(Indexer::new, vec![added(1, "t/one")], |_| 1.0);
    pending.wait().unwrap();
    assert!(index.is_built());
    assert_eq!(index.len(), 1);
}

#[test]
fn nobody_waits_for_one_that_could_not_be_built() {
    let fails = || Err(SearchError::Limit(0));
    let (index, pending) = SearchIndex::later(fails, Vec::new(), |_| 1.0);
    assert!(!pending.has_failed(), "nobody has tried yet");
    assert!(matches!(index.snapshot(), Err(SearchError::NotBuilt)));
    assert!(pending.has_failed());
    assert!(matches!(pending.wait(), Err(SearchError::Limit(0))));
}

#[test]
fn a_search_is_told_of_a_build_that_panicked() {
    let fails = |_: &SearchDoc| panic!("the test says so");
    let (index, pending) = SearchIndex::later(Indexer::new, vec![added(1, "t/one")], fails);
    let building = index.clone();
    assert!(std::thread::spawn(move || building.build()).join().is_err());
    assert!(matches!(index.snapshot(), Err(SearchError::NotBuilt)));
    assert!(pending.has_failed());
    assert!(pending.wait().is_err());
}
