//! Records as files: `<domain>/<slug>.json` or `<domain>/<slug>/<env>.json`, each with its annex `….ext.json`. The
//! ones that ship with the program are embedded, and one signed file carries them to where there is no network; a debug build reads them from the source tree instead.

mod archive;
pub mod deadends;
mod embedded;
mod folder;
mod keys;
pub mod licence;
mod lines;
mod manifest;
mod signed;
mod write;

use std::collections::BTreeMap;

use kb_core::annex;
use kb_core::ids::{IdError, RecordId};
use kb_core::validate::is_record_file;

use crate::store::SeedRecord;

pub use archive::archive;
pub use embedded::{Edition, edition, embedded, embedded_ids, embedded_sha256};
pub use folder::{FolderError, read_files, read_path};
pub use keys::{KeyError, SignKey, VerifyKey};
pub use lines::{Line, parse_line};
pub use manifest::{Manifest, ManifestError, Scope, Written};
pub use signed::{Head, MOST_BYTES, Signed, SignedError, write_signed};
pub use write::{is_as_read, remove_record, write_record};

const ANNEX_END: &str = ".ext.json";
const DOCUMENT_END: &str = ".json";

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum BundleError {
    #[error("{path}: the path must be the record's id: {source}")]
    Path { path: String, source: IdError },
    #[error("{0}: this annex has no document beside it: remove it, or bring the document back")]
    Orphan(String),
    #[error("{0}: the file is not UTF-8")]
    NotUtf8(String),
    #[error(
        "this program finds no records of its own: the folder that it was built beside is gone; build it again"
    )]
    NoRecords,
}

/// Puts documents and annexes together. Paths are relative, with `/`; files of other kinds are passed over.
pub fn pair(files: BTreeMap<String, Vec<u8>>) -> Result<Vec<SeedRecord>, BundleError> {
    let mut documents = BTreeMap::new();
    let mut annexes = BTreeMap::new();
    for (path, bytes) in files {
        if !is_record_file(&path) {
            continue;
        }
        let text = String::from_utf8(bytes).map_err(|_| BundleError::NotUtf8(path.clone()))?;
        if let Some(stem) = path.strip_suffix(ANNEX_END) {
            annexes.insert(stem.to_owned(), text);
        } else if let Some(stem) = path.strip_suffix(DOCUMENT_END) {
            documents.insert(stem.to_owned(), text);
        }
    }
    let mut records = Vec::with_capacity(documents.len());
    for (stem, document) in documents {
        let id: RecordId = stem.parse().map_err(|source| BundleError::Path {
            path: format!("{stem}{DOCUMENT_END}"),
            source,
        })?;
        let annex = annexes.remove(&stem).unwrap_or_else(|| annex::EMPTY.to_owned());
        records.push(SeedRecord { id, document, annex });
    }
    match annexes.into_keys().next() {
        Some(stem) => Err(BundleError::Orphan(format!("{stem}{ANNEX_END}"))),
        None => Ok(records),
    }
}

/// True where a document's file would have the name of an annex or of a schema. Such ids are refused today.
pub fn is_misread(id: &RecordId) -> bool {
    let file = format!("{id}{DOCUMENT_END}");
    file.ends_with(ANNEX_END) || !is_record_file(&file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(names: &[&str]) -> BTreeMap<String, Vec<u8>> {
        names
            .iter()
            .map(|name| ((*name).to_owned(), name.as_bytes().to_vec()))
            .collect()
    }

    #[test]
    fn documents_meet_their_annexes() {
        let records = pair(files(&[
            "a/b.json",
            "a/b.ext.json",
            "a/c/env.json",
            "README.md",
            "schema/x.schema.json",
        ]))
        .unwrap();
        let ids: Vec<_> = records.iter().map(|record| record.id.as_str()).collect();
        assert_eq!(ids, ["a/b", "a/c/env"]);
        assert_eq!(records[0].annex, "a/b.ext.json");
        assert_eq!(records[1].annex, annex::EMPTY);
    }

    #[test]
    fn what_cannot_be_a_record_is_named() {
        assert_eq!(
            pair(files(&["a/b.ext.json"])),
            Err(BundleError::Orphan("a/b.ext.json".to_owned()))
        );
        assert!(matches!(pair(files(&["a.json"])), Err(BundleError::Path { path, .. }) if path == "a.json"));
        let not_utf8 = BTreeMap::from([("a/b.json".to_owned(), vec![0xff])]);
        assert_eq!(pair(not_utf8), Err(BundleError::NotUtf8("a/b.json".to_owned())));
    }
}
