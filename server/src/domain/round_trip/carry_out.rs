//! Doing what was planned. Each record is published by itself, through the same gate as any other; what ended in the middle is
//! taken up by the next import, which finds in the database what it would have put there.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use kb_core::ids::{RecordId, Revision, Seq};
use kb_core::record::Record;
use kb_core::text::Violation;
use time::OffsetDateTime;

use super::plan::{Plan, Planned};
use crate::domain::curate::{self, Approver, CurateError, Draft, Gate};
use crate::feed::background::{self, Beside};
use crate::feed::{Generation, Knowledge};
use crate::store::{
    BUNDLE_ACTOR, By, Expected, MERGE_ACTOR, Rename, SeedRecord, SeedSource, Store, StoreError, Withdrawal,
};

/// How long it waits for readers to lose what was withdrawn, before the gate is asked about the rest.
const PATIENCE: Duration = Duration::from_secs(30);
const NOTE_CHARACTERS: usize = 500;

#[derive(Debug)]
pub enum Done {
    Published {
        revision: Revision,
        added: bool,
    },
    Withdrawn,
    /// It has the place of the record of another id.
    Renamed(Revision),
    /// The gate refuses it under its new id: readers see the former one as before, and nothing is stored.
    NotRenamed(Vec<Violation>),
    /// The gate refuses it; kept as this draft.
    Refused {
        draft: Revision,
        findings: Vec<Violation>,
    },
    /// It could not be done: readers see what they saw, and a draft may stand.
    Failed(String),
}

/// What of a plan the gate refuses beside these records, and why. Computes off the async threads.
pub async fn refused(
    plan: &Plan,
    generation: Arc<Generation>,
) -> Result<BTreeMap<RecordId, Vec<Violation>>, CurateError> {
    let mut new = Vec::new();
    let mut found = BTreeMap::new();
    for texts in published(plan) {
        match Record::parse(&texts.document, &texts.annex) {
            Ok(record) => new.push(record),
            Err(violations) => {
                found.insert(texts.id.clone(), violations);
            }
        }
    }
    if !new.is_empty() {
        let gone = gone(plan);
        let asked = background::run(Beside::Requests, move || {
            curate::refused_without(&new, &gone, &generation)
        });
        found.extend(asked.await.ok_or(CurateError::NotAsked)??);
    }
    Ok(found)
}

fn published(plan: &Plan) -> impl Iterator<Item = &SeedRecord> {
    plan.values().filter_map(|planned| match planned {
        Planned::Publish { texts, .. } | Planned::Rename { texts, .. } => Some(texts),
        _ => None,
    })
}

fn gone(plan: &Plan) -> BTreeSet<RecordId> {
    let gone = plan.iter().filter_map(|(id, planned)| match planned {
        Planned::Withdraw(_) => Some(id),
        Planned::Rename { from, .. } => Some(from),
        _ => None,
    });
    gone.cloned().collect()
}

/// Where the other side's records come from.
#[derive(Debug, Clone, Copy)]
pub enum Comes<'a> {
    /// A folder, which says itself what it had in common with the database last.
    Folder,
    /// A bundle with these records. It knows nothing of this database, so that a revision keeps what it said where that is
    /// put together with changes of the database: the next bundle is compared with it.
    Bundle(&'a BTreeMap<RecordId, SeedRecord>),
}

impl Comes<'_> {
    fn actor(self) -> &'static str {
        match self {
            Self::Folder => SeedSource::Import.actor(),
            Self::Bundle(_) => BUNDLE_ACTOR,
        }
    }

    fn withdrawn(self) -> &'static str {
        match self {
            Self::Folder => "Its files were removed from the folder that was imported",
            Self::Bundle(_) => "It is withdrawn in the bundle of records that was taken in",
        }
    }
}

