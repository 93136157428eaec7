//! The same patterns and lines by Hyperscan, block by block: each line by itself, each pattern once a line.

use std::collections::BTreeSet;

use anyhow::{Context, Result};
use hyperscan::prelude::*;
use kb_core::signature::RecordSignatures;

pub(crate) struct Other {
    database: BlockDatabase,
}

impl Other {
    pub(crate) fn build(records: &[RecordSignatures]) -> Result<Self> {
        let mut patterns = Vec::new();
        for (at, record) in records.iter().enumerate() {
            let regex = &record.patterns.first().context("a canon has one pattern")?.regex;
            let mut flags = CompileFlags::CASELESS | CompileFlags::SINGLEMATCH;
            if !regex.is_ascii() {
                flags |= CompileFlags::UTF8;
            }
            let mut pattern = Pattern::with_flags(regex.as_str(), flags)?;
            pattern.id = Some(at);
            patterns.push(pattern);
        }
        let database = Patterns(patterns).build()?;
        Ok(Self { database })
    }

    /// Calls `visit` with line number and pattern.
    pub(crate) fn scan(&self, text: &str, mut visit: impl FnMut(u64, usize)) {
        let Ok(scratch) = self.database.alloc_scratch() else {
            return;
        };
        for (number, line) in (1..).zip(text.lines()) {
            self.database
                .scan(line, &scratch, |id, _, _, _| {
                    visit(number, id as usize);
                    Matching::Continue
                })
                .ok();
        }
    }

    pub(crate) fn set(&self, text: &str) -> BTreeSet<(u64, usize)> {
        let mut set = BTreeSet::new();
        self.scan(text, |line, pattern| {
            set.insert((line, pattern));
        });
        set
    }
}
