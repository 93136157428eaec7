//! Answers are those of going over every list of every word and of sorting everything.

use std::collections::BTreeMap;

use super::super::chosen::Chosen;
use super::super::coverage::SLACK;
use super::super::named::{CODE_SCORE, codes};
use super::super::query::{MIN_BESIDE_CODE, MIN_COVERAGE, MIN_NEAR, MIN_OF_BEST, phrases, run};
use super::super::sought::sought;
use super::super::terms::{Lexicon, Needle};
use super::super::view::View;
use super::super::weighed::Part;
use super::*;

/// Words, the commonest first; some are parts or beginnings of others.
const WORDS: [&str; 26] = [
    "gpu",
    "error",
    "of",
    "the",
    "peer",
    "nccl",
    "access",
    "device",
    "NCCL_P2P_DISABLE",
    "memory",
    "cuda",
    "p2p",
    "cudaErrorPeerAccess",
    "devices",
    "failed",
    "不支持",
    "内存",
    "socket",
    "fabric",
    "mlx5_0",
    "timeout",
    "deviceless",
    "barrier",
    "nvlink",
    "对等访问",
    "retrain",
];

/// So many hits are not all scored.
const MANY: usize = 12;
/// Hits of a page.
const LIMIT: usize = 7;

/// A source of numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }

    /// The first words far more often than the last, and one of many rare ones now and then.
    fn word(&mut self) -> String {
        if self.below(5) == 0 {
            return format!("rare{}", self.below(300));
        }
        let bound = 1 + self.below(WORDS.len());
        WORDS[self.below(bound)].to_owned()
    }

    fn text(&mut self, most: usize) -> String {
        let count = 1 + self.below(most);
        let words: Vec<String> = (0..count).map(|_| self.word()).collect();
        words.join(" ")
    }

    fn document(&mut self, number: u64) -> SearchDoc {
        let domain = ["cuda", "nccl", "pcie"][self.below(3)];
        let code = match self.below(9) {
            0 => vec![format!("Xid {}", self.below(5))],
            _ => Vec::new(),
        };
        SearchDoc {
            codes: code,
            root_cause: self.text(6),
            workarounds: vec![self.text(4)],
            dead_ends: vec![self.text(3)],
            tags: (0..self.below(4)).map(|_| self.word()).collect(),
            tier: ["documented", "reproduced", ""][self.below(3)].to_owned(),
            ..document(&format!("{domain}/d{number}"), &self.text(3))
        }
    }

    /// What people ask: words, one of them maybe misspelt, begun or a code, maybe in quotes.
    fn query(&mut self) -> String {
        let most = [5, 5, 5, 12][self.below(4)];
        let text = self.text(most);
        match self.below(9) {
            0 => format!("Xid {}", self.below(6)),
            1 => format!("{text} xid {}", self.below(6)),
            2 => text.chars().take(3).collect(),
            3 => text.replacen("ce", "ec", 1),
            4 => format!("\"{text}\" unheardof"),
            5 => format!("{} \"of the\"", self.word()),
            _ => text,
        }
    }
}

/// An index of a large segment with deleted documents and, mostly, a small one.
fn edited(random: &mut Random) -> (SearchIndex, Vec<SearchDoc>) {
    let mut documents: BTreeMap<Slot, SearchDoc> = (1..=400)
        .map(|number| (number, random.document(number)))
        .collect();
    let mut keeper = IndexKeeper::new().unwrap();
    let all = documents
        .iter()
        .map(|(slot, document)| (*slot, Arc::new(document.clone())));
    let mut index = keeper.apply([], all).unwrap();
    for edit in 0..random.below(4) as u64 {
        let gone: Vec<Slot> = (0..random.below(4))
            .map(|_| 1 + random.below(400) as u64)
            .collect();
        let come: Vec<Slot> = (0..2).map(|more| 1_000 + 10 * edit + more).collect();
        documents.retain(|slot, _| !gone.contains(slot));
        let added: Vec<SearchDoc> = come.iter().map(|slot| random.document(*slot)).collect();
        let new = come.iter().copied().zip(added.iter().cloned().map(Arc::new));
        index = keeper.apply(gone, new).unwrap();
        documents.extend(come.into_iter().zip(added));
    }
    (index, documents.into_values().collect())
}

/// What a needle counts, by each list of each of its words.
fn add_needle(view: &View, needle: &Needle, scores: &mut [f32]) {
    let mut parts = vec![Part::default(); view.numbers()];
    for (word, (_, weight)) in needle.words.iter().zip(&needle.weighed) {
        let lists = view.spread(word).unwrap().unwrap();
        let mut of_word = vec![Part::default(); view.numbers()];
        for (field, boost) in &view.boosts {
            if let Some(listing) = view.listing(&lists, *field) {
                view.each_scored(&listing, *boost, |number, score| {
                    let (best, all) = (score, score);
                    of_word[number as usize].join(Part { best, all });
                });
            }
        }
        for (part, of_word) in parts.iter_mut().zip(of_word) {
            part.join(of_word.times(*weight));
        }
    }
    for (score, part) in scores.iter_mut().zip(parts) {
        *score += part.score();
    }
}

