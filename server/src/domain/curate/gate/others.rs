//! What new records take of others: the texts by which those are known, and the driver's lines with their numbers. A record comes
//! before another on no text of that one, and stands on the same place only beside its own variants.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;
use std::sync::Arc;

use kb_core::ids::RecordId;
use kb_core::matcher::Matcher;
use kb_core::record::Record;
use kb_core::scanner::{Match, Sieve, Summary};
use kb_core::text::{Part, Violation};

use super::{SHOWN, each_hit, numbered, read};

/// Other records whose texts a pattern, or a whole signature, may stand in. Of those that ship nearly all stand in none, and the
/// most common one (`CUDNN_STATUS_NOT_SUPPORTED`) in 13.
const MOST_OTHERS: usize = 16;

/// The record whose texts are asked.
#[derive(Clone, Copy)]
pub(super) struct Owner<'r> {
    pub(super) record: &'r Record,
    /// It is among the new ones.
    pub(super) is_new: bool,
    /// Readers see a record of its id.
    pub(super) is_published: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Example,
    Signature,
    ChineseSignature,
    /// A line of the driver with a number of the record, in a form that no example needs to have.
    Numbered,
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Self::Example => "example",
            Self::Signature => "signature",
            Self::ChineseSignature => "Chinese signature",
            Self::Numbered => "line of the driver",
        }
    }

    fn rule(self) -> &'static str {
        match self {
            Self::Example => "gate/others-example",
            Self::Signature | Self::ChineseSignature => "gate/others-signature",
            Self::Numbered => "gate/others-number",
        }
    }
}

pub(super) struct Others<'m, A> {
    new: &'m [Record],
    alone: &'m Arc<Matcher>,
    /// Nearly all texts hold no literal of the new records.
    sieve: Sieve<'m>,
    before: &'m Arc<Matcher>,
    all: &'m A,
    stands_in: BTreeMap<(RecordId, String), BTreeSet<RecordId>>,
}

impl<'m, A: Deref<Target = Arc<Matcher>>> Others<'m, A> {
    /// `alone` has the `new` records, `before` what readers see, and `all` both.
    pub(super) fn new(
        new: &'m [Record],
        alone: &'m Arc<Matcher>,
        before: &'m Arc<Matcher>,
        all: &'m A,
    ) -> Self {
        Self {
            new,
            alone,
            sieve: Sieve::of(alone),
            before,
            all,
            stands_in: BTreeMap::new(),
        }
    }

    pub(super) fn ask(&mut self, owner: Owner<'_>, mut note: impl FnMut(RecordId, Violation)) {
        let document = &owner.record.document;
        let examples = owner.record.annex.examples.iter();
        let examples = examples.map(|example| (Kind::Example, example.text.as_str()));
        let signature = (Kind::Signature, document.signature.as_str());
        let chinese = document.signature_zh.as_deref();
        let chinese = chinese.map(|text| (Kind::ChineseSignature, text));
        for text in examples.chain([signature]).chain(chinese) {
            for (record, violation) in self.taken(owner, text) {
                note(record, violation);
            }
        }
        // Of new records that come together none had the number first. A published one had it before, also where it comes along.
        if !owner.is_published {
            return;
        }
        let owner = Owner {
            is_new: false,
            ..owner
        };
        for line in numbered::lines(owner.record) {
            for (record, violation) in self.taken(owner, (Kind::Numbered, &line)) {
                note(record, violation);
            }
        }
    }

    /// Whether a new record says that it stands in the place of another where both are found. One person alone does not publish that.
    fn cancels(&self, taker: &RecordId, owner: &RecordId) -> bool {
        let mut new = self.new.iter().filter(|record| record.id() == taker);
        new.any(|record| record.annex.relations.cancels.contains(owner))
    }

