//! The records that ship with the program.

use rust_embed::RustEmbed;

use kb_core::ids::RecordId;
use kb_core::validate::is_record_file;

use super::{BundleError, DOCUMENT_END, pair};
use crate::store::SeedRecord;

#[derive(RustEmbed)]
#[folder = "../kb-seed"]
struct Files;

/// Their ids, without reading them.
pub fn embedded_ids() -> impl Iterator<Item = RecordId> {
    Files::iter()
        .filter(|path| is_record_file(path))
        .filter_map(|path| path.strip_suffix(DOCUMENT_END)?.parse().ok())
}

pub fn embedded() -> Result<Vec<SeedRecord>, BundleError> {
    let read = |path: std::borrow::Cow<'static, str>| {
        Files::get(&path).map(|file| (path.into_owned(), file.data.into_owned()))
    };
    let records = pair(Files::iter().filter_map(read).collect())?;
    // Without any, everything would be "no known error".
    if records.is_empty() {
        return Err(BundleError::NoRecords);
    }
    Ok(records)
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
}