/// All hits with their scores, best first, and whether they are only the nearest.
fn plain(index: &SearchIndex, text: &str) -> (Vec<(f32, String)>, bool) {
    let view = &index.view;
    let sought = sought(&Lexicon::of_all(index), text).unwrap();
    let spelt = sought.spelt.as_deref().unwrap_or(text);
    let named = codes(index, spelt).unwrap();
    let all = Chosen::new(view.alive.iter().collect(), view.numbers());
    let mut scores = vec![0.0; view.numbers()];
    for listing in &named.listings {
        view.each(listing, |number| scores[number as usize] += CODE_SCORE);
    }
    for needle in &sought.needles {
        add_needle(view, needle, &mut scores);
    }
    for phrase in phrases(index, spelt).unwrap() {
        // All are chosen, so that each number is its own place.
        phrase
            .each_scored(view, &all, |place, score| scores[place] += score)
            .unwrap();
    }

    let is_of_code = |needle: &&Needle| named.words.contains(&needle.words[0]);
    let rarity = |needle: &Needle| needle.rarity;
    let beside: f32 = sought
        .needles
        .iter()
        .filter(|needle| !is_of_code(needle))
        .map(rarity)
        .sum();
    let whole: f32 = sought.needles.iter().map(rarity).sum();
    let is_beside_alone = beside >= MIN_BESIDE_CODE * whole;
    let mut masses = vec![0.0; view.numbers()];
    for needle in sought
        .needles
        .iter()
        .filter(|needle| !(is_beside_alone && is_of_code(needle)))
    {
        let mut says = vec![false; view.numbers()];
        for listing in &needle.said {
            view.each(listing, |number| says[number as usize] = true);
        }
        for (mass, says) in masses.iter_mut().zip(says) {
            *mass += if says { needle.rarity } else { 0.0 };
        }
    }
    let all = if is_beside_alone { beside } else { whole }.max(f32::MIN_POSITIVE);
    let best = masses.iter().copied().fold(0.0, f32::max) / all;
    let is_near = best + SLACK < MIN_COVERAGE;
    let least = if is_near {
        MIN_NEAR.max(best * MIN_OF_BEST)
    } else {
        MIN_COVERAGE
    };
    let scores = scores.into_iter().zip(0..).filter(|(score, _)| *score > 0.0);
    let mut hits: Vec<(f32, String)> = scores
        .filter(|(score, number): &(f32, u32)| {
            let is_named = !named.listings.is_empty() && *score >= CODE_SCORE;
            is_named || masses[*number as usize] / all + SLACK >= least
        })
        .map(|(score, number)| (score, view.document(number).unwrap().document.id.to_string()))
        .collect();
    hits.sort_by(|(a_score, a), (b_score, b)| b_score.total_cmp(a_score).then_with(|| a.cmp(b)));
    let is_half_unknown = sought.unknown.len() > sought.needles.len();
    let near = named.listings.is_empty() && (is_near || is_half_unknown) && !hits.is_empty();
    (hits, near)
}

/// The values of one facet with their counts, the commonest first.
fn counted<'d>(values: impl Iterator<Item = &'d String>) -> Vec<FacetValue> {
    let mut counts: BTreeMap<&String, usize> = BTreeMap::new();
    for value in values.filter(|value| !value.is_empty()) {
        *counts.entry(value).or_default() += 1;
    }
    let mut counted: Vec<FacetValue> = counts
        .into_iter()
        .map(|(value, count)| FacetValue {
            value: value.clone(),
            count,
        })
        .collect();
    counted.sort_by_key(|value| std::cmp::Reverse(value.count));
    counted
}

/// How many answers of some queries were near, several pages long, about a code, ….
#[derive(Debug, Default)]
struct Kinds {
    near: usize,
    pages: usize,
    codes: usize,
    empty: usize,
}

