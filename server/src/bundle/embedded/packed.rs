//! As `build.rs` packs them into a release.

use std::collections::BTreeMap;

use sha2::{Digest as _, Sha256};

const LIST: &str = include_str!(concat!(env!("OUT_DIR"), "/records.list"));
const TEXTS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/records.zst"));

fn entries() -> impl Iterator<Item = (usize, &'static str)> {
    LIST.lines().filter_map(|line| {
        let (length, path) = line.split_once(' ')?;
        Some((length.parse().ok()?, path))
    })
}

pub(super) fn paths() -> Vec<String> {
    entries().map(|(_, path)| path.to_owned()).collect()
}

pub(super) fn hash(hasher: &mut Sha256) {
    hasher.update(LIST);
    hasher.update(TEXTS);
}

/// All files. Nothing where they cannot be unpacked, which the program tells as a fault of the build.
pub(super) fn files() -> BTreeMap<String, Vec<u8>> {
    let texts = zstd::decode_all(TEXTS).unwrap_or_default();
    let mut rest = texts.as_slice();
    let mut files = BTreeMap::new();
    for (length, path) in entries() {
        let Some((text, behind)) = rest.split_at_checked(length) else {
            return BTreeMap::new();
        };
        files.insert(path.to_owned(), text.to_vec());
        rest = behind;
    }
    files
}
