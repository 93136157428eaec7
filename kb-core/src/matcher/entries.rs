//! Which literals wake a pattern: those that text has least, one of each chain or all of one clause. Chosen once for each pattern,
//! and again only where the rarity of bytes was learnt anew.

use std::sync::{Arc, PoisonError, RwLock};

use super::grams::Needs;
use super::keys::Rarity;
use super::slot::Slot;
use crate::signature::{Chain, Clause};

/// A literal that wakes a pattern.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) literal: Box<[u8]>,
    /// Where its key begins.
    pub(super) offset: usize,
    /// What else the line must hold.
    pub(super) needs: Needs,
    /// The chain that it belongs to; `None` where it stands for the whole pattern.
    pub(super) chain: Option<u16>,
}

/// The entries of one pattern, kept with the rarity that they were chosen by.
#[derive(Debug, Default)]
pub(super) struct Entries(RwLock<Option<Chosen>>);

#[derive(Debug, Clone)]
struct Chosen {
    by: Arc<Rarity>,
    entries: Arc<[Entry]>,
}

impl Entries {
    pub(super) fn of(&self, slot: &Slot, rarity: &Arc<Rarity>) -> Arc<[Entry]> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(chosen) = known
            && Arc::ptr_eq(&chosen.by, rarity)
        {
            return chosen.entries;
        }
        let entries: Arc<[Entry]> = choose(slot, rarity).into();
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Some(Chosen {
            by: Arc::clone(rarity),
            entries: Arc::clone(&entries),
        });
        entries
    }
}

fn choose(slot: &Slot, rarity: &Rarity) -> Vec<Entry> {
    let chains = slot.chains.iter().flat_map(|chains| &chains.list);
    let of_chains = (0_u16..)
        .zip(chains)
        .map(|(number, chain)| of_chain(chain, number, rarity));
    match of_chains.collect::<Option<Vec<Entry>>>() {
        Some(entries) if slot.chains.is_some() => entries,
        _ => of_clause(&slot.facts.required, rarity),
    }
}

/// The literal of a chain that text has least.
fn of_chain(chain: &Chain, number: u16, rarity: &Rarity) -> Option<Entry> {
    let links = chain.links.iter().enumerate();
    let keyed = links.filter_map(|(at, link)| Some((at, link.text(), rarity.key(link.text())?)));
    let (at, literal, key) = keyed.min_by(|(.., a), (.., b)| a.common.total_cmp(&b.common))?;
    let others = chain.links.iter().enumerate().filter(|(other, _)| *other != at);
    Some(Entry {
        literal: literal.into(),
        offset: key.offset,
        needs: Needs::of(&others.map(|(_, link)| link.text())),
        chain: Some(number),
    })
}

fn of_clause(clauses: &[Clause], rarity: &Rarity) -> Vec<Entry> {
    let alone = clauses.iter().filter_map(|clause| match clause.as_slice() {
        [literal] => Some(literal.as_slice()),
        _ => None,
    });
    let needs = Needs::of(&alone);
    let literals = rarest_clause(clauses, rarity).into_iter().flatten();
    let entries = literals.filter_map(|literal| {
        Some(Entry {
            literal: literal.as_slice().into(),
            offset: rarity.key(literal)?.offset,
            needs,
            chain: None,
        })
    });
    entries.collect()
}

/// The clause to wait for: the most common of its literals is rarer than that of the others.
fn rarest_clause<'a>(clauses: &'a [Clause], rarity: &Rarity) -> Option<&'a Clause> {
    let common = |clause: &Clause| {
        let keys: Option<Vec<f32>> = clause
            .iter()
            .map(|literal| Some(rarity.key(literal)?.common))
            .collect();
        keys?.into_iter().max_by(f32::total_cmp)
    };
    clauses
        .iter()
        .filter_map(|clause| Some((clause, common(clause)?)))
        .min_by(|(_, a), (_, b)| a.total_cmp(b))
        .map(|(clause, _)| clause)
}
