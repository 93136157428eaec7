//! What seeding would do: decided in memory from the seeds and where the database stands, then carried out.

use std::collections::HashMap;

use kb_core::ids::{RecordId, Revision};
use time::OffsetDateTime;

use crate::store::{RecordState, SeedConflict, SeedRecord, digest};

#[derive(Debug, Clone)]
pub(super) struct Standing {
    pub(super) state: RecordState,
    pub(super) head: Revision,
    pub(super) published: Option<Revision>,
    /// [`SeedRecord::sha256`] of the head's texts.
    pub(super) head_sha256: String,
    /// What was imported last, and as which revision.
    pub(super) imported: Option<(String, Revision)>,
    /// A seed that waits because of an edit, since when.
    pub(super) waiting: Option<(String, OffsetDateTime)>,
}

#[derive(Debug)]
pub(super) struct HashedSeed {
    pub(super) seed: SeedRecord,
    pub(super) document_sha256: String,
    pub(super) annex_sha256: String,
    pub(super) sha256: String,
}

/// What to do; the numbers are positions in the seeds.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) add: Vec<usize>,
    /// New revisions, by the head that they follow.
    pub(super) update: Vec<(usize, Revision)>,
    /// The head has the seed's texts already: remember it as imported.
    pub(super) adopt: Vec<(usize, Revision)>,
    /// Conflicts to write down: new ones, and those whose seed changed.
    pub(super) note: Vec<usize>,
    pub(super) conflicts: Vec<SeedConflict>,
    pub(super) unchanged: usize,
}

impl Plan {
    pub(super) fn is_idle(&self) -> bool {
        self.add.is_empty() && self.update.is_empty() && self.adopt.is_empty() && self.note.is_empty()
    }
}

impl HashedSeed {
    pub(super) fn new(seed: SeedRecord) -> Self {
        let document_sha256 = digest::text(&seed.document);
        let annex_sha256 = digest::text(&seed.annex);
        let sha256 = digest::pair(&document_sha256, &annex_sha256);
        Self {
            seed,
            document_sha256,
            annex_sha256,
            sha256,
        }
    }
}

impl Standing {
    fn is_untouched(&self) -> bool {
        let imported = self.imported.as_ref().map(|(_, revision)| *revision);
        self.state == RecordState::Published && imported == Some(self.head) && imported == self.published
    }
}

pub(super) fn plan(
    seeds: &[HashedSeed],
    standings: &HashMap<RecordId, Standing>,
    at: OffsetDateTime,
) -> Plan {
    let mut plan = Plan::default();
    for (position, seed) in seeds.iter().enumerate() {
        let Some(standing) = standings.get(&seed.seed.id) else {
            plan.add.push(position);
            continue;
        };
        let imported_before = standing
            .imported
            .as_ref()
            .is_some_and(|(sha256, _)| *sha256 == seed.sha256);
        if imported_before && standing.waiting.is_none() {
            plan.unchanged += 1;
        } else if standing.head_sha256 == seed.sha256 {
            plan.adopt.push((position, standing.head));
        } else if standing.is_untouched() {
            plan.update.push((position, standing.head));
        } else if imported_before {
            // The seeds went back to what was imported: nothing waits any more.
            plan.adopt.push((position, imported_revision(standing)));
        } else {
            let noted = standing
                .waiting
                .as_ref()
                .filter(|(sha256, _)| *sha256 == seed.sha256);
            if noted.is_none() {
                plan.note.push(position);
            }
            let since = standing.waiting.as_ref().map_or(at, |(_, since)| *since);
            plan.conflicts.push(SeedConflict {
                id: seed.seed.id.clone(),
                head: standing.head,
                seed_sha256: seed.sha256.clone(),
                since,
            });
        }
    }
    plan
}

fn imported_revision(standing: &Standing) -> Revision {
    standing
        .imported
        .as_ref()
        .map_or(standing.head, |(_, revision)| *revision)
}
