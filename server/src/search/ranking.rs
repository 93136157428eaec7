//! Which of the documents that say enough come first.
//!
//! What words count is known for each document, and is added up for all. Where a phrase stands has to be read: where the
//! documents are very many, it is read for those alone that it may bring onto the page.

use super::chosen::Chosen;
use super::coverage::SLACK;
use super::named::CODE_SCORE;
use super::phrase::Phrase;
use super::tally::Tally;
use super::terms::Needle;
use super::view::{Listing, Number, View};

/// So many are very many.
pub(super) const MANY: usize = 512;

/// What documents are scored by.
pub(super) struct Question {
    /// The records of codes that are named.
    pub(super) codes: Vec<Listing>,
    pub(super) needles: Vec<Needle>,
    pub(super) phrases: Vec<Phrase>,
}

/// A document, and between what its score lies.
#[derive(Debug, Clone, Copy)]
struct Standing {
    number: Number,
    least: f32,
    most: f32,
}

/// Documents that have a score, ascending.
pub(super) struct Ranking<'a> {
    view: &'a View,
    question: &'a Question,
    standings: Vec<Standing>,
}

impl Standing {
    fn exact(number: Number, score: f32) -> Self {
        Self {
            number,
            least: score,
            most: score,
        }
    }
}

impl Question {
    /// The score of each of these documents that has one. They ascend.
    pub(super) fn score(&self, view: &View, documents: Vec<Number>) -> tantivy::Result<Vec<(f32, Number)>> {
        let chosen = Chosen::new(documents, view.numbers());
        let mut scores = self.by_words(view, &chosen);
        for phrase in &self.phrases {
            scores.add_phrase(phrase)?;
        }
        Ok(scores.found().collect())
    }

    /// What these documents have without phrases.
    fn by_words<'t>(&self, view: &'t View, chosen: &'t Chosen) -> Tally<'t> {
        let mut scores = Tally::new(view, chosen);
        for listing in &self.codes {
            scores.add_listing(listing, CODE_SCORE);
        }
        for needle in &self.needles {
            scores.add_needle(needle);
        }
        scores
    }

    /// Between what the score of each of these documents lies that has one. They ascend.
    fn estimate(&self, view: &View, documents: Vec<Number>) -> tantivy::Result<Vec<Standing>> {
        let chosen = Chosen::new(documents, view.numbers());
        let known = self.by_words(view, &chosen);
        let standings = known.sums().map(|(sum, number)| Standing::exact(number, sum));
        let mut standings: Vec<Standing> = standings.collect();
        for phrase in &self.phrases {
            let most = phrase.most(view);
            for number in phrase.where_it_may_be(view, &chosen) {
                let place = chosen.ranked().place(number);
                if let Some(standing) = place.and_then(|place| standings.get_mut(place)) {
                    standing.most += most;
                }
            }
        }
        // Whoever only has the parts of a word in a text whose parts do not count has nothing, but for a phrase that stands there.
        let open = standings
            .iter()
            .filter(|standing| standing.least <= 0.0 && standing.most > 0.0);
        let open: Vec<Number> = open.map(|standing| standing.number).collect();
        let by_phrase: Vec<Number> = if open.is_empty() {
            open
        } else {
            self.score(view, open)?
                .into_iter()
                .map(|(_, number)| number)
                .collect()
        };
        standings
            .retain(|standing| standing.least > 0.0 || by_phrase.binary_search(&standing.number).is_ok());
        Ok(standings)
    }
}

impl<'a> Ranking<'a> {
    /// Of these documents, which ascend; from `many` on not all are scored.
    pub(super) fn of(
        view: &'a View,
        question: &'a Question,
        documents: Vec<Number>,
        many: usize,
    ) -> tantivy::Result<Self> {
        let standings = if documents.len() < many {
            let scored = question.score(view, documents)?.into_iter();
            scored
                .map(|(score, number)| Standing::exact(number, score))
                .collect()
        } else {
            question.estimate(view, documents)?
        };
        Ok(Self {
            view,
            question,
            standings,
        })
    }

    /// All documents of the index, of which nothing is asked.
    pub(super) fn of_all(view: &'a View, question: &'a Question) -> Self {
        let all = view.alive.iter();
        Self {
            view,
            question,
            standings: all.map(|number| Standing::exact(number, 0.0)).collect(),
        }
    }

    /// Of how many the score is not known yet.
    #[cfg(test)]
    pub(super) fn open(&self) -> usize {
        let open = |standing: &&Standing| standing.most > standing.least;
        self.standings.iter().filter(open).count()
    }

    pub(super) fn len(&self) -> usize {
        self.standings.len()
    }

    pub(super) fn numbers(&self) -> impl Iterator<Item = Number> {
        self.standings.iter().map(|standing| standing.number)
    }

    /// Leaves those that are admitted.
    pub(super) fn keep(&mut self, mut is_admitted: impl FnMut(Number) -> bool) {
        self.standings.retain(|standing| is_admitted(standing.number));
    }

    /// The best `count` with their scores, and maybe others; in no order.
    pub(super) fn best(self, count: usize) -> tantivy::Result<Vec<(f32, Number)>> {
        let least = self.standings.iter().map(|standing| standing.least);
        let enough = highest(least, count);
        let may_reach = self.standings.iter();
        let may_reach = may_reach.filter(|standing| standing.most * (1.0 + SLACK) >= enough);
        let may_reach: Vec<&Standing> = may_reach.collect();
        if may_reach.iter().all(|standing| standing.most <= standing.least) {
            let exact = may_reach.into_iter();
            return Ok(exact.map(|standing| (standing.least, standing.number)).collect());
        }
        let documents = may_reach.into_iter().map(|standing| standing.number);
        self.question.score(self.view, documents.collect())
    }
}

/// The least of the `count` highest of some scores; 0 where there are no more.
fn highest(scores: impl ExactSizeIterator<Item = f32>, count: usize) -> f32 {
    let Some(last) = count.checked_sub(1).filter(|_| count < scores.len()) else {
        return 0.0;
    };
    let higher = |one: &f32, other: &f32| other.total_cmp(one);
    let mut best: Vec<f32> = Vec::new();
    let mut enough = f32::MIN;
    for score in scores {
        if score <= enough {
            continue;
        }
        best.push(score);
        // Nearly all have less than the best so far, and are passed over.
        if best.len() > 2 * count {
            enough = *best.select_nth_unstable_by(last, higher).1;
            best.truncate(count);
        }
    }
    if best.len() < count {
        return 0.0;
    }
    *best.select_nth_unstable_by(last, higher).1
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_least_of_the_highest_is_that_of_all_in_order(
            scores in prop::collection::vec(0..40_u8, 0..200),
            count in 0..30_usize,
        ) {
            let scores: Vec<f32> = scores.into_iter().map(f32::from).collect();
            let mut ordered = scores.clone();
            ordered.sort_unstable_by(|one, other| other.total_cmp(one));
            let expected = ordered.get(count.wrapping_sub(1)).filter(|_| count < scores.len());
            let found = highest(scores.iter().copied(), count);
            prop_assert_eq!(found.to_bits(), expected.copied().unwrap_or_default().to_bits());
        }
    }
}
