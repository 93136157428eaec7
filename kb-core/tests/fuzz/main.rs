//! Fuzzing on the stable toolchain: each target reads the texts of its corpus (`fuzz/<target>/`) as they are, then
//! thousands of mutated ones. Runs are bounded and the same every time; `PEERLESS_FUZZ_SECONDS=600 cargo nextest run
//! --package kb-core --test fuzz` searches for that long with other seeds. What breaks is written beside the corpus as
//! `broke-<hash>`, to be kept there as a test.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests stand outside of #[test] functions"
)]

mod corpus;
mod mutate;
mod targets;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use corpus::Corpus;
use mutate::Mutator;

/// Mutated texts of a bounded run.
const TEXTS: u64 = 3_000;
/// Seed of a bounded run.
const SEED: u64 = 0x9e37_79b9_7f4a_7c15;

/// Runs a target over its corpus and over what mutation makes of it.
fn fuzz(target: &str, dictionary: &'static [&'static str], run: fn(&[u8])) {
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
    while seconds.map_or(done < TEXTS, |limit| began.elapsed() < limit) {
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

#[test]
fn scanner() {
    fuzz("scanner", targets::LOG_WORDS, targets::scan);
}

#[test]
fn document() {
    fuzz("document", targets::JSON_WORDS, targets::document);
}

#[test]
fn annex() {
    fuzz("annex", targets::JSON_WORDS, targets::annex);
}

#[test]
fn report() {
    fuzz("report", targets::JSON_WORDS, targets::report);
}

#[test]
fn convert() {
    fuzz("convert", targets::TOOL_WORDS, targets::convert);
}
