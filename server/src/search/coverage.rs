//! Which documents say enough of what is sought, and how much of it each says.
//!
//! The rarest words come first. Once the words to come are together too common to make a hit of a document that said
//! nothing so far, their lists, which are the long ones, are asked for the documents found so far and for no others.

use super::numbers::Numbers;
use super::terms::Needle;
use super::view::{Number, View};

/// Sums that were added up in different orders are compared with this slack.
pub(super) const SLACK: f32 = 1e-4;

/// Of so few needles each choice is looked at.
const FEW: usize = 6;

/// What documents say of some needles.
pub(super) struct Coverage<'a> {
    view: &'a View,
    /// The rarest first.
    needles: Vec<&'a Needle>,
    /// All the rarity of what is sought, words that nobody says among it.
    sought: f32,
}

impl<'a> Coverage<'a> {
    /// Of these needles, with the rarity of all that is sought.
    pub(super) fn new(view: &'a View, needles: impl IntoIterator<Item = &'a Needle>, sought: f32) -> Self {
        let mut needles: Vec<&Needle> = needles.into_iter().collect();
        needles.sort_by(|one, other| other.rarity.total_cmp(&one.rarity));
        let sought = sought.max(f32::MIN_POSITIVE);
        Self {
            view,
            needles,
            sought,
        }
    }

    /// Documents that cover at least this share, ascending.
    pub(super) fn at_least(&self, least: f32) -> Vec<Number> {
        if self.needles.len() <= FEW {
            return self.enough_of_few(least).to_list();
        }
        let mut search = self.begin(least);
        let mut covering = Vec::new();
        loop {
            // Whoever has enough need not be asked for the rest.
            let enough = search.enough;
            let done = search.open.extract_if(.., |open| open.mass >= enough);
            covering.extend(done.map(|open| open.number));
            let Some(needle) = search.next_needle().filter(|_| !search.open.is_empty()) else {
                break;
            };
            search.ask(needle);
        }
        covering.sort_unstable();
        covering
    }

    /// The same of few needles: who says all of some that are enough together, for each such choice.
    fn enough_of_few(&self, least: f32) -> Numbers {
        let count = self.view.numbers();
        let enough = (least - SLACK) * self.sought;
        let sets = self.needles.iter().map(|needle| {
            let mut said = Numbers::none_of(count);
            for listing in &needle.said {
                self.view.add_to(listing, &mut said);
            }
            said.keep(&self.view.alive);
            said
        });
        let sets: Vec<Numbers> = sets.collect();
        let mut covering = Numbers::none_of(count);
        let mut chosen = Vec::new();
        self.join_enough(&sets, enough, &mut chosen, &mut covering);
        covering
    }

    /// Adds who says all of the chosen needles, as soon as these are enough; else with each further one.
    fn join_enough(&self, sets: &[Numbers], enough: f32, chosen: &mut Vec<usize>, covering: &mut Numbers) {
        let rarity = |place: &usize| self.needles.get(*place).map_or(0.0, |needle| needle.rarity);
        if chosen.iter().map(rarity).sum::<f32>() >= enough {
            let chosen = chosen.iter().filter_map(|place| sets.get(*place));
            covering.insert_common(chosen);
            return;
        }
        for place in chosen.last().map_or(0, |last| last + 1)..sets.len() {
            chosen.push(place);
            self.join_enough(sets, enough, chosen, covering);
            chosen.pop();
        }
    }

    /// Documents that cover at least this share, ascending, each with its own share.
    pub(super) fn shares(&self, least: f32) -> Vec<(Number, f32)> {
        let mut search = self.begin(least);
        while let Some(needle) = search.next_needle() {
            search.ask(needle);
        }
        let found = search.open.iter();
        found.map(|open| (open.number, open.mass / self.sought)).collect()
    }

    /// Goes over the needles that alone can begin a document that has enough at the end.
    fn begin(&self, least: f32) -> Search<'_, 'a> {
        let count = self.view.numbers();
        let enough = (least - SLACK) * self.sought;
        let mut to_come: f32 = self.needles.iter().map(|needle| needle.rarity).sum();
        let mut left = self.needles.as_slice();
        let mut begun: Vec<(f32, Numbers)> = Vec::new();
        let mut found = Numbers::none_of(count);
        while let Some((needle, rest)) = left.split_first().filter(|_| to_come >= enough) {
            let mut said = Numbers::none_of(count);
            for listing in &needle.said {
                self.view.add_to(listing, &mut said);
            }
            found.insert_set(&said);
            begun.push((needle.rarity, said));
            to_come -= needle.rarity;
            left = rest;
        }
        found.keep(&self.view.alive);
        let mass = |number| {
            let says = begun.iter().filter(|(_, said)| said.contains(number));
            says.map(|(rarity, _)| rarity).sum()
        };
        let open = found.iter().map(|number| Open {
            number,
            mass: mass(number),
        });
        Search {
            view: self.view,
            open: open.filter(|open| open.mass + to_come >= enough).collect(),
            said: Numbers::none_of(count),
            enough,
            left,
            to_come,
        }
    }
}

/// A document that may have enough at the end.
#[derive(Debug, Clone, Copy)]
struct Open {
    number: Number,
    /// The rarity of what it has said so far.
    mass: f32,
}

/// Documents that said something, and are asked for the needles that are left.
struct Search<'c, 'a> {
    view: &'a View,
    /// Ascending.
    open: Vec<Open>,
    /// Who says the needle at hand; empty in between.
    said: Numbers,
    enough: f32,
    left: &'c [&'a Needle],
    /// The rarity of what is left.
    to_come: f32,
}

impl<'a> Search<'_, 'a> {
    /// Lets go of documents that cannot have enough any more, and gives the needle to ask the others for.
    fn next_needle(&mut self) -> Option<&'a Needle> {
        let needed = self.enough - self.to_come;
        self.open.retain(|open| open.mass >= needed);
        let (needle, left) = self.left.split_first()?;
        self.left = left;
        self.to_come -= needle.rarity;
        Some(needle)
    }

    fn ask(&mut self, needle: &Needle) {
        let among: Vec<Number> = self.open.iter().map(|open| open.number).collect();
        for listing in &needle.said {
            let said = &mut self.said;
            self.view
                .each_among(listing, &among, |number| said.insert(number));
        }
        for open in &mut self.open {
            if self.said.contains(open.number) {
                open.mass += needle.rarity;
            }
        }
        self.said.clear();
    }
}
