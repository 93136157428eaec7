//! `peerless check PATH…`: every violation with file, place, rule, reason and what to do. Exit code 1 when there
//! is an error, 0 otherwise; warnings alone pass unless `--strict`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::Args;
use kb_core::text::{Part, Severity, Violation};
use kb_core::transition::standing;
use kb_core::validate::{Finding, check_set, is_record_file};

use super::{coverage, say};
use crate::bundle;

/// What to check.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "flags of the command line")]
pub struct CheckArgs {
    /// Folders of records, or single documents (the annex beside them is checked too)
    #[arg(required = true)]
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
    /// With --coverage: a code without a record is an error
    #[arg(long, requires = "coverage")]
    complete: bool,
}

pub(super) fn run(arguments: &CheckArgs) -> anyhow::Result<ExitCode> {
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
