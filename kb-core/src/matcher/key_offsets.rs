//! Where the keys of literals begin that belong to no pattern: signatures and codes. Found once, and again only where the rarity of
//! bytes was learnt anew.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;

use super::keys::Rarity;

#[derive(Debug, Default)]
pub(super) struct KeyOffsets(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    by: Option<Arc<Rarity>>,
    offsets: FxHashMap<Box<[u8]>, Offset>,
}

#[derive(Debug)]
struct Offset {
    /// `None` for a literal that is too short to have a key.
    offset: Option<usize>,
    /// The build that asked last.
    used_in: u64,
}

/// The offsets for one build. Other builds that share them wait meanwhile.
pub(super) struct Keys<'a> {
    known: MutexGuard<'a, Known>,
    rarity: Arc<Rarity>,
    build: u64,
}

impl KeyOffsets {
    pub(super) fn of(&self, rarity: Arc<Rarity>, build: u64) -> Keys<'_> {
        let mut known = self.lock();
        if !known.by.as_ref().is_some_and(|by| Arc::ptr_eq(by, &rarity)) {
            known.offsets.clear();
            known.by = Some(Arc::clone(&rarity));
        }
        Keys { known, rarity, build }
    }

    /// Drops what no build since this one has asked for.
    pub(super) fn forget_before(&self, build: u64) {
        self.lock().offsets.retain(|_, offset| offset.used_in >= build);
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Keys<'_> {
    pub(super) fn offset(&mut self, literal: &[u8]) -> Option<usize> {
        if let Some(known) = self.known.offsets.get_mut(literal) {
            known.used_in = self.build;
            return known.offset;
        }
        let offset = self.rarity.key(literal).map(|key| key.offset);
        let known = Offset {
            offset,
            used_in: self.build,
        };
        self.known.offsets.insert(literal.into(), known);
        offset
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_are_those_of_the_rarity_in_use_and_unused_ones_go() {
        let known = KeyOffsets::default();
        let literal = b"error qzxj error";
        let first = Arc::new(Rarity::learn([&b"error"[..], b"error error"]));
        let second = Arc::new(Rarity::learn([&b"qzxj"[..]; 60]));
        let of = |rarity: &Rarity| rarity.key(literal).map(|key| key.offset);
        assert_ne!(of(&first), of(&second), "else this test shows nothing");
        assert_eq!(known.of(Arc::clone(&first), 1).offset(literal), of(&first));
        assert_eq!(known.of(Arc::clone(&second), 2).offset(literal), of(&second));
        assert_eq!(known.of(Arc::clone(&second), 3).offset(b"ab"), None);
        known.forget_before(3);
        assert_eq!(known.lock().offsets.len(), 1);
    }
}
