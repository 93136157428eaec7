//! What was made of words, kept for the queries that ask for them again, up to so much memory.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

/// Most that one such store takes. All lists of 65,000 records of usual length take about as much.
const MOST_BYTES: usize = 128 * 1024 * 1024;

/// What a kept word takes beside its value.
const WORD_BYTES: usize = 128;

/// Values by word.
#[derive(Debug)]
pub(super) struct Kept<V> {
    known: RwLock<HashMap<Box<str>, Arc<V>>>,
    bytes: AtomicUsize,
}

impl<V> Default for Kept<V> {
    fn default() -> Self {
        Self {
            known: RwLock::default(),
            bytes: AtomicUsize::default(),
        }
    }
}

impl<V> Kept<V> {
    pub(super) fn get(&self, word: &str) -> Option<Arc<V>> {
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        known.get(word).map(Arc::clone)
    }

    /// Keeps a value that takes so many bytes, and gives it back. All others are let go when there are too many bytes.
    pub(super) fn keep(&self, word: &str, value: V, bytes: usize) -> Arc<V> {
        let value = Arc::new(value);
        let bytes = WORD_BYTES + word.len() + bytes;
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        if self.bytes.load(Ordering::Relaxed) + bytes > MOST_BYTES {
            // Those that are still asked for come back.
            known.clear();
            self.bytes.store(0, Ordering::Relaxed);
        }
        if known.insert(word.into(), Arc::clone(&value)).is_none() {
            self.bytes.fetch_add(bytes, Ordering::Relaxed);
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_kept_is_given_again() {
        let kept = Kept::default();
        assert!(kept.get("peer").is_none());
        let first = kept.keep("peer", 1, 4);
        assert!(Arc::ptr_eq(&first, &kept.get("peer").unwrap()));
        assert!(kept.get("pee").is_none());
    }

    #[test]
    fn what_takes_too_much_is_let_go() {
        let kept = Kept::default();
        for number in 0..100_usize {
            kept.keep(&number.to_string(), number, MOST_BYTES / 10);
            assert!(kept.get(&number.to_string()).is_some());
            let count = kept.known.read().unwrap().len();
            assert!((1..10).contains(&count), "{count}");
        }
    }
}
