//! Whole scans over real log lines.

mod support;

use support::{matcher, scan_text};

#[test]
fn the_seeds_are_found_in_their_own_lines() {
    let summary = scan_text(
        &matcher(),
        "start\n[rank1]: RuntimeError: CUDA error: peer access is not supported between these two devices\nend\n",
    );
    assert_eq!(summary.matches.len(), 1, "{summary:#?}");
    println!("{}", serde_json::to_string_pretty(&summary).unwrap());
}
