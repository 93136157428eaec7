//! Which logs there are, and what is known of each.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::CleanError;

const MANIFEST: &str = "manifest.jsonl";
/// Where a checkout keeps its corpus, beside the folder of records.
const BESIDE_RECORDS: &str = "evaluation/clean";
const LOG_END: &str = "zst";

/// Whether patterns may have been mended with a log in view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// Matches in it were looked at, and patterns narrowed.
    Seen,
    /// Nobody matched it before its figure was taken.
    Unseen,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Log {
    pub file: String,
    /// Where it comes from: the address of a page, or what was run on what for a log of our own.
    pub origin: String,
    /// The day it was opened or written, `2026-11-22`.
    pub read_on: String,
    /// The licence it stands under, as an SPDX expression.
    pub licence: String,
    pub bytes: u64,
    pub lines: u64,
    pub part: Part,
    /// What is in it, why it counts as healthy, and which lines were taken out and why.
    pub note: String,
}

#[derive(Debug)]
pub struct Corpus {
    folder: PathBuf,
    logs: Vec<Log>,
}

impl Corpus {
    /// Where the corpus of a folder of records is looked for: `evaluation/clean` beside it. `None` where there is none.
    pub fn beside(records: &Path) -> Option<PathBuf> {
        let named = records.file_name().and(records.parent());
        let parent = named.map_or_else(|| records.join(".."), Path::to_owned);
        let folder = parent.join(BESIDE_RECORDS);
        folder.join(MANIFEST).is_file().then_some(folder)
    }

    pub fn read(folder: &Path) -> Result<Self, CleanError> {
        let manifest = folder.join(MANIFEST);
        let unreadable = |path: &Path| {
            let path = path.to_owned();
            move |source| CleanError::Read { path, source }
        };
        let text = fs::read_to_string(&manifest).map_err(unreadable(&manifest))?;
        let mut logs: Vec<Log> = Vec::new();
        for (at, line) in text.lines().enumerate() {
            let log = serde_json::from_str(line).map_err(|source| CleanError::Manifest {
                path: manifest.clone(),
                line: at + 1,
                source,
            })?;
            logs.push(log);
        }
        let mut named = BTreeSet::new();
        for log in &logs {
            if !named.insert(log.file.as_str()) {
                return Err(CleanError::Unnamed(folder.join(&log.file)));
            }
        }
        for entry in fs::read_dir(folder).map_err(unreadable(folder))? {
            let path = entry.map_err(unreadable(folder))?.path();
            let name = path.file_name().and_then(|name| name.to_str());
            let is_log = path.extension().is_some_and(|end| end == LOG_END);
            if is_log && !name.is_some_and(|name| named.contains(name)) {
                return Err(CleanError::Unnamed(path));
            }
        }
        Ok(Self {
            folder: folder.to_owned(),
            logs,
        })
    }

    pub fn logs(&self) -> &[Log] {
        &self.logs
    }

    pub fn path(&self, log: &Log) -> PathBuf {
        self.folder.join(&log.file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENTRY: &str = r#"{"file": "a.log.zst", "origin": "ours", "read_on": "2026-11-22", "licence": "Apache-2.0", "bytes": 1, "lines": 1, "part": "seen", "note": "n"}"#;

    #[test]
    fn a_manifest_names_each_log_of_its_folder_once() {
        let folder = tempfile::tempdir().unwrap();
        let refused = || Corpus::read(folder.path()).unwrap_err().to_string();
        let manifest = folder.path().join(MANIFEST);
        assert!(refused().contains(MANIFEST));

        fs::write(&manifest, format!("{ENTRY}\n{ENTRY}\n")).unwrap();
        assert!(refused().contains("a.log.zst: the manifest must name"));
        fs::write(&manifest, format!("{ENTRY}\n{{\"file\": 1}}\n")).unwrap();
        assert!(refused().contains("manifest.jsonl:2: "));
        fs::write(&manifest, format!("{ENTRY}\n")).unwrap();
        assert_eq!(Corpus::read(folder.path()).unwrap().logs().len(), 1);
        fs::write(folder.path().join("b.log.zst"), "").unwrap();
        assert!(refused().contains("b.log.zst: the manifest must name"));
    }

    #[test]
    fn a_corpus_is_looked_for_beside_the_records() {
        let folder = tempfile::tempdir().unwrap();
        let records = folder.path().join("kb-seed");
        let clean = folder.path().join(BESIDE_RECORDS);
        fs::create_dir_all(&clean).unwrap();
        fs::create_dir_all(&records).unwrap();
        assert_eq!(Corpus::beside(&records), None);
        fs::write(clean.join(MANIFEST), "").unwrap();
        assert_eq!(Corpus::beside(&records), Some(clean));
        // A folder without a name of its own.
        let dots = records
            .join("..")
            .join("kb-seed")
            .join(".")
            .join("..")
            .join("kb-seed/..");
        assert!(Corpus::beside(&dots.join("kb-seed")).is_some());
    }

    /// Issue 6 asks for at least 20 MB, a third of it unseen.
    #[test]
    fn the_corpus_of_this_repository_is_large_enough() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../evaluation/clean");
        let corpus = Corpus::read(&folder).unwrap();
        let sum = |part: Option<Part>| -> u64 {
            let logs = corpus.logs().iter();
            logs.filter(|log| part.is_none_or(|part| log.part == part))
                .map(|log| log.bytes)
                .sum()
        };
        assert!(sum(None) >= 20_000_000, "{} bytes", sum(None));
        assert!(
            3 * sum(Some(Part::Unseen)) >= sum(None),
            "{} bytes unseen",
            sum(Some(Part::Unseen))
        );
    }
}