/// Withdraws and publishes what is planned. `knowledge` must be followed meanwhile.
pub async fn carry_out(
    store: &dyn Store,
    knowledge: &Arc<Knowledge>,
    (plan, comes): (&Plan, Comes<'_>),
    at: OffsetDateTime,
) -> Result<BTreeMap<RecordId, Done>, CurateError> {
    let by = By::system(comes.actor());
    let mut done = BTreeMap::new();
    // First, so that what takes the place of others is not held against them.
    for (id, planned) in plan {
        let Planned::Withdraw(seen) = planned else {
            continue;
        };
        let withdrawal = Withdrawal {
            id: id.clone(),
            by: by.clone(),
            reason: Some(comes.withdrawn().to_owned()),
            replaced_by: None,
            expected: Some(*seen),
            approves: None,
            at,
        };
        let withdrawn = curate::withdraw(store, withdrawal).await.map(|_| Done::Withdrawn);
        done.insert(id.clone(), or_failed(withdrawn)?);
    }
    if published(plan).next().is_none() {
        return Ok(done);
    }
    knowledge.holds(store.head_seq().await?, PATIENCE).await;
    let generation = knowledge.current();
    let importer = Importer {
        store,
        approver: Approver::system(by),
        gate: Gate::Asked(Arc::clone(knowledge)),
        knowledge,
        comes,
        at,
    };
    let mut passed = Some(generation.seq);
    let mut refused = refused(plan, generation).await?;
    for (id, planned) in plan {
        let Planned::Publish {
            texts,
            expected,
            merged,
        } = planned
        else {
            continue;
        };
        let become_of = match (refused.remove(id), comes) {
            (Some(findings), _) => importer.keep(texts, *expected, findings).await,
            (None, Comes::Bundle(theirs)) if *merged => {
                importer
                    .publish_beside(theirs.get(id), (texts, *expected), &mut passed)
                    .await
            }
            (None, _) => importer.publish(texts, *expected, &mut passed).await,
        };
        done.insert(id.clone(), or_failed(become_of)?);
    }
    for (id, planned) in plan {
        let Planned::Rename {
            from,
            seen,
            texts,
            expected,
            moves,
        } = planned
        else {
            continue;
        };
        let become_of = match refused.remove(id) {
            Some(findings) => Ok(Done::NotRenamed(findings)),
            None if *moves => importer.rename((from, *seen), texts, &mut passed).await,
            None => {
                importer
                    .replace((from, *seen), (texts, *expected), &mut passed)
                    .await
            }
        };
        done.insert(id.clone(), or_failed(become_of)?);
    }
    Ok(done)
}

/// What concerns one record alone does not end the import.
fn or_failed(done: Result<Done, CurateError>) -> Result<Done, CurateError> {
    match done {
        Err(CurateError::Store(error @ StoreError::AliasTaken { .. })) => Ok(Done::Failed(error.to_string())),
        Err(error @ (CurateError::Store(_) | CurateError::NotAsked | CurateError::NoHealthyLines(_))) => {
            Err(error)
        }
        Err(CurateError::Stale(_)) => Ok(Done::Failed(
            "somebody changed it at the same time: import again".to_owned(),
        )),
        Err(error) => Ok(Done::Failed(error.to_string())),
        Ok(done) => Ok(done),
    }
}

struct Importer<'a> {
    store: &'a dyn Store,
    approver: Approver,
    gate: Gate,
    knowledge: &'a Knowledge,
    comes: Comes<'a>,
    at: OffsetDateTime,
}

