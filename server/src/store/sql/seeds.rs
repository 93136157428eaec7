//! Importing records by SQL: those that come with the program, and those that somebody brings.

use std::collections::{HashMap, HashSet};

use async_trait::async_trait;
use kb_core::ids::{RecordId, Revision, Seq};
use serde_json::json;
use time::OffsetDateTime;

use super::convert::{id_from, maybe_revision_from, refuse_nul, revision_from, unreadable};
use super::derive::Derived;
use super::derived_rows::{self, refuse_alias_as_id};
use super::engine::{Cells, Engine, Value, values};
use super::feed::{lock_feed, set_newest};
use super::seed_plan::{HashedSeed, Plan, Standing, plan};
use super::session::{Session, SqlStore, Tx};
use super::{audit, batch, reviews};
use crate::store::{
    By, NewAudit, RecordState, SeedConflict, SeedOutcome, SeedRecord, SeedSet, SeedSource, SeedStore,
    SeedTaken, StoreError, digest,
};

#[async_trait]
impl<DB: Engine> SeedStore for SqlStore<DB> {
    async fn seed(
        &self,
        source: SeedSource,
        set: SeedSet,
        at: OffsetDateTime,
    ) -> Result<SeedOutcome, StoreError> {
        let SeedSet { records, sha256 } = set;
        let seeds: Vec<HashedSeed> = records.into_iter().map(HashedSeed::new).collect();
        let mut ids = HashSet::with_capacity(seeds.len());
        if !seeds.iter().all(|seed| ids.insert(&seed.seed.id)) {
            return Err(StoreError::Unstorable {
                what: "a seed",
                reason: "its id comes twice",
            });
        }
        let standings = standings(&mut self.read_once().await?, source).await?;
        let glance = plan(&seeds, &standings, at);
        if glance.is_idle() {
            if glance.conflicts.is_empty()
                && let Some(sha256) = &sha256
                && let Err(error) = self.remember_set(source, &seeds, sha256, at).await
            {
                tracing::warn!(%error, "the next start compares all records with the database again");
            }
            return Ok(outcome(&seeds, glance));
        }

        // Decided again under the lock: another server may have seeded meanwhile.
        let mut tx = self.begin_write().await?;
        let newest = lock_feed(&mut tx).await?;
        let standings = self::standings(&mut tx, source).await?;
        let mut plan = plan(&seeds, &standings, at);
        let taken = set_aside_taken(&mut tx, &seeds, &mut plan, &standings).await?;
        if plan.is_idle() {
            tx.end().await?;
        } else {
            let now = import(&mut tx, source, &seeds, &plan, newest, at).await?;
            remember(&mut tx, source, &seeds, &plan, at).await?;
            let is_whole = taken.is_empty() && plan.conflicts.is_empty();
            set_seeded(&mut tx, source, sha256.as_deref().filter(|_| is_whole)).await?;
            set_newest(&mut tx, now).await?;
            if !plan.add.is_empty() || !plan.update.is_empty() {
                let by = By::system(source.actor());
                reviews::end_replaced(&mut tx, newest, &by, at).await?;
                let detail = json!({ "added": plan.add.len(), "updated": plan.update.len() });
                let entry = NewAudit::new("record.import", source.as_str(), &by, at).detail(detail);
                audit::add(&mut tx, &entry).await?;
            }
            tx.commit().await?;
        }
        Ok(SeedOutcome {
            taken,
            ..outcome(&seeds, plan)
        })
    }

    async fn seeded_set(&self, source: SeedSource) -> Result<Option<String>, StoreError> {
        let sql = "SELECT sha256 FROM seed_set WHERE source = $1";
        let rows = self.read_once().await?.all(sql, values![source.as_str()]).await?;
        rows.first().map(|row| row.text(0)).transpose()
    }

    async fn was_seeded(&self, source: SeedSource) -> Result<bool, StoreError> {
        let sql = "SELECT record_id FROM seed_import WHERE source = $1 LIMIT 1";
        let rows = self.read_once().await?.all(sql, values![source.as_str()]).await?;
        Ok(!rows.is_empty())
    }

