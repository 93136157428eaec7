//! `peerless import DIR` of a folder that `peerless export DIR` wrote: folder and database are both held against what they had in
//! common last.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use clap::Args;
use kb_core::ids::RecordId;

use super::conflict_text::{Beside, import_call, tell_conflict};
use super::export_folder::{files, written};
use super::import_dry_run::{self, not_renamed, told};
use super::{import, say};
use crate::bundle::{self, Manifest, Written};
use crate::clock::{Clock as _, SystemClock};
use crate::config::DataArgs;
use crate::domain::round_trip::{Comes, Done, Folder, Planned, Stands, Wishes, carry_out, plan, stands};
use crate::feed;
use crate::store::{SeedRecord, Store};

/// How a folder that was exported is taken in.
#[derive(Debug, Args)]
pub(super) struct RoundTripArgs {
    /// Withdraw records whose files were removed from the folder since it was written
    #[arg(long)]
    prune: bool,
    /// Say what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
    /// Of this record the folder is right, whatever the database says; may be given several times
    #[arg(long, value_name = "ID")]
    take_folder: Vec<RecordId>,
    /// Of this record the database is right: its files get what it says; may be given several times
    #[arg(long, value_name = "ID")]
    take_database: Vec<RecordId>,
}

impl RoundTripArgs {
    /// Whether anything was asked for that only a folder with a manifest can have.
    pub(super) fn is_asked(&self) -> bool {
        self.prune || self.dry_run || !self.take_folder.is_empty() || !self.take_database.is_empty()
    }

    pub(super) fn is_dry(&self) -> bool {
        self.dry_run
    }

    pub(super) fn refuse_of_new(&self) -> anyhow::Result<()> {
        if let Some(id) = self.take_database.first() {
            bail!("the database is new: it has no {id} to take");
        }
        Ok(())
    }

    fn wishes(&self, folder: &Folder) -> anyhow::Result<Wishes> {
        let wishes = Wishes {
            folder: self.take_folder.iter().cloned().collect(),
            database: self.take_database.iter().cloned().collect(),
            prune: self.prune,
        };
        for id in wishes.folder.union(&wishes.database) {
            if !folder.base.contains_key(id) && !folder.files.contains_key(id) {
                bail!("the folder neither has nor had a record {id}");
            }
        }
        if let Some(id) = wishes.folder.intersection(&wishes.database).next() {
            bail!("--take-folder and --take-database both name {id}");
        }
        Ok(wishes)
    }
}

/// Takes the folder into a database that holds records already.
pub(super) async fn run(
    store: &Arc<dyn Store>,
    path: &Path,
    manifest: Manifest,
    (arguments, data): (&RoundTripArgs, &DataArgs),
) -> anyhow::Result<ExitCode> {
    let folder = Folder {
        base: manifest
            .records
            .iter()
            .map(|(id, written)| (id.clone(), written.sha256.clone()))
            .collect(),
        files: files(path)?,
    };
    if arguments.prune && folder.files.is_empty() && !folder.base.is_empty() {
        bail!(
            "{} holds none of its {} records: --prune would withdraw all of them. Check the folder out whole; to withdraw \
             them, name each with --take-folder",
            path.display(),
            folder.base.len()
        );
    }
    let call = &import_call(path, data);
    let wishes = arguments.wishes(&folder)?;
    let now = stands(store.as_ref()).await?;
    let plan = plan(store.as_ref(), &folder, &now, &wishes).await?;
    let new: Vec<SeedRecord> = plan.values().filter_map(to_publish).cloned().collect();
    let new = import::checked(new)?;
    import::say_slow(&new)?;
    let follower = feed::load(store.clone()).await?;
    if arguments.dry_run {
        return import_dry_run::dry_run(&follower, (path, call), (&folder, &plan)).await;
    }
    let knowledge = follower.knowledge();
    let following = tokio::spawn(follower.run(feed::DEFAULT_INTERVAL, std::future::pending()));
    let done = carry_out(
        store.as_ref(),
        &knowledge,
        (&plan, Comes::Folder),
        SystemClock.now(),
    )
    .await;
    following.abort();
    let done = done?;
    let mut round_trip = RoundTrip::new(path, call, manifest);
    // Told when all is settled: a reader who goes away ends nothing in the middle.
    let mut settled = Vec::new();
    for (id, planned) in &plan {
        round_trip.settle((id, folder.files.get(id)), planned, done.get(id))?;
        settled.push(std::mem::take(&mut round_trip.settled));
    }
    round_trip
        .manifest
        .write(path)
        .with_context(|| path.display().to_string())?;
    for ((id, planned), settled) in plan.iter().zip(settled) {
        round_trip.tell(id, planned, &folder)?;
        for told in settled {
            say(told)?;
        }
    }
    round_trip.sum()
}