fn compare(seed: u64, kinds: &mut Kinds) {
    let mut random = Random(seed);
    let (index, documents) = edited(&mut random);
    for _ in 0..25 {
        let text = random.query();
        let (hits, near) = plain(&index, &text);
        let domain = (random.below(3) == 0).then(|| "nccl".to_owned());
        let of_domain =
            |document: &&SearchDoc| domain.as_ref().is_none_or(|domain| *domain == document.domain);
        let document = |id: &String| {
            documents
                .iter()
                .find(|document| document.id.as_str() == id)
                .unwrap()
        };
        let expected: Vec<&(f32, String)> = hits.iter().filter(|(_, id)| of_domain(&document(id))).collect();
        let mut request = SearchRequest {
            limit: Some(LIMIT),
            filters: Filters {
                domain: domain.clone(),
                ..Filters::default()
            },
            ..request(&text)
        };
        let mut found = run(&index, &text).unwrap();
        let all = found.rank(&index.view, usize::MAX).unwrap();
        let mut all = all.best(usize::MAX).unwrap();
        all.sort_unstable_by(|(one, _), (other, _)| other.total_cmp(one));
        let scores = hits.iter().map(|(score, _)| *score);
        assert!(
            all.into_iter().map(|(score, _)| score).eq(scores),
            "{seed} {text}"
        );
        for page in expected.chunks(LIMIT).take(3) {
            let answer = index.search_among(&request, Seq(1), MANY).unwrap();
            assert_eq!(answer.total, expected.len(), "{seed} {text}");
            assert_eq!(answer.near, near, "{seed} {text}");
            let tiers = expected.iter().map(|(_, id)| &document(id).tier);
            assert_eq!(answer.facets.tier, counted(tiers), "{seed} {text}");
            let domains = hits.iter().map(|(_, id)| &document(id).domain);
            assert_eq!(answer.facets.domain, counted(domains), "{seed} {text}");
            let found = answer.hits.iter().map(|hit| (hit.score, hit.id.to_string()));
            assert!(
                found.eq(page.iter().map(|hit| (*hit).clone())),
                "{seed} {text}: {answer:?}\n{page:?}"
            );
            request.cursor = answer.next_cursor;
        }
        kinds.near += usize::from(near);
        kinds.pages += usize::from(expected.len() > LIMIT);
        kinds.codes += usize::from(hits.first().is_some_and(|(score, _)| *score >= CODE_SCORE));
        kinds.empty += usize::from(expected.is_empty());
    }
}

#[test]
fn answers_are_those_of_going_over_everything() {
    let mut kinds = Kinds::default();
    for seed in 0..8 {
        compare(seed, &mut kinds);
    }
    let Kinds {
        near,
        pages,
        codes,
        empty,
    } = kinds;
    assert!(near > 3 && pages > 40 && codes > 20 && empty < 60, "{kinds:?}");
}

#[test]
fn a_hit_that_a_common_phrase_alone_scores_stays_one() {
    let documents = (1..=40).map(|number| SearchDoc {
        root_cause: "it failed out of the box".to_owned(),
        ..document(&format!("t/d{number}"), "nccl failed")
    });
    // Says the word only as a part, in a text whose parts give no score.
    let only_the_phrase = SearchDoc {
        root_cause: "it failed out of the box".to_owned(),
        dead_ends: vec!["NCCL_P2P_DISABLE".to_owned()],
        ..document("t/phrase", "broken")
    };
    let documents = documents.chain([only_the_phrase]).map(Arc::new);
    let index = IndexKeeper::new()
        .unwrap()
        .apply([], (1..).zip(documents))
        .unwrap();
    let request = request("nccl \"out of the\"");
    let all = index.search_among(&request, Seq(1), usize::MAX).unwrap();
    assert_eq!(all.total, 41);
    assert_eq!(index.search_among(&request, Seq(1), MANY).unwrap(), all);
}

#[test]
fn whom_no_phrase_brings_onto_the_page_is_not_asked_for_it() {
    let named = (1..=20).map(|number| SearchDoc {
        codes: vec!["flange".to_owned(), "gasket".to_owned()],
        ..document(&format!("t/named{number}"), "broken")
    });
    let explained = (1..=60).map(|number| SearchDoc {
        root_cause: "the flange gasket and what is around it came off".to_owned(),
        ..document(&format!("t/explained{number}"), "broken")
    });
    let documents = named.chain(explained).chain((0..60).map(filler)).map(Arc::new);
    let index = IndexKeeper::new()
        .unwrap()
        .apply([], (1..).zip(documents))
        .unwrap();
    let text = "flange gasket";
    let mut found = run(&index, text).unwrap();
    let ranking = found.rank(&index.view, MANY).unwrap();
    assert_eq!((ranking.len(), ranking.open()), (80, 80));
    assert_eq!(ranking.best(LIMIT).unwrap().len(), 20, "who has it in the codes");
    for limit in [LIMIT, 50] {
        let request = SearchRequest {
            limit: Some(limit),
            ..request(text)
        };
        let all = index.search_among(&request, Seq(1), usize::MAX).unwrap();
        assert_eq!(index.search_among(&request, Seq(1), MANY).unwrap(), all);
    }
}
