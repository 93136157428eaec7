//! Texts that are asked for again and again, kept once.

use std::hash::Hasher as _;
use std::sync::Arc;

use rustc_hash::FxHasher;

/// Texts that are remembered; a report of eight GPUs has some 400 different ones.
const PLACES: usize = 1024;
/// Longer texts seldom come twice.
const MAX_BYTES: usize = 64;

/// The texts that came last, each in a place that its bytes choose: one that comes to a taken place drives the other out, so that no
/// choice of texts makes it slow.
#[derive(Debug, Default)]
pub(super) struct Shared(Vec<Option<Arc<str>>>);

impl Shared {
    pub(super) fn text(&mut self, text: &str) -> Arc<str> {
        if text.len() > MAX_BYTES {
            return Arc::from(text);
        }
        if self.0.is_empty() {
            self.0.resize(PLACES, None);
        }
        let Some(known) = self.0.get_mut(place(text)) else {
            return Arc::from(text);
        };
        match known {
            Some(known) if **known == *text => Arc::clone(known),
            _ => Arc::clone(known.insert(Arc::from(text))),
        }
    }
}

fn place(text: &str) -> usize {
    let mut hasher = FxHasher::default();
    hasher.write(text.as_bytes());
    usize::try_from(hasher.finish() % PLACES as u64).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_are_kept_once() {
        let mut shared = Shared::default();
        let first = shared.text("source");
        assert!(Arc::ptr_eq(&first, &shared.text("source")));
        assert_eq!(*shared.text("value"), *"value");
        let long = "x".repeat(MAX_BYTES + 1);
        assert_eq!(*shared.text(&long), *long);
    }

    #[test]
    fn what_shares_a_place_stays_itself() {
        let mut shared = Shared::default();
        for number in 0..10 * PLACES {
            let text = number.to_string();
            assert_eq!(*shared.text(&text), *text);
        }
    }
}
