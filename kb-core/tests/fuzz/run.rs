//! A run: the texts of a corpus as they are, then what mutation makes of them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use super::corpus::{self, Corpus};
use super::mutate::Mutator;

/// Mutated texts of a bounded run.
pub(crate) const TEXTS: u64 = 3_000;
/// Seed of a bounded run.
const SEED: u64 = 0x9e37_79b9_7f4a_7c15;

/// Runs a target over its corpus and over what mutation makes of it, `bound` times.
pub(crate) fn fuzz(target: &str, bound: u64, dictionary: &'static [&'static str], run: fn(&[u8])) {
    let corpus = Corpus::read(target);
    for text in corpus.texts() {
        check(&corpus, text, run);
    }
    let seconds = std::env::var("PEERLESS_FUZZ_SECONDS").ok();
    let seconds = seconds.map(|text| Duration::from_secs(text.parse().expect("a number of seconds")));
    let began = Instant::now();
    let mut mutator = Mutator::new(
        if seconds.is_some() {
            corpus::fresh_seed()
        } else {
            SEED
        },
        dictionary,
    );
    let mut done = 0;
    while seconds.map_or(done < bound, |limit| began.elapsed() < limit) {
        check(&corpus, &mutator.next(corpus.texts()), run);
        done += 1;
    }
    println!("{target}: {done} texts in {:?}", began.elapsed());
}

fn check(corpus: &Corpus, text: &[u8], run: fn(&[u8])) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| run(text))) {
        let kept = corpus.keep(text);
        eprintln!("this text is kept as {}", kept.display());
        std::panic::resume_unwind(panic);
    }
}
