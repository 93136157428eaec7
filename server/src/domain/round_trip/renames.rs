//! A record whose files were given another name: one is gone from the folder, and another says the same under a new id. It is
//! one change, so that readers do not lose the record where the new id cannot be published.

use std::collections::BTreeMap;

use kb_core::ids::RecordId;
use kb_core::record::Record;
use kb_core::text::replace_value;

use super::plan::{Plan, Planned};
use super::stands::{Published, Stands};
use crate::store::{Expected, SeedRecord};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Alike {
    /// The signature, or an annex that recognises something.
    InPart,
    /// Everything but the id.
    Wholly,
}

/// Pairs what is withdrawn with what takes its place. If files are gone unasked, the copy under another id is held back.
pub(super) fn pair(plan: &mut Plan, stands: &BTreeMap<RecordId, Stands>) {
    let gone: Vec<RecordId> = plan
        .iter()
        .filter(|(_, planned)| matches!(planned, Planned::Withdraw(_) | Planned::Removed))
        .map(|(id, _)| id.clone())
        .collect();
    for from in gone {
        let Some(before) = stands.get(&from).and_then(Stands::published) else {
            continue;
        };
        let is_asked = matches!(plan.get(&from), Some(Planned::Withdraw(_)));
        let least = if is_asked { Alike::InPart } else { Alike::Wholly };
        let Some(to) = closest(plan, stands, before, least) else {
            continue;
        };
        let Some(Planned::Publish { texts, expected, .. }) = plan.remove(&to) else {
            continue;
        };
        plan.remove(&from);
        let planned = if is_asked {
            Planned::Rename {
                moves: expected == Expected::Absent && before.head.revision == before.revision,
                seen: before.revision,
                from,
                texts,
                expected,
            }
        } else {
            Planned::Renamed { from }
        };
        plan.insert(to, planned);
    }
}

fn closest(
    plan: &Plan,
    stands: &BTreeMap<RecordId, Stands>,
    before: &Published,
    least: Alike,
) -> Option<RecordId> {
    let mut best: Option<(Alike, &RecordId)> = None;
    for (id, planned) in plan {
        let Planned::Publish {
            texts, merged: false, ..
        } = planned
        else {
            continue;
        };
        if stands.get(id).and_then(Stands::published).is_some() {
            continue;
        }
        let alike = alike(&before.texts, texts).filter(|alike| *alike >= least);
        if let Some(alike) = alike
            && best.is_none_or(|(known, _)| alike > known)
        {
            best = Some((alike, id));
        }
    }
    best.map(|(_, id)| id.clone())
}

fn alike(before: &SeedRecord, after: &SeedRecord) -> Option<Alike> {
    let id = serde_json::Value::from(after.id.as_str()).to_string();
    let renamed = replace_value(&before.document, "/id", &id);
    if renamed.is_ok_and(|renamed| renamed == after.document) && before.annex == after.annex {
        return Some(Alike::Wholly);
    }
    let parsed = |texts: &SeedRecord| Record::parse(&texts.document, &texts.annex).ok();
    let (one, other) = (parsed(before)?, parsed(after)?);
    let signature = one.document.signature.trim();
    let is_one_error = !signature.is_empty() && signature == other.document.signature.trim();
    let recognises = !one.annex.patterns.is_empty() || !one.annex.examples.is_empty();
    let is_one_annex = recognises && before.annex == after.annex;
    (is_one_error || is_one_annex).then_some(Alike::InPart)
}
