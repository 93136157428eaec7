//! `peerless import --from deadends DIR`: what their files come to, counted, and what somebody must look at.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::bail;
use kb_core::ids::RecordId;

use super::say;
use crate::bundle::deadends::{Imported, Options, Tally, import};
use crate::bundle::read_files;
use crate::config::DataArgs;
use crate::startup::open_store;
use crate::store::{ListQuery, SeedRecord};

const PAGE: u32 = 1000;

pub(super) async fn ids_in_use(data: &DataArgs) -> anyhow::Result<BTreeSet<RecordId>> {
    let store = open_store(data).await?;
    let mut ids = BTreeSet::new();
    let mut query = ListQuery {
        drafts: true,
        limit: PAGE,
        ..ListQuery::default()
    };
    loop {
        let page = store.list(query.clone()).await?;
        let Some(last) = page.last() else { return Ok(ids) };
        query.after = Some(last.status.id.clone());
        ids.extend(page.into_iter().map(|listing| listing.status.id));
    }
}

/// Reads the folder and says what came of it.
pub(super) fn read(
    folder: &Path,
    countries: bool,
    taken: BTreeSet<RecordId>,
) -> anyhow::Result<Vec<SeedRecord>> {
    let imported = import(&read_files(folder)?, &Options { countries, taken });
    report(&imported)?;
    if imported.records.is_empty() {
        bail!(
            "{}: there are no canons here that can be imported",
            folder.display()
        );
    }
    Ok(imported.records)
}

fn report(imported: &Imported) -> anyhow::Result<()> {
    say("field                                              came   goes back")?;
    for (field, (came, goes)) in &imported.tally.fields {
        let lost = if came == goes { "" } else { "  changed" };
        say(format_args!("{field:<48} {came:>6} {goes:>6}{lost}"))?;
    }
    for (id, target) in &imported.dangling {
        say(format_args!("dangling: {id} -> {target}"))?;
    }
    for (id, why) in &imported.reviews {
        say(format_args!("needs review: {id}: {why}"))?;
    }
    for (file, why) in &imported.refused {
        say(format_args!("refused: {file}: {why}"))?;
    }
    let Tally {
        same_bytes,
        same_values,
        ..
    } = imported.tally;
    let reviewed: BTreeSet<_> = imported.reviews.iter().map(|(id, _)| id).collect();
    say(format_args!(
        "{} canons: {same_values} would be given back value for value, {same_bytes} of them byte for byte; \
         {} need review, {} dangling edges, {} refused, {} about countries and {} other files left out",
        imported.records.len(),
        reviewed.len(),
        imported.dangling.len(),
        imported.refused.len(),
        imported.countries,
        imported.others
    ))?;
    Ok(())
}
