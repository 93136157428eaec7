//! Adds up what documents get for a query: one sum for each place of those that may be shown, in the order of the things sought.

use super::chosen::Chosen;
use super::phrase::Phrase;
use super::terms::Needle;
use super::view::{Listing, Number, View};
use super::weighed::Part;

/// Sums by document.
pub(super) struct Tally<'a> {
    view: &'a View,
    chosen: &'a Chosen,
    /// By place, see [`Chosen::place`].
    sums: Vec<f32>,
    /// For a needle of several words, by place; empty until there is one.
    now: Vec<Part>,
}

impl<'a> Tally<'a> {
    /// Nothing for anybody.
    pub(super) fn new(view: &'a View, chosen: &'a Chosen) -> Self {
        Self {
            view,
            chosen,
            sums: vec![0.0; chosen.places()],
            now: Vec::new(),
        }
    }

    /// Adds what a needle counts where its words stand: the best place, and a little for each other.
    pub(super) fn add_needle(&mut self, needle: &Needle) {
        if let [(word, weight)] = needle.weighed.as_slice() {
            word.each_among(self.chosen, |place, part| {
                add(&mut self.sums, place, part.times(*weight).score());
            });
            return;
        }
        self.now.resize(self.chosen.places(), Part::default());
        for (word, weight) in &needle.weighed {
            word.each_among(self.chosen, |place, part| {
                if let Some(now) = self.now.get_mut(place) {
                    now.join(part.times(*weight));
                }
            });
        }
        for (sum, part) in self.sums.iter_mut().zip(&mut self.now) {
            *sum += std::mem::take(part).score();
        }
    }

    /// Adds `score` to each document of a list.
    pub(super) fn add_listing(&mut self, listing: &Listing, score: f32) {
        let (chosen, sums) = (self.chosen, &mut self.sums);
        self.view.each(listing, |number| {
            if let Some(place) = chosen.place(number) {
                add(sums, place, score);
            }
        });
    }

    /// Adds what a phrase counts where it stands.
    pub(super) fn add_phrase(&mut self, phrase: &Phrase) -> tantivy::Result<()> {
        phrase.each_scored(self.view, self.chosen, |place, score| {
            add(&mut self.sums, place, score);
        })
    }

    /// Documents that have something, with how much, ascending.
    pub(super) fn found(&self) -> impl Iterator<Item = (f32, Number)> {
        self.sums().filter(|(sum, _)| *sum > 0.0)
    }

    /// All documents, with how much each has, ascending.
    pub(super) fn sums(&self) -> impl Iterator<Item = (f32, Number)> {
        let places = self.chosen.each_place();
        places.map(|(place, number)| (self.sums.get(place).copied().unwrap_or_default(), number))
    }
}

fn add(sums: &mut [f32], place: usize, score: f32) {
    if let Some(sum) = sums.get_mut(place) {
        *sum += score;
    }
}
