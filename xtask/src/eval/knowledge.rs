//! The records under evaluation, and which of them a label means.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use kb_core::ids::RecordId;
use peerless::bundle::read_path;
use peerless::feed::{Generation, offline};

/// Records, and their codes by family and number.
pub(crate) struct Knowledge {
    pub(crate) generation: Arc<Generation>,
    by_number: HashMap<(String, u64), BTreeSet<RecordId>>,
}

impl Knowledge {
    /// Reads a folder of records, with the code lists in its `catalog`.
    pub(crate) fn load(folder: &Path) -> Result<Self> {
        let records = read_path(folder)?;
        ensure!(!records.is_empty(), "{}: there are no records", folder.display());
        let generation = Arc::new(offline(records)?);
        for left_out in &generation.left_out {
            eprintln!("note: {} cannot be read: {}", left_out.id, left_out.reason);
        }
        let mut by_number: HashMap<(String, u64), BTreeSet<RecordId>> = HashMap::new();
        for published in generation.records() {
            for key in published.codes.iter().flat_map(|code| numbers(code)) {
                by_number
                    .entry(key)
                    .or_default()
                    .insert(published.record.id().clone());
            }
        }
        let catalog = folder.join("catalog");
        for (family, file, number_at) in [("cuda", "cuda_errors.tsv", 1), ("nccl", "nccl_results.tsv", 0)] {
            for (number, symbol) in symbols(&catalog.join(file), number_at)? {
                let carriers = generation.by_code(&symbol).to_vec();
                by_number
                    .entry((family.to_owned(), number))
                    .or_default()
                    .extend(carriers);
            }
        }
        Ok(Self {
            generation,
            by_number,
        })
    }

    /// The records that any of these labels means; none where no such record exists yet.
    pub(crate) fn meant(&self, expect: &[String]) -> BTreeSet<RecordId> {
        expect.iter().flat_map(|label| self.meant_by(label)).collect()
    }

    fn meant_by(&self, label: &str) -> BTreeSet<RecordId> {
        if let Ok(id) = label.parse::<RecordId>() {
            let alias = self.generation.alias(label).cloned();
            let known = self.generation.record(&id).map(|_| id);
            return known.or(alias).into_iter().collect();
        }
        let number = label.split_once(':').and_then(|(family, number)| {
            let number = number.trim().parse::<u64>().ok()?;
            Some((family.trim().to_lowercase(), number))
        });
        match number {
            Some(key) => self.by_number.get(&key).cloned().unwrap_or_default(),
            None => self.generation.by_code(label).iter().cloned().collect(),
        }
    }
}

/// `CUDA error 217` is number 217 of the families `cuda` and `error`.
fn numbers(code: &str) -> Vec<(String, u64)> {
    let lower = code.to_lowercase();
    let mut words: Vec<&str> = lower.split_whitespace().collect();
    let Some(number) = words.pop().and_then(|last| last.parse::<u64>().ok()) else {
        return Vec::new();
    };
    words.into_iter().map(|word| (word.to_owned(), number)).collect()
}

/// Numbers with their symbols: the column `number_at` and the one after it. Nothing where there is no such list.
fn symbols(path: &Path, number_at: usize) -> Result<Vec<(u64, String)>> {
    if !path.try_exists()? {
        return Ok(Vec::new());
    }
    let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let row = |line: &str| {
        let mut columns = line.split('\t').skip(number_at);
        let number = columns.next()?.parse().ok()?;
        Some((number, columns.next()?.to_owned()))
    };
    Ok(text.lines().filter_map(row).collect())
}
