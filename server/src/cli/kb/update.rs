//! `peerless kb update FILE`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use clap::Args;
use kb_core::ids::{RecordId, Seq};
use tempfile::TempDir;
use time::OffsetDateTime;

use super::super::conflict_text::call;
use super::super::import;
use super::taking::Taking;
use crate::bundle::{self, Signed, SignedError, VerifyKey};
use crate::clock::{Clock as _, SystemClock};
use crate::config::DataArgs;
use crate::domain::round_trip::{
    Comes, Folder, Plan, Planned, Stands, Wishes, bases, carry_out, plan, stands,
};
use crate::feed;
use crate::startup::open_store;
use crate::store::{BundleTaken, Expected, SeedRecord, SeedSource, Store, sqlite_file};

const HELP: &str = "\
A record that nobody edited here becomes what the bundle says. Where both changed it since it came with the program or in the last \
bundle, the changes are put together field by field; what contradicts is a conflict, which is printed with both texts and changes \
nothing. Records that the bundle does not name stay as they are.

A bundle is refused, and nothing changes, when no --key signed it, when it was cut or changed, when a newer format wrote it, when a \
record of it breaks the rules, and when it is older than the bundle that was taken last or than the records of this program.

Exit code: 0 all is taken, 1 nothing is, or a conflict, a refused record or a failure is left, 64 the call makes no sense.

Example:
  peerless kb update records.bundle --key minisign.pub --dry-run";

/// What to take in, and whose word counts.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct KbUpdateArgs {
    /// The file that `peerless kb export` wrote
    file: PathBuf,
    /// Public key of whoever makes bundles, or the file with it; may be given several times
    #[arg(
        long,
        value_name = "KEY",
        required = true,
        env = "PEERLESS_KB_KEY",
        value_delimiter = ','
    )]
    key: Vec<String>,
    /// Say what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
    /// Take it although it is older than what is there
    #[arg(long)]
    older: bool,
    /// Of this record the bundle is right, whatever the database says; may be given several times
    #[arg(long, value_name = "ID")]
    take_bundle: Vec<RecordId>,
    /// Of this record the database is right, until the bundle changes it again; may be given several times
    #[arg(long, value_name = "ID")]
    take_database: Vec<RecordId>,
    /// Into a new database take the bundle alone, without the records that ship with this program
    #[arg(long, env = "PEERLESS_WITHOUT_SHIPPED")]
    without_shipped: bool,
    #[command(flatten)]
    data: DataArgs,
}

pub(super) async fn run(arguments: &KbUpdateArgs) -> anyhow::Result<ExitCode> {
    let shown = || arguments.file.display().to_string();
    let keys: Vec<VerifyKey> = arguments
        .key
        .iter()
        .map(|key| VerifyKey::find(key))
        .collect::<Result<_, _>>()?;
    let signed = Signed::read(&read(&arguments.file)?, &keys).with_context(shown)?;
    let (texts, withdrawn) = sides(&signed).with_context(shown)?;
    let wishes = wishes(arguments, &texts, &withdrawn)?;
    if !arguments.older && !arguments.without_shipped {
        refuse_older_than_program(signed.head.made_at)?;
    }
    let (store, _scratch) = open(arguments).await?;
    if !arguments.older {
        refuse_older_than_last(store.as_ref(), signed.head.made_at).await?;
    }
    let now = SystemClock.now();
    if !arguments.without_shipped && store.head_seq().await? == Seq::default() {
        store
            .seed(SeedSource::Program, bundle::embedded()?.into(), now)
            .await?;
    }
    let files: BTreeMap<RecordId, SeedRecord> =
        texts.into_iter().map(|seed| (seed.id.clone(), seed)).collect();
    let stands = stands(store.as_ref()).await?;
    let folder = Folder {
        base: bases(store.as_ref(), &stands, &files, &withdrawn).await?,
        files,
    };
    let mut plan = plan(store.as_ref(), &folder, &stands, &wishes).await?;
    import::checked(plan.values().filter_map(new_texts).cloned().collect())?;
    settle_for_database(&mut plan, &stands);
    let mut taking = Taking::new(call("kb update", &arguments.file, &arguments.data), &folder);
    if arguments.dry_run {
        return taking.dry(&store, &plan).await;
    }
    let follower = feed::load(store.clone()).await?;
    let knowledge = follower.knowledge();
    let following = tokio::spawn(follower.run(feed::DEFAULT_INTERVAL, std::future::pending()));
    let what = (&plan, Comes::Bundle(&folder.files));
    let done = carry_out(store.as_ref(), &knowledge, what, now).await;
    following.abort();
    let done = done?;
    store.note_bundle(&taken(&signed, now)).await?;
    for (id, planned) in &plan {
        taking.tell(id, planned, done.get(id))?;
    }
    taking.sum(&signed)
}