impl Importer<'_> {
    /// `passed` is the state of the feed beside which the gate lets all of them pass. They were asked beside each other, so
    /// that it goes on with each of them; once somebody else published, each is asked again.
    async fn publish(
        &self,
        texts: &SeedRecord,
        expected: Expected,
        passed: &mut Option<Seq>,
    ) -> Result<Done, CurateError> {
        self.publish_as(&self.approver, (texts, expected), passed).await
    }

    /// Keeps what the bundle says as a revision that readers never see, and publishes what it comes to after it.
    async fn publish_beside(
        &self,
        theirs: Option<&SeedRecord>,
        (texts, mut expected): (&SeedRecord, Expected),
        passed: &mut Option<Seq>,
    ) -> Result<Done, CurateError> {
        if let Some(theirs) = theirs {
            expected = Expected::Head(self.save(&self.approver, (theirs, expected), None).await?);
        }
        let merging = Approver::system(By::system(MERGE_ACTOR));
        self.publish_as(&merging, (texts, expected), passed).await
    }

    async fn publish_as(
        &self,
        approver: &Approver,
        (texts, expected): (&SeedRecord, Expected),
        passed: &mut Option<Seq>,
    ) -> Result<Done, CurateError> {
        let revision = self.save(approver, (texts, expected), None).await?;
        let published = curate::publish(
            self.store,
            (&self.gate, *passed),
            (&texts.id, Some(revision)),
            (approver, None),
            self.at,
        )
        .await;
        match published {
            Ok(published) => {
                let is_next = |before: &Seq| before.0.checked_add(1) == Some(published.seq.0);
                *passed = passed.filter(is_next).map(|_| published.seq);
                Ok(Done::Published {
                    revision,
                    added: expected == Expected::Absent,
                })
            }
            // Somebody published meanwhile, and beside that it may not stand.
            Err(CurateError::Gate(findings)) => Ok(Done::Refused {
                draft: revision,
                findings,
            }),
            Err(error) => Err(error),
        }
    }

    /// Gives a record another id. What the gate said holds while nobody else published.
    async fn rename(
        &self,
        (from, seen): (&RecordId, Revision),
        texts: &SeedRecord,
        passed: &mut Option<Seq>,
    ) -> Result<Done, CurateError> {
        curate::check_texts(&texts.id, &texts.document, &texts.annex).map_err(CurateError::Invalid)?;
        let newest = self.store.head_seq().await?;
        if *passed != Some(newest) {
            let findings = self.ask_again(from, texts, newest).await?;
            if !findings.is_empty() {
                return Ok(Done::NotRenamed(findings));
            }
        }
        let rename = Rename {
            id: from.clone(),
            revision: seen,
            to: texts.id.clone(),
            document: texts.document.clone(),
            annex: texts.annex.clone(),
            by: self.approver.by.clone(),
            at: self.at,
        };
        *passed = None;
        match self.store.rename(rename).await? {
            Some(renamed) => Ok(Done::Renamed(renamed.revision)),
            None => Err(CurateError::Stale(Some(seen))),
        }
    }

    async fn ask_again(
        &self,
        from: &RecordId,
        texts: &SeedRecord,
        newest: Seq,
    ) -> Result<Vec<Violation>, CurateError> {
        self.knowledge.holds(newest, PATIENCE).await;
        let record = Record::parse(&texts.document, &texts.annex).map_err(CurateError::Invalid)?;
        let (gone, generation) = (BTreeSet::from([from.clone()]), self.knowledge.current());
        let asked = background::run(Beside::Requests, move || {
            curate::refused_without(&[record], &gone, &generation)
        });
        let findings = asked.await.ok_or(CurateError::NotAsked)??;
        Ok(findings.into_values().flatten().collect())
    }

    /// Publishes a record whose id is not free, and withdraws the one that it stands for once readers see it.
    async fn replace(
        &self,
        (from, seen): (&RecordId, Revision),
        (texts, expected): (&SeedRecord, Expected),
        passed: &mut Option<Seq>,
    ) -> Result<Done, CurateError> {
        let revision = match self.publish(texts, expected, passed).await? {
            Done::Published { revision, .. } => revision,
            other => return Ok(other),
        };
        let withdrawal = Withdrawal {
            id: from.clone(),
            by: self.approver.by.clone(),
            reason: Some(self.comes.withdrawn().to_owned()),
            replaced_by: Some(texts.id.clone()),
            expected: Some(seen),
            approves: None,
            at: self.at,
        };
        *passed = None;
        curate::withdraw(self.store, withdrawal).await?;
        Ok(Done::Renamed(revision))
    }

    async fn keep(
        &self,
        texts: &SeedRecord,
        expected: Expected,
        findings: Vec<Violation>,
    ) -> Result<Done, CurateError> {
        let reasons: Vec<&str> = findings.iter().map(|finding| finding.reason.as_str()).collect();
        let note = reasons.join("; ").chars().take(NOTE_CHARACTERS).collect();
        let draft = self.save(&self.approver, (texts, expected), Some(note)).await?;
        Ok(Done::Refused { draft, findings })
    }

    async fn save(
        &self,
        approver: &Approver,
        (texts, expected): (&SeedRecord, Expected),
        note: Option<String>,
    ) -> Result<Revision, CurateError> {
        let draft = Draft {
            id: texts.id.clone(),
            document: texts.document.clone(),
            annex: Some(texts.annex.clone()),
            expected,
            by: approver.by.clone(),
            note,
        };
        Ok(curate::save(self.store, draft, None, self.at).await?.revision)
    }
}
