//! What was made of words, kept for the queries that ask for them again, up to so much memory.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockWriteGuard};

/// Most that one such store takes.
const MOST_BYTES: usize = 128 * 1024 * 1024;

/// What a kept word takes beside its value.
const WORD_BYTES: usize = 128;

/// Values by word.
#[derive(Debug)]
pub(super) struct Kept<V>(RwLock<Store<V>>);

#[derive(Debug)]
struct Store<V> {
    known: HashMap<Box<str>, Arc<V>>,
    bytes: usize,
    is_closed: bool,
}

impl<V> Default for Kept<V> {
    fn default() -> Self {
        Self(RwLock::new(Store {
            known: HashMap::new(),
            bytes: 0,
            is_closed: false,
        }))
    }
}

impl<V> Kept<V> {
    pub(super) fn get(&self, word: &str) -> Option<Arc<V>> {
        let store = self.0.read().unwrap_or_else(PoisonError::into_inner);
        store.known.get(word).map(Arc::clone)
    }

    /// Keeps a value that takes so many bytes, and gives it back, or what another thread has kept meanwhile. All others are let go
    /// when there are too many bytes.
    pub(super) fn keep(&self, word: &str, value: V, bytes: usize) -> Arc<V> {
        let value = Arc::new(value);
        let bytes = WORD_BYTES + word.len() + bytes;
        let mut gone = HashMap::new();
        let mut store = self.write();
        if store.is_closed {
            return value;
        }
        if let Some(known) = store.known.get(word) {
            return Arc::clone(known);
        }
        if store.bytes + bytes > MOST_BYTES {
            // Those that are still asked for come back.
            std::mem::swap(&mut gone, &mut store.known);
            store.bytes = 0;
        }
        store.known.insert(word.into(), Arc::clone(&value));
        store.bytes += bytes;
        // Nobody waits while thousands are freed.
        drop(store);
        drop(gone);
        value
    }

    /// The words whose values are so.
    pub(super) fn words(&self, is_wanted: impl Fn(&V) -> bool) -> Vec<Box<str>> {
        let store = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let wanted = store.known.iter().filter(|(_, value)| is_wanted(value));
        wanted.map(|(word, _)| word.clone()).collect()
    }

    /// Lets all go, and keeps none any more.
    pub(super) fn close(&self) {
        let mut store = self.write();
        store.is_closed = true;
        store.bytes = 0;
        let gone = std::mem::take(&mut store.known);
        drop(store);
        drop(gone);
    }

    fn write(&self) -> RwLockWriteGuard<'_, Store<V>> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many are kept, and their bytes.
    fn size<V>(kept: &Kept<V>) -> (usize, usize) {
        let store = kept.0.read().unwrap();
        (store.known.len(), store.bytes)
    }

    #[test]
    fn what_was_kept_is_given_again() {
        let kept = Kept::default();
        assert!(kept.get("peer").is_none());
        let first = kept.keep("peer", 1, 4);
        assert!(Arc::ptr_eq(&first, &kept.get("peer").unwrap()));
        assert!(kept.get("pee").is_none());
        let before = size(&kept);
        let of_another_thread = kept.keep("peer", 2, 4);
        assert!(Arc::ptr_eq(&first, &of_another_thread));
        assert_eq!(size(&kept), before);
    }

    #[test]
    fn what_takes_too_much_is_let_go() {
        let kept = Kept::default();
        let counts = (0..30_usize).map(|number| {
            kept.keep(&number.to_string(), number, MOST_BYTES / 10);
            assert!(kept.get(&number.to_string()).is_some());
            let (count, bytes) = size(&kept);
            assert!(bytes <= MOST_BYTES && bytes >= count * (MOST_BYTES / 10));
            count
        });
        let expected = (0..30).map(|number| 1 + number % 9);
        assert!(counts.eq(expected));
    }

    #[test]
    fn a_closed_one_keeps_nothing() {
        let kept = Kept::default();
        kept.keep("peer", 1, 4);
        kept.close();
        assert_eq!(*kept.keep("access", 2, 4), 2);
        assert!(kept.get("peer").is_none() && kept.get("access").is_none());
        assert_eq!(size(&kept), (0, 0));
    }
}
