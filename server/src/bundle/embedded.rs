//! The records that ship with the program.

use rust_embed::RustEmbed;

use super::{BundleError, pair};
use crate::store::SeedRecord;

#[derive(RustEmbed)]
#[folder = "../kb-seed"]
struct Files;

/// The records that ship with the program.
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
