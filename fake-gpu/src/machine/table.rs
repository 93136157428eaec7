//! Objects behind handles: numbers that are never reused and never addresses, so that a stale or made-up one is found out.

use std::{
    collections::HashMap,
    sync::{
        PoisonError, RwLock,
        atomic::{AtomicUsize, Ordering},
    },
};

/// First handle: far above the small numbers with a meaning of their own (legacy stream 1, per-thread stream 2).
const FIRST: usize = 0x10_0000;
/// All tables share one sequence, so that a handle of one kind is never valid as another.
static NEXT: AtomicUsize = AtomicUsize::new(FIRST);

#[derive(Debug)]
pub(crate) struct Table<T>(RwLock<HashMap<usize, T>>);

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self(RwLock::new(HashMap::new()))
    }
}

/// A handle that nothing else has.
pub(crate) fn new_handle() -> usize {
    NEXT.fetch_add(0x10, Ordering::Relaxed)
}

impl<T: Clone> Table<T> {
    pub(crate) fn add(&self, value: T) -> usize {
        let handle = new_handle();
        self.0
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(handle, value);
        handle
    }

    pub(crate) fn get(&self, handle: usize) -> Option<T> {
        self.0
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&handle)
            .cloned()
    }

    pub(crate) fn remove(&self, handle: usize) -> Option<T> {
        self.0
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&handle)
    }

    pub(crate) fn remove_all(&self, fits: impl Fn(&T) -> bool) {
        self.0
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .retain(|_, value| !fits(value));
    }

    pub(crate) fn all(&self) -> Vec<T> {
        self.0
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .values()
            .cloned()
            .collect()
    }
}
