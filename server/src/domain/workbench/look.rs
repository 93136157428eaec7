//! A text read by a matcher, within a budget of processor time.

use std::sync::Arc;

use kb_core::matcher::Matcher;
use kb_core::scanner::{Event, Hit, ScanOptions};

use crate::domain::work_time::{PIECE, WorkTime};

/// Every hit, and whether it is of generic words, which count only beside words of the domain. False if the time ran out.
pub(super) fn each_hit(
    matcher: &Arc<Matcher>,
    text: &str,
    time: &WorkTime,
    mut take: impl FnMut(&Hit, bool),
) -> bool {
    let mut take = |events: Vec<Event>| {
        for event in &events {
            match event {
                Event::Hit(hit) => take(hit, false),
                Event::Candidate(hit) => take(hit, true),
                _ => {}
            }
        }
    };
    let options = ScanOptions {
        keep_text: false,
        report_candidates: true,
        ..ScanOptions::default()
    };
    let mut scanner = matcher.scanner(options);
    for piece in text.as_bytes().chunks(PIECE) {
        if time.check().is_err() {
            return false;
        }
        take(scanner.push(piece));
    }
    take(scanner.finish_with_events().0);
    true
}

pub(super) fn line_of<'t>(text: &'t str, hit: &Hit) -> &'t str {
    let start = usize::try_from(hit.start).unwrap_or(text.len());
    let before = text.as_bytes().get(..start).unwrap_or_default();
    let from = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
    let rest = text.get(from..).unwrap_or_default();
    rest.lines().next().unwrap_or_default()
}