    async fn seed_conflicts(&self) -> Result<Vec<SeedConflict>, StoreError> {
        let sql = "SELECT s.record_id, r.head_revision, s.waiting_sha256, s.waiting_since \
            FROM seed_import s JOIN record r ON r.id = s.record_id \
            WHERE s.waiting_sha256 IS NOT NULL ORDER BY s.record_id";
        let rows = self.read_once().await?.all(sql, &[]).await?;
        let conflict = |row: &DB::Row| {
            Ok(SeedConflict {
                id: id_from(row.text(0)?)?,
                head: revision_from(row, 1)?,
                seed_sha256: row.text(2)?,
                since: row.time(3)?,
            })
        };
        rows.iter().map(conflict).collect()
    }
}

impl<DB: Engine> SqlStore<DB> {
    /// Looks again under the lock that every import takes: another server may have brought another set meanwhile.
    async fn remember_set(
        &self,
        source: SeedSource,
        seeds: &[HashedSeed],
        sha256: &str,
        at: OffsetDateTime,
    ) -> Result<(), StoreError> {
        let mut tx = self.begin_write().await?;
        lock_feed(&mut tx).await?;
        let plan = plan(seeds, &standings(&mut tx, source).await?, at);
        if plan.is_idle() && plan.conflicts.is_empty() {
            set_seeded(&mut tx, source, Some(sha256)).await?;
            return tx.commit().await;
        }
        tx.end().await
    }
}

async fn set_seeded<DB: Engine>(
    tx: &mut Tx<DB>,
    source: SeedSource,
    sha256: Option<&str>,
) -> Result<(), StoreError> {
    let Some(sha256) = sha256 else {
        let sql = "DELETE FROM seed_set WHERE source = $1";
        tx.run(sql, values![source.as_str()]).await?;
        return Ok(());
    };
    let sql = "INSERT INTO seed_set (source, sha256) VALUES ($1, $2) ON CONFLICT (source) DO UPDATE SET sha256 = excluded.sha256";
    tx.run(sql, values![source.as_str(), sha256]).await?;
    Ok(())
}

/// Where all records stand towards a source, in one query. Somebody who imports a record that is as the program
/// brought it edits nothing of anybody's; the program never takes an import for its own.
async fn standings<DB, C>(
    session: &mut Session<DB, C>,
    source: SeedSource,
) -> Result<HashMap<RecordId, Standing>, StoreError>
where
    DB: Engine,
    C: std::ops::DerefMut<Target = DB::Connection> + Send,
{
    let sql = "SELECT r.id, r.state, r.head_revision, r.published_revision, v.document_sha256, v.annex_sha256, \
        COALESCE(s.sha256, p.sha256), COALESCE(s.revision, p.revision), s.waiting_sha256, s.waiting_since \
        FROM record r JOIN revision v ON v.record_id = r.id AND v.revision = r.head_revision \
        LEFT JOIN seed_import s ON s.record_id = r.id AND s.source = $1 \
        LEFT JOIN seed_import p ON p.record_id = r.id AND p.source = $2 AND p.revision = r.head_revision";
    let yields = match source {
        SeedSource::Program => "",
        SeedSource::Import => SeedSource::Program.as_str(),
    };
    let rows = session.all(sql, values![source.as_str(), yields]).await?;
    rows.iter().map(standing_from).collect()
}

fn standing_from(row: &impl Cells) -> Result<(RecordId, Standing), StoreError> {
    let state = row.text(1)?;
    let standing = Standing {
        state: RecordState::from_word(&state).ok_or_else(|| unreadable("record state", &state))?,
        head: revision_from(row, 2)?,
        published: maybe_revision_from(row, 3)?,
        head_sha256: digest::pair(&row.text(4)?, &row.text(5)?),
        imported: row.maybe_text(6)?.zip(maybe_revision_from(row, 7)?),
        waiting: row.maybe_text(8)?.zip(row.maybe_time(9)?),
    };
    Ok((id_from(row.text(0)?)?, standing))
}

