//! The first look at every byte: one automaton over the rarest literals of all signals, apart from ASCII case.

use std::collections::HashMap;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, Anchored, Input, MatchKind};

use super::{index, place};

/// Longest literal in the automaton, in bytes; of a longer one a telling part stands in.
pub(super) const MAX_ENTRY: usize = 24;

/// A literal was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Found {
    /// A signal is worth a look on this line.
    Signal(u32),
    /// The word of a number family stands on this line.
    Family(u16),
}

#[derive(Debug)]
pub(crate) struct Automaton {
    /// `None` when there is nothing to look for.
    searcher: Option<AhoCorasick>,
    found: Vec<Vec<Found>>,
    families: Vec<Vec<u8>>,
}

/// Collects literals before the automaton is made.
#[derive(Default)]
pub(super) struct Literals {
    texts: Vec<Vec<u8>>,
    places: HashMap<Vec<u8>, u32>,
    found: Vec<Vec<Found>>,
    families: Vec<Vec<u8>>,
}

impl Literals {
    /// Lets a literal (ASCII lower case, not empty) wake something.
    pub(super) fn add(&mut self, literal: &[u8], wakes: Found) {
        let next = place(self.texts.len());
        let at = *self.places.entry(literal.to_vec()).or_insert(next);
        if at == next {
            self.texts.push(literal.to_vec());
            self.found.push(Vec::new());
        }
        if let Some(list) = self.found.get_mut(index(at))
            && list.last() != Some(&wakes)
        {
            list.push(wakes);
        }
    }

    /// The number of a family word, which wakes it.
    pub(super) fn family(&mut self, word: &[u8]) -> Option<u16> {
        if let Some(known) = self.families.iter().position(|family| family == word) {
            return u16::try_from(known).ok();
        }
        let family = u16::try_from(self.families.len()).ok()?;
        self.families.push(word.to_vec());
        self.add(word, Found::Family(family));
        Some(family)
    }

    pub(super) fn build(self) -> Result<Automaton, aho_corasick::BuildError> {
        let searcher = if self.texts.is_empty() {
            None
        } else {
            let mut builder = AhoCorasickBuilder::new();
            builder
                .ascii_case_insensitive(true)
                .match_kind(MatchKind::Standard)
                .prefilter(false);
            Some(builder.build(&self.texts)?)
        };
        Ok(Automaton {
            searcher,
            found: self.found,
            families: self.families,
        })
    }
}

impl Automaton {
    /// Finds nothing.
    pub(super) fn empty() -> Self {
        Self {
            searcher: None,
            found: Vec::new(),
            families: Vec::new(),
        }
    }

    /// Calls `visit` with what each literal in `bytes` wakes and where the literal ends, in the order of the ends.
    pub(crate) fn search(&self, bytes: &[u8], mut visit: impl FnMut(Found, usize)) {
        let Some(searcher) = &self.searcher else {
            return;
        };
        let input = Input::new(bytes).anchored(Anchored::No);
        for hit in searcher.find_overlapping_iter(input) {
            for found in self.found.get(hit.pattern().as_usize()).into_iter().flatten() {
                visit(*found, hit.end());
            }
        }
    }

    pub(super) fn family(&self, number: u16) -> Option<&[u8]> {
        self.families.get(usize::from(number)).map(Vec::as_slice)
    }
}
