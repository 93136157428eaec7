//! The index of a first generation, which is built when it is asked for.

use crate::domain::lookup::{MatchOptions, look_up};
use crate::feed::samples::{PEER_ACCESS, generation_of};

#[test]
fn messages_and_records_do_not_ask_for_it() {
    let (document, annex) = PEER_ACCESS;
    let generation = generation_of(&[(document.to_owned(), annex.to_owned())]);
    let matches = |text: &str| {
        let answer = look_up(&generation, text.as_bytes(), MatchOptions::default()).unwrap();
        answer.matches.len()
    };
    let known = "RuntimeError: CUDA error: peer access is not supported between these two devices";
    assert_eq!(matches(known), 1);
    let id = "cuda/peer-access-unsupported-by-hardware".parse().unwrap();
    assert!(generation.record(&id).is_some());
    assert_eq!(matches(" \n"), 0);
    assert!(!generation.index.is_built(), "nobody has searched yet");
    assert_eq!(matches("the devices refuse direct access to each other"), 0);
    assert!(generation.index.is_built(), "suggestions come from it");
}
