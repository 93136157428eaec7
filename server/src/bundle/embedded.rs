//! The records that ship with the program.

#[cfg(not(debug_assertions))]
mod packed;

use std::collections::BTreeMap;

use kb_core::ids::RecordId;
use kb_core::validate::is_record_file;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use time::Date;
use time::macros::format_description;

use super::{ANNEX_END, BundleError, DOCUMENT_END, pair};
use crate::store::SeedRecord;

#[cfg(debug_assertions)]
mod packed {
    use std::collections::BTreeMap;
    use std::path::Path;

    use sha2::{Digest as _, Sha256};

    /// A debug build reads them from the source tree, so that a change of a record needs no build.
    pub(super) fn files() -> BTreeMap<String, Vec<u8>> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../kb-seed");
        crate::bundle::read_files(&folder).unwrap_or_default()
    }

    pub(super) fn paths() -> Vec<String> {
        files().into_keys().collect()
    }

    pub(super) fn hash(hasher: &mut Sha256) {
        for (path, text) in files() {
            hasher.update(format!("{} {path}\n", text.len()));
            hasher.update(text);
        }
    }
}

/// Their ids, without reading them.
pub fn embedded_ids() -> impl Iterator<Item = RecordId> {
    packed::paths()
        .into_iter()
        .filter(|path| is_record_file(path) && !path.ends_with(ANNEX_END))
        .filter_map(|path| path.strip_suffix(DOCUMENT_END)?.parse().ok())
}

/// SHA-256, hex, of all of them as they lie in the program: known without reading them.
pub fn embedded_sha256() -> String {
    let mut hasher = Sha256::new();
    packed::hash(&mut hasher);
    hex::encode(hasher.finalize())
}

pub fn embedded() -> Result<Vec<SeedRecord>, BundleError> {
    let records = pair(packed::files())?;
    // Without any, everything would be "no known error".
    if records.is_empty() {
        return Err(BundleError::NoRecords);
    }
    Ok(records)
}

/// Which records ship with the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edition {
    pub records: usize,
    /// The day on which the newest of them was changed last.
    pub date: Date,
}

/// Counts them, and looks for the newest day in them. Without any day there is no edition.
pub fn edition() -> Option<Edition> {
    let documents: BTreeMap<String, Vec<u8>> = packed::files()
        .into_iter()
        .filter(|(path, _)| is_record_file(path) && !path.ends_with(ANNEX_END))
        .collect();
    let newest = documents.values().filter_map(|text| updated(text)).max();
    newest.map(|date| Edition {
        records: documents.len(),
        date,
    })
}

#[derive(Deserialize)]
struct Updated {
    last_updated: String,
}

fn updated(document: &[u8]) -> Option<Date> {
    let Updated { last_updated } = serde_json::from_slice(document).ok()?;
    Date::parse(&last_updated, format_description!("[year]-[month]-[day]")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// docs/TEAM-RECORDS.md promises it to those who keep records of their own.
    #[test]
    fn no_record_that_ships_stands_in_the_namespace_of_others() {
        assert!(embedded_ids().count() > 1000);
        assert!(embedded_ids().all(|id| id.domain() != "local"));
    }

    #[test]
    fn the_edition_is_as_new_as_its_newest_record() {
        assert_eq!(edition().unwrap().records, embedded_ids().count());
        let with = |day: &str| updated(format!("{{\"last_updated\": \"{day}\"}}").as_bytes());
        assert_eq!(with("2026-11-29"), Some(time::macros::date!(2026 - 11 - 29)));
        assert_eq!(with("soon"), None);
    }
}
