//! From records to a matcher: every pattern, signature and code becomes a signal, and each signal picks the literals
//! that wake it: the clause that the fewest others share and that says the most.

use std::collections::HashMap;
use std::sync::Arc;

use super::automaton::{Automaton, Found, Literals, MAX_ENTRY};
use super::cache::{PatternCache, Slot};
use super::codes;
use super::markers::Markers;
use super::rarity::{SPECIFIC, text_weight, words};
use super::{Kind, Matcher, Record, Rejected, Signal, index, place};
use crate::ids::RecordId;
use crate::signature::{Clause, RecordSignatures};

/// A signature shorter than this is not looked for by itself, in bytes.
const MIN_SIGNATURE: usize = 8;
/// A literal in a clause shorter than this never wakes a pattern, in bytes.
const MIN_ENTRY: usize = 3;

pub(super) fn build(signatures: Vec<RecordSignatures>, cache: Arc<PatternCache>) -> (Matcher, Vec<Rejected>) {
    let places: HashMap<RecordId, u32> = signatures
        .iter()
        .enumerate()
        .map(|(at, record)| (record.id.clone(), place(at)))
        .collect();
    let mut builder = Builder {
        cache: &cache,
        rejected: Vec::new(),
        signals: Vec::new(),
        codes: Vec::new(),
    };
    let mut records = Vec::with_capacity(signatures.len());
    for signatures in signatures {
        builder.add(place(records.len()), &signatures);
        records.push(record(signatures, &places));
    }
    let Builder {
        mut rejected,
        signals,
        codes,
        ..
    } = builder;
    let (automaton, numbers) = wake(&signals, &records, codes, &mut rejected);
    cache.forget_unused();
    (
        Matcher {
            records,
            signals,
            automaton,
            numbers,
            cache,
        },
        rejected,
    )
}

struct Builder<'a> {
    cache: &'a PatternCache,
    rejected: Vec<Rejected>,
    signals: Vec<Signal>,
    /// Entry word and number of the code signals, by signal.
    codes: Vec<(u32, Vec<u8>, Option<u64>)>,
}

impl Builder<'_> {
    fn add(&mut self, record: u32, from: &RecordSignatures) {
        for spec in &from.patterns {
            match self.cache.slot(spec) {
                Ok(slot) => self.push(record, spec.id.as_str(), pattern(slot)),
                Err(error) => self.reject(from, spec.id.clone(), error.to_string()),
            }
        }
        if can_stand_on_a_line(&from.signature) {
            self.push(record, "signature", Kind::Signature);
            if let Some(signal) = self.signals.last_mut() {
                set_weight(
                    signal,
                    text_weight(from.signature.to_ascii_lowercase().as_bytes()),
                );
            }
        }
        for code in &from.codes {
            match codes::parse(code, &from.domain) {
                Ok(test) => {
                    self.codes
                        .push((place(self.signals.len()), test.entry, test.number));
                    self.push(record, &format!("code:{code}"), test.kind);
                }
                Err(reason) => self.reject(from, format!("code:{code}"), reason),
            }
        }
    }

    fn push(&mut self, record: u32, name: &str, kind: Kind) {
        let weight = match &kind {
            Kind::Pattern { clauses, .. } => clauses.iter().map(clause_weight).sum(),
            Kind::Word(text) => text_weight(text),
            Kind::Signature | Kind::Number { .. } => 0.0,
        };
        let mut signal = Signal {
            record,
            name: name.into(),
            kind,
            weight: 0.0,
            specific: false,
        };
        set_weight(&mut signal, weight);
        self.signals.push(signal);
    }

    fn reject(&mut self, from: &RecordSignatures, pattern: String, reason: String) {
        self.rejected.push(Rejected {
            id: from.id.clone(),
            pattern,
            reason,
        });
    }
}

fn set_weight(signal: &mut Signal, weight: f32) {
    signal.weight = weight;
    signal.specific = weight >= SPECIFIC;
}

fn pattern(slot: Arc<Slot>) -> Kind {
    let clauses = slot.facts.required.clone();
    Kind::Pattern { slot, clauses }
}

fn can_stand_on_a_line(signature: &str) -> bool {
    signature.len() >= MIN_SIGNATURE && !signature.contains('\n')
}

