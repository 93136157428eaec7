//! The ids that rules call records by. A record that was renamed, or merged into another, goes by all of them: rules may name any, and
//! ledgers have the one that agents know.

use std::collections::BTreeSet;
use std::fmt;
use std::iter::once;
use std::sync::Arc;

use kb_core::ids::RecordId;
use kb_core::policy::{Code, Policy, Rule, Unknown, is_own_record, tells_of_loss};
use kb_core::report::Meaning;

use crate::feed::{Generation, PublishedRecord};

/// The ids that a policy may name.
#[derive(Debug, Default)]
pub struct Names<'g> {
    pub(super) all: Vec<&'g str>,
    /// Those of records that tell of a GPU that is gone.
    of_loss: BTreeSet<&'g str>,
}

impl<'g> Names<'g> {
    /// Present and former ids of all records.
    pub fn of(generation: &'g Generation) -> Self {
        let mut names = Self::default();
        for published in generation.records() {
            let is_of_loss = is_of_loss(generation, published);
            for id in ids(generation, published) {
                names.all.push(id.as_str());
                if is_of_loss {
                    names.of_loss.insert(id.as_str());
                }
            }
        }
        names
    }

    /// These ids, of which nothing else is known.
    pub fn of_ids(ids: &[&'g str]) -> Self {
        Self {
            all: ids.to_vec(),
            of_loss: BTreeSet::new(),
        }
    }

    /// Reads a code that a policy may name.
    pub fn parse(&self, text: &str) -> Result<Code, Unknown> {
        Code::parse(text, &self.all)
    }

    /// The same without what records tell of: an edit of a record must not keep a server from starting.
    #[must_use]
    pub fn at_start(self) -> Self {
        Self {
            of_loss: BTreeSet::new(),
            ..self
        }
    }

    pub(super) fn tells_of_loss(&self, id: &str) -> bool {
        self.of_loss.contains(id)
    }
}

/// The record that has an id, or had it.
pub fn find<'g>(generation: &'g Generation, id: &str) -> Option<&'g Arc<PublishedRecord>> {
    let id: RecordId = id.parse().ok()?;
    let now = || generation.record(generation.alias(id.as_str())?);
    generation.record(&id).or_else(now)
}

/// Whether the record has this id, or had it.
pub fn is_called(generation: &Generation, published: &PublishedRecord, id: &RecordId) -> bool {
    id == published.id()
        || (generation.record(id).is_none() && generation.alias(id.as_str()) == Some(published.id()))
}

/// The id under which agents know a record; its own where they know it under none.
pub fn known_as<'g>(generation: &'g Generation, published: &'g PublishedRecord) -> &'g RecordId {
    let mut ids = ids(generation, published);
    ids.find(|id| is_own_record(id.as_str()))
        .unwrap_or_else(|| published.id())
}

/// Whether a record tells of a GPU that is gone, whatever it is called.
pub fn is_of_loss(generation: &Generation, published: &PublishedRecord) -> bool {
    let ids = ids(generation, published).map(RecordId::as_str);
    tells_of_loss(ids, published.codes.iter().map(String::as_str))
}

/// The ids of a record, its own first. One that another record has today is that one's.
fn ids<'g>(generation: &'g Generation, published: &'g PublishedRecord) -> impl Iterator<Item = &'g RecordId> {
    let former = published.record.document.aliases.iter().chain(&published.former);
    let former = former.filter(move |id| {
        generation.record(id).is_none() && generation.alias(id.as_str()) == Some(published.id())
    });
    once(published.id()).chain(former)
}

/// A policy whose rules are about their records under whatever id: each rule stands once for each of them, with its number. An id that
/// a rule of its own names is that rule's.
#[must_use]
pub fn by_all_names(policy: Policy, generation: &Generation) -> Policy {
    let named: BTreeSet<&str> = policy.rules.iter().filter_map(record_of).collect();
    let others = |rule: &Rule| -> Vec<Rule> {
        let published = record_of(rule).and_then(|id| find(generation, id));
        let ids = published
            .into_iter()
            .flat_map(|published| ids(generation, published));
        let ids = ids.filter(|id| !named.contains(id.as_str()));
        let under = |id: &RecordId| Rule {
            code: Code::Record(id.to_string()),
            ..rule.clone()
        };
        ids.map(under).collect()
    };
    let rules = policy.rules.iter();
    let rules = rules.flat_map(|rule| once(rule.clone()).chain(others(rule)));
    let rules: Vec<Rule> = rules.collect();
    Policy { rules, ..policy }
}

fn record_of(rule: &Rule) -> Option<&str> {
    match &rule.code {
        Code::Record(id) => Some(id),
        Code::Numbered(..) | Code::Cause(_) => None,
    }
}

/// What is to be known of the id that a rule names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    pub rule: u32,
    pub id: String,
    pub what: What,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// The record goes by another id now.
    IsNow(RecordId),
    /// No record has the id, or had it.
    OfNoRecord,
    /// The record tells of a GPU that is gone, and the rule would make less of that: it does not count.
    OfLoss,
}

/// Notes on the rules of a policy that name records.
pub fn notes(policy: &Policy, generation: &Generation) -> Vec<Note> {
    let mut notes = Vec::new();
    for rule in &policy.rules {
        let Some(id) = record_of(rule) else { continue };
        let mut add = |what: What| {
            notes.push(Note {
                rule: rule.number,
                id: id.to_owned(),
                what,
            });
        };
        let Some(published) = find(generation, id) else {
            add(What::OfNoRecord);
            continue;
        };
        if published.id().as_str() != id {
            add(What::IsNow(published.id().clone()));
        }
        let is_milder = rule.is != Meaning::Fault || rule.count.is_some();
        if is_milder && is_of_loss(generation, published) {
            add(What::OfLoss);
        }
    }
    notes
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rule, id) = (self.rule, &self.id);
        match &self.what {
            What::IsNow(now) => write!(f, "rule {rule}: {id} is {now} now, and the rule counts for it"),
            What::OfNoRecord => write!(
                f,
                "rule {rule}: no record here has the id {id}, or had it: the rule is about what agents call so, and about nothing else"
            ),
            What::OfLoss => write!(
                f,
                "rule {rule}: {id} tells of a GPU that is lost: the rule does not count, since a policy can make it a fault and nothing milder"
            ),
        }
    }
}

#[cfg(test)]
mod tests;
