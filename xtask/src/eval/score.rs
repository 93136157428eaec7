//! Ranks counted: P@1, P@3 and MRR, by group and in total.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// Ranks of the right record over some items.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Ranks {
    items: usize,
    first: usize,
    third: usize,
    reciprocal: f64,
}

impl Ranks {
    /// Counts an item: the right record's place from 0, or none.
    pub(crate) fn add(&mut self, rank: Option<usize>) {
        self.items += 1;
        if let Some(rank) = rank {
            self.first += usize::from(rank == 0);
            self.third += usize::from(rank < 3);
            self.reciprocal += 1.0 / (rank as f64 + 1.0);
        }
    }

    /// Share of items with the right record first. Of no items: 1, nothing was wrong.
    pub(crate) fn p1(&self) -> f64 {
        share(self.first, self.items)
    }

    /// Share of items with the right record among the first three.
    pub(crate) fn p3(&self) -> f64 {
        share(self.third, self.items)
    }

    /// Mean of 1/rank, 0 where the right record is missing.
    pub(crate) fn mrr(&self) -> f64 {
        if self.items == 0 {
            1.0
        } else {
            self.reciprocal / self.items as f64
        }
    }

    fn cells(&self) -> String {
        format!("{:.3} | {:.3} | {:.3}", self.p1(), self.p3(), self.mrr())
    }

    fn json(&self) -> Value {
        json!({ "items": self.items, "p1": self.p1(), "p3": self.p3(), "mrr": self.mrr() })
    }
}

pub(crate) fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 {
        1.0
    } else {
        part as f64 / whole as f64
    }
}

/// Ranks in several lists of the same items, by group.
pub(crate) struct Groups {
    lists: &'static [&'static str],
    groups: BTreeMap<String, Group>,
}

#[derive(Default)]
struct Group {
    items: usize,
    /// Over items for which a record exists.
    covered: Vec<Ranks>,
    all: Vec<Ranks>,
}

impl Groups {
    /// `lists` names what is ranked, for example `matches` and `answer`.
    pub(crate) fn new(lists: &'static [&'static str]) -> Self {
        Self {
            lists,
            groups: BTreeMap::new(),
        }
    }

    /// Counts an item of a group, with its rank in each list.
    pub(crate) fn add(&mut self, group: &str, is_covered: bool, ranks: &[Option<usize>]) {
        for name in [group, TOTAL] {
            let group = self.groups.entry(name.to_owned()).or_default();
            group.items += 1;
            group.covered.resize(self.lists.len(), Ranks::default());
            group.all.resize(self.lists.len(), Ranks::default());
            for (counted, rank) in group.all.iter_mut().zip(ranks) {
                counted.add(*rank);
            }
            if is_covered {
                for (counted, rank) in group.covered.iter_mut().zip(ranks) {
                    counted.add(*rank);
                }
            }
        }
    }

    /// Ranks in one list over all covered items.
    pub(crate) fn total(&self, list: usize) -> Ranks {
        let group = self.groups.get(TOTAL);
        group
            .and_then(|group| group.covered.get(list))
            .copied()
            .unwrap_or_default()
    }

    /// Number of items, and of those for which a record exists.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let group = self.groups.get(TOTAL);
        group.map_or((0, 0), |group| {
            (group.items, group.covered.first().map_or(0, |ranks| ranks.items))
        })
    }

    /// A row for each group, one for all covered items, and one for all items where some are not covered.
    pub(crate) fn table(&self, by: &str) -> String {
        let mut text = format!("| {by} | items | no record yet |");
        for list in self.lists {
            text.push_str(&format!(" {list} P@1 | P@3 | MRR |"));
        }
        text.push_str("\n| --- | --: | --: |");
        text.push_str(&" --: | --: | --: |".repeat(self.lists.len()));
        text.push('\n');
        let (total, others): (Vec<_>, Vec<_>) = self.groups.iter().partition(|(name, _)| *name == TOTAL);
        for (name, group) in others.into_iter().chain(total) {
            let covered = group.covered.first().map_or(0, |ranks| ranks.items);
            let missing = group.items - covered;
            let name = if name == TOTAL { "**covered**" } else { name };
            text.push_str(&row(name, group.items, missing, &group.covered));
            if name == "**covered**" {
                text.push_str(&row("**all**", group.items, missing, &group.all));
            }
        }
        text
    }

    pub(crate) fn json(&self) -> Value {
        let group = |group: &Group| {
            let by_list = |ranks: &[Ranks]| -> Value {
                let named = self.lists.iter().zip(ranks);
                named
                    .map(|(list, ranks)| ((*list).to_owned(), ranks.json()))
                    .collect::<serde_json::Map<_, _>>()
                    .into()
            };
            json!({ "items": group.items, "covered": by_list(&group.covered), "all": by_list(&group.all) })
        };
        let named = self.groups.iter();
        named
            .map(|(name, counted)| (name.clone(), group(counted)))
            .collect::<serde_json::Map<_, _>>()
            .into()
    }
}

const TOTAL: &str = "total";

fn row(name: &str, items: usize, missing: usize, ranks: &[Ranks]) -> String {
    let mut text = format!("| {name} | {items} | {missing} |");
    for ranks in ranks {
        text.push_str(&format!(" {} |", ranks.cells()));
    }
    text.push('\n');
    text
}
