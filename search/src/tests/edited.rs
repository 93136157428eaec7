//! What was deleted counts nowhere: an index that came about by changes answers as one of what is left.

use super::*;

/// Enough that some lists of words are long and others short, and that a few changes do not rewrite the first segment.
const DOCUMENTS: u64 = 1_300;
const ADDED: u64 = 15;

/// Every second document says a word, every third another, and so on; each has a word of its own.
fn numbered(number: u64) -> SearchDoc {
    let often = [2, 3, 7, 19, 41, 83];
    let said = often.iter().filter(|often| number.is_multiple_of(**often));
    let said: Vec<String> = said.map(|often| format!("word{often}s")).collect();
    SearchDoc {
        root_cause: format!("{} gpu only{number}x", said.join(" ")),
        tags: vec![format!("tag{}", number % 5)],
        ..document(
            &format!("t/d{number}"),
            &format!("failure {}", said.join(" and ")),
        )
    }
}

/// The same documents, by changes and at once. Every so many of the first are gone.
fn both(every: u64) -> (SearchIndex, SearchIndex) {
    let numbered = |number| (number, Arc::new(numbered(number)));
    let mut keeper = Indexer::new().unwrap();
    apply(&mut keeper, [], (1..=DOCUMENTS).map(numbered));
    let is_gone = |number: &u64| *number <= DOCUMENTS && number.is_multiple_of(every);
    let gone = (1..=DOCUMENTS).filter(is_gone);
    let come = DOCUMENTS + 1..=DOCUMENTS + ADDED;
    let edited = apply(&mut keeper, gone, come.map(numbered));
    let left = (1..=DOCUMENTS + ADDED).filter(|number| !is_gone(number));
    let at_once = apply(&mut Indexer::new().unwrap(), [], left.map(numbered));
    (edited, at_once)
}

#[test]
fn deleted_documents_count_nowhere() {
    // Four deleted, and fifty: the lists of words are counted in different ways.
    for every in [300, 26] {
        let (edited, at_once) = both(every);
        for text in [
            "",
            "gpu ",
            "word2s ",
            "word3s word41s ",
            "word19s and word83s ",
            "word7s only7x ",
            "word83s only26x ",
            "only300x ",
            "only1301x gpu ",
        ] {
            let answer = |index: &SearchIndex| index.search(&request(text), Seq(1)).unwrap();
            assert_eq!(answer(&edited), answer(&at_once), "every {every}th gone: {text}");
        }
    }
}
