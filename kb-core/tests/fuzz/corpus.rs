//! Texts that are kept.

use std::collections::hash_map::RandomState;
use std::fs;
use std::hash::{BuildHasher as _, Hasher as _};
use std::path::PathBuf;

use kb_core::text::Sha256;

/// The texts of one target.
pub(crate) struct Corpus {
    folder: PathBuf,
    texts: Vec<Vec<u8>>,
}

impl Corpus {
    /// All texts of a target, in the order of their names.
    pub(crate) fn read(target: &str) -> Self {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
            .join("../fuzz")
            .join(target);
        let mut files: Vec<PathBuf> = fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        files.sort();
        let texts: Vec<Vec<u8>> = files.iter().map(|file| fs::read(file).unwrap()).collect();
        assert!(!texts.is_empty(), "{} holds no texts", folder.display());
        Self { folder, texts }
    }

    pub(crate) fn texts(&self) -> &[Vec<u8>] {
        &self.texts
    }

    /// Keeps a text that broke something.
    pub(crate) fn keep(&self, text: &[u8]) -> PathBuf {
        let hash = Sha256::of(text).to_string();
        let file = self.folder.join(format!("broke-{}", &hash[..16]));
        fs::write(&file, text).unwrap();
        file
    }
}

/// A seed that no run had before.
pub(crate) fn fresh_seed() -> u64 {
    RandomState::new().build_hasher().finish() | 1
}
