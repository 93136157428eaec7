//! Paste-to-record and all pages in a real Chromium, against a real server. Needs `chromium` and `chromedriver`;
//! without them the tests fail and say how to get them.
#![allow(
    unreachable_pub,
    dead_code,
    reason = "helpers of a test binary, not all of them used by all"
)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that cannot go on must stop"
)]

mod answer;
mod axe;
mod driver;
mod editors;
#[path = "../api/evaluated.rs"]
mod evaluated;
mod feedback;
mod fleet;
mod graph;
mod hostile;
mod long_names;
mod lookup;
mod moves;
mod pages;
#[path = "../api/browser.rs"]
mod people;
mod search;
mod site;
mod tab;
mod tab_pieces;
#[path = "../api/test_app.rs"]
mod test_app;
mod unmatched;
mod workbench;