    fn taken(&mut self, owner: Owner<'_>, (kind, text): (Kind, &str)) -> Vec<(RecordId, Violation)> {
        if !self.sieve.lets_through(text.as_bytes()) {
            return Vec::new();
        }
        let id = owner.record.id();
        let mut takers = BTreeSet::new();
        each_hit(self.alone, text, |hit| {
            // Many records may have one code; and a variant stands where its record stands.
            if hit.record == *id || (kind != Kind::Example && are_variants(&hit.record, id)) {
                return;
            }
            let is_known_text = kind != Kind::Numbered && !hit.pattern.starts_with("code:");
            if is_known_text && !are_variants(&hit.record, id) {
                let pattern = (hit.record.clone(), hit.pattern.clone());
                self.stands_in.entry(pattern).or_default().insert(id.clone());
            }
            takers.insert(hit.record);
        });
        let hits = takers.len();
        if kind == Kind::Numbered {
            takers.retain(|taker| !self.cancels(taker, id));
        }
        let is_cancelled = takers.len() < hits;
        if takers.is_empty() {
            return Vec::new();
        }
        let before = (!owner.is_new).then(|| read(self.before, text));
        let before = before.as_ref().map(|before| first(before).map(|first| &first.id));
        let was_its_own = before.is_none_or(|before| before == Some(id));
        // No matcher reads Chinese signatures: a text that nobody answered is the record's all the same.
        let was_nobodys = kind == Kind::ChineseSignature && before == Some(None);
        if !was_its_own && !was_nobodys {
            return Vec::new();
        }
        let now = read(self.all, text);
        let own = now.matches.iter().find(|found| found.id == *id);
        let found = now.matches.iter().zip(0..);
        let found = found.filter(|(found, _)| takers.contains(&found.id));
        let mut taken: Vec<&RecordId> = found
            .filter(|(taker, place)| takes(taker, *place, own, (owner, kind)))
            .map(|(taker, _)| &taker.id)
            .collect();
        // Where one may stand in its place, none of the others has put it behind.
        let must_be_found = kind == Kind::Example || (kind == Kind::Numbered && !is_cancelled);
        if taken.is_empty() && must_be_found && first(&now).is_none_or(|front| front.id != *id) {
            // None of them comes first, but with them it is not found, or put behind.
            taken.extend(takers.first());
        }
        let shown: String = text.chars().take(SHOWN).collect();
        let reason = format!(
            "with it, {id} is no longer the first answer to its own {}, or not it alone: {shown:?}",
            kind.word()
        );
        let violation = Violation::error(Part::Document, "", kind.rule(), reason);
        let violation = violation.fix("make the pattern more specific, or change the other record");
        taken
            .into_iter()
            .map(|taker| (taker.clone(), violation.clone()))
            .collect()
    }

    /// Patterns that stand in the texts of many others: they say nothing of one error.
    pub(super) fn common(self) -> impl Iterator<Item = (RecordId, Violation)> {
        let many = self.stands_in.into_iter();
        let many = many.filter(|(_, others)| others.len() > MOST_OTHERS);
        many.map(|((record, pattern), others)| {
            let named: Vec<&str> = others.iter().take(3).map(RecordId::as_str).collect();
            let reason = format!(
                "its pattern {pattern} stands in examples or signatures of {} other records, such as {}",
                others.len(),
                named.join(", ")
            );
            let violation = Violation::error(Part::Document, "", "gate/common", reason);
            let fix = "narrow the pattern, so that it needs words that are of this error alone";
            (record, violation.fix(fix))
        })
    }
}

fn first(summary: &Summary) -> Option<&Match> {
    summary.matches.first()
}

fn takes(taker: &Match, place: usize, own: Option<&Match>, (owner, kind): (Owner<'_>, Kind)) -> bool {
    let Some(own) = own else {
        // What another system wrote need not find its own signature.
        return kind != Kind::Signature || !owner.is_new;
    };
    let is_better = taker.score > own.score;
    if owner.is_new {
        // Of new records none was there first: several from another system may have one signature.
        return is_better || (place == 0 && kind == Kind::Example);
    }
    // Among equals the id decides, which says nothing about the text.
    let is_variant = are_variants(&taker.id, owner.record.id());
    let is_equal = taker.applies == own.applies && taker.score >= own.score && !is_variant;
    is_better || is_equal || place == 0
}

/// `cuda/oom/linux` and `cuda/oom/windows` are one error in two environments.
fn are_variants(one: &RecordId, other: &RecordId) -> bool {
    let error = |id: &'_ RecordId| -> Option<String> {
        let mut parts = id.as_str().splitn(3, '/');
        Some(format!("{}/{}", parts.next()?, parts.next()?))
    };
    error(one) == error(other)
}
