//! `peerless check PATH…`: every violation with file, place, rule, reason and what to do. Exit code 1 when there
//! is an error, 0 otherwise; warnings alone pass unless `--strict`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use clap::Args;
use kb_core::text::{Part, Severity, Violation};
use kb_core::transition::standing;
use kb_core::validate::{Finding, check_set, is_record_file};

use super::{check_published, coverage, say};
use crate::bundle;
use crate::clean::Corpus;
use crate::config::DataArgs;
use crate::domain::false_alarms::alarms;
use crate::feed::offline;

/// What to check.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "flags of the command line")]
pub struct CheckArgs {
    /// Folders of records, or single documents (the annex beside them is checked too)
    #[arg(required_unless_present = "published")]
    paths: Vec<PathBuf>,
    /// One JSON object for each violation
    #[arg(long)]
    json: bool,
    /// Warnings are errors too
    #[arg(long)]
    strict: bool,
    /// Also count the codes of PATH/catalog that a record carries, and what records lack
    #[arg(long, conflicts_with = "json")]
    coverage: bool,
    /// With --coverage: a code without a record is an error, and so is a record without two examples, a near miss, Chinese
    /// texts or a source
    #[arg(long, requires = "coverage")]
    complete: bool,
    /// Logs of healthy runs with their manifest, in which no record may match [default: evaluation/clean beside
    /// a folder of records, where there is one]
    #[arg(long, value_name = "DIR")]
    clean: Option<PathBuf>,
    /// In place of files: the published records of the database that the gate would refuse today. Nothing is changed
    #[arg(long, conflicts_with_all = ["paths", "strict", "coverage", "clean"])]
    published: bool,
    #[command(flatten)]
    data: DataArgs,
}

pub(super) async fn run(arguments: &CheckArgs) -> anyhow::Result<ExitCode> {
    if arguments.published {
        return check_published::run(&arguments.data, arguments.json).await;
    }
    let mut errors = 0;
    let mut warnings = 0;
    let mut checked = 0;
    let mut standings = Vec::new();
    for path in &arguments.paths {
        let files = files_of(path)?;
        if files.is_empty() {
            bail!("{}: there are no records (*.json) here to check", path.display());
        }
        checked += files.len();
        // What cannot be read is among the findings.
        let is_folder = fs::metadata(path).is_ok_and(|found| found.is_dir());
        if let Some(records) = coverage::read(path).ok().filter(|_| is_folder && !arguments.json) {
            standings.push(standing(&records));
        }
        for finding in check(&files) {
            if arguments.json {
                say(format_args!("{}", serde_json::to_string(&finding)?))?;
            } else {
                say(format_args!("{finding}"))?;
            }
            match finding.violation.severity {
                Severity::Error => errors += 1,
                Severity::Warning => warnings += 1,
            }
        }
        let beside = || Corpus::beside(path).filter(|_| is_folder);
        if let Some(folder) = arguments.clean.clone().or_else(beside) {
            errors += silence(path, &folder, arguments.json)?;
        }
    }
    for standing in standings {
        say(format_args!("{standing}"))?;
    }
    let mut missing = 0;
    if arguments.coverage {
        for path in &arguments.paths {
            let coverage = coverage::of(path)?;
            say(format_args!("{}", coverage.text))?;
            missing += coverage.missing;
        }
    }
    eprintln!("{checked} files, {errors} errors, {warnings} warnings");
    let is_good =
        errors == 0 && (warnings == 0 || !arguments.strict) && (missing == 0 || !arguments.complete);
    Ok(if is_good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Matches the records against the corpus; says each false alarm and counts them. Unreadable records are among the findings.
fn silence(records: &Path, folder: &Path, json: bool) -> anyhow::Result<usize> {
    let corpus = Corpus::read(folder)?;
    let generation = Arc::new(offline(bundle::read_path(records)?)?);
    let mut count = 0;
    for log in corpus.logs() {
        for alarm in alarms(&generation, &corpus, log)? {
            count += 1;
            if json {
                say(format_args!("{}", serde_json::to_string(&alarm)?))?;
            } else {
                say(format_args!("{alarm}"))?;
            }
        }
    }
    if !json {
        let bytes: u64 = corpus.logs().iter().map(|log| log.bytes).sum();
        let logs = corpus.logs().len();
        say(format_args!(
            "{logs} healthy logs, {bytes} bytes: {count} false alarms"
        ))?;
    }
    Ok(count)
}

/// The files to check, by the names that are shown.
fn files_of(path: &Path) -> anyhow::Result<BTreeMap<String, Vec<u8>>> {
    let is_folder = fs::metadata(path)
        .with_context(|| path.display().to_string())?
        .is_dir();
    if is_folder {
        let shown = |name: String| path.join(name).to_string_lossy().into_owned();
        let files = bundle::read_files(path)?
            .into_iter()
            .filter(|(name, _)| is_record_file(name));
        return Ok(files.map(|(name, bytes)| (shown(name), bytes)).collect());
    }
    let mut files = BTreeMap::new();
    let name = path.to_string_lossy().into_owned();
    files.insert(name.clone(), fs::read(path).with_context(|| name.clone())?);
    if let Some(stem) = name.strip_suffix(".json") {
        let annex = format!("{stem}.ext.json");
        if let Ok(bytes) = fs::read(&annex) {
            files.insert(annex, bytes);
        }
    }
    Ok(files)
}

fn check(files: &BTreeMap<String, Vec<u8>>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut texts = BTreeMap::new();
    for (name, bytes) in files {
        match std::str::from_utf8(bytes) {
            Ok(text) => {
                texts.insert(name.as_str(), text);
            }
            Err(error) => {
                let reason = format!("byte {} is not UTF-8", error.valid_up_to());
                let violation = Violation::error(Part::Document, "", "utf8", reason);
                let violation = violation.fix("save the file as UTF-8");
                findings.push(Finding {
                    file: name.clone(),
                    violation,
                });
            }
        }
    }
    findings.extend(check_set(texts));
    findings
}

/// Prints what is wrong with one record, named as its files would be.
pub(super) fn print_violations(record: &str, violations: Vec<Violation>) {
    for violation in violations {
        let end = match violation.part {
            Part::Document => "json",
            Part::Annex => "ext.json",
        };
        eprintln!(
            "{}",
            Finding {
                file: format!("{record}.{end}"),
                violation
            }
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_a_healthy_log_that_a_record_matches_is_an_error() {
        let records =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../kb-seed/driver/persistence-mode-deprecated.json");
        let folder = tempfile::tempdir().unwrap();
        let text = "NVRM: Persistence mode is deprecated and will be removed in a future release. \
                    Please use nvidia-persistenced instead.\n";
        let packed = zstd::encode_all(text.as_bytes(), 1).unwrap();
        fs::write(folder.path().join("a.log.zst"), packed).unwrap();
        let manifest = serde_json::json!({
            "file": "a.log.zst", "origin": "ours", "read_on": "2026-11-22", "licence": "Apache-2.0",
            "bytes": text.len(), "lines": 1, "part": "seen", "note": "made here",
        });
        fs::write(folder.path().join("manifest.jsonl"), manifest.to_string()).unwrap();
        for json in [false, true] {
            assert_eq!(silence(&records, folder.path(), json).unwrap(), 1);
        }
    }
}