/// The database. A dry run on one without records, or without any database, is made on an empty one that is removed at the end.
async fn open(arguments: &KbUpdateArgs) -> anyhow::Result<(Arc<dyn Store>, Option<TempDir>)> {
    let data = &arguments.data;
    if !arguments.dry_run {
        return Ok((open_store(data).await?, None));
    }
    let is_there = match sqlite_file(&data.url())? {
        Some(file) => file.try_exists()?,
        None => true,
    };
    if is_there {
        let store = open_store(data).await?;
        if store.head_seq().await? != Seq::default() {
            return Ok((store, None));
        }
    }
    eprintln!(
        "peerless: {} has no records: this is what a new database would get",
        data.shown()
    );
    let folder = tempfile::tempdir()?;
    let scratch = DataArgs {
        data_dir: folder.path().to_owned(),
        database: None,
        ..data.clone()
    };
    Ok((open_store(&scratch).await?, Some(folder)))
}

fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(bundle::MOST_BYTES + 1).read_to_end(&mut bytes))
        .with_context(|| path.display().to_string())?;
    Ok(bytes)
}

type Sides = (Vec<SeedRecord>, BTreeSet<RecordId>);

/// Records of the bundle, and those that are withdrawn in it.
fn sides(signed: &Signed) -> Result<Sides, SignedError> {
    let mut texts = Vec::new();
    let mut withdrawn = BTreeSet::new();
    let mut ids = BTreeSet::new();
    for line in &signed.lines {
        if !ids.insert(&line.id) {
            return Err(SignedError::Broken(format!("{} comes twice", line.id)));
        }
        if line.withdrawn {
            withdrawn.insert(line.id.clone());
        } else {
            texts.push(SeedRecord {
                id: line.id.clone(),
                document: line.document.clone(),
                annex: line.annex.clone(),
            });
        }
    }
    Ok((texts, withdrawn))
}

fn wishes(
    arguments: &KbUpdateArgs,
    texts: &[SeedRecord],
    withdrawn: &BTreeSet<RecordId>,
) -> anyhow::Result<Wishes> {
    let wishes = Wishes {
        folder: arguments.take_bundle.iter().cloned().collect(),
        database: arguments.take_database.iter().cloned().collect(),
        prune: true,
    };
    let ids: BTreeSet<&RecordId> = texts.iter().map(|seed| &seed.id).chain(withdrawn).collect();
    if let Some(id) = wishes.folder.union(&wishes.database).find(|id| !ids.contains(id)) {
        bail!("the bundle says nothing of a record {id}");
    }
    if let Some(id) = wishes.folder.intersection(&wishes.database).next() {
        bail!("--take-bundle and --take-database both name {id}");
    }
    Ok(wishes)
}

fn refuse_older_than_program(made_at: OffsetDateTime) -> anyhow::Result<()> {
    if let Some(edition) = bundle::edition()
        && made_at.date() < edition.date
    {
        bail!(
            "the bundle is of {}, and the records of this program are of {}: nothing was changed. --older takes it all the same",
            made_at.date(),
            edition.date
        );
    }
    Ok(())
}

async fn refuse_older_than_last(store: &dyn Store, made_at: OffsetDateTime) -> anyhow::Result<()> {
    if let Some(last) = store.last_bundle().await?
        && made_at < last.made_at
    {
        bail!(
            "the bundle was made at {made_at}, and the one that was taken last at {}: nothing was changed. --older takes it \
             all the same",
            last.made_at
        );
    }
    Ok(())
}

fn taken(signed: &Signed, at: OffsetDateTime) -> BundleTaken {
    BundleTaken {
        made_at: signed.head.made_at,
        records: signed.head.records,
        key_id: signed.key_id.clone(),
        sha256: signed.sha256.clone(),
        taken_at: at,
    }
}

/// Where the database is right, or has all of the bundle's changes, a bundle has no files to write: its texts become a
/// revision that readers never see, so that the next bundle is compared with them, and what readers see stays.
fn settle_for_database(plan: &mut Plan, stands: &BTreeMap<RecordId, Stands>) {
    for (id, planned) in plan {
        let Planned::Write(texts, revision) = planned else {
            continue;
        };
        let head = stands
            .get(id)
            .and_then(Stands::published)
            .map(|published| &published.head);
        if head.is_some_and(|head| head.revision == *revision) {
            *planned = Planned::Publish {
                texts: texts.clone(),
                expected: Expected::Head(*revision),
                merged: true,
            };
        }
    }
}

/// What readers would see anew. The rest of a bundle is as it is here, and was checked when it came.
fn new_texts(planned: &Planned) -> Option<&SeedRecord> {
    match planned {
        Planned::Publish { texts, .. } | Planned::Rename { texts, .. } => Some(texts),
        _ => None,
    }
}
