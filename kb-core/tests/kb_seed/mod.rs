//! The records of kb-seed, for tests over all of them.

use std::fs;
use std::path::{Path, PathBuf};

use kb_core::record::Record;

/// Every document with its annex, in no particular order.
pub(crate) fn records() -> Vec<Record> {
    let mut records = Vec::new();
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../kb-seed");
    collect(&folder, &mut records);
    records
}

fn collect(folder: &Path, records: &mut Vec<Record>) {
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let annex = path.with_extension("ext.json");
        if path.is_dir() {
            collect(&path, records);
        } else if annex.is_file() {
            let [document, annex] = [path, annex].map(|path| fs::read_to_string(path).unwrap());
            records.push(Record::parse(&document, &annex).unwrap());
        }
    }
}
