//! A pattern or phrase of a record: the literals that lead to it, how much they say, and its compiled form.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};
use std::sync::{Arc, PoisonError, RwLock, RwLockWriteGuard};

use super::entries::{Entries, Entry};
use super::grams::Needs;
use super::keys::Rarity;
use super::rarity::text_weight;
use crate::signature::{
    Analysis, Chain, Chains, Clause, CompiledPattern, Gap, Link, PatternFacts, PatternSpec, Phrase, Texts,
};

/// What `.*` between two literals takes from their weight.
const APART: f32 = 0.5;

/// A pattern or phrase: the literals that lead to it, and how it is then asked for.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) facts: PatternFacts,
    pub(crate) chains: Option<Chains>,
    pub(crate) weights: Vec<f32>,
    pub(crate) needs: Vec<Needs>,
    pub(crate) test: Test,
    entries: Entries,
}

#[derive(Debug)]
pub(crate) enum Test {
    Pattern(Arc<Compilable>),
    /// The phrase, and how much its literals say with those of each way to print it.
    Phrase(Phrase, Vec<f32>),
}

/// One distinct pattern text with its flags and capture names. Kept by the cache too while it is compiled.
#[derive(Debug)]
pub(crate) struct Compilable {
    pub(super) spec: PatternSpec,
    /// Compiled for texts of ASCII, small and quick to make, and for all others.
    ascii: Form,
    any: Form,
    pub(super) used_at: AtomicU64,
}

#[derive(Debug, Default)]
pub(super) struct Form {
    compiled: RwLock<Option<Arc<CompiledPattern>>>,
    pub(super) runs: AtomicU32,
    pub(super) has_automata: AtomicBool,
}

pub(super) fn clause_weight(clause: &Clause) -> f32 {
    clause
        .iter()
        .map(|literal| text_weight(literal))
        .min_by(f32::total_cmp)
        .unwrap_or(0.0)
}

/// What a chain's literals say together. Words far from each other say less than words beside each other.
fn chain_weight(chain: &Chain) -> f32 {
    let weigh = |link: &Link| {
        let apart = matches!(link.before, Gap::Any { .. });
        text_weight(link.text()) - if apart { APART } else { 0.0 }
    };
    chain.links.iter().map(weigh).sum()
}

impl Slot {
    pub(super) fn new(analysis: Analysis, test: Test) -> Self {
        let Analysis { facts, chains } = analysis;
        let list = || chains.iter().flat_map(|chains| &chains.list);
        Self {
            facts,
            weights: list().map(chain_weight).collect(),
            needs: list()
                .map(|chain| Needs::of(&chain.links.iter().map(Link::text)))
                .collect(),
            chains,
            test,
            entries: Entries::default(),
        }
    }

    /// The literals that wake it.
    pub(super) fn entries(&self, rarity: &Arc<Rarity>) -> Arc<[Entry]> {
        self.entries.of(self, rarity)
    }
}

impl Compilable {
    pub(super) fn new(spec: PatternSpec) -> Self {
        Self {
            spec,
            ascii: Form::default(),
            any: Form::default(),
            used_at: AtomicU64::new(0),
        }
    }

    pub(super) fn form(&self, texts: Texts) -> &Form {
        match texts {
            Texts::Ascii => &self.ascii,
            Texts::Any => &self.any,
        }
    }
}

impl Form {
    pub(super) fn compiled(&self) -> Option<Arc<CompiledPattern>> {
        self.compiled
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    pub(super) fn write(&self) -> RwLockWriteGuard<'_, Option<Arc<CompiledPattern>>> {
        self.compiled.write().unwrap_or_else(PoisonError::into_inner)
    }
}
