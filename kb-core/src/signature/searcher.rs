//! A compiled regex whose search memory is bounded.
//!
//! `meta::Regex` keeps a cache for each thread that has used it, and a cache grows with the longest line searched: up to some
//! hundred kilobytes, for each pattern and each thread. Here a pattern keeps one cache, and only while it is small.

use std::sync::{Mutex, PoisonError};

use regex_automata::meta::{Cache, Regex};
use regex_automata::util::captures::GroupInfo;
use regex_automata::util::primitives::NonMaxUsize;
use regex_automata::{Input, Match, PatternID};

#[derive(Debug)]
pub(crate) struct Searcher {
    regex: Regex,
    /// Largest cache that is kept from one search to the next, in bytes.
    kept_bytes: usize,
    cache: Mutex<Option<Box<Cache>>>,
}

impl Searcher {
    pub(crate) fn new(regex: Regex, kept_bytes: usize) -> Self {
        Self {
            regex,
            kept_bytes,
            cache: Mutex::new(None),
        }
    }

    pub(crate) fn memory_usage(&self) -> usize {
        self.regex.memory_usage() + self.kept_bytes
    }

    pub(crate) fn group_info(&self) -> &GroupInfo {
        self.regex.group_info()
    }

    pub(crate) fn is_match(&self, text: &[u8]) -> bool {
        let input = Input::new(text).earliest(true);
        self.with_cache(|cache| self.regex.search_half_with(cache, &input))
            .is_some()
    }

    pub(crate) fn search(&self, input: &Input<'_>) -> Option<Match> {
        self.with_cache(|cache| self.regex.search_with(cache, input))
    }

    pub(crate) fn search_slots(
        &self,
        input: &Input<'_>,
        slots: &mut [Option<NonMaxUsize>],
    ) -> Option<PatternID> {
        self.with_cache(|cache| self.regex.search_slots_with(cache, input, slots))
    }

    fn with_cache<T>(&self, search: impl FnOnce(&mut Cache) -> T) -> T {
        let kept = self.cache.lock().unwrap_or_else(PoisonError::into_inner).take();
        let mut cache = kept.unwrap_or_else(|| Box::new(self.regex.create_cache()));
        let found = search(&mut cache);
        if cache.memory_usage() <= self.kept_bytes {
            *self.cache.lock().unwrap_or_else(PoisonError::into_inner) = Some(cache);
        }
        found
    }

    #[cfg(test)]
    pub(crate) fn cache_bytes(&self) -> usize {
        let cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        cache.as_ref().map_or(0, |cache| cache.memory_usage())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_cache_that_a_long_line_made_large_is_not_kept() {
        let searcher = Searcher::new(
            Regex::new(r"error (\d+) in ([a-z]+ ?)+ at (.*) end").unwrap(),
            16 << 10,
        );
        let short = b"error 7 in some place at x end".as_slice();
        let mut slots = vec![None; searcher.group_info().slot_len()];
        assert!(searcher.search_slots(&Input::new(short), &mut slots).is_some());
        let mut long = b"error 7 in ".to_vec();
        long.extend(b"word ".repeat(10_000));
        long.extend(b"at x end");
        assert!(searcher.search_slots(&Input::new(&long), &mut slots).is_some());
        assert!(searcher.cache_bytes() <= 16 << 10, "{}", searcher.cache_bytes());
        assert!(searcher.is_match(short) && searcher.search(&Input::new("nothing")).is_none());
    }
}
