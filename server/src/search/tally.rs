//! Adds up what documents get for a query: one sum for each of those that may be shown, in the order of the things sought.

use super::chosen::Chosen;
use super::phrase::Phrase;
use super::terms::{Needle, Place};
use super::view::{Listing, Number, View};

/// A word found in a second field counts this much beside its best field.
const TIE_BREAKER: f32 = 0.1;

/// Sums by document.
pub(super) struct Tally<'a> {
    view: &'a View,
    chosen: &'a Chosen,
    /// By place among the chosen.
    sums: Vec<f32>,
    /// For the needle that is added now, by place.
    now: Vec<Part>,
}

/// What a document has got for one needle.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Part {
    pub(super) best: f32,
    pub(super) all: f32,
}

impl Part {
    pub(super) fn add(&mut self, score: f32) {
        self.best = self.best.max(score);
        self.all += score;
    }
}

/// What the places of one needle count together: the best one, and a little for each other.
pub(super) fn of_parts(part: Part) -> f32 {
    part.best + (part.all - part.best) * TIE_BREAKER
}

impl<'a> Tally<'a> {
    /// Nothing for anybody.
    pub(super) fn new(view: &'a View, chosen: &'a Chosen) -> Self {
        Self {
            view,
            chosen,
            sums: vec![0.0; chosen.len()],
            now: vec![Part::default(); chosen.len()],
        }
    }

    /// Adds what a needle counts by where its words stand and how often: the best place, and a little for each other.
    pub(super) fn add_needle(&mut self, needle: &Needle) {
        for Place { listing, boost } in &needle.places {
            let now = &mut self.now;
            self.view
                .each_scored(listing, *boost, self.chosen, |place, score| {
                    note(now, place, score);
                });
        }
        self.end_needle();
    }

    /// Adds `score` to each document of a list.
    pub(super) fn add_listing(&mut self, listing: &Listing, score: f32) {
        let (chosen, sums) = (self.chosen, &mut self.sums);
        self.view.each(listing, |number| {
            let place = chosen.place(number);
            if let Some(sum) = place.and_then(|place| sums.get_mut(place)) {
                *sum += score;
            }
        });
    }

    /// Adds what a phrase counts where it stands.
    pub(super) fn add_phrase(&mut self, phrase: &Phrase) -> tantivy::Result<()> {
        let now = &mut self.now;
        phrase.each_scored(self.view, self.chosen, |place, score| note(now, place, score))?;
        self.end_needle();
        Ok(())
    }

    /// Documents that have something, with how much, ascending.
    pub(super) fn found(&self) -> impl Iterator<Item = (f32, Number)> {
        self.sums().filter(|(sum, _)| *sum > 0.0)
    }

    /// All documents, with how much each has, ascending.
    pub(super) fn sums(&self) -> impl Iterator<Item = (f32, Number)> {
        let sums = self.sums.iter().copied();
        sums.zip(self.chosen.numbers().iter().copied())
    }

    fn end_needle(&mut self) {
        for (sum, part) in self.sums.iter_mut().zip(&mut self.now) {
            *sum += of_parts(*part);
            *part = Part::default();
        }
    }
}

pub(super) fn note(now: &mut [Part], place: usize, score: f32) {
    if let Some(part) = now.get_mut(place) {
        part.add(score);
    }
}
