//! Records of deadends.dev and back: their files ("canons") become records, and records that came from there become
//! their files again, value for value and mostly byte for byte.
//!
//! Lists and numbers are copied as text, never read and written anew. What a record has no place for stands in the annex:
//! `origin` (address, file, environment, what is unknown here), `hardware` and `provenance`.

mod back;
mod canon;
mod make;
mod raw;
mod tally;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use kb_core::ids::RecordId;

pub use back::{Exported, to_canon};
pub use canon::CanonError;
pub use tally::Tally;

use crate::store::SeedRecord;
use canon::Canon;

pub const SYSTEM: &str = "deadends.dev";

#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Also records about countries (laws, visas, hospitals), which have nothing to do with computers.
    pub countries: bool,
    /// Ids that records have where these will go: no former id of a record, and known to edges.
    pub taken: BTreeSet<RecordId>,
}

#[derive(Debug, Default)]
pub struct Imported {
    pub records: Vec<SeedRecord>,
    /// What is wrong with a record that was taken in all the same.
    pub reviews: Vec<(RecordId, String)>,
    pub dangling: Vec<(RecordId, String)>,
    /// Files that are no canons, and why.
    pub refused: Vec<(String, String)>,
    pub countries: usize,
    pub others: usize,
    /// Fields that came, and that an export would give back.
    pub tally: Tally,
}

/// Reads their files, by path. Two passes: records first, then where their edges lead, so that order does not matter.
pub fn import(files: &BTreeMap<String, Vec<u8>>, options: &Options) -> Imported {
    let mut imported = Imported::default();
    let mut canons = Vec::new();
    for (file, bytes) in files {
        match Canon::read(bytes) {
            Err(CanonError::NotOne) => imported.others += 1,
            Err(error) => imported.refused.push((file.clone(), error.to_string())),
            Ok(canon) if canon.is_about_a_country() && !options.countries => imported.countries += 1,
            Ok(canon) => canons.push((file, canon)),
        }
    }
    let mut groups: BTreeMap<String, usize> = BTreeMap::new();
    for (_, canon) in &canons {
        *groups.entry(canon.group()).or_default() += 1;
    }
    let mut known = BTreeSet::new();
    for (file, canon) in &canons {
        let is_taken = |group: String| {
            group
                .parse()
                .is_ok_and(|id: RecordId| options.taken.contains(&id))
        };
        let is_alone = groups.get(&canon.group()) == Some(&1) && !is_taken(canon.group());
        match make::record(file, canon, is_alone) {
            Ok((record, reviews)) if known.insert(record.id.clone()) => {
                imported.tally.add(canon, &record);
                let id = || record.id.clone();
                imported
                    .reviews
                    .extend(reviews.into_iter().map(|why| (id(), why)));
                imported.records.push(record);
            }
            Ok((record, _)) => {
                let why = format!("another file has the id {}", record.id);
                imported.refused.push(((*file).clone(), why));
            }
            Err(why) => imported.refused.push(((*file).clone(), why)),
        }
    }
    for (_, canon) in &canons {
        for target in canon.targets() {
            let is_known = target
                .parse()
                .is_ok_and(|target: RecordId| known.contains(&target) || options.taken.contains(&target));
            if let (false, Ok(id)) = (is_known, canon.id.parse()) {
                imported.dangling.push((id, target));
            }
        }
    }
    imported.records.sort_by(|left, right| left.id.cmp(&right.id));
    imported
}
