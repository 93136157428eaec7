//! The best hits, in order.

use super::view::{Indexed, Number, View};

/// The best `count` hits, best first; equal ones by id.
pub(super) fn best(view: &View, hits: Vec<(f32, Number)>, count: usize) -> Vec<(f32, &Indexed)> {
    let better = |(a_score, a): &(f32, Number), (b_score, b): &(f32, Number)| {
        let id = |number| view.document(number).map(|indexed| &indexed.document.id);
        let by_id = || id(*a).cmp(&id(*b));
        b_score.total_cmp(a_score).then_with(by_id)
    };
    let mut best = hits;
    if count < best.len() {
        // What comes after the page need not be in order.
        best.select_nth_unstable_by(count, better);
        best.truncate(count);
    }
    best.sort_unstable_by(better);
    let shown = best.into_iter();
    shown
        .filter_map(|(score, number)| Some((score, view.document(number)?)))
        .collect()
}
