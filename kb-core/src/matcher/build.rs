//! From records to a matcher: every pattern, signature and code becomes a signal, and each signal picks the literals
//! that wake it: of each of its chains the one that text has least.

use std::collections::HashMap;
use std::sync::Arc;

use super::ahead;
use super::cache::PatternCache;
use super::codes;
use super::filter::{Filter, Found, Literals};
use super::grams::Needs;
use super::lazy_finder::LazyFinder;
use super::markers::Markers;
use super::rarity::text_weight;
use super::slot::{Slot, clause_weight};
use super::slow::{SLOW_LANE_PATTERNS, SlowLane};
use super::statements::{NAMING, RAISED, WORDS};
use super::{Kind, Matcher, PartOf, Record, Rejected, Signal, index, place};
use crate::ids::RecordId;
use crate::signature::{Chain, LineSpec, PatternSpec, RecordSignatures, parts_of_text};

/// A signature shorter than this is not looked for by itself, in bytes.
const MIN_SIGNATURE: usize = 8;

pub(super) fn build(signatures: Vec<RecordSignatures>, cache: Arc<PatternCache>) -> (Matcher, Vec<Rejected>) {
    let places: HashMap<RecordId, u32> = signatures
        .iter()
        .enumerate()
        .map(|(at, record)| (record.id.clone(), place(at)))
        .collect();
    // Held until all are looked up: the cache keeps none that nobody holds.
    let _read = ahead::read(&signatures, &cache);
    let mut builder = Builder {
        cache: &cache,
        rejected: Vec::new(),
        signals: Vec::new(),
        codes: Vec::new(),
        slow: Vec::new(),
        sequences: 0,
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
        slow,
        ..
    } = builder;
    let (filter, numbers) = wake(&signals, &records, codes, &cache);
    let slow = slow_lane(&slow, &signals, &records, &mut rejected);
    cache.forget_unused();
    (
        Matcher {
            records,
            signals,
            filter,
            slow,
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
    /// Signals without a literal, their patterns, and whether they are anchored.
    slow: Vec<(u32, PatternSpec, bool)>,
    /// Patterns and signatures of several lines so far.
    sequences: u32,
}

impl Builder<'_> {
    fn add(&mut self, record: u32, from: &RecordSignatures) {
        let first = self.signals.len();
        for spec in &from.patterns {
            match self.cache.parts(spec) {
                Ok(Some(parts)) => self.add_parts(record, from, &spec.id, &parts),
                Ok(None) => match self.cache.slot(spec) {
                    Ok(slot) => self.add_pattern(record, from, spec, slot),
                    Err(error) => self.reject(from, spec.id.clone(), error.to_string()),
                },
                Err(error) => self.reject(from, spec.id.clone(), error.to_string()),
            }
        }
        for spec in &from.phrases {
            match self.cache.phrase(spec) {
                Ok(slot) if has_entry(&slot) => self.push(record, &spec.id, Kind::Pattern(slot)),
                Ok(_) => {
                    let reason = "its contexts leave no text of 3 bytes or more to look for".to_owned();
                    self.reject(from, spec.id.clone(), reason);
                }
                Err(error) => self.reject(from, spec.id.clone(), error.to_string()),
            }
        }
        if let Some(parts) = parts_of_text(&from.signature) {
            self.add_parts(record, from, "signature", &parts);
        }
        if can_stand_on_a_line(&from.signature) {
            self.push(record, "signature", Kind::Signature);
        }
        for signal in self.signals.iter_mut().skip(first) {
            signal.device = from.device_rule(&signal.name);
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

    fn add_pattern(&mut self, record: u32, from: &RecordSignatures, spec: &PatternSpec, slot: Arc<Slot>) {
        if !has_entry(&slot) {
            if self.slow.len() >= SLOW_LANE_PATTERNS {
                let reason = format!(
                    "it has no text of 3 bytes or more to look for, and {SLOW_LANE_PATTERNS} such patterns are in use"
                );
                self.reject(from, spec.id.clone(), reason);
                return;
            }
            self.slow
                .push((place(self.signals.len()), spec.clone(), slot.facts.anchored));
        }
        self.push(record, spec.id.as_str(), Kind::Pattern(slot));
    }

    /// A pattern or signature of several lines: each part is looked for, so each needs a literal.
    fn add_parts(&mut self, record: u32, from: &RecordSignatures, name: &str, parts: &[LineSpec]) {
        let slots: Result<Vec<_>, _> = parts.iter().map(|part| self.cache.slot(&part.spec)).collect();
        let slots = match slots {
            Ok(slots) if slots.iter().all(|slot| has_entry(slot)) => slots,
            Ok(_) => {
                let reason = "one of its lines has no text of 3 bytes or more to look for".to_owned();
                return self.reject(from, name.to_owned(), reason);
            }
            Err(error) => return self.reject(from, name.to_owned(), error.to_string()),
        };
        let sequence = self.sequences;
        self.sequences += 1;
        let count = u8::try_from(slots.len()).unwrap_or(u8::MAX);
        for (index, (slot, line)) in (0..count).zip(slots.into_iter().zip(parts)) {
            let part = PartOf {
                sequence,
                index,
                count,
                reach: line.reach,
            };
            self.push(record, name, Kind::Part(slot, part));
        }
    }

    fn push(&mut self, record: u32, name: &str, kind: Kind) {
        let weight = match &kind {
            Kind::Pattern(slot) | Kind::Part(slot, _) => slot.facts.required.iter().map(clause_weight).sum(),
            Kind::Word(text) => text_weight(text),
            Kind::Signature | Kind::Number { .. } => 0.0,
        };
        let signal = Signal {
            record,
            name: name.into(),
            kind,
            weight,
            device: None,
        };
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

fn has_entry(slot: &Slot) -> bool {
    let long = |chain: &Chain| chain.links.iter().any(|link| link.text().len() >= 3);
    match &slot.chains {
        Some(chains) => chains.list.iter().all(long) || slot.facts.has_entry(),
        None => slot.facts.has_entry(),
    }
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
        only_alone: from.only_alone,
        wraps_others: from.wraps_others,
        is_error: from.is_error(),
        notice: from.notice,
        harmless: from.harmless.is_some(),
        only_with: (!from.only_with.is_empty()).then(|| known(&from.only_with)),
        window_seconds: from.window_seconds,
        domain: Markers::for_message(&domain_word).unwrap_or(Markers::NONE),
        domain_word: LazyFinder::new(domain_word.into_bytes()),
        signature_weight: text_weight(&signature),
        signature: LazyFinder::new(signature),
        id: from.id,
        revision: from.revision,
        applies_to: from.applies_to,
    }
}

fn wake(
    signals: &[Signal],
    records: &[Record],
    codes: Vec<(u32, Vec<u8>, Option<u64>)>,
    cache: &PatternCache,
) -> (Filter, HashMap<(u16, u64), Vec<u32>>) {
    let rarity = cache.rarity(|| literals_of(signals).chain(records.iter().map(|r| r.signature.text())));
    let mut keys = cache.keys(Arc::clone(&rarity));
    let mut literals = Literals::default();
    let mut numbers: HashMap<(u16, u64), Vec<u32>> = HashMap::new();
    for (at, signal) in signals.iter().enumerate() {
        let at = place(at);
        match &signal.kind {
            Kind::Pattern(slot) | Kind::Part(slot, _) => {
                for entry in slot.entries(&rarity).iter() {
                    let chain = entry.chain.map(|number| Found::Chain(at, number));
                    literals.add_entry(entry, chain.unwrap_or(Found::Signal(at)));
                }
            }
            Kind::Signature => {
                if let Some(record) = records.get(index(signal.record)) {
                    literals.add(
                        record.signature.text(),
                        &mut keys,
                        Needs::default(),
                        Found::Signal(at),
                    );
                }
            }
            Kind::Word(_) | Kind::Number { .. } => {}
        }
    }
    for (signal, entry, number) in codes {
        match number {
            None => literals.add(&entry, &mut keys, Needs::default(), Found::Signal(signal)),
            Some(number) => {
                if let Some(family) = literals.family(&entry, &mut keys) {
                    numbers.entry((family, number)).or_default().push(signal);
                }
            }
        }
    }
    // Fabric manager tells of switches' errors in words of its own: those that no pattern knows are told, too.
    if let Some(switches) = literals.known_family(b"sxid") {
        let words = b"detected nvswitch fatal error";
        literals.add(words, &mut keys, Needs::default(), Found::Family(switches));
    }
    if !signals.is_empty() {
        // Kernel logs name devices on every other line: where no pattern asks for one, such lines cost nothing.
        let asks_for_device = signals.iter().any(|signal| signal.device.is_some());
        let naming = NAMING.into_iter().filter(|_| asks_for_device);
        let words = WORDS.iter().map(|words| words.text).chain(naming);
        for (at, words) in (0..).zip(words) {
            literals.add(words.as_bytes(), &mut keys, Needs::default(), Found::Stated(at));
        }
        for words in RAISED {
            literals.add(words.as_bytes(), &mut keys, Needs::default(), Found::Raised);
        }
    }
    (literals.build(), numbers)
}

fn literals_of(signals: &[Signal]) -> impl Iterator<Item = &[u8]> {
    let slots = signals.iter().filter_map(|signal| match &signal.kind {
        Kind::Pattern(slot) | Kind::Part(slot, _) => Some(slot),
        _ => None,
    });
    slots.flat_map(|slot| slot.facts.required.iter().flatten().map(Vec::as_slice))
}

fn slow_lane(
    slow: &[(u32, PatternSpec, bool)],
    signals: &[Signal],
    records: &[Record],
    rejected: &mut Vec<Rejected>,
) -> Option<SlowLane> {
    match SlowLane::build(slow) {
        Ok(lane) => lane,
        Err(reason) => {
            for (signal, spec, _) in slow {
                let record = signals.get(index(*signal)).map(|signal| index(signal.record));
                if let Some(record) = record.and_then(|record| records.get(record)) {
                    rejected.push(Rejected {
                        id: record.id.clone(),
                        pattern: spec.id.clone(),
                        reason: format!("the patterns without a literal cannot be run together: {reason}"),
                    });
                }
            }
            None
        }
    }
}
