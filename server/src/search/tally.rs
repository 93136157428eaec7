//! Adds up what documents get for a query: one sum for each, in the order of the things sought. Going over the lists of
//! all words once, and over nothing else, is quicker here than what an engine for millions of documents does to avoid it.

use tantivy::query::Query;

use super::terms::{Needle, Place};
use super::view::{Listing, Number, View};

/// A word found in a second field counts this much beside its best field.
const TIE_BREAKER: f32 = 0.1;

/// Sums by document.
pub(super) struct Tally<'a> {
    view: &'a View,
    sums: Vec<f32>,
    /// Documents with a sum, in the order in which they were found.
    found: Vec<Number>,
    /// For the needle that is added now.
    now: Vec<Part>,
    found_now: Vec<Number>,
}

/// What a document has got for one needle.
#[derive(Debug, Clone, Copy, Default)]
struct Part {
    best: f32,
    all: f32,
}

impl<'a> Tally<'a> {
    /// Nothing for anybody.
    pub(super) fn new(view: &'a View) -> Self {
        Self {
            view,
            sums: vec![0.0; view.numbers()],
            found: Vec::new(),
            now: vec![Part::default(); view.numbers()],
            found_now: Vec::new(),
        }
    }

    /// Adds what a needle counts by where its words stand and how often: the best place, and a little for each other.
    pub(super) fn add_ranked(&mut self, needle: &Needle) -> tantivy::Result<()> {
        for Place { listing, boost } in &needle.places {
            let (now, found_now) = (&mut self.now, &mut self.found_now);
            self.view.each_scored(listing, *boost, |number, score| {
                note(now, found_now, number, score);
            })?;
        }
        self.end_needle();
        Ok(())
    }

    /// Adds how rare a needle is to each document that says it.
    pub(super) fn add_rarity(&mut self, needle: &Needle) -> tantivy::Result<()> {
        self.add_any(&needle.said, needle.rarity)
    }

    /// Adds `score` to each document that is in one of these lists.
    pub(super) fn add_any<'l>(
        &mut self,
        listings: impl IntoIterator<Item = &'l Listing>,
        score: f32,
    ) -> tantivy::Result<()> {
        for listing in listings {
            let (now, found_now) = (&mut self.now, &mut self.found_now);
            self.view.each(listing, |number| {
                let part = now.get_mut(number as usize);
                if let Some(part) = part.filter(|part| part.best == 0.0) {
                    *part = Part {
                        best: score,
                        all: score,
                    };
                    found_now.push(number);
                }
            })?;
        }
        self.end_needle();
        Ok(())
    }

    /// Adds the score of a query of the engine.
    pub(super) fn add_query(&mut self, query: &dyn Query) -> tantivy::Result<()> {
        let (now, found_now) = (&mut self.now, &mut self.found_now);
        self.view
            .each_found(query, |number, score| note(now, found_now, number, score))?;
        self.end_needle();
        Ok(())
    }

    /// What a document has.
    pub(super) fn of(&self, number: Number) -> f32 {
        self.sums.get(number as usize).copied().unwrap_or_default()
    }

    /// Documents that have something, with how much.
    pub(super) fn found(&self) -> impl Iterator<Item = (f32, Number)> {
        self.found.iter().map(|number| (self.of(*number), *number))
    }

    /// Takes everything back.
    pub(super) fn clear(&mut self) {
        for number in self.found.drain(..) {
            if let Some(sum) = self.sums.get_mut(number as usize) {
                *sum = 0.0;
            }
        }
    }

    fn end_needle(&mut self) {
        for number in self.found_now.drain(..) {
            let at = number as usize;
            if let (Some(sum), Some(part)) = (self.sums.get_mut(at), self.now.get_mut(at)) {
                if *sum == 0.0 {
                    self.found.push(number);
                }
                *sum += part.best + (part.all - part.best) * TIE_BREAKER;
                *part = Part::default();
            }
        }
    }
}

/// Scores are never 0, so a document without one was not found yet.
fn note(now: &mut [Part], found_now: &mut Vec<Number>, number: Number, score: f32) {
    if let Some(part) = now.get_mut(number as usize) {
        if part.all == 0.0 {
            found_now.push(number);
        }
        part.best = part.best.max(score);
        part.all += score;
    }
}