/// Takes out of the plan the seeds whose id or former ids other records have. One such seed must not keep the others out.
async fn set_aside_taken<DB: Engine>(
    tx: &mut Tx<DB>,
    seeds: &[HashedSeed],
    plan: &mut Plan,
    standings: &HashMap<RecordId, Standing>,
) -> Result<Vec<SeedTaken>, StoreError> {
    let mut former_ids: HashMap<String, RecordId> = HashMap::new();
    for row in tx.all("SELECT alias, record_id FROM alias", &[]).await? {
        former_ids.insert(row.text(0)?, id_from(row.text(1)?)?);
    }
    // The former ids of what is imported now are made anew.
    for (seed, _) in &plan.update {
        let imported = seeds.get(*seed).map(|seed| &seed.seed.id);
        former_ids.retain(|_, holder| Some(&*holder) != imported);
    }
    let moved = names_that_moved(tx).await?;
    let mut taken = Vec::new();
    let mut positions = HashSet::new();
    for (position, revision) in new_heads(plan) {
        let Some(HashedSeed { seed, .. }) = seeds.get(position) else {
            continue;
        };
        let derived = Derived::of(&seed.id, revision, &seed.document, &seed.annex)?;
        let of_former_id = derived.aliases.iter().find_map(|alias| {
            let record = standings.get_key_value(alias).map(|(id, _)| id);
            let moved_to = || moved.get(alias.as_str()).filter(|holder| **holder != seed.id);
            record
                .or_else(|| former_ids.get(alias.as_str()))
                .or_else(moved_to)
        });
        let of_id = former_ids
            .get(seed.id.as_str())
            .or_else(|| moved.get(seed.id.as_str()));
        if let Some(holder) = of_id.or(of_former_id) {
            tracing::error!(seed = %seed.id, %holder, "a seed is not imported, another record has its id or a former id of it");
            positions.insert(position);
            taken.push(SeedTaken {
                id: seed.id.clone(),
                holder: holder.clone(),
            });
        }
    }
    plan.add.retain(|position| !positions.contains(position));
    plan.update.retain(|(position, _)| !positions.contains(position));
    Ok(taken)
}

/// Names under which no record stands any more, because it was merged or renamed, and where they lead.
async fn names_that_moved<DB: Engine>(tx: &mut Tx<DB>) -> Result<HashMap<String, RecordId>, StoreError> {
    let sql = "SELECT m.former, m.record_id FROM moved m \
        WHERE NOT EXISTS (SELECT 1 FROM record r WHERE r.id = m.former)";
    let rows = tx.all(sql, &[]).await?;
    let name = |row: &DB::Row| Ok((row.text(0)?, id_from(row.text(1)?)?));
    rows.iter().map(name).collect()
}

