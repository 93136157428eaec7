//! `peerless check --coverage`: which codes of the lists in `catalog/` some record carries, and what records lack.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use kb_core::record::Record;

use crate::bundle::read_path;
use peerless_search::comparable_code;

/// Folder of the lists, beside the records.
const FOLDER: &str = "catalog";
/// Missing codes that are named; the rest are counted.
const NAMED: usize = 12;

/// A list of codes, and which of its columns name one.
struct List {
    file: &'static str,
    title: &'static str,
    /// Columns whose text is a code, and the words before it.
    names: &'static [(usize, &'static str)],
    /// A column and what stands there on the lines that count; on the others it stands not.
    counts: Counts,
}

enum Counts {
    All,
    Where(usize, &'static str),
    Unless(usize, &'static str),
}

const LISTS: [List; 4] = [
    List {
        file: "cuda_errors.tsv",
        title: "CUDA results",
        names: &[(2, "")],
        counts: Counts::Unless(1, "0"),
    },
    List {
        file: "xids.tsv",
        title: "Xids in use",
        names: &[(0, "xid "), (1, "")],
        counts: Counts::Where(2, "yes"),
    },
    List {
        file: "sxids.tsv",
        title: "SXids",
        names: &[(0, "sxid ")],
        counts: Counts::All,
    },
    List {
        file: "nccl_results.tsv",
        title: "NCCL results",
        names: &[(1, "")],
        counts: Counts::Unless(0, "0"),
    },
];

impl Counts {
    fn admits(&self, columns: &[&str]) -> bool {
        match self {
            Self::All => true,
            Self::Where(at, text) => columns.get(*at) == Some(text),
            Self::Unless(at, text) => columns.get(*at) != Some(text),
        }
    }
}

pub(super) struct Coverage {
    pub(super) text: String,
    /// Codes that no record carries, and what each record must have and one has not.
    pub(super) missing: usize,
}

/// Reads a folder of records with its `catalog`.
pub(super) fn of(folder: &Path) -> anyhow::Result<Coverage> {
    let catalog = folder.join(FOLDER);
    let records = read(folder)?;
    let carried: BTreeSet<String> = records
        .iter()
        .flat_map(Record::codes)
        .map(|code| comparable_code(&code))
        .collect();
    let mut text = "| list | codes | with a record | without |\n| --- | --: | --: | --- |\n".to_owned();
    let mut missing = 0;
    for list in &LISTS {
        let without = list.without(&catalog, &carried)?;
        missing += without.codes.len();
        let shown: Vec<&str> = without.codes.iter().take(NAMED).map(String::as_str).collect();
        let more = without.codes.len().saturating_sub(NAMED);
        let more = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        text.push_str(&row(&[
            list.title,
            &without.of.to_string(),
            &(without.of - without.codes.len()).to_string(),
            &format!("{}{more}", shown.join(", ")),
        ]));
    }
    text.push('\n');
    missing += lacks(&records, &mut text);
    Ok(Coverage { text, missing })
}

pub(super) fn read(folder: &Path) -> anyhow::Result<Vec<Record>> {
    let texts = read_path(folder)?;
    if texts.is_empty() {
        bail!("{}: there are no records here", folder.display());
    }
    // What cannot be read is told by the check itself.
    let parsed = texts
        .iter()
        .filter_map(|texts| Record::parse(&texts.document, &texts.annex).ok());
    Ok(parsed.collect())
}

/// Codes of a list that no record carries.
struct Without {
    of: usize,
    codes: Vec<String>,
}

impl List {
    fn without(&self, catalog: &Path, carried: &BTreeSet<String>) -> anyhow::Result<Without> {
        let path: PathBuf = catalog.join(self.file);
        let text = fs::read_to_string(&path)
            .with_context(|| format!("{}: coverage is counted against this list", path.display()))?;
        let mut without = Without {
            of: 0,
            codes: Vec::new(),
        };
        for line in text.lines().skip(1).filter(|line| !line.is_empty()) {
            let columns: Vec<&str> = line.split('\t').collect();
            if !self.counts.admits(&columns) {
                continue;
            }
            without.of += 1;
            let names = self.names.iter().filter_map(|(at, before)| {
                let column = columns.get(*at).filter(|column| !column.is_empty())?;
                Some(format!("{before}{column}"))
            });
            let names: Vec<String> = names.collect();
            if !names.iter().any(|name| carried.contains(&comparable_code(name))) {
                without.codes.extend(names.into_iter().next());
            }
        }
        Ok(without)
    }
}

/// Writes what a record should have and some do not. Counts what none may be without.
fn lacks(records: &[Record], text: &mut String) -> usize {
    type Lacks = fn(&Record) -> bool;
    let needed: [(&str, Lacks); 4] = [
        ("two examples", |record| record.annex.examples.len() < 2),
        ("a near miss", |record| record.annex.near_misses.is_empty()),
        ("a Chinese signature and root cause", |record| {
            record.document.signature_zh.is_none() || record.document.root_cause_zh.is_none()
        }),
        ("a source that was opened", |record| {
            record.annex.sources.is_empty()
        }),
    ];
    // Not every error has a page of its vendor, or is followed by another.
    let wanted: [(&str, Lacks); 2] = [
        ("an official page", |record| {
            record.document.official_doc_url.is_none()
        }),
        ("an edge of its own", |record| record.edges().is_empty()),
    ];
    text.push_str("| records | without | of them |\n| --: | --- | --- |\n");
    let mut list = |(what, lacks): (&str, Lacks)| {
        let lacking: Vec<&str> = records
            .iter()
            .filter(|record| lacks(record))
            .map(|record| record.id().as_str())
            .collect();
        let shown: Vec<&str> = lacking.iter().take(NAMED).copied().collect();
        text.push_str(&row(&[&lacking.len().to_string(), what, &shown.join(", ")]));
        lacking.len()
    };
    let mut missing = 0;
    for row in needed {
        missing += list(row);
    }
    for row in wanted {
        list(row);
    }
    missing
}

fn row(cells: &[&str]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_without_a_record_are_named_and_success_is_no_error() {
        let folder = tempfile::tempdir().unwrap();
        let catalog = folder.path().join(FOLDER);
        fs::create_dir_all(&catalog).unwrap();
        fs::create_dir_all(folder.path().join("xid")).unwrap();
        let list = |name: &str, text: &str| fs::write(catalog.join(name), text).unwrap();
        list(
            "cuda_errors.tsv",
            "api\tcode\tsymbol\tmessage\nruntime\t0\tcudaSuccess\tno error\nruntime\t2\tcudaErrorMemoryAllocation\tout of memory\n",
        );
        list(
            "xids.tsv",
            "xid\tmnemonic\tin_use\n1\tFIFO\tno\n13\tGR_EXCEPTION\tyes\n79\tGPU_FELL_OFF\tyes\n",
        );
        list("sxids.tsv", "sxid\tname\tseverity\n10001\tHost\tfatal\n");
        list(
            "nccl_results.tsv",
            "code\tsymbol\n0\tncclSuccess\n1\tncclUnhandledCudaError\n",
        );
        let record = include_str!("../../../kb-seed/cuda/peer-access-unsupported-by-hardware.json");
        let record = record.replace("cuda/peer-access-unsupported-by-hardware", "xid/one");
        fs::write(folder.path().join("xid/one.json"), record).unwrap();
        let annex = r#"{"schema_version": 1, "codes": ["Xid 79", "gr_exception", "NCCLUNHANDLEDCUDAERROR"]}"#;
        fs::write(folder.path().join("xid/one.ext.json"), annex).unwrap();

        let coverage = of(folder.path()).unwrap();
        // Two codes; and of the record two examples, a near miss and a source.
        assert_eq!(coverage.missing, 5, "{}", coverage.text);
        for line in [
            "| CUDA results | 1 | 0 | cudaErrorMemoryAllocation |",
            "| Xids in use | 2 | 2 |  |",
            "| SXids | 1 | 0 | sxid 10001 |",
            "| NCCL results | 1 | 1 |  |",
            "| 1 | two examples | xid/one |",
        ] {
            assert!(
                coverage.text.contains(line),
                "{line} is not in\n{}",
                coverage.text
            );
        }
        fs::remove_file(catalog.join("sxids.tsv")).unwrap();
        let error = of(folder.path()).err().map(|error| format!("{error:#}"));
        assert!(error.is_some_and(|error| error.contains("sxids.tsv")));
    }
}