fn record(from: RecordSignatures, places: &HashMap<RecordId, u32>) -> Record {
    let known = |ids: &[RecordId]| ids.iter().filter_map(|id| places.get(id).copied()).collect();
    let signature = if can_stand_on_a_line(&from.signature) {
        from.signature.to_ascii_lowercase().into_bytes()
    } else {
        Vec::new()
    };
    let domain_word = from.domain.to_ascii_lowercase();
    Record {
        leads_to: known(&from.leads_to),
        cancels: known(&from.cancels),
        domain: Markers::for_message(&domain_word).unwrap_or(Markers::NONE),
        domain_word,
        signature,
        id: from.id,
        revision: from.revision,
        applies_to: from.applies_to,
    }
}

/// Chooses each signal's literals and makes the automaton over them.
fn wake(
    signals: &[Signal],
    records: &[Record],
    codes: Vec<(u32, Vec<u8>, Option<u64>)>,
    rejected: &mut Vec<Rejected>,
) -> (Automaton, HashMap<(u16, u64), Vec<u32>>) {
    let shared = count_shared(signals);
    let mut literals = Literals::default();
    let mut numbers: HashMap<(u16, u64), Vec<u32>> = HashMap::new();
    for (at, signal) in signals.iter().enumerate() {
        let wakes = Found::Signal(place(at));
        match &signal.kind {
            Kind::Pattern { clauses, .. } => {
                for literal in entry_clause(clauses, &shared).into_iter().flatten() {
                    literals.add(telling_part(literal), wakes);
                }
            }
            Kind::Signature => {
                if let Some(record) = records.get(index(signal.record)) {
                    literals.add(telling_part(&record.signature), wakes);
                }
            }
            Kind::Word(_) | Kind::Number { .. } => {}
        }
    }
    for (signal, entry, number) in codes {
        match number {
            None => literals.add(telling_part(&entry), Found::Signal(signal)),
            Some(number) => {
                if let Some(family) = literals.family(&entry) {
                    numbers.entry((family, number)).or_default().push(signal);
                }
            }
        }
    }
    match literals.build() {
        Ok(automaton) => (automaton, numbers),
        Err(error) => {
            // Only a corpus of gigabytes gets here; every record is then named as left out.
            let reason = format!("the automaton over all literals cannot be built: {error}");
            rejected.extend(records.iter().map(|record| Rejected {
                id: record.id.clone(),
                pattern: "*".to_owned(),
                reason: reason.clone(),
            }));
            (Automaton::empty(), numbers)
        }
    }
}

/// How many patterns share a literal.
fn count_shared(signals: &[Signal]) -> HashMap<&[u8], u32> {
    let mut shared = HashMap::new();
    for signal in signals {
        if let Kind::Pattern { clauses, .. } = &signal.kind {
            for literal in clauses.iter().flatten() {
                *shared.entry(literal.as_slice()).or_insert(0) += 1;
            }
        }
    }
    shared
}

/// The clause to wait for: its weakest literal should be telling and rare among all patterns, and it should have few.
fn entry_clause<'a>(clauses: &'a [Clause], shared: &HashMap<&[u8], u32>) -> Option<&'a Clause> {
    let worth = |clause: &Clause| {
        let weakest = clause
            .iter()
            .map(|literal| literal_worth(literal, shared))
            .fold(f32::MAX, f32::min);
        let few = f32::from(u16::try_from(clause.len()).unwrap_or(u16::MAX));
        weakest / few.sqrt()
    };
    clauses
        .iter()
        .filter(|clause| clause.iter().all(|literal| literal.len() >= MIN_ENTRY))
        .max_by(|a, b| worth(a).total_cmp(&worth(b)))
}

fn literal_worth(literal: &[u8], shared: &HashMap<&[u8], u32>) -> f32 {
    let users = shared.get(literal).copied().unwrap_or(1);
    let users = f32::from(u16::try_from(users).unwrap_or(u16::MAX));
    let length = f32::from(u16::try_from(literal.len().min(MAX_ENTRY)).unwrap_or(0));
    (text_weight(literal) + 0.05 * length) / (1.0 + users.ln())
}

fn clause_weight(clause: &Clause) -> f32 {
    clause
        .iter()
        .map(|literal| text_weight(literal))
        .min_by(f32::total_cmp)
        .unwrap_or(0.0)
}

/// A literal short enough for the automaton: of a longer one the window that says the most.
fn telling_part(literal: &[u8]) -> &[u8] {
    if literal.len() <= MAX_ENTRY {
        return literal;
    }
    let last_start = literal.len() - MAX_ENTRY;
    words(literal)
        .map(|(start, _)| start.min(last_start))
        .filter_map(|start| literal.get(start..start + MAX_ENTRY))
        .max_by(|a, b| text_weight(a).total_cmp(&text_weight(b)))
        .unwrap_or_else(|| literal.get(..MAX_ENTRY).unwrap_or(literal))
}
