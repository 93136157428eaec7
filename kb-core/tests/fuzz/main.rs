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
mod run;
mod targets;

use run::{TEXTS, fuzz};

#[test]
fn scanner() {
    fuzz("scanner", TEXTS, targets::LOG_WORDS, targets::scan);
}

#[test]
fn document() {
    fuzz("document", TEXTS, targets::JSON_WORDS, targets::document);
}

#[test]
fn annex() {
    fuzz("annex", TEXTS, targets::JSON_WORDS, targets::annex);
}

#[test]
fn report() {
    fuzz("report", TEXTS, targets::JSON_WORDS, targets::report);
}

#[test]
fn convert() {
    fuzz("convert", TEXTS, targets::TOOL_WORDS, targets::convert);
}