/// Notes what folder and database have in common after an import into a new database.
pub(super) async fn note_all(store: &dyn Store, path: &Path, mut manifest: Manifest) -> anyhow::Result<()> {
    let files = files(path)?;
    for (id, stands) in stands(store).await? {
        let Stands::Published(published) = stands else {
            continue;
        };
        if files.get(&id).is_some_and(|file| *file == published.texts) {
            manifest.note(&id, written(&published));
        }
    }
    manifest.write(path).with_context(|| path.display().to_string())
}

fn to_publish(planned: &Planned) -> Option<&SeedRecord> {
    match planned {
        Planned::Publish { texts, .. } | Planned::Rename { texts, .. } => Some(texts),
        _ => None,
    }
}

/// An import under way, or one that is only told.
pub(super) struct RoundTrip<'a> {
    path: &'a Path,
    call: &'a str,
    manifest: Manifest,
    counts: BTreeMap<&'static str, usize>,
    /// Records that somebody must look at.
    pub(super) open: usize,
    /// What is to be told of the record that was settled last.
    settled: Vec<String>,
}

impl<'a> RoundTrip<'a> {
    pub(super) fn new(path: &'a Path, call: &'a str, manifest: Manifest) -> Self {
        Self {
            path,
            call,
            manifest,
            counts: BTreeMap::new(),
            open: 0,
            settled: Vec::new(),
        }
    }