/// Writes the new revisions, published; the newest seq afterwards.
async fn import<DB: Engine>(
    tx: &mut Tx<DB>,
    source: SeedSource,
    seeds: &[HashedSeed],
    plan: &Plan,
    newest: Seq,
    at: OffsetDateTime,
) -> Result<Seq, StoreError> {
    let mut imports: Vec<(&HashedSeed, Revision)> = Vec::new();
    for (seed, head) in new_heads(plan) {
        if let Some(seed) = seeds.get(seed) {
            refuse_nul("a seed's document", &seed.seed.document)?;
            refuse_nul("a seed's annex", &seed.seed.annex)?;
            imports.push((seed, head));
        }
    }
    let mut derived = Vec::with_capacity(imports.len());
    for (seed, revision) in &imports {
        let SeedRecord { id, document, annex } = &seed.seed;
        derived.push(Derived::of(id, *revision, document, annex)?);
    }
    let added: Vec<&str> = plan
        .add
        .iter()
        .filter_map(|seed| seeds.get(*seed))
        .map(|seed| seed.seed.id.as_str())
        .collect();
    refuse_alias_as_id(tx, &added).await?;

    let mut seq = newest.0;
    let mut records = Vec::with_capacity(imports.len());
    let mut revisions = Vec::with_capacity(imports.len());
    for ((seed, revision), derived) in imports.iter().zip(&derived) {
        seq += 1;
        let id = Value::from(&seed.seed.id);
        let revision = Value::from(*revision);
        let signature = Value::from(derived.signature.as_str());
        let made_at = Value::from(at);
        records.push([
            id,
            Value::from("published"),
            revision,
            revision,
            Value::from(seq),
            signature,
            made_at,
            made_at,
        ]);
        revisions.push([
            id,
            revision,
            Value::from(&seed.document_sha256),
            Value::from(&seed.annex_sha256),
            Value::from(source.actor()),
            made_at,
            Value::from(&seed.seed.document),
            Value::from(&seed.seed.annex),
        ]);
    }
    let columns = "record (id, state, head_revision, published_revision, seq, signature, changed_at, seq_at)";
    let or_update = "ON CONFLICT (id) DO UPDATE SET state = excluded.state, head_revision = excluded.head_revision, \
        published_revision = excluded.published_revision, seq = excluded.seq, signature = excluded.signature, \
        changed_at = excluded.changed_at, seq_at = excluded.seq_at, forced = NULL";
    batch::insert(tx, columns, or_update, &records).await?;
    let columns =
        "revision (record_id, revision, document_sha256, annex_sha256, actor, made_at, document, annex)";
    batch::insert(tx, columns, "", &revisions).await?;
    derived_rows::replace(tx, &derived).await?;
    Ok(Seq(seq))
}

fn new_heads(plan: &Plan) -> impl Iterator<Item = (usize, Revision)> {
    let added = plan.add.iter().map(|seed| (*seed, Revision(1)));
    let updated = plan
        .update
        .iter()
        .map(|(seed, head)| (*seed, Revision(head.0 + 1)));
    added.chain(updated)
}

async fn remember<DB: Engine>(
    tx: &mut Tx<DB>,
    source: SeedSource,
    seeds: &[HashedSeed],
    plan: &Plan,
    at: OffsetDateTime,
) -> Result<(), StoreError> {
    let mut imported = Vec::new();
    for (seed, revision) in new_heads(plan).chain(plan.adopt.iter().copied()) {
        if let Some(seed) = seeds.get(seed) {
            imported.push([
                Value::from(&seed.seed.id),
                Value::from(source.as_str()),
                Value::from(&seed.sha256),
                Value::from(revision),
            ]);
        }
    }
    let or_update = "ON CONFLICT (record_id, source) DO UPDATE SET sha256 = excluded.sha256, \
        revision = excluded.revision, waiting_sha256 = NULL, waiting_since = NULL";
    batch::insert(
        tx,
        "seed_import (record_id, source, sha256, revision)",
        or_update,
        &imported,
    )
    .await?;

    for seed in plan.note.iter().filter_map(|seed| seeds.get(*seed)) {
        let sql = "INSERT INTO seed_import (record_id, source, waiting_sha256, waiting_since) \
            VALUES ($1, $2, $3, $4) ON CONFLICT (record_id, source) DO UPDATE SET waiting_sha256 = excluded.waiting_sha256, \
            waiting_since = COALESCE(seed_import.waiting_since, excluded.waiting_since)";
        tx.run(sql, values![&seed.seed.id, source.as_str(), &seed.sha256, at])
            .await?;
    }
    Ok(())
}

fn outcome(seeds: &[HashedSeed], plan: Plan) -> SeedOutcome {
    let id = |seed: &usize| seeds.get(*seed).map(|seed| seed.seed.id.clone());
    SeedOutcome {
        added: plan.add.iter().filter_map(id).collect(),
        updated: plan.update.iter().filter_map(|(seed, _)| id(seed)).collect(),
        unchanged: plan.unchanged + plan.adopt.len(),
        conflicts: plan.conflicts,
        taken: Vec::new(),
    }
}
