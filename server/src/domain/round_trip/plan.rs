//! What an import would do with each record of a folder.

use std::collections::{BTreeMap, BTreeSet};

use kb_core::compare;
use kb_core::ids::{RecordId, Revision};

use super::renames::pair;
use super::stands::{Published, Stands};
use super::step::{Conflict, Step, Wishes, step};
use crate::domain::curate::{check_texts, together};
use crate::store::{Expected, SeedRecord, Store, StoreError};

#[derive(Debug, Clone, Default)]
pub struct Folder {
    pub base: BTreeMap<RecordId, String>,
    pub files: BTreeMap<RecordId, SeedRecord>,
}

#[derive(Debug, Clone)]
pub enum Planned {
    /// Folder and database say the same, as this revision with this hash.
    Same(Revision, String),
    /// Neither has it any more.
    Forget,
    /// The database changed it alone: an export brings it.
    Changed,
    /// The database withdrew it: an export removes its files.
    Gone,
    /// Its files were removed, and nobody asked to withdraw it.
    Removed,
    Publish {
        texts: SeedRecord,
        expected: Expected,
        /// They are changes of both sides, put together: the folder gets them, too.
        merged: bool,
    },
    /// Its files have another name: what readers see as this revision of `from` is published as this record, and as nothing else.
    Rename {
        from: RecordId,
        seen: Revision,
        texts: SeedRecord,
        expected: Expected,
        /// The id is free and there is no draft, so that addresses, edges and votes go along.
        moves: bool,
    },
    /// The files of `from` have this name now, and nobody asked to withdraw that.
    Renamed { from: RecordId },
    /// Readers see this revision, and no more.
    Withdraw(Revision),
    /// The folder gets what the database has, as this revision.
    Write(SeedRecord, Revision),
    /// The folder loses what the database has no more.
    Remove,
    /// A person must decide.
    Conflict {
        why: Conflict,
        /// Fields in which both contradict each other, where that can be told.
        fields: Vec<compare::Conflict>,
        database: Option<SeedRecord>,
    },
}

/// By record; those of which there is nothing to say are left out.
pub type Plan = BTreeMap<RecordId, Planned>;

/// Decides for all records of a folder. Reads, and changes nothing.
pub async fn plan(
    store: &dyn Store,
    folder: &Folder,
    stands: &BTreeMap<RecordId, Stands>,
    wishes: &Wishes,
) -> Result<Plan, StoreError> {
    let ids: BTreeSet<&RecordId> = folder.base.keys().chain(folder.files.keys()).collect();
    let mut plan = Plan::new();
    for id in ids {
        let base = folder.base.get(id).map(String::as_str);
        let file = folder.files.get(id);
        let stands = stands.get(id);
        let sha256 = file.map(SeedRecord::sha256);
        let step = step(base, sha256.as_deref(), stands, (wishes.side(id), wishes.prune));
        if let Some(planned) = planned(store, step, (base, file, stands)).await? {
            plan.insert(id.clone(), planned);
        }
    }
    pair(&mut plan, stands);
    Ok(plan)
}

type Sides<'a> = (Option<&'a str>, Option<&'a SeedRecord>, Option<&'a Stands>);

async fn planned(
    store: &dyn Store,
    step: Step,
    (base, file, stands): Sides<'_>,
) -> Result<Option<Planned>, StoreError> {
    let published = stands.and_then(Stands::published);
    let planned = match (step, file, published) {
        (Step::Same, _, Some(published)) => Planned::Same(published.revision, published.sha256.clone()),
        (Step::Forget, ..) => Planned::Forget,
        (Step::Changed, ..) => Planned::Changed,
        (Step::Gone, ..) => Planned::Gone,
        (Step::Removed, ..) => Planned::Removed,
        (Step::Withdraw, _, Some(published)) => Planned::Withdraw(published.revision),
        (Step::Remove, ..) => Planned::Remove,
        (Step::Write, _, Some(published)) => Planned::Write(published.texts.clone(), published.revision),
        (Step::Publish, Some(file), _) => publish(file.clone(), stands, false),
        (Step::Merge, Some(file), Some(published)) => {
            merge(store, base.unwrap_or_default(), file, published).await?
        }
        (Step::Conflict(why), ..) => conflict(why, published),
        _ => return Ok(None),
    };
    Ok(Some(planned))
}

fn publish(texts: SeedRecord, stands: Option<&Stands>, merged: bool) -> Planned {
    let expected = match stands {
        None => Expected::Absent,
        Some(Stands::Withdrawn { head }) => Expected::Head(*head),
        Some(Stands::Draft(head)) => Expected::Head(head.revision),
        Some(Stands::Published(published)) => Expected::Head(published.head.revision),
    };
    Planned::Publish {
        texts,
        expected,
        merged,
    }
}

fn conflict(why: Conflict, published: Option<&Published>) -> Planned {
    Planned::Conflict {
        why,
        fields: Vec::new(),
        database: published.map(|published| published.texts.clone()),
    }
}

/// Puts both changes together by field. What both had in common last is a revision of the record, known by its hash.
async fn merge(
    store: &dyn Store,
    base: &str,
    file: &SeedRecord,
    published: &Published,
) -> Result<Planned, StoreError> {
    let Some(base) = texts_of(store, &file.id, base).await? else {
        return Ok(conflict(Conflict::Both, Some(published)));
    };
    let pair = |record: &SeedRecord| (record.document.clone(), record.annex.clone());
    let (mine, theirs) = (pair(file), pair(&published.texts));
    let merged = match together(&base, &mine, &theirs) {
        Ok((merged, fields)) if fields.is_empty() => merged,
        Ok((_, fields)) => {
            return Ok(Planned::Conflict {
                why: Conflict::Both,
                fields,
                database: Some(published.texts.clone()),
            });
        }
        Err(_) => return Ok(conflict(Conflict::Both, Some(published))),
    };
    if merged == theirs {
        return Ok(Planned::Write(published.texts.clone(), published.revision));
    }
    let is_mine = merged == mine;
    let texts = SeedRecord {
        id: file.id.clone(),
        document: merged.0,
        annex: merged.1,
    };
    // Two good changes may be none together: of a list that may hold so many, say.
    if check_texts(&texts.id, &texts.document, &texts.annex).is_err() {
        return Ok(conflict(Conflict::Both, Some(published)));
    }
    let stands = Stands::Published(published.clone());
    Ok(publish(texts, Some(&stands), !is_mine))
}

/// The texts of the newest revision with this hash; none for a folder of another database, unless both had these texts.
async fn texts_of(
    store: &dyn Store,
    id: &RecordId,
    sha256: &str,
) -> Result<Option<(String, String)>, StoreError> {
    let revisions = store.revisions(id).await?;
    let Some(found) = revisions.iter().find(|meta| meta.sha256() == sha256) else {
        return Ok(None);
    };
    let texts = store.revision(id, found.revision).await?;
    Ok(texts.map(|texts| (texts.document, texts.annex)))
}
