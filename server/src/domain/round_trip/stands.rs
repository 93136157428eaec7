//! Where records stand in the database.

use std::collections::BTreeMap;

use kb_core::ids::{RecordId, Revision, Seq};

use crate::store::{
    BUNDLE_ACTOR, ListQuery, MERGE_ACTOR, RecordState, RecordStatus, RevisionMeta, SeedRecord, SeedSource,
    Store, StoreError,
};

const PAGE: u32 = 500;

/// Where a record stands. One that is absent has no entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stands {
    /// Readers see it.
    Published(Published),
    /// It was never published.
    Draft(Head),
    /// It was taken back.
    Withdrawn { head: Revision },
}

impl Stands {
    pub fn published(&self) -> Option<&Published> {
        match self {
            Self::Published(published) => Some(published),
            Self::Draft(_) | Self::Withdrawn { .. } => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Published {
    pub revision: Revision,
    pub texts: SeedRecord,
    /// [`SeedRecord::sha256`] of these texts.
    pub sha256: String,
    /// A draft, where it is another revision than readers see.
    pub head: Head,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    pub revision: Revision,
    /// [`SeedRecord::sha256`] of its texts.
    pub sha256: String,
    /// An import made it: nobody's work is lost where the next one goes over it.
    pub imported: bool,
}

pub async fn stands(store: &dyn Store) -> Result<BTreeMap<RecordId, Stands>, StoreError> {
    let statuses = statuses(store).await?;
    let mut stands = BTreeMap::new();
    let mut after = Seq::default();
    loop {
        let page = store.feed(after, PAGE).await?;
        for change in page.changes {
            // One that was made since the list was read is seen by the next import.
            let Some(status) = statuses.get(&change.id) else {
                continue;
            };
            let now = match change.published {
                None => Stands::Withdrawn { head: status.head },
                Some(texts) => {
                    let head = if status.head == texts.meta.revision {
                        Head::of(&texts.meta)
                    } else {
                        head(store, &change.id, status.head).await?
                    };
                    Stands::Published(Published {
                        revision: texts.meta.revision,
                        sha256: texts.meta.sha256(),
                        head,
                        texts: SeedRecord {
                            id: change.id.clone(),
                            document: texts.document,
                            annex: texts.annex,
                        },
                    })
                }
            };
            stands.insert(change.id, now);
        }
        if !page.more {
            break;
        }
        after = page.reaches;
    }
    let drafts = statuses.into_values().filter(|status| {
        matches!(status.state, RecordState::Draft | RecordState::InReview) && !stands.contains_key(&status.id)
    });
    for status in drafts.collect::<Vec<_>>() {
        let head = head(store, &status.id, status.head).await?;
        stands.insert(status.id, Stands::Draft(head));
    }
    Ok(stands)
}

async fn statuses(store: &dyn Store) -> Result<BTreeMap<RecordId, RecordStatus>, StoreError> {
    let mut statuses = BTreeMap::new();
    let mut query = ListQuery {
        drafts: true,
        limit: PAGE,
        ..ListQuery::default()
    };
    loop {
        let page = store.list(query.clone()).await?;
        let Some(last) = page.last() else {
            return Ok(statuses);
        };
        query.after = Some(last.status.id.clone());
        statuses.extend(
            page.into_iter()
                .map(|listing| (listing.status.id.clone(), listing.status)),
        );
    }
}

impl Head {
    fn of(meta: &RevisionMeta) -> Self {
        Self {
            revision: meta.revision,
            sha256: meta.sha256(),
            imported: [SeedSource::Import.actor(), BUNDLE_ACTOR, MERGE_ACTOR].contains(&meta.actor.as_str()),
        }
    }
}

async fn head(store: &dyn Store, id: &RecordId, revision: Revision) -> Result<Head, StoreError> {
    let texts = store.revision(id, revision).await?;
    let texts = texts.ok_or_else(|| StoreError::NoRevision(id.clone(), revision))?;
    Ok(Head::of(&texts.meta))
}