    /// Says what concerns the reader whether anything is done or not.
    pub(super) fn tell(&mut self, id: &RecordId, planned: &Planned, folder: &Folder) -> anyhow::Result<()> {
        match planned {
            Planned::Changed => say(format_args!(
                "changed in the database alone, export brings it: {id}"
            ))?,
            Planned::Gone => say(format_args!(
                "withdrawn in the database, export removes its files: {id}"
            ))?,
            Planned::Renamed { from } => {
                self.open += 1;
                say(format_args!(
                    "its files have another name, --prune gives the record that id: {from} to {id}"
                ))?;
            }
            Planned::Removed => say(format_args!("its files were removed, --prune withdraws it: {id}"))?,
            Planned::Conflict {
                why,
                fields,
                database,
            } => {
                self.open += 1;
                let texts = (folder.files.get(id), database.as_ref());
                tell_conflict((self.call, Beside::Folder), id, *why, (fields, texts))?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Brings files and manifest up to what was done, and notes what to tell. `as_read`: the texts when the folder was read.
    fn settle(
        &mut self,
        (id, as_read): (&RecordId, Option<&SeedRecord>),
        planned: &Planned,
        done: Option<&Done>,
    ) -> anyhow::Result<()> {
        let path = self.path;
        let shown = || format!("{id} in {}", path.display());
        let touches_files = match (planned, done) {
            (Planned::Publish { merged, .. }, Some(Done::Published { .. })) => *merged,
            (Planned::Write(..) | Planned::Remove, _) => true,
            _ => false,
        };
        // The gate takes its time, and somebody may have edited them meanwhile.
        if touches_files && !bundle::is_as_read(path, id, as_read).with_context(shown)? {
            let why = "its files were changed meanwhile: import again";
            self.settled.push(format!("failed: {id}: {why}"));
            self.count("failed");
            self.open += 1;
            return Ok(());
        }
        match (planned, done) {
            (Planned::Publish { texts, merged, .. }, Some(Done::Published { revision, added })) => {
                if *merged {
                    bundle::write_record(path, texts).with_context(shown)?;
                }
                let word = match (merged, added) {
                    (true, _) => "merged",
                    (false, true) => "added",
                    (false, false) => "updated",
                };
                self.settled.push(format!("{word}: {id} {revision}"));
                self.count(word);
                let (revision, sha256) = (*revision, texts.sha256());
                self.manifest.note(id, Written { revision, sha256 });
            }
            (Planned::Publish { .. }, Some(Done::Refused { draft, findings })) => {
                self.settled
                    .extend(findings.iter().map(|finding| told(id, finding)));
                self.settled.push(format!("kept as a draft: {id} {draft}"));
                self.count("kept as drafts");
                self.open += 1;
            }
            (Planned::Withdraw(_), Some(Done::Withdrawn)) => {
                self.settled.push(format!("withdrawn: {id}"));
                self.count("withdrawn");
                self.manifest.records.remove(id);
            }
            (Planned::Rename { from, texts, .. }, Some(Done::Renamed(revision))) => {
                self.settled.push(format!("renamed: {from} to {id} {revision}"));
                self.count("renamed");
                self.manifest.records.remove(from);
                let (revision, sha256) = (*revision, texts.sha256());
                self.manifest.note(id, Written { revision, sha256 });
            }
            (
                Planned::Rename { from, .. },
                Some(Done::NotRenamed(findings) | Done::Refused { findings, .. }),
            ) => {
                self.settled
                    .extend(findings.iter().map(|finding| told(id, finding)));
                self.settled.push(not_renamed(from));
                self.count("not renamed");
                self.open += 1;
            }
            (_, Some(Done::Failed(why))) => {
                self.settled.push(format!("failed: {id}: {why}"));
                if let Planned::Rename { from, .. } = planned {
                    self.settled.push(not_renamed(from));
                }
                self.count("failed");
                self.open += 1;
            }
            (Planned::Same(revision, sha256), _) => {
                let (revision, sha256) = (*revision, sha256.clone());
                self.manifest.note(id, Written { revision, sha256 });
                self.count("the same on both sides");
            }
            (Planned::Write(texts, revision), _) => {
                bundle::write_record(path, texts).with_context(shown)?;
                let told = format!("written from the database: {id} {revision}");
                self.settled.push(told);
                self.count("written");
                let (revision, sha256) = (*revision, texts.sha256());
                self.manifest.note(id, Written { revision, sha256 });
            }
            (Planned::Remove, _) => {
                bundle::remove_record(path, id).with_context(shown)?;
                self.settled.push(format!("its files are removed: {id}"));
                self.count("removed");
                self.manifest.records.remove(id);
            }
            (Planned::Forget, _) => {
                self.manifest.records.remove(id);
            }
            (Planned::Conflict { .. }, _) => self.count("conflicts"),
            (Planned::Renamed { .. }, _) => self.count("held back"),
            (Planned::Changed | Planned::Gone, _) => self.count("changed in the database alone"),
            _ => {}
        }
        Ok(())
    }

    fn count(&mut self, word: &'static str) {
        *self.counts.entry(word).or_default() += 1;
    }

    fn sum(&self) -> anyhow::Result<ExitCode> {
        let told: Vec<String> = self
            .counts
            .iter()
            .map(|(word, count)| format!("{count} {word}"))
            .collect();
        if told.is_empty() {
            say("nothing to do: folder and database say the same")?;
        } else {
            say(told.join(", "))?;
        }
        Ok(self.code())
    }

    pub(super) fn code(&self) -> ExitCode {
        if self.open == 0 {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        }
    }
}
