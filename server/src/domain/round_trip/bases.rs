//! What a bundle and the database had in common last, told from the revisions of the database: a bundle comes to many
//! databases, and cannot say it itself.

use std::collections::{BTreeMap, BTreeSet};

use kb_core::ids::RecordId;

use super::stands::Stands;
use crate::store::{BUNDLE_ACTOR, SeedRecord, SeedSource, Store, StoreError};

/// The hash of the last text that came with the program or in a bundle, and that readers saw or that was put together with
/// what they see, for each of these records. A draft that the gate refused was never in common.
pub async fn bases(
    store: &dyn Store,
    stands: &BTreeMap<RecordId, Stands>,
    files: &BTreeMap<RecordId, SeedRecord>,
    withdrawn: &BTreeSet<RecordId>,
) -> Result<BTreeMap<RecordId, String>, StoreError> {
    let mut bases = BTreeMap::new();
    for id in files.keys().chain(withdrawn) {
        let Some(stands) = stands.get(id) else {
            continue;
        };
        // Most records are the same on both sides, and there is nothing to look up for them.
        if let (Some(published), Some(file)) = (stands.published(), files.get(id))
            && published.sha256 == file.sha256()
        {
            bases.insert(id.clone(), published.sha256.clone());
            continue;
        }
        let newest = match stands {
            Stands::Published(published) => published.revision,
            Stands::Withdrawn { head } => *head,
            Stands::Draft(_) => continue,
        };
        let from_outside = |actor: &str| actor == SeedSource::Program.actor() || actor == BUNDLE_ACTOR;
        let revisions = store.revisions(id).await?;
        let base = revisions
            .iter()
            .filter(|meta| meta.revision <= newest && from_outside(&meta.actor))
            .max_by_key(|meta| meta.revision);
        if let Some(base) = base {
            bases.insert(id.clone(), base.sha256());
        }
    }
    Ok(bases)
}
