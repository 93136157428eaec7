//! Which of the documents that say enough come first.
//!
//! Of a few, each is scored. Where they are very many the query says little, and most of them say it in texts that count
//! little. So the lists that count most come first; what a document has from these is the least that it gets, and what the
//! lists left out could add to it bounds the most. Then those alone are scored that may reach the page.

use super::chosen::Chosen;
use super::coverage::SLACK;
use super::named::CODE_SCORE;
use super::numbers::Numbers;
use super::phrase::Phrase;
use super::tally::{Part, Tally, note, of_parts};
use super::terms::{Needle, Place};
use super::view::{Listing, Number, View};

/// So many are very many.
pub(super) const MANY: usize = 2_048;

/// A list waits that gives no document more than this share of what the best list of all may give,
const LITTLE: f32 = 0.15;
/// and holds one document in so many: going over shorter ones takes no time.
const LONG: u32 = 64;

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
    is_exact: bool,
}

impl Question {
    /// The score of each of these documents that has one. They ascend.
    pub(super) fn score(&self, view: &View, documents: Vec<Number>) -> tantivy::Result<Vec<(f32, Number)>> {
        let chosen = Chosen::new(documents, view.numbers());
        let mut scores = Tally::new(view, &chosen);
        for listing in &self.codes {
            scores.add_listing(listing, CODE_SCORE);
        }
        for needle in &self.needles {
            scores.add_needle(needle);
        }
        for phrase in &self.phrases {
            scores.add_phrase(phrase)?;
        }
        Ok(scores.found().collect())
    }

    /// Between what the score of each of these documents lies that has one. They ascend.
    fn estimate(&self, view: &View, documents: Vec<Number>) -> tantivy::Result<Vec<Standing>> {
        let chosen = Chosen::new(documents, view.numbers());
        let mut fixed = Tally::new(view, &chosen);
        for listing in &self.codes {
            fixed.add_listing(listing, CODE_SCORE);
        }
        let is_common = |phrase: &&Phrase| phrase.records() > view.len() / LONG;
        for phrase in self.phrases.iter().filter(|phrase| !is_common(phrase)) {
            fixed.add_phrase(phrase)?;
        }
        let mut standings: Vec<Standing> = fixed
            .sums()
            .map(|(sum, number)| Standing {
                number,
                least: sum,
                most: sum,
            })
            .collect();
        let mut phrased = Numbers::none_of(view.numbers());
        for phrase in self.phrases.iter().filter(is_common) {
            let most = phrase.most(view);
            let where_it_may_be = phrase.where_it_may_be(view);
            for number in where_it_may_be.iter() {
                let standing = chosen.place(number).and_then(|place| standings.get_mut(place));
                if let Some(standing) = standing {
                    standing.most += most;
                }
            }
            phrased.insert_set(&where_it_may_be);
        }
        let bounds: Vec<Vec<f32>> = self.needles.iter().map(|needle| bounds(view, needle)).collect();
        let little = LITTLE * bounds.iter().flatten().copied().fold(0.0, f32::max);
        let mut waiting = Numbers::none_of(view.numbers());
        let mut parts = vec![Part::default(); standings.len()];
        for (needle, bounds) in self.needles.iter().zip(bounds) {
            let mut left = Part::default();
            for (Place { listing, boost }, most) in needle.places.iter().zip(bounds) {
                if most <= little && listing.records > view.len() / LONG {
                    left.add(most);
                    view.add_to(listing, &mut waiting);
                } else {
                    view.each_scored(listing, *boost, &chosen, |place, score| {
                        note(&mut parts, place, score);
                    });
                }
            }
            add_between(&mut standings, &mut parts, left);
        }
        // Whoever only has the parts of a word in a text whose parts do not count has nothing, but for a phrase that stands there.
        let is_scored = |standing: &Standing| standing.least > 0.0 || waiting.contains(standing.number);
        let open = standings.iter().filter(|standing| !is_scored(standing));
        let open = open.map(|standing| standing.number);
        let open: Vec<Number> = open.filter(|number| phrased.contains(*number)).collect();
        if !open.is_empty() {
            for (_, number) in self.score(view, open)? {
                waiting.insert(number);
            }
        }
        standings.retain(|standing| standing.least > 0.0 || waiting.contains(standing.number));
        Ok(standings)
    }
}

/// The most that each place of a needle may give.
fn bounds(view: &View, needle: &Needle) -> Vec<f32> {
    let places = needle.places.iter();
    places
        .map(|place| view.most(&place.listing, place.boost))
        .collect()
}

/// Adds what each has of a needle, and what the places that are left may add to it. `parts` are empty after it.
fn add_between(standings: &mut [Standing], parts: &mut [Part], left: Part) {
    for (standing, part) in standings.iter_mut().zip(parts) {
        standing.least += of_parts(*part);
        standing.most += of_parts(Part {
            best: part.best.max(left.best),
            all: part.all + left.all,
        });
        *part = Part::default();
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
        let is_exact = documents.len() < many;
        let standings = if is_exact {
            let scored = question.score(view, documents)?.into_iter();
            let exact = scored.map(|(score, number)| Standing {
                number,
                least: score,
                most: score,
            });
            exact.collect()
        } else {
            question.estimate(view, documents)?
        };
        Ok(Self {
            view,
            question,
            standings,
            is_exact,
        })
    }

    /// All documents of the index, of which nothing is asked.
    pub(super) fn of_all(view: &'a View, question: &'a Question) -> Self {
        let all = view.alive.iter().map(|number| Standing {
            number,
            least: 0.0,
            most: 0.0,
        });
        Self {
            view,
            question,
            standings: all.collect(),
            is_exact: true,
        }
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
        if self.is_exact {
            let all = self.standings.into_iter();
            return Ok(all.map(|standing| (standing.least, standing.number)).collect());
        }
        let mut sums: Vec<f32> = self.standings.iter().map(|standing| standing.least).collect();
        let enough = match count.checked_sub(1).filter(|last| *last < sums.len()) {
            Some(last) => {
                *sums
                    .select_nth_unstable_by(last, |one, other| other.total_cmp(one))
                    .1
            }
            None => 0.0,
        };
        let may_reach = self
            .standings
            .iter()
            .filter(|standing| standing.most * (1.0 + SLACK) >= enough);
        let documents = may_reach.map(|standing| standing.number).collect();
        self.question.score(self.view, documents)
    }
}
