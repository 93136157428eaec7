//! Fuzzing of what only the server reads, with the helpers of `kb-core/tests/fuzz`: rules in CEL, and files of
//! deadends.dev. `PEERLESS_FUZZ_SECONDS=600 cargo nextest run --package peerless --test fuzz` searches for that long.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests stand outside of #[test] functions"
)]

#[path = "../../../kb-core/tests/fuzz/corpus.rs"]
mod corpus;
#[path = "../../../kb-core/tests/fuzz/mutate.rs"]
mod mutate;
#[path = "../../../kb-core/tests/fuzz/run.rs"]
mod run;

mod canon;
mod rule;

use run::{TEXTS, fuzz};

/// Rules of a bounded run: each that is let in is asked about a report, by a generation of its own.
const ASKED: u64 = 400;

#[test]
fn rules() {
    fuzz("rule", ASKED, rule::WORDS, rule::check);
}

#[test]
fn canons() {
    fuzz("canon", TEXTS, canon::WORDS, canon::check);
}
