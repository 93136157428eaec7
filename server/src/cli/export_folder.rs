//! `peerless export DIR`: published records as files, beside a manifest that the next import compares with.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::Args;
use kb_core::ids::RecordId;
use kb_core::record::Record;

use super::say;
use crate::bundle::{self, Manifest, Scope, Written};
use crate::domain::round_trip::{Outward, Published, Stands, stands, to_write};
use crate::store::{SeedRecord, Store};

/// Which records go into the folder.
#[derive(Debug, Args)]
pub(super) struct FolderArgs {
    /// Only records whose ids begin with NAME/
    #[arg(long, value_name = "NAME", requires = "folder", conflicts_with = "domain", value_parser = scope_name)]
    namespace: Option<String>,
    /// Only records whose documents have this domain
    #[arg(long, value_name = "NAME", requires = "folder", value_parser = scope_name)]
    domain: Option<String>,
    /// Write also over files that were changed since they were written
    #[arg(long, requires = "folder")]
    overwrite: bool,
}

/// A name that a line of the manifest can hold.
fn scope_name(name: &str) -> Result<String, String> {
    if name.is_empty() || name.trim() != name || name.contains(char::is_control) {
        return Err("a name is a word or several, on one line".to_owned());
    }
    Ok(name.to_owned())
}

impl FolderArgs {
    fn scope(&self) -> Option<Scope> {
        match (&self.namespace, &self.domain) {
            (Some(name), _) => Some(Scope::Namespace(name.clone())),
            (None, Some(name)) => Some(Scope::Domain(name.clone())),
            (None, None) => None,
        }
    }
}

pub(super) async fn run(
    store: &dyn Store,
    folder: &Path,
    arguments: &FolderArgs,
) -> anyhow::Result<ExitCode> {
    std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
    let before = bundle::Manifest::read(folder)?;
    let scope = scope(folder, before.as_ref(), arguments)?;
    let is_new = before.is_none();
    let mut manifest = before.unwrap_or_default();
    manifest.scope = scope;
    let files = files(folder)?;
    let stands = stands(store).await?;
    let mut export = Export::default();
    let in_scope = stands
        .values()
        .filter_map(Stands::published)
        .filter(|record| is_in(&manifest.scope, &record.texts));
    let ids: BTreeSet<RecordId> = in_scope
        .map(|record| &record.texts.id)
        .chain(manifest.records.keys())
        .cloned()
        .collect();
    if is_new && ids.is_empty() && manifest.scope != Scope::All {
        bail!(
            "no published record is in {}: nothing was written",
            manifest.scope
        );
    }
    for id in &ids {
        if bundle::is_misread(id) {
            let told = format!("left out, its file would be taken for another: {id}");
            export.told.push(told);
            continue;
        }
        let sides = (files.get(id), stands.get(id));
        export.one(folder, &mut manifest, id, sides, arguments.overwrite)?;
    }
    manifest
        .write(folder)
        .with_context(|| folder.display().to_string())?;
    // Told when all is done: a reader who goes away ends nothing in the middle.
    for told in &export.told {
        say(told)?;
    }
    say(format_args!(
        "{} of {} written, {} unchanged, {} removed, {} kept as they are in {}",
        export.written,
        manifest.scope,
        export.same,
        export.removed,
        export.kept,
        folder.display()
    ))?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn files(folder: &Path) -> anyhow::Result<BTreeMap<RecordId, SeedRecord>> {
    let records = bundle::read_path(folder)?;
    Ok(records
        .into_iter()
        .map(|record| (record.id.clone(), record))
        .collect())
}

/// A folder keeps to the records that it was begun with.
fn scope(folder: &Path, before: Option<&Manifest>, arguments: &FolderArgs) -> anyhow::Result<Scope> {
    match (arguments.scope(), before.map(|before| &before.scope)) {
        (Some(asked), Some(before)) if asked != *before => {
            bail!(
                "{} has {before}: export {asked} into another folder",
                folder.display()
            )
        }
        (Some(asked), _) => Ok(asked),
        (None, before) => Ok(before.cloned().unwrap_or_default()),
    }
}

fn is_in(scope: &Scope, texts: &SeedRecord) -> bool {
    match scope {
        Scope::All => true,
        Scope::Namespace(name) => texts.id.domain() == name,
        Scope::Domain(name) => Record::parse(&texts.document, &texts.annex).map_or_else(
            |_| texts.id.domain() == name,
            |record| record.document.domain == *name,
        ),
    }
}

#[derive(Default)]
struct Export {
    written: usize,
    same: usize,
    removed: usize,
    kept: usize,
    told: Vec<String>,
}

impl Export {
    fn one(
        &mut self,
        folder: &Path,
        manifest: &mut Manifest,
        id: &RecordId,
        (file, stands): (Option<&SeedRecord>, Option<&Stands>),
        overwrite: bool,
    ) -> anyhow::Result<()> {
        let base = manifest.records.get(id).map(|written| written.sha256.as_str());
        let sha256 = file.map(SeedRecord::sha256);
        let published = stands.and_then(Stands::published);
        let is_withdrawn = matches!(stands, Some(Stands::Withdrawn { .. }));
        let outward = to_write(base, sha256.as_deref(), (published, is_withdrawn), overwrite);
        let shown = || format!("{id} in {}", folder.display());
        match (outward, published) {
            (Outward::Same, Some(published)) => {
                self.same += 1;
                manifest.note(id, written(published));
            }
            (Outward::Write, Some(published)) => {
                self.written += 1;
                bundle::write_record(folder, &published.texts).with_context(shown)?;
                manifest.note(id, written(published));
            }
            (Outward::Remove, _) => {
                self.removed += 1;
                bundle::remove_record(folder, id).with_context(shown)?;
                manifest.records.remove(id);
            }
            (Outward::Forget, _) => {
                manifest.records.remove(id);
            }
            _ => {
                self.kept += 1;
                let why = match outward {
                    Outward::Removed => "its files were removed; `peerless import --prune` withdraws it",
                    Outward::Both => {
                        "folder and database both changed; `peerless import` puts them together or shows the conflict"
                    }
                    _ if published.is_none() => {
                        "it is not published in the database; `peerless import` brings it there"
                    }
                    _ => "its files were changed; `peerless import` takes the change",
                };
                self.told.push(format!("kept: {id}: {why}"));
            }
        }
        Ok(())
    }
}

pub(super) fn written(published: &Published) -> Written {
    Written {
        revision: published.revision,
        sha256: published.sha256.clone(),
    }
}
